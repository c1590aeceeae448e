//! Finds the end of a value.

use std::ops::Range;

use memchr::{memchr, memchr2};

use crate::assignment::marks;

/// Maximum number of bytes of a literal, an element's content or a YAML block that are read.
/// Session tokens of cloud providers have about 2,000 bytes.
pub(super) const LONGEST: usize = 8_192;

/// Maximum number of bytes that are read of the line before a value.
const LINE: usize = 120;

/// Maximum length, in bytes, of a value that [`enclosed`] finds, including the closing quote.
const ENCLOSED: usize = 200;

/// Maximum number of bytes of a password after a sign that may end a value.
const TAIL: usize = 64;

/// How an unquoted value is delimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// The value is in code, markup or a URL: any separator ends it.
    Narrow,
    /// The value is a setting or a command argument, and ends with the word. Characters such as `&`
    /// and `<` are part of the value unless a pair, a tag or a command follows them. The value also
    /// ends at the given quote, which was opened before the name.
    Word(Option<u8>),
}

/// Calls that wrap a literal: `String::from("…")`, `[]byte("…")`, `Some("…")`.
#[rustfmt::skip]
const WRAPPERS: &[&str] = &[
    "Buffer.from(", "Just(", "Ok(", "Secret(", "SecretStr(", "SecretString::from(",
    "SecretString::new(", "Some(", "String(", "String::from(", "[]byte(", "bytes(", "new String(",
    "new Buffer(", "str(", "Secret::new(", "SecretBox::new(", "std::string(",
];

/// Returns the content of the string literal at `at`. One of [`WRAPPERS`] and a prefix (`r"…"`) may
/// precede the quote.
pub(super) fn literal(text: &[u8], at: usize) -> Option<Range<usize>> {
    let wrapper = WRAPPERS.iter().find(|wrapper| text[at..].starts_with(wrapper.as_bytes()));
    let at = at + wrapper.map_or(0, |wrapper| wrapper.len());
    let is_prefix = |byte: &&u8| b"bBrRuUfFlL@$#".contains(byte);
    let prefix = text[at..].iter().take(3).take_while(is_prefix).count();
    let open = at + prefix;
    let length = marks::quote(&text[open..])?;
    let mark = &text[open..open + length];
    let mut start = open + length;
    if text[start..].starts_with(mark) {
        let is_triple = text[start + length..].starts_with(mark);
        start += if is_triple { length * 2 } else { return None };
    } else if text[start..].starts_with(b"\n") || text[start..].starts_with(b"\r\n") {
        // This is the closing quote of a text that contains the name: `'Password: '`.
        return None;
    }
    Some(start..closing(text, start, mark))
}

/// Returns the end of the literal that `mark` opened: the position of the same mark with the same
/// escaping, or the end of the line if the literal is not closed.
fn closing(text: &[u8], start: usize, mark: &[u8]) -> usize {
    let region = limited(text, start);
    let last = mark[mark.len() - 1];
    let escapes = mark.len() - 1;
    let is_plain = mark[..escapes].iter().all(|byte| *byte == b'\\');
    let mut from = 0;
    while let Some(found) = memchr(last, &region[from..]) {
        let at = from + found;
        let begins = (at + 1).saturating_sub(mark.len());
        let before = region[..at].iter().rev().take_while(|byte| **byte == b'\\').count();
        let closes = match escapes {
            0 => before % 2 == 0,
            _ if is_plain => before == escapes,
            _ => region[begins..].starts_with(mark),
        };
        if closes {
            return start + begins;
        }
        from = at + 1;
    }
    let line = &region[..memchr(b'\n', region).unwrap_or(region.len())];
    start + line.strip_suffix(b"\r").unwrap_or(line).len()
}

/// Returns the end of an element's content: the start of the closing tag, or the end of a truncated
/// text; `None` if another tag or a line break comes first.
pub(super) fn element_end(text: &[u8], at: usize) -> Option<usize> {
    let region = limited(text, at);
    let Some(length) = memchr2(b'<', b'\n', region) else { return Some(at + region.len()) };
    region[length..].starts_with(b"</").then_some(at + length)
}

/// Returns the value between `at` and the closing quote, if the opening quote is before the name:
/// `-e "NAME=some words"`. The value must have several words and neither `=` nor a backslash.
pub(super) fn enclosed(text: &[u8], at: usize, quote: u8) -> Option<Range<usize>> {
    let region = &text[at..text.len().min(at + ENCLOSED)];
    let length = memchr2(quote, b'\n', region).filter(|length| region[*length] == quote)?;
    let value = &region[..length];
    let has_words = value.contains(&b' ') && !value.contains(&b'=') && !value.contains(&b'\\');
    has_words.then_some(at..at + length)
}

/// Returns the end of an unquoted value, reading at most `limit` bytes.
pub(super) fn bare_end(text: &[u8], at: usize, limit: usize, reach: Reach) -> usize {
    let region = &text[at..text.len().min(at + limit)];
    let ends = |index: usize| match reach {
        Reach::Narrow => ends_expression(region, index),
        Reach::Word(quote) => ends_word(region, index, quote),
    };
    let end = (0..region.len()).find(|index| ends(*index)).unwrap_or(region.len());
    let line = line_start(&text[at.saturating_sub(LINE)..at]);
    let is_opened = |opener: u8| reach == Reach::Narrow || line.contains(&opener);
    // The dots of an abbreviated key (`sk-...`) are part of the value.
    if reach != Reach::Narrow && region[..end].ends_with(b"...") {
        return at + end;
    }
    at + trim_closers(&region[..end], is_opened)
}

/// Returns the length of the part of an unquoted password after a sign that may end a value, as in
/// `Tr0ub4dor&3`, `Tr0ub4dor;3` and `Tr0ub"4dor`. The part ends with the word, and is neither a
/// pair such as `name=value` nor an entity such as `&amp;`.
pub(super) fn tail(rest: &[u8]) -> usize {
    let Some(sign) = rest.first().filter(|byte| b"&;,\"'".contains(byte)) else { return 0 };
    let is_inner = |byte: &&u8| byte.is_ascii_alphanumeric() || b"!@#$%^*_+~?.-&".contains(byte);
    let length = 1 + rest[1..].iter().take(TAIL).take_while(is_inner).count();
    let inner = &rest[1..length];
    let is_suffix = *sign == b'\'' && inner.len() < 2;
    let is_end = match rest.get(length) {
        Some(b'\\') => matches!(rest.get(length + 1), Some(b'n' | b'r')),
        Some(quote @ (b'"' | b'\'' | b'`')) => !b"\",".contains(sign) && quote != sign,
        next => next.is_none_or(|byte| byte.is_ascii_whitespace() || b",)".contains(byte)),
    };
    let is_part = inner.first().is_some_and(u8::is_ascii_alphanumeric) && !is_suffix && is_end;
    let signs = inner.iter().rev().take_while(|byte| b".?-".contains(byte)).count();
    if is_part { length - signs } else { 0 }
}

fn ends_expression(region: &[u8], index: usize) -> bool {
    match region[index] {
        b'"' | b'\'' | b'`' | b'<' | b'>' | b'&' | b';' | b'|' => true,
        _ => ends_any(region, index),
    }
}

fn ends_word(region: &[u8], index: usize, quote: Option<u8>) -> bool {
    let next = region.get(index + 1).copied().unwrap_or(b' ');
    let is_last = next.is_ascii_whitespace() || matches!(next, b'"' | b'\'' | b'`' | b'\\');
    match region[index] {
        byte if Some(byte) == quote => true,
        b'"' | b'\'' | b'`' => true,
        b'&' | b';' => is_last || next == region[index] || is_pair(&region[index + 1..]),
        b'|' => is_last || next == b'|',
        b'<' => is_last || matches!(next, b'/' | b'<' | b'('),
        b'>' => is_last || matches!(next, b'<' | b'>' | b'&'),
        _ => ends_any(region, index),
    }
}

fn ends_any(region: &[u8], index: usize) -> bool {
    match region[index] {
        byte if byte.is_ascii_whitespace() => true,
        b'\\' => matches!(region.get(index + 1), Some(b'n' | b'r' | b't' | b'"' | b'\\' | b'\'')),
        b'%' => region[index..].starts_with(b"%26") && is_encoded_pair(&region[index + 3..]),
        // A comma ends the value only before another pair or argument.
        b',' => is_next_pair(&region[index + 1..]),
        _ => false,
    }
}

/// Whether the text after a comma is empty or begins with a space, `name=` or `name:`.
fn is_next_pair(text: &[u8]) -> bool {
    let name = name_length(text, b"_-. ");
    text.is_empty() || text[0] == b' ' || (name > 0 && matches!(text.get(name), Some(b'=' | b':')))
}

/// Whether `name%3D` follows.
fn is_encoded_pair(text: &[u8]) -> bool {
    let name = name_length(text, b"_-.");
    name > 0 && text[name..].starts_with(b"%3D")
}

/// Whether `name=` follows.
fn is_pair(text: &[u8]) -> bool {
    let name = name_length(text, b"_-.");
    name > 0 && text.get(name) == Some(&b'=')
}

fn name_length(text: &[u8], joints: &[u8]) -> usize {
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || joints.contains(byte);
    text.iter().take(40).take_while(is_name).count()
}

/// Returns the length without the punctuation of the surrounding sentence or code. A closing
/// bracket is part of the value if its opening bracket is in the value, or if no opening bracket
/// precedes the value (`is_opened` is false).
fn trim_closers(value: &[u8], is_opened: impl Fn(u8) -> bool) -> usize {
    let mut length = value.len();
    while let Some(last) = value[..length].last() {
        let opener = match last {
            b')' => b'(',
            b']' => b'[',
            b'}' => b'{',
            b',' | b'.' | b':' => 0,
            b'*' if value[..length].ends_with(b"**") => 0,
            _ => break,
        };
        if opener != 0 && (value[..length].contains(&opener) || !is_opened(opener)) {
            break;
        }
        length -= 1;
    }
    length
}

/// Returns the lines of a YAML block scalar (`|`, `>-`, …) whose indicator is at `at` and whose
/// name begins at `name_start`.
pub(super) fn block(text: &[u8], name_start: usize, at: usize) -> Option<Range<usize>> {
    let sign =
        text[at..].iter().take(3).take_while(|byte| b"|>+-0123456789".contains(byte)).count();
    let is_sign = sign > 0 && matches!(text[at], b'|' | b'>');
    let line = at + sign + newline(&text[at + sign..])?;
    let floor = name_start.saturating_sub(80);
    let indent =
        line_start(&text[floor..name_start]).iter().take_while(|byte| **byte == b' ').count();
    let first = indentation(&text[line..]);
    if !is_sign || first <= indent {
        return None;
    }
    let start = line + first;
    let mut end = start;
    let limit = text.len().min(start + LONGEST);
    while end < limit {
        end += line_length(&text[end..limit]);
        let Some(next) = newline(&text[end..limit]) else { break };
        if indentation(&text[end + next..limit]) < first {
            break;
        }
        end += next;
    }
    (end > start).then_some(start..end)
}

/// Returns the last line of `before`; an escaped `\n` also starts a line.
pub(super) fn line_start(before: &[u8]) -> &[u8] {
    let real = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let written = before.windows(2).rposition(|pair| pair == b"\\n").map_or(0, |at| at + 2);
    &before[real.max(written)..]
}

/// Returns the length of the line break at the start of `text`.
fn newline(text: &[u8]) -> Option<usize> {
    [&b"\n"[..], b"\r\n", b"\\n", b"\\r\\n"]
        .iter()
        .find(|newline| text.starts_with(newline))
        .map(|newline| newline.len())
}

fn line_length(text: &[u8]) -> usize {
    let line = &text[..memchr(b'\n', text).unwrap_or(text.len())];
    let line = &line[..line.windows(2).position(|pair| pair == b"\\n").unwrap_or(line.len())];
    let line = line.strip_suffix(b"\\r").unwrap_or(line);
    memchr2(b'"', b'\r', line).unwrap_or(line.len())
}

fn indentation(text: &[u8]) -> usize {
    text.iter().take(80).take_while(|byte| **byte == b' ').count()
}

fn limited(text: &[u8], at: usize) -> &[u8] {
    &text[at..text.len().min(at + LONGEST)]
}
