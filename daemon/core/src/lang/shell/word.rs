//! Reads a word: removes its quotes and finds the scripts in it.
//!
//! The reader takes linear time. The function of brush-parser 0.3 (`brush_parser::word`) takes
//! exponential time for nested `${`: minutes for sixty bytes, as fuzzing has shown.

/// Maximum nesting of quotes and substitutions.
const DEEPEST: usize = 64;

/// The value of a word.
#[derive(Debug, Default, PartialEq)]
pub(super) struct UnquotedWord {
    /// The text without quotes. Expansions that are known only at run time stay as written, but
    /// each script becomes `$(...)`.
    pub(super) text: String,
    /// The contents of `$(...)` and backquotes, except those inside `${...}` or arithmetic.
    pub(super) scripts: Vec<String>,
}

/// Reads the word `written`; `None` if a quote or a substitution in it never ends.
pub(super) fn word(written: &str) -> Option<UnquotedWord> {
    WordReader { written, unquoted: UnquotedWord::default() }.read(Around::Nothing)
}

/// Reads the text of a here document in which substitutions are expanded.
pub(super) fn document(written: &str) -> Option<UnquotedWord> {
    WordReader { written, unquoted: UnquotedWord::default() }.read(Around::Document)
}

/// The text around a position, which determines the meaning of quotes and backslashes.
#[derive(Clone, Copy, PartialEq)]
enum Around {
    Nothing,
    Quotes,
    Document,
}

struct WordReader<'w> {
    written: &'w str,
    unquoted: UnquotedWord,
}

impl WordReader<'_> {
    fn read(mut self, mut around: Around) -> Option<UnquotedWord> {
        let bytes = self.written.as_bytes();
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            let is_bare = around == Around::Nothing;
            match byte {
                b'\\' => at = self.escaped(at, around)?,
                b'\'' if is_bare => {
                    let end = closing_quote(bytes, at + 1)?;
                    self.push_text(at + 1, end);
                    at = end + 1;
                }
                b'"' if around != Around::Document => {
                    around = if is_bare { Around::Quotes } else { Around::Nothing };
                    at += 1;
                }
                b'`' => {
                    let end = closing_backquote(bytes, at + 1)?;
                    self.unquoted.scripts.push(without_escapes(&self.written[at + 1..end]));
                    self.unquoted.text.push_str("$(...)");
                    at = end + 1;
                }
                b'$' => at = self.dollar(at, around)?,
                _ => {
                    let rest = &bytes[at..];
                    let next = rest.iter().position(|byte| b"\\'\"`$".contains(byte));
                    // A special character without a meaning in this context is text.
                    let end = at + next.unwrap_or(rest.len()).max(1);
                    self.push_text(at, end);
                    at = end;
                }
            }
        }
        (around != Around::Quotes).then_some(self.unquoted)
    }

    /// Handles a backslash at `at`; returns the next position.
    fn escaped(&mut self, at: usize, around: Around) -> Option<usize> {
        let letter = self.written[at + 1..].chars().next();
        let end = at + 1 + letter.map_or(0, char::len_utf8);
        match (letter, around) {
            (None, Around::Nothing) => return None,
            (Some('\n'), _) => {}
            (Some('$' | '`' | '\\'), _)
            | (Some('"'), Around::Quotes)
            | (Some(_), Around::Nothing) => {
                self.push_text(at + 1, end);
            }
            _ => self.push_text(at, end),
        }
        Some(end)
    }

    /// Handles the expansion that begins with the `$` at `at`; returns the next position.
    fn dollar(&mut self, at: usize, around: Around) -> Option<usize> {
        let bytes = self.written.as_bytes();
        let is_bare = around == Around::Nothing;
        let end = match bytes.get(at + 1) {
            Some(b'(') => {
                let end = closing(bytes, at + 2, b')', false, DEEPEST)?;
                let inner = &self.written[at + 2..end];
                if is_arithmetic(inner) {
                    self.push_text(at, end + 1);
                } else {
                    self.unquoted.scripts.push(inner.to_owned());
                    self.unquoted.text.push_str("$(...)");
                }
                return Some(end + 1);
            }
            Some(b'\'') if is_bare => {
                let end = closing_ansi_quote(bytes, at + 2)?;
                self.push_text(at + 2, end);
                return Some(end + 1);
            }
            // `$"..."` is text that is translated.
            Some(b'"') if is_bare => return Some(at + 1),
            Some(b'{') => closing(bytes, at + 2, b'}', !is_bare, DEEPEST)? + 1,
            Some(b'[') => closing(bytes, at + 2, b']', !is_bare, DEEPEST)? + 1,
            _ => at + 1,
        };
        self.push_text(at, end);
        Some(end)
    }

    fn push_text(&mut self, from: usize, to: usize) {
        // Both positions are character boundaries: beside an ASCII character, or after a whole
        // character.
        self.unquoted.text.push_str(self.written.get(from..to).unwrap_or_default());
    }
}

/// Whether a `$(...)` is arithmetic: `$((...))`.
fn is_arithmetic(inner: &str) -> bool {
    let bytes = inner.as_bytes();
    bytes.first() == Some(&b'(')
        && closing(bytes, 1, b')', false, DEEPEST).is_some_and(|end| end + 1 == bytes.len())
}

/// Returns the position of the bracket or quote `end`, which closes the bracket or quote before
/// `from`.
fn closing(bytes: &[u8], from: usize, end: u8, quoted: bool, depth: usize) -> Option<usize> {
    let deeper = depth.checked_sub(1)?;
    let is_text = end == b'"' || quoted;
    let mut at = from;
    loop {
        let byte = *bytes.get(at)?;
        at = match byte {
            _ if byte == end => return Some(at),
            b'\\' => at + 2,
            b'\'' if !is_text => closing_quote(bytes, at + 1)? + 1,
            b'"' => closing(bytes, at + 1, b'"', false, deeper)? + 1,
            b'`' => closing_backquote(bytes, at + 1)? + 1,
            b'$' => match bytes.get(at + 1) {
                Some(b'(') => closing(bytes, at + 2, b')', false, deeper)? + 1,
                Some(b'{') => closing(bytes, at + 2, b'}', is_text, deeper)? + 1,
                Some(b'[') => closing(bytes, at + 2, b']', is_text, deeper)? + 1,
                Some(b'\'') if !is_text => closing_ansi_quote(bytes, at + 2)? + 1,
                _ => at + 1,
            },
            b'(' if end == b')' => closing(bytes, at + 1, b')', false, deeper)? + 1,
            b'[' if end == b']' => closing(bytes, at + 1, b']', quoted, deeper)? + 1,
            b'#' if end == b')' && bytes[at - 1].is_ascii_whitespace() => {
                at + bytes[at..].iter().position(|byte| *byte == b'\n')?
            }
            _ => at + 1,
        };
    }
}

fn closing_quote(bytes: &[u8], from: usize) -> Option<usize> {
    bytes.get(from..)?.iter().position(|byte| *byte == b'\'').map(|at| from + at)
}

fn closing_ansi_quote(bytes: &[u8], from: usize) -> Option<usize> {
    unescaped(bytes, from, b'\'')
}

fn closing_backquote(bytes: &[u8], from: usize) -> Option<usize> {
    unescaped(bytes, from, b'`')
}

fn unescaped(bytes: &[u8], from: usize, end: u8) -> Option<usize> {
    let mut at = from;
    loop {
        match *bytes.get(at)? {
            b'\\' => at += 2,
            byte if byte == end => return Some(at),
            _ => at += 1,
        }
    }
}

/// Returns a script in backquotes without the backslashes that escape `$`, backquotes and
/// backslashes.
fn without_escapes(script: &str) -> String {
    let mut plain = String::with_capacity(script.len());
    let mut letters = script.chars().peekable();
    while let Some(letter) = letters.next() {
        let escaped = letters.next_if(|next| letter == '\\' && matches!(next, '$' | '`' | '\\'));
        plain.push(escaped.unwrap_or(letter));
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_removed_and_scripts_are_found() {
        for (written, text, scripts) in [
            ("plain", "plain", &[][..]),
            ("'a b'\"c d\"e\\ f", "a bc de f", &[]),
            ("\"a \\\"b\\\" \\$c \\d\"", "a \"b\" $c \\d", &[]),
            ("a\\\nb\"c\\\nd\"", "abcd", &[]),
            ("$'it\\'s'", "it\\'s", &[]),
            ("$\"hello\"", "hello", &[]),
            ("é'ü'\\ß\"ö\"", "éüßö", &[]),
            ("$x ${y} $1 $? $", "$x ${y} $1 $? $", &[]),
            ("${a:-'}'}b", "${a:-'}'}b", &[]),
            ("\"${a:-it's}\"", "${a:-it's}", &[]),
            ("\"${a[$((i + 1))]}\"x", "${a[$((i + 1))]}x", &[]),
            ("$((1 + (2 * 3)))", "$((1 + (2 * 3)))", &[]),
            ("$[a[1]]", "$[a[1]]", &[]),
            ("a$(b 'c)' \"d)\")e", "a$(...)e", &["b 'c)' \"d)\""]),
            ("\"$(a \"$(b)\")\"", "$(...)", &["a \"$(b)\""]),
            ("$((a); b)", "$(...)", &["(a); b"]),
            ("$(a # it's\n b)", "$(...)", &["a # it's\n b"]),
            ("`a \\`b\\` \\$c \\d`", "$(...)", &["a `b` $c \\d"]),
            ("$(a)`b`$(c)", "$(...)$(...)$(...)", &["a", "b", "c"]),
            ("\"'$(a)'\"", "'$(...)'", &["a"]),
        ] {
            let unquoted = word(written).unwrap_or_else(|| panic!("{written}"));
            assert_eq!(
                (unquoted.text.as_str(), &unquoted.scripts[..]),
                (text, &scripts_of(scripts)[..])
            );
        }
    }

    fn scripts_of(scripts: &[&str]) -> Vec<String> {
        scripts.iter().map(|script| (*script).to_owned()).collect()
    }

    #[test]
    fn a_word_without_an_end_has_no_value() {
        for written in
            ["'a", "\"a", "`a", "$(a", "${a", "$((a)", "$[a", "$'a", "\"$(\"", "a\\", "${a:-\"}"]
        {
            assert_eq!(word(written), None, "{written}");
        }
    }

    #[test]
    fn in_a_document_quotes_are_text() {
        let unquoted = document("don't \"$(date)\" \\$x \\\"\n`pwd`\\").unwrap();
        assert_eq!(unquoted.text, "don't \"$(...)\" $x \\\"\n$(...)\\");
        assert_eq!(unquoted.scripts, ["date", "pwd"]);
    }

    #[test]
    fn hostile_words_are_read_quickly() {
        let opens = [
            "${b[",
            "${b[x=y}f",
            "${a:-",
            "${a/${b[",
            "$((",
            "$(",
            "\"$(",
            "\"${",
            "`",
            "$[",
            "${b[(",
            "'",
            "\"",
            "\\",
            "(",
            "$'",
            "\"${a:-'",
        ];
        for open in opens {
            for close in ["", "]}", ")", "}", "\"", "))"] {
                for count in [1, 7, 63, 64, 65, 20_000] {
                    let written = format!("{}x{}", open.repeat(count), close.repeat(count));
                    word(&written);
                    document(&written);
                }
            }
        }
        assert!(word(&format!("{}x{}", "$(".repeat(60), ")".repeat(60))).is_some());
    }
}
