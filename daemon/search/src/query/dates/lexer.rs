//! Splits a text into the words and numbers that dates consist of.

use std::ops::Range;

/// A word, a number, or a date in digits.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Lexeme<'t> {
    /// The text in lower case, for comparisons.
    pub(super) text: String,
    pub(super) raw: &'t str,
    pub(super) span: Range<usize>,
}

/// Splits `text` at every character that is neither letter nor digit, but keeps digits that are
/// joined by `-`, `/`, `.` or `:` together.
pub(super) fn lexemes(text: &str) -> Vec<Lexeme<'_>> {
    let mut found = Vec::new();
    let mut rest = text.char_indices().peekable();
    while let Some((start, c)) = rest.next() {
        if !c.is_alphanumeric() {
            continue;
        }
        let mut end = start + c.len_utf8();
        while let Some(&(at, c)) = rest.peek() {
            let joins = c.is_alphanumeric()
                || (matches!(c, '-' | '/' | '.' | ':') && between_digits(text, at));
            if !joins {
                break;
            }
            end = at + c.len_utf8();
            rest.next();
        }
        let raw = &text[start..end];
        found.push(Lexeme { text: raw.to_lowercase(), raw, span: start..end });
    }
    found
}

/// Replaces `-` and `_` by spaces (`last-week`, `3_days_ago`), except between two digits.
pub(super) fn spaced(text: &str) -> String {
    let is_join =
        |at: usize| matches!(text.as_bytes()[at], b'-' | b'_') && !between_digits(text, at);
    text.char_indices().map(|(at, c)| if c.is_ascii() && is_join(at) { ' ' } else { c }).collect()
}

fn between_digits(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    at > 0 && bytes[at - 1].is_ascii_digit() && bytes.get(at + 1).is_some_and(u8::is_ascii_digit)
}
