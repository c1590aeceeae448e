//! The outbox position that was last on disk, in a file beside the database.
//!
//! sled opens a damaged file without an error, and silently drops everything behind the damage. A
//! position that is lower than the mark reveals that. The mark is written after each sync and not
//! synced itself: after a power cut it may be too low, but never too high.

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

/// The outbox position that was last on disk.
pub(super) struct HighWaterMark(File);

impl HighWaterMark {
    /// Opens the mark and reads its position; that of a new mark is 0.
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

    /// Writes a new position.
    pub(super) fn set(&mut self, position: u64) -> io::Result<()> {
        self.0.seek(SeekFrom::Start(0))?;
        self.0.write_all(&position.to_be_bytes())
    }
}
