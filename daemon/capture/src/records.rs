//! The records of a transcript, which a format builds as text with one record per line.

use std::{
    collections::VecDeque,
    io::{self, BufWriter, Seek, Write},
    path::Path,
};

use serde::{Deserialize, Serialize};
use tempfile::SpooledTempFile;

use crate::store::FileStamp;

/// How an agent stores a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// A file with one record per line, to which the agent appends.
    Lines,
    /// A file of lines that is compressed with Zstandard. The agent does not append to it.
    Compressed,
    /// A file that the agent rewrites as a whole; `Format::records_of` returns its records.
    Document,
    /// A database or a folder of small files, from which the format creates the records at each
    /// opening.
    Assembled,
}

/// A builder of the records of [`Storage::Assembled`] transcripts.
pub trait RecordSource: Sync {
    /// Returns a state of the transcript that changes when the transcript has more records.
    ///
    /// # Errors
    ///
    /// `NotFound` when the transcript does not exist.
    fn stamp(&self, path: &Path) -> io::Result<FileStamp>;

    /// Writes the records, and returns the state that the transcript had before they were read. A
    /// later call must write the same records again, followed by new records, unless the agent
    /// changed a record that the agent had marked as finished.
    ///
    /// If `text` has an anchor and the transcript is unchanged before the anchor, calls
    /// [`RecordText::begin_at_anchor`] and writes only the records from the anchor on.
    fn write_records(&self, path: &Path, text: &mut RecordText) -> io::Result<FileStamp>;
}

/// A position in the records of a [`Storage::Assembled`] transcript. The records after the anchor
/// can be built without the records before it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Anchor {
    /// The offset of the record at the anchor.
    pub offset: u64,
    /// The source of the record, in the format's own notation.
    pub row: String,
}

/// Records, one per line.
pub struct RecordText {
    writer: BufWriter<SpooledTempFile>,
    /// The offset of the first record.
    base: u64,
    /// The offset of the next record.
    end: u64,
    /// The anchor from an earlier reading, if any.
    earlier_anchor: Option<Anchor>,
    /// Number of bytes after which no more records are accepted.
    limit: u64,
    /// The last positions from which a later reading may begin.
    anchors: VecDeque<Anchor>,
}

impl Default for RecordText {
    fn default() -> RecordText {
        RecordText::after(None)
    }
}

impl RecordText {
    pub(crate) fn after(earlier_anchor: Option<Anchor>) -> RecordText {
        let writer = BufWriter::new(SpooledTempFile::new(IN_MEMORY));
        RecordText {
            writer,
            base: 0,
            end: 0,
            earlier_anchor,
            limit: u64::MAX,
            anchors: VecDeque::new(),
        }
    }

    /// Creates a text that accepts no more records after `limit` bytes.
    pub(crate) fn limited(limit: u64) -> RecordText {
        RecordText { limit, ..RecordText::default() }
    }

    /// Adds a record, which contains no newline.
    ///
    /// # Errors
    ///
    /// Also fails when the text is full, so that the caller stops.
    pub fn add(&mut self, record: &str) -> io::Result<()> {
        if self.is_full() {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.end += record.len() as u64 + 1;
        self.writer.write_all(record.as_bytes())?;
        self.writer.write_all(b"\n")
    }

    /// Removes all records.
    pub fn clear(&mut self) {
        let limit = self.limit;
        *self = RecordText { limit, ..RecordText::after(self.earlier_anchor.take()) };
    }

    pub(crate) fn is_full(&self) -> bool {
        self.end >= self.limit
    }

    /// Returns the anchor from an earlier reading, at which the records may begin.
    pub fn anchor(&self) -> Option<&Anchor> {
        self.earlier_anchor.as_ref()
    }

    /// Notes that the first added record will be the record at the anchor.
    pub fn begin_at_anchor(&mut self) {
        self.base = self.earlier_anchor.as_ref().map_or(0, |anchor| anchor.offset);
        self.end = self.base;
    }

    /// Notes that the next record can be built from `row`, without the records before it.
    pub fn mark(&mut self, row: String) {
        if self.anchors.len() == ANCHORS {
            self.anchors.pop_front();
        }
        self.anchors.push_back(Anchor { offset: self.end, row });
    }

    pub(crate) fn finish(self) -> io::Result<AssembledText> {
        let mut text = self.writer.into_inner().map_err(io::IntoInnerError::into_error)?;
        text.rewind()?;
        let is_before_end = |anchor: &Anchor| anchor.offset + ANCHOR_DISTANCE <= self.end;
        let earlier_anchor = self.earlier_anchor.filter(|_| self.base > 0);
        let anchor = self.anchors.into_iter().rfind(is_before_end).or(earlier_anchor);
        Ok(AssembledText { text, base: self.base, anchor })
    }
}

/// The finished text of a [`RecordText`].
pub(crate) struct AssembledText {
    pub(crate) text: SpooledTempFile,
    pub(crate) base: u64,
    pub(crate) anchor: Option<Anchor>,
}

/// Maximum length, in bytes, of a text that is kept in memory. A longer text is written to an
/// unnamed temporary file.
pub(crate) const IN_MEMORY: usize = 8 << 20;
/// Maximum number of kept anchors. The latest anchor that is far enough from the end is used.
const ANCHORS: usize = 8;
/// Minimum distance, in bytes, between an anchor and the position of a reader. These bytes are
/// compared to detect changes.
pub(crate) const ANCHOR_DISTANCE: u64 = 64;
/// Maximum length, in bytes, of a line. A longer line is skipped. The limit is ten times the
/// longest line that was reported.
pub const LONGEST_LINE: usize = 48 << 20;
