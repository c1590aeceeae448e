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
    assert_eq!(whole, in_pieces, "read in pieces as a whole");
    let Some(event) = whole else { return };
    let word = event.close_reason();
    assert!(
        word.len() <= 37 && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'),
        "{word}"
    );
    // The spool stores an event that is not too long, and returns it unchanged.
    let kept = serde_json::to_vec(&event).expect("an event is written as JSON");
    let read: HookEvent = serde_json::from_slice(&kept).expect("what was kept is read");
    assert_eq!(read, event);
    assert!(kept.len() <= 8 * bytes.len() + 256 || kept.len() <= LONGEST_EVENT);
}
