//! Text without the control sequences of a terminal, such as colours, which may split a secret or
//! separate it from its name.

use std::ops::Range;

use memchr::memchr;

/// The byte that begins a control sequence.
const ESCAPE: u8 = 0x1B;

pub(super) struct PlainText {
    pub(super) text: String,
    /// The parts of the text between control sequences. Each entry contains the position of a part
    /// in this text, and the position of the same part in the original text.
    parts: Vec<(usize, usize)>,
}

impl PlainText {
    /// Removes the control sequences of `text`; `None` if it has none.
    pub(super) fn of(text: &str) -> Option<PlainText> {
        let bytes = text.as_bytes();
        let mut next = memchr(ESCAPE, bytes)?;
        let mut plain = PlainText { text: String::with_capacity(text.len()), parts: Vec::new() };
        let mut at = 0;
        loop {
            plain.parts.push((plain.text.len(), at));
            plain.text.push_str(&text[at..next]);
            if next == text.len() {
                return Some(plain);
            }
            at = next + sequence_length(&bytes[next..]);
            next = memchr(ESCAPE, &bytes[at..]).map_or(text.len(), |length| at + length);
        }
    }

    /// Returns the range of the original text for a range of this text. The returned range does not
    /// begin or end with a control sequence.
    pub(super) fn original(&self, range: Range<usize>) -> Range<usize> {
        self.position(range.start)..self.position(range.end.saturating_sub(1)) + 1
    }

    fn position(&self, at: usize) -> usize {
        let part = self.parts.partition_point(|(start, _)| *start <= at).saturating_sub(1);
        self.parts.get(part).map_or(at, |(start, original)| original + at - start)
    }
}

/// Returns the length of the control sequence at the start of `bytes`: a `CSI` sequence such as
/// `ESC [ 1 ; 31 m`, or the escape character alone.
fn sequence_length(bytes: &[u8]) -> usize {
    if bytes.get(1) != Some(&b'[') {
        return 1;
    }
    let parameters = bytes[2..].iter().take_while(|byte| (0x20..0x40).contains(*byte)).count();
    match bytes.get(2 + parameters) {
        Some(0x40..=0x7E) => 3 + parameters,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_of_the_plain_text_is_found_in_the_original() {
        let text = "a\u{1b}[1;31mPASS\u{1b}[0m=\u{1b}[32mhun\u{1b}[Kter2\u{1b}[0m\u{1b}x é\u{1b}[3";
        let plain = PlainText::of(text).unwrap();
        assert_eq!(plain.text, "aPASS=hunter2x é[3");
        for (part, wanted) in [
            ("PASS", "PASS"),
            ("hunter2", "hun\u{1b}[Kter2"),
            ("aPASS", "a\u{1b}[1;31mPASS"),
            ("é", "é"),
        ] {
            let start = plain.text.find(part).unwrap();
            assert_eq!(&text[plain.original(start..start + part.len())], wanted, "{part}");
        }
        assert!(PlainText::of("no colours").is_none());
    }
}
