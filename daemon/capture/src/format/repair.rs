//! Repairs invalid JSON: control characters and unknown escapes inside strings, and unpaired
//! surrogates.

use std::borrow::Cow;

/// A text whose strings are valid JSON.
pub(crate) struct RepairedJson {
    pub(crate) text: String,
    pub(crate) changes: Repairs,
}

/// For each change, the positions after it: in the repaired text, and in the original text.
#[derive(Default)]
pub(crate) struct Repairs(Vec<(usize, usize)>);

impl Repairs {
    /// Converts a position in the repaired text into the position in the original text.
    pub(crate) fn original(&self, repaired: usize) -> usize {
        let before = self.0.partition_point(|(place, _)| *place <= repaired);
        let (place, original) = before.checked_sub(1).map_or((0, 0), |last| self.0[last]);
        original + (repaired - place)
    }
}

/// Repairs `record`, which may contain several strings.
pub(crate) fn repair(record: &str) -> RepairedJson {
    let mut repaired = RepairedJson {
        text: String::with_capacity(record.len() + 16),
        changes: Repairs::default(),
    };
    let mut in_string = false;
    let mut rest = record;
    while let Some(c) = rest.chars().next() {
        let (taken, kept): (usize, Cow<'_, str>) = match c {
            '"' => {
                in_string = !in_string;
                (1, Cow::Borrowed("\""))
            }
            '\\' if in_string => escape(rest),
            c if in_string && (c as u32) < 0x20 => (1, Cow::Owned(format!("\\u{:04x}", c as u32))),
            c => (c.len_utf8(), Cow::Borrowed(&rest[..c.len_utf8()])),
        };
        let changed = *kept != rest[..taken];
        repaired.text.push_str(&kept);
        rest = &rest[taken..];
        if changed {
            repaired.changes.0.push((repaired.text.len(), record.len() - rest.len()));
        }
    }
    repaired
}

/// Returns the length of the escape sequence at the start of `text`, and its replacement.
fn escape(text: &str) -> (usize, Cow<'_, str>) {
    match text.as_bytes() {
        [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => {
            (2, Cow::Borrowed(&text[..2]))
        }
        [b'\\', b'u', ..] => match unit(text) {
            Some(0xd800..=0xdbff) => match text.get(6..).and_then(unit) {
                Some(0xdc00..=0xdfff) => (12, Cow::Borrowed(&text[..12])),
                _ => (6, Cow::Borrowed("\\ufffd")),
            },
            Some(0xdc00..=0xdfff) => (6, Cow::Borrowed("\\ufffd")),
            Some(_) => (6, Cow::Borrowed(&text[..6])),
            None => (1, Cow::Borrowed("\\\\")),
        },
        _ => (1, Cow::Borrowed("\\\\")),
    }
}

/// Returns the number in a `\uXXXX` at the start of `text`.
fn unit(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits
        .bytes()
        .all(|byte| byte.is_ascii_hexdigit())
        .then(|| u32::from_str_radix(digits, 16).ok())?
}
