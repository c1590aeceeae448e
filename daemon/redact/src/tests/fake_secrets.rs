//! Invented secrets, assembled at run time so that no secret scanner reports this source.

use crate::{Redactor, scan::MARK};

/// Builds a secret from its template: `{a36}` is 36 letters and digits, see [`letters`]; `{u}` is a
/// UUID; `|` is removed and only splits well-known prefixes in this source.
pub(super) fn secret(template: &str, seed: u64) -> String {
    let mut rng = TestRng(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut built = String::new();
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        let close = open + rest[open..].find('}').expect("every `{` of a template has a `}`");
        built.push_str(&rest[..open].replace('|', ""));
        let (class, length) = rest[open + 1..close].split_at(1);
        match class {
            "u" => built.push_str(&rng.uuid()),
            _ => {
                let length = length.parse().expect("a class is followed by a length");
                let letters = letters(class).as_bytes();
                built.extend((0..length).map(|_| char::from(rng.draw(letters))));
            }
        }
        rest = &rest[close + 1..];
    }
    built + &rest.replace('|', "")
}

fn letters(class: &str) -> &'static str {
    match class {
        "a" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
        "A" => "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
        "l" => "abcdefghijklmnopqrstuvwxyz0123456789",
        "L" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
        "h" => "0123456789abcdef",
        "H" => "0123456789ABCDEF",
        "n" => "0123456789",
        "2" => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
        "b" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        "w" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-",
        _ => panic!("no such class: {class}"),
    }
}

/// A small deterministic generator: every run uses the same secrets.
pub(super) struct TestRng(pub(super) u64);

impl TestRng {
    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }

    pub(super) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    fn draw(&mut self, letters: &[u8]) -> u8 {
        letters[self.below(letters.len())]
    }

    fn uuid(&mut self) -> String {
        let mut hex = |count: usize| -> String {
            (0..count).map(|_| char::from(self.draw(b"0123456789abcdef"))).collect()
        };
        format!("{}-{}-4{}-a{}-{}", hex(8), hex(4), hex(3), hex(3), hex(12))
    }
}

/// Returns the first eight consecutive bytes of `secret` (all of it, if it is shorter) that are
/// still in `text` outside of the replacements.
pub(super) fn find_leak<'s>(text: &str, secret: &'s str) -> Option<&'s str> {
    let mut text = text.to_owned();
    while let Some(start) = text.find(MARK) {
        let end = text[start..].find(']').map_or(text.len(), |length| start + length + 1);
        text.replace_range(start..end, "\u{1}");
    }
    let length = secret.len().min(8);
    (0..=secret.len() - length)
        .filter_map(|at| secret.get(at..at + length))
        .find(|piece| text.contains(piece))
}

/// Checks that exactly the secret, which is `¤` in the text, is replaced.
#[track_caller]
pub(super) fn assert_replaced(planted: &[(&str, &str)]) {
    let redactor = Redactor::new();
    let mut missed = Vec::new();
    for (secret, context) in planted {
        let (before, after) = context.split_once('¤').expect("each text has a secret");
        let text = context.replace('¤', secret);
        let redacted = redactor.redact(&text).text.into_owned();
        let mark = redacted
            .strip_prefix(before)
            .and_then(|rest| rest.strip_suffix(after))
            .filter(|mark| mark.starts_with(MARK) && mark.ends_with(']'));
        if mark.is_none() {
            missed.push(format!("{text:?} -> {redacted:?}"));
        }
    }
    assert!(missed.is_empty(), "{} missed:\n{}", missed.len(), missed.join("\n"));
}

#[track_caller]
pub(super) fn assert_kept(texts: &[&str]) {
    let redactor = Redactor::new();
    let changed: Vec<String> = texts
        .iter()
        .map(|text| (text, redactor.redact(text).text))
        .filter(|(text, redacted)| redacted != *text)
        .map(|(text, redacted)| format!("{text:?} -> {redacted:?}"))
        .collect();
    assert!(changed.is_empty(), "{} changed:\n{}", changed.len(), changed.join("\n"));
}
