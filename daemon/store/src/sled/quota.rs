//! The disk space that the database uses, and its limit.
//!
//! Deleting hardly shrinks a sled database: it reuses freed space only where most of a segment is free.
//! Measured: the file of a fresh database is twice its content; a file in which as much is deleted as
//! is written levels off at three and a half times its content; with seven eighths deleted, a quarter
//! of the file is freed. So the database shrinks in two steps: the oldest content is evicted long before
//! the limit is reached ([`TARGET`]), and the rest is copied into a new database ([`super::compact`]).
//! The new one fits beside the old one ([`NEAR_LIMIT`]).

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use sled::Tree;
use tokio::sync::watch;

use crate::{
    DiskQuota, StoreError, StoreHealth,
    model::SessionKey,
    sled::{SledStore, keys},
};

/// Eighths of the limit that the file takes when content should be evicted.
const NEAR_LIMIT: u64 = 5;
/// The fraction of the limit that content may take after an eviction: one divided by this number. A
/// compacted database is twice as large as its content, and is beside the old one for a moment: 5/8
/// + 2.2/6 is one.
const TARGET: u64 = 6;
/// Maximum bytes of a new file for each byte of content. Measured: 2.1 to 2.3.
pub(super) const NEW_FILE: (u64, u64) = (5, 2);
/// Text is refused when fewer bytes than these, or less than a quarter of the limit, are left: sled
/// allocates segments, and small records still have to be written.
const MARGIN: u64 = 8 << 20;
/// Text is refused when fewer bytes than these are free on the disk.
const RESERVE: u64 = 32 << 20;
/// With fewer free bytes than these on the disk nothing is written. A database that fails to open
/// with fewer may fail because of that.
const OPENING: u64 = 4 << 20;

/// The quota of one database.
pub(super) struct Quota {
    folder: PathBuf,
    data: File,
    limit: AtomicU64,
    health: watch::Sender<StoreHealth>,
}

/// Bytes of all rows with their keys.
pub(super) fn content_bytes(tree: &Tree) -> Result<u64, StoreError> {
    let mut bytes = 0;
    for row in tree {
        let (key, value) = row?;
        bytes += (key.len() + value.len()) as u64;
    }
    Ok(bytes)
}

impl DiskQuota for SledStore {
    fn disk_bytes(&self) -> u64 {
        let Ok(entries) = self.folder.read_dir() else { return 0 };
        entries.flatten().filter_map(|entry| entry.metadata().ok()).map(|meta| meta.len()).sum()
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
        self.quota.is_near_limit(self.disk_bytes())
    }

    fn content_target(&self) -> u64 {
        self.quota.content_target()
    }

    fn would_shrink(&self, content: u64) -> bool {
        would_shrink(content, self.content_target(), self.disk_bytes())
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

/// Whether a database of `content` bytes in a file of `file` bytes may be copied, and becomes smaller.
fn would_shrink(content: u64, target: u64, file: u64) -> bool {
    // A database of more than twice the target exceeds the limit together with its copy.
    content <= target.saturating_mul(2) && content.saturating_mul(NEW_FILE.0) / NEW_FILE.1 < file
}

impl Quota {
    /// A quota without a limit.
    pub(super) fn new(folder: &Path) -> io::Result<Quota> {
        Ok(Quota {
            folder: folder.to_owned(),
            data: File::open(folder.join("db"))?,
            limit: AtomicU64::new(u64::MAX),
            health: watch::Sender::new(StoreHealth::Normal),
        })
    }

    /// The folder of the database.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    fn content_target(&self) -> u64 {
        self.limit.load(Ordering::Relaxed) / TARGET
    }

    fn is_near_limit(&self, file: u64) -> bool {
        file >= self.limit.load(Ordering::Relaxed) / 8 * NEAR_LIMIT
    }

    /// Reports when the file comes near its limit.
    pub(super) fn check(&self) {
        let is_near_limit = self.data.metadata().is_ok_and(|file| self.is_near_limit(file.len()));
        self.health.send_if_modified(|health| match health {
            StoreHealth::Normal if is_near_limit => {
                *health = StoreHealth::NearLimit;
                true
            }
            // Compaction happens at the next opening; all other states last as long.
            _ => false,
        });
    }

    /// Fails when no more text may be written. Text that was refused once is refused until the
    /// database is opened again: later messages must not be stored without earlier ones.
    pub(super) fn admit_text(&self) -> Result<(), StoreError> {
        if let StoreHealth::TextRefused(reason) = &*self.health.borrow() {
            return Err(StoreError::Full(reason.clone()));
        }
        let Some(reason) = self.shortage() else { return Ok(()) };
        self.refuse_text(&reason);
        Err(StoreError::Full(reason))
    }

    /// Fails when the disk is too full for any write, and from then on until the database is opened
    /// again.
    pub(super) fn admit_any(&self) -> Result<(), StoreError> {
        match free_bytes(&self.folder) {
            Some(free) if free < OPENING => {
                let reason = format!(
                    "only {} MB are free on the disk of {}, and nothing more is written; free space there, then `graphiti reload`; acknowledged data are safe",
                    free / 1_000_000,
                    self.folder.display()
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

    fn shortage(&self) -> Option<String> {
        let limit = self.limit.load(Ordering::Relaxed);
        let used = self.data.metadata().map_or(0, |file| file.len());
        let margin = MARGIN.min(limit / 4);
        if used > limit - margin {
            return Some(format!(
                "the database takes {} MB of the {} MB that session_tracking.limits.database_bytes allows; raise it and `graphiti reload`, or take sessions out with `graphiti forget`",
                used / 1_000_000,
                limit / 1_000_000
            ));
        }
        let free = free_bytes(&self.folder)?;
        (free < RESERVE).then(|| {
            format!(
                "only {} MB are free on the disk of {}; free space there, then `graphiti reload`",
                free / 1_000_000,
                self.folder.display()
            )
        })
    }
}

/// Replaces `error` of an opening by the lack of space when the disk is full: sled reports a full disk
/// in many ways, and such a database is not damaged.
pub(super) fn or_no_space(folder: &Path, error: StoreError) -> StoreError {
    match free_bytes(folder) {
        Some(free) if free < OPENING => StoreError::Full(format!(
            "only {} MB are free on the disk of {}, and {} MB are needed to open the database ({error}); free space there",
            free / 1_000_000,
            folder.display(),
            OPENING / 1_000_000
        )),
        _ => error,
    }
}

/// The bytes that are free for this user on the disk of `folder`; `None` when the system does not
/// report them.
#[cfg(unix)]
pub(super) fn free_bytes(folder: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    disk.f_bavail.checked_mul(disk.f_frsize)
}

#[cfg(not(unix))]
pub(super) fn free_bytes(_: &Path) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_is_copied_only_when_that_makes_it_smaller() {
        let target = (32 << 20) / TARGET;
        let shrinks =
            |content: u64, file: u64| would_shrink(content * 1_000_000, target, file * 1_000_000);
        assert!(shrinks(5, 25));
        assert!(!shrinks(10, 21), "a new file takes {NEW_FILE:?} of its content");
        assert!(!shrinks(2 * target / 1_000_000 + 1, 100), "the copy would exceed the limit");
    }
}
