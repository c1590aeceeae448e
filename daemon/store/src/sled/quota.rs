//! The disk space that the database uses, and its limit.
//!
//! Deleting records hardly shrinks a sled database, because sled reuses a segment only when most of
//! it is free. Measurements: the file of a new database is twice as large as its content. If as
//! many bytes are deleted as are written, the file grows to three and a half times its content. If
//! seven eighths of the content are deleted, a quarter of the file is freed.
//!
//! So a database is copied into a new one ([`super::compact`]) long before the limit is reached. If
//! too much content would be left, the oldest content is evicted first ([`super::space`]).

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use sled::Tree;
use tokio::sync::watch;

use crate::{
    DiskQuota, EvictionProgress, SpaceStep, StoreError, StoreHealth,
    model::SessionKey,
    sled::{
        SledStore, keys,
        space::{self, DatabaseSizes},
    },
};

/// Text is refused when fewer than this many bytes are free on the disk.
const RESERVE: u64 = 32 << 20;
/// Nothing is written when fewer than this many bytes are free on the disk. If the database cannot
/// be opened then, the full disk is reported as the cause.
const MIN_FREE_BYTES: u64 = 4 << 20;

/// The quota of one database.
pub(super) struct Quota {
    folder: PathBuf,
    data: File,
    /// The size, in bytes, of all files in the folder except `data`. sled writes its snapshot only
    /// when it opens a database, so the size hardly changes afterwards.
    others: u64,
    limit: AtomicU64,
    health: watch::Sender<StoreHealth>,
}

/// Returns the size of all rows and their keys, in bytes.
pub(super) fn content_bytes(tree: &Tree) -> Result<u64, StoreError> {
    let mut bytes = 0;
    for row in tree {
        let (key, value) = row?;
        bytes += (key.len() + value.len()) as u64;
    }
    Ok(bytes)
}

/// Returns the size of all files of a database, in bytes; 0 if the folder cannot be read.
fn files_bytes(folder: &Path) -> u64 {
    let Ok(entries) = folder.read_dir() else { return 0 };
    entries.flatten().filter_map(|entry| entry.metadata().ok()).map(|meta| meta.len()).sum()
}

impl DiskQuota for SledStore {
    fn disk_bytes(&self) -> u64 {
        files_bytes(&self.folder)
    }

    fn content_bytes(&self) -> Result<u64, StoreError> {
        content_bytes(&self.tree)
    }

    fn text_bytes(&self, session: SessionKey) -> Result<u64, StoreError> {
        let mut bytes = 0;
        for row in self.tree.scan_prefix(keys::messages_of_session(session)) {
            let (key, value) = row?;
            bytes += (key.len() + value.len()) as u64;
        }
        Ok(bytes)
    }

    fn set_limit(&self, bytes: u64) {
        self.quota.limit.store(bytes, Ordering::Relaxed);
        self.quota.check();
    }

    fn is_near_limit(&self) -> bool {
        self.quota.is_near_limit()
    }

    fn content_target(&self) -> u64 {
        space::content_target(self.quota.limit())
    }

    fn next_step(&self, content: u64, progress: EvictionProgress) -> SpaceStep {
        let sizes = DatabaseSizes {
            limit: self.quota.limit(),
            files: self.quota.used_bytes(),
            content,
            free: free_bytes(&self.folder),
            compacted: self.compacted,
        };
        space::next_step(sizes, progress)
    }

    fn refuse_text(&self, reason: &str) {
        self.quota.refuse_text(reason);
    }

    fn shortage(&self) -> Option<String> {
        self.quota.shortage()
    }

    fn health(&self) -> watch::Receiver<StoreHealth> {
        self.quota.health.subscribe()
    }
}

impl Quota {
    /// Returns a quota without a limit.
    pub(super) fn new(folder: &Path) -> io::Result<Quota> {
        let data = File::open(folder.join("db"))?;
        Ok(Quota {
            folder: folder.to_owned(),
            others: files_bytes(folder).saturating_sub(data.metadata()?.len()),
            data,
            limit: AtomicU64::new(u64::MAX),
            health: watch::Sender::new(StoreHealth::Normal),
        })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    fn limit(&self) -> u64 {
        self.limit.load(Ordering::Relaxed)
    }

    /// Returns the size of all files, in bytes. Is called for each write, so it does not read the
    /// folder again.
    fn used_bytes(&self) -> u64 {
        self.data.metadata().map_or(0, |file| file.len()) + self.others
    }

    fn is_near_limit(&self) -> bool {
        space::is_near_limit(self.used_bytes(), self.limit())
    }

    /// Updates the health when the files are near their limit.
    pub(super) fn check(&self) {
        let is_near_limit = self.is_near_limit();
        self.health.send_if_modified(|health| match health {
            StoreHealth::Normal if is_near_limit => {
                *health = StoreHealth::NearLimit;
                true
            }
            // The size of the file varies by a few segments, and each change of the health starts
            // an attempt to make the file smaller. So this state ends only far below the size at
            // which it begins.
            StoreHealth::NearLimit if self.used_bytes() < self.limit() / 2 => {
                *health = StoreHealth::Normal;
                true
            }
            // `TextRefused` and `Failed` last until the next opening, which may compact the
            // database.
            _ => false,
        });
    }

    /// Returns an error if no more text may be written. After the first error, all calls return an
    /// error until the database is opened again, because later messages must not be stored without
    /// earlier ones.
    pub(super) fn admit_text(&self) -> Result<(), StoreError> {
        if let StoreHealth::TextRefused(reason) = &*self.health.borrow() {
            return Err(StoreError::Full(reason.clone()));
        }
        let Some(reason) = self.shortage() else { return Ok(()) };
        self.refuse_text(&reason);
        Err(StoreError::Full(reason))
    }

    /// Returns an error if the disk is too full for any write. The health is then `Failed` until
    /// the database is opened again.
    pub(super) fn admit_any(&self) -> Result<(), StoreError> {
        match free_bytes(&self.folder) {
            Some(free) if free < MIN_FREE_BYTES => {
                let reason = format!(
                    "only {} MB are free on the disk of {}, and {} MB are needed, so nothing more is written; free space there, and writing goes on by itself within a minute; no stored data was lost",
                    free / 1_000_000,
                    self.folder.display(),
                    RESERVE.div_ceil(1_000_000)
                );
                tracing::error!(reason);
                self.fail(&reason);
                Err(StoreError::Full(reason))
            }
            _ => Ok(()),
        }
    }

    fn refuse_text(&self, reason: &str) {
        self.health.send_if_modified(|health| match health {
            StoreHealth::Normal | StoreHealth::NearLimit => {
                *health = StoreHealth::TextRefused(reason.to_owned());
                true
            }
            StoreHealth::TextRefused(_) | StoreHealth::Failed(_) => false,
        });
    }

    /// Reports that nothing can be written any more.
    pub(super) fn fail(&self, reason: &str) {
        self.health.send_replace(StoreHealth::Failed(reason.to_owned()));
    }

    /// Returns a further remedy if the disk may have no free space for a compacted copy of the
    /// database, and otherwise an empty text.
    fn remedy_for_full_disk(&self) -> String {
        let needed = space::largest_copy(space::content_target(self.limit()));
        match free_bytes(&self.folder) {
            Some(free) if free < needed => format!(
                ", or free {} MB on the disk of {}, so that the database can be compacted",
                (needed - free).div_ceil(1_000_000),
                self.folder.display()
            ),
            _ => String::new(),
        }
    }

    fn shortage(&self) -> Option<String> {
        let limit = self.limit();
        let used = self.used_bytes();
        if space::is_full(used, limit) {
            return Some(format!(
                "the database takes {} MB of the {} MB that session_tracking.limits.database_bytes allows; raise the limit and run `graphiti reload`, or delete sessions with `graphiti forget`{}",
                used / 1_000_000,
                limit / 1_000_000,
                self.remedy_for_full_disk()
            ));
        }
        let free = free_bytes(&self.folder)?;
        (free < RESERVE).then(|| {
            format!(
                "only {} MB are free on the disk of {}, and {} MB are needed to store new text; free space there, and new text is stored by itself within a minute",
                free / 1_000_000,
                self.folder.display(),
                RESERVE.div_ceil(1_000_000)
            )
        })
    }
}

/// Returns an error about the disk space if the disk is full, and otherwise `error`, with which
/// opening the database failed. sled reports a full disk with many different errors, although the
/// database is not damaged.
pub(super) fn or_no_space(folder: &Path, error: StoreError) -> StoreError {
    match free_bytes(folder) {
        Some(free) if free < MIN_FREE_BYTES => StoreError::Full(format!(
            "only {} MB are free on the disk of {}, but {} MB are needed to open the database ({error}); free space there",
            free / 1_000_000,
            folder.display(),
            MIN_FREE_BYTES / 1_000_000
        )),
        _ => error,
    }
}

/// Returns the number of bytes that are free for this user on the disk of `folder`, or `None` if
/// the system does not report it.
#[cfg(unix)]
pub fn free_bytes(folder: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    disk.f_bavail.checked_mul(disk.f_frsize)
}

#[cfg(not(unix))]
pub fn free_bytes(_: &Path) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_files_count_towards_the_limit() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path();
        std::fs::write(folder.join("db"), vec![0; 60]).unwrap();
        std::fs::write(folder.join("snap"), vec![0; 20]).unwrap();
        let quota = Quota::new(folder).unwrap();
        quota.limit.store(128, Ordering::Relaxed);
        quota.check();
        assert_eq!(*quota.health.borrow(), StoreHealth::NearLimit, "80 of 128 bytes are used");
        let quota = Quota::new(folder).unwrap();
        quota.limit.store(136, Ordering::Relaxed);
        quota.check();
        assert_eq!(
            *quota.health.borrow(),
            StoreHealth::Normal,
            "a file is near the limit from 85 of 136 bytes on"
        );
    }

    #[test]
    fn files_far_below_a_raised_limit_are_not_near_it_any_more() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("db"), vec![0; 80]).unwrap();
        let quota = Quota::new(home.path()).unwrap();
        let health_within = |limit| {
            quota.limit.store(limit, Ordering::Relaxed);
            quota.check();
            quota.health.borrow().clone()
        };
        assert_eq!(health_within(128), StoreHealth::NearLimit);
        assert_eq!(health_within(160), StoreHealth::NearLimit, "half of the limit is used");
        assert_eq!(health_within(162), StoreHealth::Normal);
        quota.refuse_text("");
        assert_eq!(health_within(1_000), StoreHealth::TextRefused(String::new()));
    }
}
