//! Opens a transcript as text with one record per line, for each form in which agents store it.
//!
//! All later stages read lines at offsets. Only this module distinguishes whether the lines are in
//! a file, are compressed, are derived from a document that the agent rewrites as a whole, or are
//! built from a database or small files.

use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};

use tempfile::SpooledTempFile;

use crate::{
    format::{FORMATS, Format},
    open::{file_stamp, open_file},
    records::{Anchor, AssembledText, IN_MEMORY, LONGEST_LINE, RecordSource, RecordText, Storage},
    store::FileStamp,
};

/// Maximum length, in bytes, of decompressed text, so that a file cannot fill the disk.
const LONGEST_TEXT: u64 = 16 << 30;
/// Maximum length, in bytes, of a document, which is read as a whole.
const LONGEST_DOCUMENT: u64 = LONGEST_LINE as u64;

pub struct OpenTranscript {
    content: TranscriptContent,
    /// The offset of the first byte of the content.
    base: u64,
    /// The position from which the next reading can build the records.
    anchor: Option<Anchor>,
    storage: Storage,
    /// The state of the file when it was opened.
    opened: FileStamp,
}

enum TranscriptContent {
    File(File),
    Text(SpooledTempFile),
}

/// Opens the transcript at `path` for reading, at its start.
///
/// # Errors
///
/// `NotFound` for a path that is not a regular file; `InvalidData` for a document that is damaged,
/// incomplete or too long.
pub fn open(path: &Path) -> io::Result<OpenTranscript> {
    open_from(path, None)
}

/// Opens the transcript at `path` as [`open`] does. The content of a [`Storage::Assembled`]
/// transcript begins at `anchor` if the transcript is unchanged before the anchor.
pub(crate) fn open_from(path: &Path, anchor: Option<&Anchor>) -> io::Result<OpenTranscript> {
    let (format, storage) = storage_of(path);
    if let Some(source) = assembled(format, storage) {
        let mut text = RecordText::after(anchor.cloned());
        let opened = source.write_records(path, &mut text)?;
        let AssembledText { text, base, anchor } = text.finish()?;
        return Ok(OpenTranscript {
            content: TranscriptContent::Text(text),
            base,
            anchor,
            storage,
            opened,
        });
    }
    let file = open_file(path)?;
    let opened = stamp_of(&file.metadata()?, storage);
    let content = match (storage, format) {
        (Storage::Compressed, _) => TranscriptContent::Text(decompressed(file)?),
        (Storage::Document, Some(format)) => {
            TranscriptContent::Text(records_of_document(format, file)?)
        }
        (Storage::Lines | Storage::Document | Storage::Assembled, _) => {
            TranscriptContent::File(file)
        }
    };
    Ok(OpenTranscript { content, base: 0, anchor: None, storage, opened })
}

/// Opens the transcript at `path` as [`open`] does. A [`Storage::Assembled`] transcript may end
/// after `limit` bytes.
///
/// # Errors
///
/// See [`open`].
pub fn open_head(path: &Path, limit: u64) -> io::Result<OpenTranscript> {
    let (format, storage) = storage_of(path);
    let Some(source) = assembled(format, storage) else { return open(path) };
    let opened = source.stamp(path)?;
    let mut text = RecordText::limited(limit);
    match source.write_records(path, &mut text) {
        Err(error) if !text.is_full() => return Err(error),
        _ => {}
    }
    let content = TranscriptContent::Text(text.finish()?.text);
    Ok(OpenTranscript { content, base: 0, anchor: None, storage, opened })
}

/// Returns the state of a transcript without reading its records.
///
/// # Errors
///
/// If the transcript does not exist, [`is_missing`] accepts the error.
pub fn stamp(path: &Path) -> io::Result<FileStamp> {
    let (format, storage) = storage_of(path);
    match assembled(format, storage) {
        Some(source) => source.stamp(path),
        None => Ok(stamp_of(&fs::symlink_metadata(path)?, storage)),
    }
}

/// Whether the transcript at `path` exists, even if it cannot be read now.
pub fn exists(path: &Path) -> bool {
    !stamp(path).is_err_and(|error| is_missing(&error))
}

/// Whether an error of [`stamp`] means that the transcript does not exist.
pub fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

impl OpenTranscript {
    /// Returns the current state of a file of lines. For any other transcript, returns the state
    /// that the transcript had when it was opened.
    pub fn stamp(&self) -> io::Result<FileStamp> {
        match &self.content {
            TranscriptContent::File(file) => Ok(stamp_of(&file.metadata()?, self.storage)),
            TranscriptContent::Text(_) => Ok(self.opened),
        }
    }

    /// Whether the agent appends lines to this file, and does not rewrite it as a whole.
    pub(crate) fn is_file_of_lines(&self) -> bool {
        self.storage == Storage::Lines
    }

    /// Returns the number of bytes of all lines of the transcript.
    pub fn length(&mut self) -> io::Result<u64> {
        match &mut self.content {
            TranscriptContent::File(file) => Ok(file.metadata()?.len()),
            TranscriptContent::Text(text) => Ok(self.base + text.seek(SeekFrom::End(0))?),
        }
    }

    /// Whether the content begins at the first line of the transcript.
    pub(crate) fn has_start(&self) -> bool {
        self.base == 0
    }

    /// Returns the position from which the next records can be built without earlier records.
    pub(crate) fn anchor(&self) -> Option<&Anchor> {
        self.anchor.as_ref()
    }
}

impl Read for OpenTranscript {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.content {
            TranscriptContent::File(file) => file.read(buffer),
            TranscriptContent::Text(text) => text.read(buffer),
        }
    }
}

impl Seek for OpenTranscript {
    /// # Errors
    ///
    /// `InvalidInput` for a position before the content.
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        let text = match &mut self.content {
            TranscriptContent::File(file) => return file.seek(position),
            TranscriptContent::Text(text) => text,
        };
        let position = match position {
            SeekFrom::Start(offset) => {
                let offset = offset.checked_sub(self.base).ok_or(io::ErrorKind::InvalidInput)?;
                SeekFrom::Start(offset)
            }
            relative => relative,
        };
        Ok(self.base + text.seek(position)?)
    }
}

/// Returns how the transcript at `path` is stored, and the format that claims it.
fn storage_of(path: &Path) -> (Option<&'static dyn Format>, Storage) {
    let format = FORMATS.iter().copied().find(|format| format.claims(path));
    (format, format.map_or(Storage::Lines, |format| format.storage(path)))
}

/// Returns the source of the records of a [`Storage::Assembled`] transcript.
fn assembled(
    format: Option<&'static dyn Format>,
    storage: Storage,
) -> Option<&'static dyn RecordSource> {
    format.filter(|_| storage == Storage::Assembled)?.record_source()
}

fn decompressed(file: File) -> io::Result<SpooledTempFile> {
    let mut text = SpooledTempFile::new(IN_MEMORY);
    let decoder = ruzstd::decoding::StreamingDecoder::new(file)
        .map_err(|error| damaged(&error.to_string()))?;
    io::copy(&mut decoder.take(LONGEST_TEXT), &mut text)?;
    text.rewind()?;
    Ok(text)
}

fn records_of_document(format: &dyn Format, file: File) -> io::Result<SpooledTempFile> {
    if file.metadata()?.len() > LONGEST_DOCUMENT {
        return Err(damaged(&format!("the document is longer than {LONGEST_DOCUMENT} bytes")));
    }
    let mut document = Vec::new();
    file.take(LONGEST_DOCUMENT).read_to_end(&mut document)?;
    let records = format
        .records_of(&String::from_utf8_lossy(&document))
        .ok_or_else(|| damaged("the document is incomplete"))?;
    let mut text = RecordText::default();
    for record in records {
        text.add(&record)?;
    }
    Ok(text.finish()?.text)
}

fn damaged(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

/// Returns the state of a file. The length is compared with offsets of lines, so it is 0 if the
/// file itself does not contain the lines.
fn stamp_of(metadata: &fs::Metadata, storage: Storage) -> FileStamp {
    let stamp = file_stamp(metadata);
    match storage {
        Storage::Lines => stamp,
        Storage::Compressed | Storage::Document | Storage::Assembled => {
            FileStamp { length: 0, ..stamp }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{io::Write, path::PathBuf};

    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;
    use crate::{
        format::{Identity, Memory, RecordVerdict, Surroundings, Unreadable},
        model::transcript::Entry,
    };

    #[test]
    fn compressed_lines_are_the_lines_before_compression() {
        let lines = "one\ntwo\n".repeat(100_000);
        let mut text =
            decompressed(file(&compress_to_vec(lines.as_bytes(), CompressionLevel::Fastest)));
        assert_eq!(read(text.as_mut().unwrap()), lines);
    }

    #[test]
    fn a_damaged_compressed_file_is_an_error() {
        let whole = compress_to_vec("one\n".repeat(9_000).as_bytes(), CompressionLevel::Fastest);
        for damaged in [&b"not compressed"[..], &whole[..whole.len() - 4]] {
            assert!(decompressed(file(damaged)).is_err());
        }
    }

    #[test]
    fn a_document_is_read_as_its_records() {
        let text = records_of_document(&Words, file(b"b a!")).unwrap();
        assert_eq!(read(&mut { text }), "\"b\"\n\"a\"\n");
        let error = records_of_document(&Words, file(b"b a")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }

    fn file(content: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(content).unwrap();
        file.rewind().unwrap();
        file
    }

    fn read(text: &mut SpooledTempFile) -> String {
        let mut read = String::new();
        text.read_to_string(&mut read).unwrap();
        read
    }

    /// A format of documents of words, which are complete if they end with an exclamation mark.
    struct Words;

    impl Format for Words {
        fn agent(&self) -> &'static str {
            "words"
        }

        fn roots(&self, _surroundings: &Surroundings<'_>) -> Vec<PathBuf> {
            Vec::new()
        }

        fn claims(&self, _path: &Path) -> bool {
            false
        }

        fn identify(&self, _path: &Path, _head: &str) -> Option<Identity> {
            None
        }

        fn read(
            &self,
            _record: &str,
            _memory: &mut Memory,
            _emit: &mut dyn FnMut(Entry<'_>),
        ) -> Result<RecordVerdict, Unreadable> {
            Err(Unreadable)
        }

        fn record_starts(&self) -> &'static [&'static str] {
            &[]
        }

        fn records_of(&self, document: &str) -> Option<Vec<String>> {
            let words = document.strip_suffix('!')?.split(' ');
            Some(words.map(|word| format!("\"{word}\"")).collect())
        }
    }
}
