//! How much room the database takes on disk, and how much it may take.
//!
//! Deleting makes a sled database hardly smaller: what is freed is used again only where most of a
//! segment is free. Measured: the file of a fresh database is twice its content, one in which as much
//! is deleted as is written levels off at three and a half times, and with seven eighths of it
//! deleted a quarter of it goes. So room is made in two steps: the oldest content goes long before
//! the limit is reached ([`GOAL`]), and the rest is written into a new database ([`super::smaller`]),
//! which has room beside the old one ([`TIGHT`]).

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use tokio::sync::watch;

use crate::store::{Condition, StoreError};

/// Of each eight bytes that are allowed: when the file takes so many, it is time to make room.
const TIGHT: u64 = 5;
/// One part in so many of what is allowed may be content then. A new database of it is twice as
/// large, and stands beside the old one for a moment: 5/8 + 2.2/6 is one.
const GOAL: u64 = 6;
/// Bytes of a new file for bytes of content, at the most. Measured: 2.1 to 2.3.
pub(super) const NEW_FILE: (u64, u64) = (5, 2);
/// Text is refused when less than this is left of what is allowed, or a quarter of it: sled takes space
/// by segments, and what is small still has to be written. Bytes.
const MARGIN: u64 = 8 << 20;
/// Text is refused when less than this is free on the disk. Bytes.
const RESERVE: u64 = 32 << 20;

/// With less than this free on the disk nothing is written, and a database that fails to open may
/// fail for that. Bytes.
const OPENING: u64 = 4 << 20;

/// The room of one database.
pub(super) struct Room {
    folder: PathBuf,
    data: File,
    limit: AtomicU64,
    condition: watch::Sender<Condition>,
}

impl Room {
    /// Without a limit.
    pub(super) fn new(folder: &Path) -> io::Result<Room> {
        Ok(Room {
            folder: folder.to_owned(),
            data: File::open(folder.join("db"))?,
            limit: AtomicU64::new(u64::MAX),
            condition: watch::Sender::new(Condition::Fine),
        })
    }

    /// Puts another limit in force.
    pub(super) fn set_limit(&self, bytes: u64) {
        self.limit.store(bytes, Ordering::Relaxed);
        self.look();
    }

    /// How it is, as it changes.
    pub(super) fn condition(&self) -> watch::Receiver<Condition> {
        self.condition.subscribe()
    }

    /// So many bytes of content are fine.
    pub(super) fn goal(&self) -> u64 {
        self.limit.load(Ordering::Relaxed) / GOAL
    }

    /// Whether a file of so many bytes is one that should be made smaller.
    pub(super) fn is_tight(&self, file: u64) -> bool {
        file >= self.limit.load(Ordering::Relaxed) / 8 * TIGHT
    }

    /// Whether a new database of so much content is much smaller than a file of so many bytes. One of
    /// more than twice the goal takes more than the limit together with the file that it is copied from.
    pub(super) fn would_shrink(&self, content: u64, file: u64) -> bool {
        let is_allowed = content <= self.goal().saturating_mul(2);
        is_allowed && content.saturating_mul(NEW_FILE.0) / NEW_FILE.1 < file
    }

    /// Looks whether it is time to make room.
    pub(super) fn look(&self) {
        let is_tight = self.data.metadata().is_ok_and(|file| self.is_tight(file.len()));
        self.condition.send_if_modified(|condition| match condition {
            Condition::Fine if is_tight => {
                *condition = Condition::Tight;
                true
            }
            // It is made smaller when it is opened the next time, and everything else lasts as long.
            _ => false,
        });
    }

    /// Whether more text may come in. Once it is refused, it is until the database is opened anew:
    /// what comes later must not be there without what came before.
    pub(super) fn admit(&self) -> Result<(), StoreError> {
        if let Condition::Full(why) = &*self.condition.borrow() {
            return Err(StoreError::Full(why.clone()));
        }
        let Some(why) = self.lack() else { return Ok(()) };
        self.refuse(&why);
        Err(StoreError::Full(why))
    }

    /// Whether anything may be written. Once it may not, nothing is until the database is opened anew.
    pub(super) fn bears_anything(&self) -> Result<(), StoreError> {
        match free_bytes(&self.folder) {
            Some(free) if free < OPENING => {
                let why = format!(
                    "only {} MB are free where {} lies, and nothing more is written; make room there, then `graphiti reload`; what was acknowledged is safe",
                    free / 1_000_000,
                    self.folder.display()
                );
                tracing::error!(why);
                self.fail(&why);
                Err(StoreError::Full(why))
            }
            _ => Ok(()),
        }
    }

    /// Refuses text from now on.
    pub(super) fn refuse(&self, why: &str) {
        self.condition.send_if_modified(|condition| match condition {
            Condition::Fine | Condition::Tight => {
                *condition = Condition::Full(why.to_owned());
                true
            }
            Condition::Full(_) | Condition::Failed(_) => false,
        });
    }

    /// Notes that nothing can be written any more.
    pub(super) fn fail(&self, why: &str) {
        self.condition.send_replace(Condition::Failed(why.to_owned()));
    }

    /// Why there is no room for more text at present, if there is none.
    pub(super) fn lack(&self) -> Option<String> {
        let limit = self.limit.load(Ordering::Relaxed);
        let taken = self.data.metadata().map_or(0, |file| file.len());
        let margin = MARGIN.min(limit / 4);
        if taken > limit - margin {
            return Some(format!(
                "the database takes {} MB of the {} MB that session_tracking.limits.database_bytes allows; raise it and `graphiti reload`, or take sessions out with `graphiti forget`",
                taken / 1_000_000,
                limit / 1_000_000
            ));
        }
        let free = free_bytes(&self.folder)?;
        (free < RESERVE).then(|| {
            format!(
                "only {} MB are free where {} lies; make room there, then `graphiti reload`",
                free / 1_000_000,
                self.folder.display()
            )
        })
    }
}

/// Why a database could not be opened: one is not damaged because the disk is full, which sled says
/// in many ways.
pub(super) fn or_no_space(folder: &Path, error: StoreError) -> StoreError {
    match free_bytes(folder) {
        Some(free) if free < OPENING => StoreError::Full(format!(
            "only {} MB are free where {} lies, and {} MB are needed to open the database ({error}); make room there",
            free / 1_000_000,
            folder.display(),
            OPENING / 1_000_000
        )),
        _ => error,
    }
}

/// Free bytes for this user where `folder` lies, where the system tells.
#[cfg(unix)]
pub(super) fn free_bytes(folder: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    disk.f_bavail.checked_mul(disk.f_frsize)
}

/// The system does not tell.
#[cfg(not(unix))]
pub(super) fn free_bytes(_: &Path) -> Option<u64> {
    None
}
