//! Reads the new lines of a file, with memory that does not depend on the size of the file.
//!
//! A [`FileCursor`] stores the position and checksums, so that a truncated or replaced file is
//! detected and read again from the start.

use std::{
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom},
    path::Path,
};

use serde::{Deserialize, Serialize};

use crate::{
    records::{ANCHOR_DISTANCE, Anchor, LONGEST_LINE},
    storage::{self, OpenTranscript},
    store::FileStamp,
};

/// Number of bytes per read.
const CHUNK: usize = 256 << 10;
/// Number of bytes of the first read. Most files are short.
const FIRST: usize = 32 << 10;
/// Number of bytes at the start of a file that identify it.
const HEAD: u64 = 512;
/// Number of bytes before the cursor that must be unchanged in a file of lines. Many lines end with
/// the same text. Fewer bytes could therefore be equal in a file that was truncated and has grown
/// again.
const BEFORE: u64 = HEAD;

/// The position up to which a file was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileCursor {
    /// Number of bytes that were read: always the offset of a line's start or of the file's end.
    pub offset: u64,
    /// Number of lines that were read.
    pub line: u64,
    /// Checksum of the first bytes, at most [`HEAD`].
    head: Checksum,
    /// Checksum of the last bytes before `offset`.
    before: Checksum,
    /// For a transcript in a database or in small files: the position from which lines can be built
    /// without the earlier lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    anchor: Option<Anchor>,
}

/// A checksum and the number of bytes that it covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Checksum {
    bytes: u64,
    checksum: u32,
}

/// An open file, with the position of a cursor.
pub struct Tail {
    file: OpenTranscript,
    cursor: FileCursor,
    buffer: Vec<u8>,
    /// The part of `buffer` that was read from the file and not yet returned.
    filled: std::ops::Range<usize>,
    at_end: bool,
    edges: TextEdges,
}

/// The first and the last bytes before the cursor, as they were read. The file may have been
/// truncated since then, so its current content may differ from the lines that were read.
struct TextEdges {
    /// At most [`HEAD`] bytes; `None` if the content does not begin with the first line.
    head: Option<Vec<u8>>,
    before: Vec<u8>,
    /// Maximum number of bytes in `before`.
    limit: usize,
}

/// Whether a file matches the cursor of an earlier reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resumed {
    /// The bytes before the cursor are unchanged: reading continues after them.
    Continued,
    /// A file of lines is shorter than before: reading starts again.
    Truncated {
        /// Whether the file begins as before.
        has_same_start: bool,
    },
    /// The file was replaced, or bytes before the cursor changed: reading starts again.
    FromStart,
}

#[derive(Debug, PartialEq, Eq)]
pub enum TailLine<'a> {
    /// The bytes of the line without the newline. The last line of a file may have no newline.
    Whole(&'a [u8]),
    /// The line is longer than [`LONGEST_LINE`]. Contains the number of skipped bytes.
    TooLong(u64),
}

impl Tail {
    /// Opens the file at `path` at the position of `cursor`, or at the start of the file if the
    /// cursor does not match the file.
    pub fn open(path: &Path, cursor: &FileCursor) -> io::Result<(Tail, Resumed)> {
        let mut file = storage::open_from(path, cursor.anchor())?;
        if !file.has_start() && !cursor.matches_file(&mut file)? {
            return Tail::open_whole(path, cursor);
        }
        Tail::resume(file, cursor)
    }

    /// Opens the file as [`Tail::open`] does, but with all lines, so that [`Tail::rewind`] is
    /// possible.
    pub fn open_whole(path: &Path, cursor: &FileCursor) -> io::Result<(Tail, Resumed)> {
        Tail::resume(storage::open(path)?, cursor)
    }

    fn resume(mut file: OpenTranscript, cursor: &FileCursor) -> io::Result<(Tail, Resumed)> {
        let resumed = if cursor.matches_file(&mut file)? {
            Resumed::Continued
        } else if file.is_file_of_lines() && file.length()? < cursor.offset {
            Resumed::Truncated { has_same_start: cursor.head.matches(&mut file, 0)? }
        } else {
            Resumed::FromStart
        };
        let cursor = match resumed {
            Resumed::Continued => cursor.clone(),
            Resumed::Truncated { .. } | Resumed::FromStart => FileCursor::default(),
        };
        let edges = TextEdges::at(&mut file, cursor.offset)?;
        file.seek(SeekFrom::Start(cursor.offset))?;
        let tail = Tail { file, cursor, buffer: Vec::new(), filled: 0..0, at_end: false, edges };
        Ok((tail, resumed))
    }

    /// Returns the position after the returned lines. A position that is stored must come from
    /// [`Tail::mark`], which updates the checksums.
    pub fn cursor(&self) -> &FileCursor {
        &self.cursor
    }

    /// Returns the cursor with checksums of the lines that were read. A file that was truncated
    /// while it was read does not match this cursor.
    pub fn mark(&mut self) -> FileCursor {
        if let Some(head) = &self.edges.head {
            self.cursor.head = Checksum::of(head);
        }
        self.cursor.before = Checksum::of(&self.edges.before);
        self.cursor.anchor = self.file.anchor().cloned();
        self.cursor.clone()
    }

    /// Moves to the start of the file, which [`Tail::open_whole`] must have opened. Then reads the
    /// opened file even if the agent has put another file at its path.
    pub fn rewind(&mut self) -> io::Result<()> {
        self.file.rewind()?;
        self.cursor = FileCursor::default();
        self.filled = 0..0;
        self.at_end = false;
        let limit = self.edges.limit;
        self.edges = TextEdges { head: Some(Vec::new()), before: Vec::new(), limit };
        Ok(())
    }

    /// See [`OpenTranscript::stamp`].
    pub fn stamp(&self) -> io::Result<FileStamp> {
        self.file.stamp()
    }

    /// Returns the next line.
    ///
    /// A last line without a newline may be incomplete and is returned only if `is_whole` accepts
    /// it. Returns `None` at the end of the file.
    pub fn next_line(
        &mut self,
        is_whole: &dyn Fn(&[u8]) -> bool,
    ) -> io::Result<Option<TailLine<'_>>> {
        let mut searched = 0;
        loop {
            let pending = &self.buffer[self.filled.clone()];
            if let Some(newline) = memchr::memchr(b'\n', &pending[searched..]) {
                let end = searched + newline;
                return Ok(Some(self.take_line(end, end + 1)));
            }
            searched = pending.len();
            if searched > LONGEST_LINE {
                return self.skip_line().map(Some);
            }
            if self.at_end || !self.fill()? {
                self.at_end = true;
                let pending = &self.buffer[self.filled.clone()];
                if pending.is_empty() || !is_whole(pending) {
                    return Ok(None);
                }
                return Ok(Some(self.take_line(searched, searched)));
            }
        }
    }

    fn take_line(&mut self, length: usize, used: usize) -> TailLine<'_> {
        let start = self.filled.start;
        self.edges.add(&self.buffer[start..start + used]);
        self.filled.start += used;
        self.cursor.offset += used as u64;
        self.cursor.line += 1;
        TailLine::Whole(&self.buffer[start..start + length])
    }

    /// Reads more bytes into the buffer; returns `false` at the end of the file.
    fn fill(&mut self) -> io::Result<bool> {
        let pending = self.filled.len();
        let is_full = self.filled.end == self.buffer.len();
        if self.filled.start > 0 {
            self.buffer.copy_within(self.filled.clone(), 0);
            self.filled = 0..pending;
        }
        // After a very long line, the buffer shrinks to its usual size.
        if pending <= CHUNK && self.buffer.len() > 8 * CHUNK {
            self.buffer.truncate(2 * CHUNK);
            self.buffer.shrink_to_fit();
        }
        if self.buffer.is_empty() {
            self.buffer.resize(FIRST, 0);
        } else if is_full && self.buffer.len() < pending + CHUNK {
            self.buffer.resize(
                (pending + CHUNK).max(self.buffer.len() * 2).min(LONGEST_LINE + 2 * CHUNK),
                0,
            );
        }
        let read = self.file.read(&mut self.buffer[pending..])?;
        self.filled.end += read;
        Ok(read > 0)
    }

    /// Skips a line that is too long, up to its newline or the end of the file.
    fn skip_line(&mut self) -> io::Result<TailLine<'_>> {
        let mut passed = 0;
        loop {
            let pending = &self.buffer[self.filled.clone()];
            let (bytes, found) = match memchr::memchr(b'\n', pending) {
                Some(newline) => (newline + 1, true),
                None => (pending.len(), false),
            };
            passed += bytes as u64;
            self.edges.add(&self.buffer[self.filled.start..self.filled.start + bytes]);
            self.filled.start += bytes;
            if found || !self.fill()? {
                self.cursor.offset += passed;
                self.cursor.line += 1;
                return Ok(TailLine::TooLong(passed));
            }
        }
    }
}

impl FileCursor {
    /// Returns a cursor at the start of the file. The line numbers continue after the lines that
    /// were read.
    #[must_use]
    pub fn restarted(&self) -> FileCursor {
        FileCursor { line: self.line, ..FileCursor::default() }
    }

    fn matches_file(&self, file: &mut OpenTranscript) -> io::Result<bool> {
        if file.length()? < self.offset {
            return Ok(false);
        }
        // The stored cursor may be damaged. Without a checksum of the last bytes, any content of
        // this length would match.
        let Some(before) = self.offset.checked_sub(self.before.bytes) else { return Ok(false) };
        if self.offset > 0 && self.before.bytes == 0 {
            return Ok(false);
        }
        // If the content does not begin with the first line, the source of the lines has already
        // compared the earlier lines.
        let has_same_start = !file.has_start() || self.head.matches(file, 0)?;
        Ok(has_same_start && self.before.matches(file, before)?)
    }

    /// Returns the anchor if it precedes the bytes that the checksum `before` covers.
    fn anchor(&self) -> Option<&Anchor> {
        let before = self.offset.checked_sub(self.before.bytes)?;
        self.anchor.as_ref().filter(|anchor| anchor.offset <= before)
    }
}

impl TextEdges {
    /// Returns the first bytes of a file, and the last bytes before `offset`.
    fn at(file: &mut OpenTranscript, offset: u64) -> io::Result<TextEdges> {
        let head = match file.has_start() {
            true => Some(bytes_of(file, 0, HEAD.min(offset))?),
            false => None,
        };
        let limit = if file.is_file_of_lines() { BEFORE } else { ANCHOR_DISTANCE };
        let bytes = limit.min(offset);
        let before = bytes_of(file, offset - bytes, bytes)?;
        Ok(TextEdges { head, before, limit: limit as usize })
    }

    /// Adds the next bytes that were read.
    fn add(&mut self, bytes: &[u8]) {
        if let Some(head) = &mut self.head {
            let missing = (HEAD as usize).saturating_sub(head.len()).min(bytes.len());
            head.extend_from_slice(&bytes[..missing]);
        }
        let last = &bytes[bytes.len().saturating_sub(self.limit)..];
        let dropped = (self.before.len() + last.len()).saturating_sub(self.limit);
        self.before.drain(..dropped);
        self.before.extend_from_slice(last);
    }
}

impl Checksum {
    fn of(content: &[u8]) -> Checksum {
        Checksum { bytes: content.len() as u64, checksum: crc32fast::hash(content) }
    }

    fn matches(self, file: &mut OpenTranscript, from: u64) -> io::Result<bool> {
        let is_valid = self.bytes <= HEAD;
        Ok(self.bytes == 0 || is_valid && Checksum::of(&bytes_of(file, from, self.bytes)?) == self)
    }
}

/// Returns up to `bytes` bytes of a file from the offset `from` on.
fn bytes_of(file: &mut OpenTranscript, from: u64, bytes: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(from))?;
    let mut content = Vec::new();
    file.take(bytes).read_to_end(&mut content)?;
    Ok(content)
}

/// Returns the line that begins at byte `offset` of the file, without its newline. Returns `None`
/// if no line begins there any more, or if the line is empty or longer than [`LONGEST_LINE`].
pub fn line_at(path: &Path, offset: u64) -> io::Result<Option<Vec<u8>>> {
    let mut file = storage::open(path)?;
    if let Some(before) = offset.checked_sub(1) {
        file.seek(SeekFrom::Start(before))?;
        let mut newline = [0];
        if file.read(&mut newline)? == 0 || newline != *b"\n" {
            return Ok(None);
        }
    }
    let mut line = Vec::new();
    BufReader::new(file.take(LONGEST_LINE as u64 + 1)).read_until(b'\n', &mut line)?;
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    Ok((!line.is_empty() && line.len() <= LONGEST_LINE).then_some(line))
}

#[cfg(test)]
mod tests {
    use std::{fs::File, io::Write};

    use super::*;

    #[test]
    fn lines_are_returned_once_and_in_order() {
        let file = Transcript::new(b"one\ntwo\n");
        let mut cursor = FileCursor::default();
        assert_eq!(file.read(&mut cursor), ["one", "two"]);
        file.append(b"three\n\nfour");
        assert_eq!(file.read(&mut cursor), ["three", ""]);
        assert_eq!((cursor.offset, cursor.line), (15, 4));
        file.append(b"!\n");
        assert_eq!(file.read(&mut cursor), ["four!"]);
        assert_eq!(file.read(&mut cursor), [""; 0]);
    }

    #[test]
    fn a_last_line_without_newline_is_returned_when_it_is_complete() {
        let file = Transcript::new(b"one\n{done}");
        let mut cursor = FileCursor::default();
        assert_eq!(file.read(&mut cursor), ["one", "{done}"]);
        file.append(b"\n{more}");
        assert_eq!(file.read(&mut cursor), ["", "{more}"]);
    }

    #[test]
    fn a_line_longer_than_the_buffer_is_returned_completely() {
        let long = "x".repeat(3 * CHUNK + 17);
        let file = Transcript::new(format!("{long}\nshort\n").as_bytes());
        assert_eq!(file.read(&mut FileCursor::default()), [long.as_str(), "short"]);
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped() {
        let file = Transcript::new(b"a\n");
        file.append(&vec![b'x'; 2 * LONGEST_LINE]);
        file.append(b"\nb\n");
        let lines = file.read(&mut FileCursor::default());
        assert!(lines == ["a".to_owned(), format!("<{}>", 2 * LONGEST_LINE + 1), "b".to_owned()]);
    }

    #[test]
    fn a_truncated_file_is_recognised_and_read_from_its_start() {
        let file = Transcript::new(b"one\ntwo\nthree\n");
        let mut cursor = FileCursor::default();
        file.read(&mut cursor);
        for (content, has_same_start) in [("one\ntwo\n", false), ("", false)] {
            file.replace(content.as_bytes());
            let resumed = Tail::open(file.0.path(), &cursor).unwrap().1;
            assert_eq!(resumed, Resumed::Truncated { has_same_start }, "{content}");
        }
        let long = format!("{}\n", "x".repeat(HEAD as usize));
        let file = Transcript::new(format!("{long}two\n").as_bytes());
        file.read(&mut cursor);
        file.replace(long.as_bytes());
        let resumed = Tail::open(file.0.path(), &cursor).unwrap().1;
        assert_eq!(resumed, Resumed::Truncated { has_same_start: true });
        assert_eq!(file.read(&mut cursor), ["x".repeat(HEAD as usize)]);
    }

    /// Reads lines of a file, truncates the file before the cursor is marked, and lets it grow.
    #[test]
    fn a_file_that_is_truncated_while_it_is_read_does_not_match_its_cursor() {
        for rest in ["", "one\n"] {
            let file = Transcript::new(b"one\ntwo\nthree\n");
            let (mut tail, _) = Tail::open(file.0.path(), &FileCursor::default()).unwrap();
            while tail.next_line(&|_| false).unwrap().is_some() {}
            file.replace(rest.as_bytes());
            let cursor = tail.mark();
            assert_eq!((cursor.offset, cursor.line), (14, 3));
            let resumed = || Tail::open(file.0.path(), &cursor).unwrap().1;
            assert_eq!(resumed(), Resumed::Truncated { has_same_start: false }, "{rest}");
            file.append(b"another line that is longer than the old text\n");
            assert_eq!(resumed(), Resumed::FromStart, "{rest}");
        }
    }

    #[test]
    fn a_file_that_was_truncated_and_has_grown_beyond_its_old_length_is_read_again() {
        let start = format!("{}\n", "x".repeat(HEAD as usize));
        let file = Transcript::new(format!("{start}two\n").as_bytes());
        let mut cursor = FileCursor::default();
        file.read(&mut cursor);
        file.replace(format!("{start}2\n3\n4\n5\n").as_bytes());
        assert_eq!(Tail::open(file.0.path(), &cursor).unwrap().1, Resumed::FromStart);
        // The lines differ only in their ids, which are far from their ends.
        let line = |id: u8| format!("{{\"id\":{id},\"rest\":\"{}\"}}\n", "y".repeat(200));
        let file = Transcript::new(format!("{start}{}", line(1)).as_bytes());
        let mut cursor = FileCursor::default();
        file.read(&mut cursor);
        file.replace(format!("{start}{}{}", line(2), line(3)).as_bytes());
        assert_eq!(Tail::open(file.0.path(), &cursor).unwrap().1, Resumed::FromStart);
    }

    #[test]
    fn a_replaced_file_is_read_again() {
        for other in ["ONE\ntwo\nmore\n", "one\nTWO\nmore\n"] {
            let file = Transcript::new(b"one\ntwo\n");
            let mut cursor = FileCursor::default();
            file.read(&mut cursor);
            file.replace(other.as_bytes());
            assert_eq!(file.read(&mut cursor).join("\n") + "\n", other);
        }
    }

    #[test]
    fn a_file_that_was_rewritten_with_the_same_start_is_continued() {
        let file = Transcript::new(b"one\ntwo\n");
        let mut cursor = FileCursor::default();
        file.read(&mut cursor);
        file.replace(b"one\ntwo\nthree\n");
        assert_eq!(file.read(&mut cursor), ["three"]);
    }

    #[test]
    fn a_rewound_file_is_read_from_its_start() {
        let file = Transcript::new(b"one\n");
        let mut cursor = FileCursor::default();
        file.read(&mut cursor);
        file.append(b"two\nthree");
        let (mut tail, _) = Tail::open(file.0.path(), &cursor).unwrap();
        assert_eq!(tail.next_line(&|_| false).unwrap(), Some(TailLine::Whole(b"two")));
        tail.rewind().unwrap();
        assert_eq!(tail.next_line(&|_| false).unwrap(), Some(TailLine::Whole(b"one")));
        assert_eq!((tail.cursor().offset, tail.cursor().line), (4, 1));
    }

    #[test]
    fn a_line_is_found_by_its_offset() {
        let file = Transcript::new(b"one\ntwo\n\nthree");
        let at = |offset| {
            let line = line_at(file.0.path(), offset).unwrap();
            line.map(|line| String::from_utf8(line).unwrap())
        };
        assert_eq!([at(0), at(4), at(9)].map(Option::unwrap), ["one", "two", "three"]);
        assert_eq!([at(1), at(8), at(14), at(99)], [None, None, None, None]);
    }

    struct Transcript(tempfile::NamedTempFile);

    impl Transcript {
        fn new(content: &[u8]) -> Transcript {
            let file = Transcript(tempfile::NamedTempFile::new().unwrap());
            file.append(content);
            file
        }

        fn append(&self, content: &[u8]) {
            let mut file = File::options().append(true).open(self.0.path()).unwrap();
            file.write_all(content).unwrap();
        }

        fn replace(&self, content: &[u8]) {
            std::fs::write(self.0.path(), content).unwrap();
        }

        /// Reads to the end; formats a line that is too long as its length in angle brackets.
        fn read(&self, cursor: &mut FileCursor) -> Vec<String> {
            let (mut tail, _) = Tail::open(self.0.path(), cursor).unwrap();
            let mut lines = Vec::new();
            while let Some(line) = tail.next_line(&|line| line.ends_with(b"}")).unwrap() {
                lines.push(match line {
                    TailLine::Whole(bytes) => String::from_utf8(bytes.to_vec()).unwrap(),
                    TailLine::TooLong(bytes) => format!("<{bytes}>"),
                });
            }
            *cursor = tail.mark();
            lines
        }
    }
}
