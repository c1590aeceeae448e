//! Splits bytes into lines of limited length, for the async daemon and the blocking client.

/// Maximum length, in bytes, of a line without its newline. The limit is high enough for most
/// requests, because a hook sends the path of a transcript and not its text, and long answers are
/// split into pages. With recall, a hook also sends the prompt; the daemon does not accept the
/// event of a longer prompt.
pub const LONGEST: usize = 4 << 20;

/// Splits a stream of bytes into lines. The default limits a line to [`LONGEST`] bytes.
#[derive(Debug)]
pub struct LineSplitter {
    /// Maximum length, in bytes, of a line without its newline.
    limit: usize,
    pending: Vec<u8>,
    /// The number of bytes of `pending` that were searched for a newline.
    searched: usize,
}

/// The error for a line that is longer than this limit in bytes, by default [`LONGEST`]. The rest of
/// the connection cannot be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a line is longer than {0} bytes")]
pub struct LineTooLong(pub usize);

impl Default for LineSplitter {
    fn default() -> LineSplitter {
        LineSplitter::with_limit(LONGEST)
    }
}

impl LineSplitter {
    /// Creates a splitter for lines of at most `limit` bytes, without their newlines.
    pub fn with_limit(limit: usize) -> LineSplitter {
        LineSplitter { limit, pending: Vec::new(), searched: 0 }
    }

    /// Appends bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
    }

    /// Returns the next complete line, without its `\n` or `\r\n`. Returns `None` if there is no
    /// complete line yet.
    pub fn next_line(&mut self) -> Result<Option<Vec<u8>>, LineTooLong> {
        let newline = self.pending[self.searched..].iter().position(|byte| *byte == b'\n');
        let Some(newline) = newline else {
            self.searched = self.pending.len();
            let is_too_long = self.searched > self.limit;
            return if is_too_long { Err(LineTooLong(self.limit)) } else { Ok(None) };
        };
        let end = self.searched + newline;
        if end > self.limit {
            return Err(LineTooLong(self.limit));
        }
        let rest = self.pending.split_off(end + 1);
        let mut line = std::mem::replace(&mut self.pending, rest);
        self.searched = 0;
        line.pop();
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        Ok(Some(line))
    }

    /// Returns the number of bytes after the last line that was returned.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// Whether there are bytes after the last line that was returned.
    pub fn is_within_line(&self) -> bool {
        !self.pending.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_complete_for_all_sizes_of_pieces() {
        let text = b"{\"a\":1}\n\r\nlast\r\n";
        for size in 1..text.len() {
            let mut lines = LineSplitter::default();
            let mut found = Vec::new();
            for bytes in text.chunks(size) {
                lines.push(bytes);
                while let Some(line) = lines.next_line().unwrap() {
                    found.push(String::from_utf8(line).unwrap());
                }
            }
            assert_eq!(found, ["{\"a\":1}", "", "last"], "in pieces of {size}");
            assert!(!lines.is_within_line());
        }
    }

    #[test]
    fn a_line_without_end_is_refused() {
        let mut lines = LineSplitter::default();
        lines.push(&vec![b'x'; LONGEST]);
        assert_eq!(lines.next_line(), Ok(None));
        assert!(lines.is_within_line());
        lines.push(b"xx");
        assert_eq!(lines.next_line(), Err(LineTooLong(LONGEST)));
    }

    #[test]
    fn a_line_that_is_too_long_is_refused_even_when_it_ends() {
        let mut lines = LineSplitter::default();
        lines.push(&vec![b'x'; LONGEST + 1]);
        lines.push(b"\n");
        assert_eq!(lines.next_line(), Err(LineTooLong(LONGEST)));
    }
}
