//! Checks transcripts of one agent. The first line is the name of the agent. If no agent has this
//! name, the first byte selects an agent.

use graphitid::capture::format::{FORMATS, Format, opencode::fuzzing};

use super::transcript::check_format;

pub(super) const WORDS: &[&str] = super::transcript::WORDS;

pub(super) fn check(bytes: &[u8]) {
    let end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let (first, lines) = (&bytes[..end], bytes.get(end + 1..).unwrap_or_default());
    let number = first.first().map_or(0, |byte| usize::from(*byte));
    let named = FORMATS.iter().find(|format| format.agent().as_bytes() == first);
    let format: &dyn Format = *named.unwrap_or(&FORMATS[number % FORMATS.len()]);
    check_format(format, lines);
    let text = super::text(lines);
    if let Some(records) = format.records_of(&text) {
        check_format(format, records.join("\n").as_bytes());
    }
    if format.database().is_some() {
        check_rows(format, &text);
    }
}

/// Checks that later rows of a database add records and do not change earlier ones.
fn check_rows(format: &dyn Format, text: &str) {
    let rows: Vec<&str> = text.lines().collect();
    for version in fuzzing::VERSIONS {
        let records = fuzzing::records(version, &rows);
        assert!(records.iter().all(|record| !record.contains('\n')), "a record is one line");
        let ends = fuzzing::ends(version, &rows);
        if let Some(end) = ends.get(ends.len() / 2) {
            let earlier = fuzzing::records(version, &rows[..*end]);
            assert!(records.starts_with(&earlier), "{records:?} do not start with {earlier:?}");
        }
        check_format(format, records.join("\n").as_bytes());
    }
}
