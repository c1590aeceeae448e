//! Values in a sibling field of the field with the name: `{"Name": "/db/password", "Value": "…"}`,
//! `"db_password": {"sensitive": true, "value": "…"}`.

use memchr::memmem;

use crate::assignment::marks;

/// Maximum number of fields between the name and the value.
const FIELDS: usize = 6;

/// Maximum number of bytes before the name that are searched for the start of its object.
const REACH: usize = 400;

/// Maximum length, in bytes, of a string between the name and the value.
const STRING: usize = 200;

/// Maximum number of spaces and line breaks between two tokens.
const BLANKS: usize = 80;

/// Returns the length of the text between a name and the value: in a later field of the same
/// object, or in a field of the object that the name denotes. `after_name` begins with the quote
/// that closes the name.
pub(super) fn later(after_name: &[u8]) -> Option<usize> {
    if !after_name.first().is_some_and(|byte| b"\"'`\\&%".contains(byte)) {
        return None;
    }
    let quote = marks::quote(after_name)?;
    let at = after(after_name, quote, b',').or_else(|| {
        let colon = after(after_name, quote, b':')?;
        after(after_name, colon, b'{')
    })?;
    value_field(after_name, at, after_name.len())
}

/// Returns the start of the value in a field before the name at `name_start`, if the name is the
/// value of `name` or `key`.
pub(super) fn earlier(text: &[u8], name_start: usize) -> Option<usize> {
    let floor = name_start.saturating_sub(REACH);
    // A name may end a path: `/prod/db/password`.
    let path = text[floor..name_start].iter().rev();
    let path = path.take_while(|byte| is_key(**byte) || b"/.".contains(byte)).count();
    let before = text[floor..name_start - path].strip_suffix(b"\"")?;
    let field = before.trim_ascii_end().strip_suffix(b":")?.trim_ascii_end();
    let keys: [&[u8]; 4] = [b"\"name\"", b"\"Name\"", b"\"key\"", b"\"Key\""];
    if !keys.iter().any(|key| field.ends_with(key)) {
        return None;
    }
    let open = before.iter().rposition(|byte| *byte == b'{')?;
    value_field(text, floor + open + 1, name_start)
}

/// Reads fields from `at` and returns the start of the value of a field such as `value`.
fn value_field(text: &[u8], mut at: usize, end: usize) -> Option<usize> {
    for _ in 0..FIELDS {
        at = blanks(text, at);
        let quote = marks::quote(&text[at..])?;
        let key_start = at + quote;
        let key = text[key_start..].iter().take(24).take_while(|byte| is_key(**byte)).count();
        let key = &text[key_start..key_start + key];
        at = key_start + key.len();
        at += marks::quote(&text[at..])?;
        at = blanks(text, after(text, at, b':')?);
        if at >= end {
            return None;
        }
        if is_value_key(key) {
            return marks::quote(&text[at..]).map(|_| at);
        }
        at = after(text, at + simple_value(&text[at..])?, b',')?;
    }
    None
}

fn is_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-".contains(&byte)
}

fn is_value_key(key: &[u8]) -> bool {
    let keys: [&[u8]; 5] = [b"value", b"parametervalue", b"outputvalue", b"default", b"val"];
    keys.iter().any(|known| key.eq_ignore_ascii_case(known))
}

/// Returns the length of a string, a word, a number, or a short list of them.
fn simple_value(text: &[u8]) -> Option<usize> {
    if let Some(quote) = marks::quote(text) {
        // The string ends at the mark that opened it: it may contain an apostrophe.
        let limit = text.len().min(quote + STRING);
        let length = memmem::find(&text[quote..limit], &text[..quote])?;
        return Some(quote + length + quote);
    }
    if let Some(rest) = text.strip_prefix(b"[").or_else(|| text.strip_prefix(b"{")) {
        let length = rest.iter().take(200).take_while(|byte| !b"]}[{".contains(byte)).count();
        return matches!(rest.get(length), Some(b']' | b'}')).then_some(length + 2);
    }
    let length = text.iter().take(24).take_while(|byte| is_key(**byte) || **byte == b'.').count();
    (length > 0).then_some(length)
}

fn blanks(text: &[u8], at: usize) -> usize {
    at + text[at..].iter().take(BLANKS).take_while(|byte| byte.is_ascii_whitespace()).count()
}

/// Returns the position after `sign`, which may follow blanks.
fn after(text: &[u8], at: usize, sign: u8) -> Option<usize> {
    let at = blanks(text, at);
    (text.get(at) == Some(&sign)).then_some(at + 1)
}
