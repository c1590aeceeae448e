//! Estimates the size of a text in tokens of a model. Code and identifiers have more tokens than
//! prose of the same length, so they cost more.

/// Number of bytes of prose in a token.
const TOKEN_BYTES: usize = 4;
/// The unit of the costs below: twelfths of a token.
const PARTS: usize = 12;
/// Number of letters of a word that cost one token; each further letter costs [`MORE_LETTER`].
const WORD_LETTERS: usize = 4;
const MORE_LETTER: usize = 2;
/// Number of digits that cost one token.
const DIGITS: usize = 3;
const SIGN: usize = 9;
const REPEATED_SIGN: usize = 3;
const REPEATED_SPACE: usize = 2;
/// The cost of a letter that is not ASCII.
const FOREIGN_LETTER: usize = 5;
/// The cost of a character of a script with many characters, such as Chinese.
const IDEOGRAPH: usize = 10;
const SYMBOL: usize = 24;

/// Returns the cost of a text in bytes: the larger of the length of the text and the length of
/// prose with the same number of tokens.
pub(in crate::api::tools) fn cost(text: &str) -> usize {
    text.len().max(parts(text) * TOKEN_BYTES / PARTS)
}

/// Estimates the tokens of a text, in twelfths of a token. Over many texts of transcripts, the
/// estimate is 1.1 times the number of tokens in the vocabulary `o200k`. For nine of ten texts, the
/// estimate is not below this number.
fn parts(text: &str) -> usize {
    let mut cost = 0;
    let mut before = ' ';
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = run_length(rest, c);
        cost += match c {
            _ if c.is_ascii_alphabetic() => {
                PARTS + length.saturating_sub(WORD_LETTERS) * MORE_LETTER
            }
            _ if c.is_ascii_digit() => {
                let space = if before == ' ' { SIGN } else { 0 };
                space + PARTS * length.div_ceil(DIGITS)
            }
            ' ' | '\n' if before == ' ' => REPEATED_SPACE,
            ' ' | '\n' => 0,
            _ if c.is_ascii() && c == before => REPEATED_SIGN,
            _ if c.is_ascii() => SIGN,
            '\u{2e80}'.. if c.is_alphanumeric() => IDEOGRAPH,
            _ if c.is_alphanumeric() => FOREIGN_LETTER,
            '…' | '“' | '”' | '–' | '—' | '→' | '·' => PARTS,
            _ => SYMBOL,
        };
        before = c;
        rest = &rest[length..];
    }
    cost
}

/// Returns the length, in bytes, of the run that begins with `c`: digits, or letters up to the next
/// capital after a small letter. Any other character is a separate run.
fn run_length(text: &str, c: char) -> usize {
    let bytes = text.as_bytes();
    if c.is_ascii_digit() {
        return bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    }
    if !c.is_ascii_alphabetic() {
        return c.len_utf8();
    }
    let is_next = |pair: &&[u8]| {
        pair[1].is_ascii_alphabetic()
            && !(pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
    };
    1 + bytes.windows(2).take_while(is_next).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_costs_its_length_and_code_costs_more() {
        let prose =
            "The pool was full, so I raised the limit to twenty and ran all the tests again";
        assert_eq!(cost(prose), prose.len());
        let code = "fn(&mut self.x[0], !a->b, {\"k\": 0x3f2a9c10}) => 17/4*2;";
        assert!(cost(code) > 3 * code.len() / 2, "{}", cost(code));
        assert!(parts("readHTTPHeader") > parts("readhttpheader"));
        assert!(cost("支持全文搜索") > 18);
        assert_eq!(cost(""), 0);
    }
}
