//! Estimates the number of tokens of a text.

/// Returns an upper estimate for current tokenizers. English prose and code have fewer tokens than
/// estimated; text in other scripts and dense data have about the estimated number. Long random
/// strings (base64) may have up to twice the estimated number.
///
/// The estimate is based on these numbers. A token has about 4 English letters with older
/// tokenizers, and 3 with the tokenizers of Claude 4.7 and later, which count about 30 % more. A
/// token has one or two digits or punctuation characters. A character of two bytes is a third to
/// two thirds of a token, a character of three bytes (CJK) is one to one and a half tokens, and an
/// emoji is up to three tokens.
pub fn estimate(text: &str) -> u32 {
    let sixths: u64 = text.chars().map(sixths_of_a_token).sum();
    u32::try_from(sixths.div_ceil(6)).unwrap_or(u32::MAX)
}

/// Returns the longest start of `text` that has at most `tokens` tokens by [`estimate`].
pub fn prefix(text: &str, tokens: u32) -> &str {
    let mut left = u64::from(tokens) * 6;
    for (at, c) in text.char_indices() {
        let cost = sixths_of_a_token(c);
        if cost > left {
            return &text[..at];
        }
        left -= cost;
    }
    text
}

/// Returns an upper limit of tokens for an answer of `chars` characters: one token for two
/// characters, which is more than English needs, plus a constant.
pub fn for_answer(chars: u32) -> u32 {
    (chars / 2).saturating_add(200)
}

fn sixths_of_a_token(c: char) -> u64 {
    match c.len_utf8() {
        1 if c.is_ascii_alphabetic() || c.is_ascii_whitespace() => 2,
        1 => 5,
        2 => 4,
        3 => 9,
        _ => 18,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_are_between_the_number_of_tokens_and_twice_this_number() {
        // The number counts words and runs of punctuation; in Japanese, characters.
        for (text, pieces) in [
            ("The quick brown fox jumps over the lazy dog.", 10),
            ("fn main() {\n    println!(\"{}\", 1 + 2);\n}\n", 15),
            ("Привет, как дела?", 6),
            ("今日はいい天気ですね。", 11),
            ("{\"a\": [1, 2, 3], \"b\": null}", 17),
        ] {
            let estimated = estimate(text);
            assert!((pieces..=pieces * 2).contains(&estimated), "{text}: {estimated} for {pieces}");
        }
        assert_eq!(estimate(""), 0);
        assert_eq!(estimate("a"), 1);
    }

    #[test]
    fn a_prefix_has_at_most_the_requested_number_of_tokens() {
        let text = "abcdefg 語語 🎉 end";
        for tokens in 0..20 {
            let cut = prefix(text, tokens);
            assert!(estimate(cut) <= tokens && text.starts_with(cut), "{tokens}: {cut}");
        }
        assert_eq!(prefix(text, 100), text);
        assert_eq!(prefix(text, 0), "");
    }
}
