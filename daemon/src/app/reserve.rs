//! Reserves disk space for a start. Without it, the database could not even be opened for searches
//! on a full disk, because sled writes when it opens one.
//!
//! The space is occupied by a file. A daemon that starts on a full disk deletes the file, and uses
//! the space unless another program takes it first. A later start with enough space creates the
//! file again.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

/// Size of the reserve, in bytes: enough for two segments of the database and for small files.
const RESERVE: u64 = 8 << 20;
/// A start with less free space than this, in bytes, uses the reserve.
const NEEDED: u64 = RESERVE;
/// The reserve is created only if more than this is free, in bytes.
const PLENTY: u64 = 8 * RESERVE;

/// Frees the reserve if too little space is free.
pub(super) fn release_when_full(home: &Path) {
    if free_bytes(home).is_some_and(|free| free < NEEDED) && fs::remove_file(file(home)).is_ok() {
        tracing::warn!("the disk is full: the reserve for a start is used up");
    }
}

/// Reserves space for a later start, if much space is free.
pub(super) fn keep(home: &Path) {
    let has_plenty = || free_bytes(home).is_some_and(|free| free > PLENTY);
    if !file(home).exists()
        && has_plenty()
        && let Err(error) = make(&file(home))
    {
        // Some file systems cannot reserve space.
        tracing::debug!(%error, "there is no reserve for a start on a full disk");
        let _ = fs::remove_file(file(home));
    }
}

fn file(home: &Path) -> PathBuf {
    home.join("reserve")
}

#[cfg(unix)]
fn make(path: &Path) -> io::Result<()> {
    let file = File::create(path)?;
    Ok(rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, RESERVE)?)
}

#[cfg(not(unix))]
fn make(path: &Path) -> io::Result<()> {
    File::create(path)?.set_len(RESERVE)
}

#[cfg(unix)]
fn free_bytes(folder: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    disk.f_bavail.checked_mul(disk.f_frsize)
}

/// The system does not report the free space.
#[cfg(not(unix))]
fn free_bytes(_: &Path) -> Option<u64> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn the_reserve_occupies_space_and_stays_while_other_space_is_free() {
        let home = tempfile::tempdir().unwrap();
        keep(home.path());
        let Ok(kept) = fs::metadata(file(home.path())) else { return };
        assert!(kept.blocks() * 512 >= RESERVE, "{} blocks", kept.blocks());
        release_when_full(home.path());
        assert!(file(home.path()).exists());
    }
}
