//! Checks a file that grows while it is read.

use std::io::Write;

use graphitid::capture::{
    salvage::is_whole,
    tail::{FileCursor, Tail, TailLine, line_at},
};

pub(super) const WORDS: &[&str] = &["{}", "{}\n", "{\"a\":1}", "\n\n", "}"];

/// Checks a file that is written in two parts; the first byte determines the length of the first
/// part.
pub(super) fn check(bytes: &[u8]) {
    let Some((cut, bytes)) = bytes.split_first() else { return };
    let cut = bytes.len() * usize::from(*cut) / 255;
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    let mut cursor = FileCursor::default();
    let mut found = Vec::new();
    for piece in [&bytes[..cut], &bytes[cut..]] {
        file.write_all(piece).expect("write the file");
        let (mut tail, _) = Tail::open(file.path(), &cursor).expect("the file exists");
        loop {
            let start = tail.cursor().offset;
            match tail.next_line(&is_whole).expect("the file can be read") {
                Some(TailLine::Whole(line)) => found.push((start, line.to_vec())),
                Some(TailLine::TooLong(_)) => panic!("no line is that long"),
                None => break,
            }
        }
        let marked = tail.mark();
        // Between two readings, the cursor is stored as JSON.
        let stored = serde_json::to_string(&marked).expect("a cursor is written as JSON");
        cursor = serde_json::from_str(&stored).expect("a stored cursor can be read");
        assert_eq!(cursor, marked);
    }
    let read = usize::try_from(cursor.offset).expect("a short file");
    let joined: Vec<u8> = found.iter().flat_map(|(_, line)| line.clone()).collect();
    let wanted: Vec<u8> = bytes[..read].iter().copied().filter(|byte| *byte != b'\n').collect();
    assert_eq!(joined, wanted, "reading in pieces gives another text");
    assert!(!bytes[read..].contains(&b'\n'), "a complete line was not read");
    // A line that was returned can be read again, unless it was returned before it was complete.
    if bytes.get(..cut).is_none_or(|first| first.is_empty() || first.ends_with(b"\n")) {
        for (start, line) in found.iter().filter(|(_, line)| !line.is_empty()) {
            let again = line_at(file.path(), *start).expect("the file can be read");
            assert_eq!(again.as_ref(), Some(line));
        }
    }
}
