//! The last outbox position that was synced to disk, in a file next to the database.
//!
//! sled opens a damaged file without an error, and silently drops everything after the damage. The
//! loss is detected because the last position in the database is then lower than the mark. The mark
//! is written after each sync, but not synced itself: after a power cut it may be too low, but
//! never too high.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
};

/// The name of the file in the store's folder.
const FILE: &str = "mark";

/// Copies the mark from one store's folder to another, if there is one.
pub(super) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    match std::fs::copy(from.join(FILE), to.join(FILE)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        copied => copied.map(drop),
    }
}

/// The file with the last outbox position that was synced to disk.
pub(super) struct HighWaterMark(File);

impl HighWaterMark {
    /// Opens the mark and reads its position; 0 if the file is new, or a power cut truncated it.
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
            Err(_) => 0,
        };
        Ok((HighWaterMark(file), position))
    }

    pub(super) fn set(&mut self, position: u64) -> io::Result<()> {
        self.0.seek(SeekFrom::Start(0))?;
        self.0.write_all(&position.to_be_bytes())
    }
}
