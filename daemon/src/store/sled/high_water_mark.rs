//! How far the store once was, beside the database.
//!
//! sled opens a damaged file without a word, with what stands before the damage: everything after
//! it is gone. This mark tells. It is written after each sync and not synced itself, so it may be
//! behind after a power cut, but never ahead.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
};

/// The file in the store's folder.
const FILE: &str = "mark";

/// Copies the mark of the store in one folder into another one, if there is any.
pub(super) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    match std::fs::copy(from.join(FILE), to.join(FILE)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        copied => copied.map(drop),
    }
}

/// The outbox position that was safe last.
pub(super) struct HighWaterMark(File);

impl HighWaterMark {
    /// Opens it, and reads where it stands; a new one stands at 0.
    pub(super) fn open(folder: &Path) -> io::Result<(HighWaterMark, u64)> {
        let mut file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(folder.join(FILE))?;
        let mut position = [0; 8];
        let position = match file.read_exact(&mut position) {
            Ok(()) => u64::from_be_bytes(position),
            // New, or cut off by a power cut.
            Err(_) => 0,
        };
        Ok((HighWaterMark(file), position))
    }

    /// Moves it to `position`.
    pub(super) fn set(&mut self, position: u64) -> io::Result<()> {
        self.0.seek(SeekFrom::Start(0))?;
        self.0.write_all(&position.to_be_bytes())
    }
}
