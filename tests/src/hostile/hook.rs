//! Checks the input of hooks.

use std::io::{BufReader, Read};

use graphiti_proto::methods::hook::{HookEvent, LONGEST_EVENT};

pub(super) const WORDS: &[&str] = &[
    "\"hook_event_name\":\"SessionEnd\"",
    "\"session_id\":\"",
    "\"transcript_path\":null",
    "\"reason\":\"clear\"",
    "\"source\":\"startup\"",
    "PreCompact",
    "\"cwd\":\"/work\"",
    "\u{feff}",
    "{}{}",
];

/// A reader that returns one byte at a time.
struct Slow<'b>(&'b [u8]);

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let (Some(into), Some((first, rest))) = (buffer.first_mut(), self.0.split_first()) else {
            return Ok(0);
        };
        *into = *first;
        self.0 = rest;
        Ok(1)
    }
}

pub(super) fn check(bytes: &[u8]) {
    let whole = HookEvent::first(BufReader::new(bytes));
    let in_pieces = HookEvent::first(BufReader::new(Slow(bytes)));
    assert_eq!(whole, in_pieces, "reading in pieces gives another event");
    let Some(event) = whole else { return };
    let reason = event.close_reason();
    assert!(
        reason.len() <= 37 && reason.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'),
        "{reason}"
    );
    // The spool stores an event as JSON, if it is not too long.
    let stored = serde_json::to_vec(&event).expect("an event is written as JSON");
    let read: HookEvent = serde_json::from_slice(&stored).expect("a stored event can be read");
    assert_eq!(read, event);
    assert!(stored.len() <= 8 * bytes.len() + 256 || stored.len() <= LONGEST_EVENT);
}
