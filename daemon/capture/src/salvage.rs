//! Reads the lines of a transcript, including lines that are not exactly one valid record.
//!
//! Real transcripts contain truncated records with the next record appended, two records without a
//! newline between them, runs of NUL, invalid UTF-8, and invalid escape sequences. Readable records
//! are read, and other records are counted. Damage in one line does not affect the next line.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use crate::{
    format::{Format, Memory, RecordVerdict, repair::repair},
    model::transcript::Entry,
    redact::Redactor,
    store::Tally,
};

/// Maximum number of bytes that are examined in a damaged line, as a multiple of the line's length.
const PASSES: usize = 16;
/// Maximum number of distinct types of skipped records. Further types are counted as [`OTHER`].
const KINDS: usize = 64;
/// Maximum length, in bytes, of a type.
const KIND: usize = 64;
const OTHER: &str = "other";

/// Reads one line of a transcript and counts the result in `tally`.
pub fn read_line(
    format: &dyn Format,
    line: &[u8],
    memory: &mut Memory,
    tally: &mut Tally,
    emit: &mut dyn FnMut(Entry<'_>),
) {
    // Nearly all lines are valid UTF-8, and this check is faster than a lossy conversion.
    let text = match std::str::from_utf8(line) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(line),
    };
    let is_repaired = matches!(text, Cow::Owned(_));
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    if text.is_empty() {
        return;
    }
    match format.read(text, memory, emit) {
        Ok(verdict) => {
            note(tally, verdict);
            tally.repaired += u64::from(is_repaired);
        }
        Err(_) => read_records(format, text, memory, tally, emit),
    }
}

/// Whether a last line without a newline is a complete record.
pub fn is_whole(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.ends_with(b"}")
        && std::str::from_utf8(line)
            .is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok())
}

/// Reads each record in `text`.
fn read_records(
    format: &dyn Format,
    text: &str,
    memory: &mut Memory,
    tally: &mut Tally,
    emit: &mut dyn FnMut(Entry<'_>),
) {
    let starts = starts(format, text);
    let mut work = PASSES * text.len();
    let mut from = 0;
    while from < text.len() {
        let rest = &text[from..];
        let next = starts[starts.partition_point(|start| *start <= from)..].first();
        let next = next.copied().unwrap_or(text.len());
        let found = if work == 0 { None } else { first_record(rest) };
        work = work.saturating_sub(rest.len());
        let read = found.and_then(|(record, length)| {
            let verdict = format.read(&record, memory, emit).ok()?;
            Some((verdict, length))
        });
        from = match read {
            Some((verdict, length)) => {
                note(tally, verdict);
                tally.repaired += 1;
                let behind = &text[from + length..];
                text.len()
                    - behind.trim_start_matches(|c: char| c.is_whitespace() || c == '\0').len()
            }
            None => {
                tally.broken += 1;
                tally.broken_bytes += (next - from) as u64;
                next
            }
        };
    }
}

/// Returns the JSON object at the start of `text`, repaired if necessary, and its length in `text`
/// in bytes.
fn first_record(text: &str) -> Option<(Cow<'_, str>, usize)> {
    if !text.starts_with('{') {
        return None;
    }
    if let Some(length) = first_value(text) {
        return Some((Cow::Borrowed(&text[..length]), length));
    }
    let repaired = repair(text);
    let length = first_value(&repaired.text)?;
    let mut record = repaired.text;
    record.truncate(length);
    Some((Cow::Owned(record), repaired.changes.original(length)))
}

/// Returns the length of the JSON value at the start of `text`.
fn first_value(text: &str) -> Option<usize> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    values.next()?.ok()?;
    Some(values.byte_offset())
}

/// Returns the positions in `text` where records may start, except the first byte.
fn starts(format: &dyn Format, text: &str) -> Vec<usize> {
    let mut starts: Vec<usize> = format
        .record_starts()
        .iter()
        .flat_map(|start| memchr::memmem::find_iter(text.as_bytes(), start.as_bytes()))
        .filter(|at| *at > 0)
        .collect();
    starts.sort_unstable();
    starts
}

fn note(tally: &mut Tally, verdict: RecordVerdict) {
    match verdict {
        RecordVerdict::Read => tally.read += 1,
        RecordVerdict::Skipped(mut kind) => {
            kind.truncate(kind.floor_char_boundary(KIND));
            let is_known = tally.skipped.contains_key(&kind);
            let is_below_limit = tally.skipped.len() < KINDS;
            let kind = match is_known {
                true => kind,
                // The type is stored and may be arbitrary text, so it is redacted.
                false if is_below_limit => Redactor::new().redact(&kind).text.into_owned(),
                false => OTHER.to_owned(),
            };
            *tally.skipped.entry(kind).or_default() += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{format::claude::Claude, model::transcript::Item};

    fn prompt(text: &str) -> String {
        format!(r#"{{"type":"user","message":{{"content":"{text}"}}}}"#)
    }

    /// Returns the prompts in `line`, and the number of read, repaired and damaged records.
    fn read(line: impl AsRef<[u8]>) -> (Vec<String>, [u64; 3]) {
        let (mut memory, mut tally) = (Memory::default(), Tally::default());
        let mut prompts = Vec::new();
        read_line(&Claude, line.as_ref(), &mut memory, &mut tally, &mut |entry| {
            if let Item::Prompt(text) = entry.item {
                prompts.push(text.into_owned());
            }
        });
        (prompts, [tally.read, tally.repaired, tally.broken])
    }

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn a_complete_record_needs_no_repair() {
        assert_eq!(read(prompt("hello")), (texts(&["hello"]), [1, 0, 0]));
        assert_eq!(read(""), (texts(&[]), [0, 0, 0]));
        assert_eq!(read("\0\0\0"), (texts(&[]), [0, 0, 0]));
    }

    #[test]
    fn two_records_on_one_line_are_both_read() {
        let line = prompt("one") + &prompt("two");
        assert_eq!(read(line), (texts(&["one", "two"]), [2, 2, 0]));
    }

    #[test]
    fn a_record_directly_after_a_truncated_record_is_read() {
        let line = prompt("lost for good")[..40].to_owned() + &prompt("found");
        assert_eq!(read(line), (texts(&["found"]), [1, 1, 1]));
        let repaired = prompt("lost")[..40].to_owned() + &prompt(r"a \q") + &prompt("b");
        assert_eq!(read(repaired), (texts(&[r"a \q", "b"]), [2, 2, 1]));
    }

    #[test]
    fn a_record_quoted_in_a_text_is_not_a_record() {
        let inner = prompt("inner");
        let quoted = inner.replace('"', "\\\"");
        let line = prompt(&quoted) + "}";
        assert_eq!(read(line), (texts(&[&inner]), [1, 1, 1]));
    }

    #[test]
    fn an_adversarial_line_is_abandoned() {
        let line = r#"{"type":["#.repeat(200_000);
        let (prompts, [read, ..]) = read(line);
        assert_eq!((prompts, read), (texts(&[]), 0));
    }

    #[test]
    fn nul_bytes_are_removed() {
        let line = [b"\0\0\0".as_slice(), prompt("after").as_bytes()].concat();
        assert_eq!(read(line), (texts(&["after"]), [1, 0, 0]));
    }

    #[test]
    fn invalid_utf_8_is_replaced() {
        let line =
            [br#"{"type":"user","message":{"content":"a"#.as_slice(), b"\xff", br#"b"}}"#].concat();
        assert_eq!(read(line), (texts(&["a\u{fffd}b"]), [1, 1, 0]));
    }

    #[test]
    fn unknown_escapes_are_repaired() {
        for (written, meant) in [
            (r"C:\dev", r"C:\dev"),
            (r"\q \n.", "\\q \n."),
            (r"\q lone \ud800 here", "\\q lone \u{fffd} here"),
            (r"\q\udc00\ud83d\ude00", "\\q\u{fffd}\u{1F600}"),
            (r"cut \u12", r"cut \u12"),
            ("tab\there", "tab\there"),
        ] {
            assert_eq!(read(prompt(written)), (texts(&[meant]), [1, 1, 0]), "{written}");
        }
    }

    #[test]
    fn an_unpaired_surrogate_is_replaced() {
        assert_eq!(read(prompt(r"a \ud800 b")), (texts(&["a \u{fffd} b"]), [1, 0, 0]));
    }

    #[test]
    fn a_line_without_a_record_is_counted_with_its_bytes() {
        let mut tally = Tally::default();
        let line = b"not a record at all";
        read_line(&Claude, line, &mut Memory::default(), &mut tally, &mut |_| {});
        assert_eq!((tally.read, tally.broken, tally.broken_bytes), (0, 1, 19));
    }

    #[test]
    fn only_a_complete_record_may_lack_its_newline() {
        assert!(is_whole(prompt("done").as_bytes()));
        assert!(!is_whole(&prompt("done").as_bytes()[..30]));
        assert!(!is_whole(b"{\"a\":{}"));
    }
}
