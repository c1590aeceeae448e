//! Reserves disk space, so that the daemon can start on a full disk, at least for searches: sled
//! writes when it opens a database.
//!
//! A file occupies the space. If the disk is full, the daemon deletes the file when it starts.
//! While the file is missing, the running daemon checks once a minute whether there is enough space
//! to create it.

use std::{
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{
    lifecycle::home::{Home, HomeError},
    store::sled::free_bytes,
};

/// Size of the reserve, in bytes: enough for two segments of the database and some small files.
const RESERVE: u64 = 8 << 20;
/// A start with less free space than this, in bytes, uses the reserve.
const MIN_FREE: u64 = RESERVE;
/// The reserve is created only if more space than this is free, in bytes.
const MIN_FREE_TO_RESERVE: u64 = 8 * RESERVE;

/// The pause between two attempts to create the reserve while the daemon runs.
const PAUSE: Duration = Duration::from_secs(60);

/// Takes the home folder, and deletes the reserve if too little space is free. Returns whether the
/// reserve was deleted.
pub(super) fn take_home(path: &Path) -> Result<(Home, bool), HomeError> {
    let full = [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded];
    let mut is_released = false;
    let home = match Home::take(path) {
        // The files of the home need space, too. A running daemon has these files, and keeps the
        // reserve.
        Err(HomeError::Unusable { error, .. }) if full.contains(&error.kind()) => {
            is_released = release_when_full(path);
            Home::take(path)?
        }
        taken => taken?,
    };
    is_released |= release_when_full(home.path());
    Ok((home, is_released))
}

/// Deletes the reserve if too little space is free. Returns whether the reserve was deleted.
fn release_when_full(home: &Path) -> bool {
    free_bytes(home).is_some_and(|free| free < MIN_FREE) && fs::remove_file(file(home)).is_ok()
}

/// Returns after [`PAUSE`] if the reserve is missing now, and never if it exists now.
pub(super) async fn wait_until_missing(home: &Path) {
    match file(home).exists() {
        true => std::future::pending().await,
        false => tokio::time::sleep(PAUSE).await,
    }
}

/// Reserves space for a later start if enough space is free.
pub(super) fn ensure_reserve(home: &Path) {
    let has_plenty = || free_bytes(home).is_some_and(|free| free > MIN_FREE_TO_RESERVE);
    if !file(home).exists()
        && has_plenty()
        && let Err(error) = create(&file(home))
    {
        tracing::debug!(%error, "cannot reserve disk space for a later start");
        // The file may not exist. A file that cannot be removed is used as it is.
        let _ = fs::remove_file(file(home));
    }
}

fn file(home: &Path) -> PathBuf {
    home.join("reserve")
}

#[cfg(unix)]
fn create(path: &Path) -> io::Result<()> {
    create_with(path, |file| {
        Ok(rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, RESERVE)?)
    })
}

/// Creates the file, and reserves its space by `allocate`. On a file system that cannot reserve
/// space, such as NFS before version 4.2 or ZFS, writes zeros.
#[cfg(unix)]
fn create_with(path: &Path, allocate: fn(&File) -> io::Result<()>) -> io::Result<()> {
    let mut file = File::create(path)?;
    match allocate(&file) {
        Err(error) if error.kind() == io::ErrorKind::Unsupported => {
            io::copy(&mut io::repeat(0).take(RESERVE), &mut file)?;
            file.sync_all()
        }
        allocated => allocated,
    }
}

#[cfg(not(unix))]
fn create(path: &Path) -> io::Result<()> {
    File::create(path)?.set_len(RESERVE)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn zeros_are_written_where_the_file_system_cannot_reserve_space() {
        let home = tempfile::tempdir().unwrap();
        let path = file(home.path());
        create_with(&path, |_| Err(rustix::io::Errno::OPNOTSUPP.into())).unwrap();
        let made = fs::metadata(&path).unwrap();
        assert_eq!(made.len(), RESERVE);
        assert!(made.blocks() * 512 >= RESERVE, "{} blocks", made.blocks());
        let full = |_: &File| Err(rustix::io::Errno::NOSPC.into());
        assert!(create_with(&path, full).is_err());
        assert_eq!(fs::metadata(&path).unwrap().len(), 0, "nothing is written to a full disk");
    }

    #[test]
    fn the_reserve_occupies_space_and_is_kept_while_other_space_is_free() {
        let home = tempfile::tempdir().unwrap();
        if free_bytes(home.path()).is_some_and(|free| free <= 2 * MIN_FREE_TO_RESERVE) {
            return;
        }
        ensure_reserve(home.path());
        let kept = fs::metadata(file(home.path())).unwrap();
        assert!(kept.blocks() * 512 >= RESERVE, "{} blocks", kept.blocks());
        assert!(!release_when_full(home.path()));
        assert!(file(home.path()).exists());
    }
}
