//! The search indexes as a target of a follower.
//!
//! Searches find a change as soon as it is applied. A commit writes the applied changes to disk.
//! Indexes that are missing, damaged or of another version are filled from the store before the
//! first entry.

mod feed;
mod rebuild;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use tokio::sync::watch;

use super::{OutboxFollower, OutboxPositions, Target, TargetError};
use crate::{
    allocator,
    engine::{
        indexes::Indexes,
        quota::{DiskLimits, IndexQuota},
        snapshots::Snapshots,
    },
    fault, releasable,
    search::index::{Backlog, OpenError, Position},
    store::{OutboxEntry, Store},
};

/// The search indexes and the store that they follow.
pub struct IndexTarget {
    indexes: Indexes,
    store: Arc<dyn Store>,
    quota: IndexQuota,
    /// Whether the indexes are new, so that everything in the store has to be applied first.
    is_new: bool,
    /// The position up to which the indexes may already contain messages of entries that are not
    /// yet applied: a rebuild added the messages, or an entry was only partly committed when the
    /// process ended.
    partly_applied_to: u64,
    snapshots: Snapshots,
}

/// Opens or creates the search indexes in `folder` and in the folders next to it. The returned
/// follower fills them.
pub fn open(
    folder: &Path,
    store: Arc<dyn Store>,
    quota: IndexQuota,
    positions: &OutboxPositions,
) -> Result<OutboxFollower<IndexTarget>, OpenError> {
    let (indexes, is_new) = Indexes::open(folder, store.as_ref())?;
    let partly_applied_to = indexes.furthest().0 + 1;
    let snapshots = Snapshots::default();
    let target =
        IndexTarget { indexes, store: store.clone(), quota, is_new, partly_applied_to, snapshots };
    Ok(OutboxFollower::new(store, target, positions))
}

/// Returns the folder of the index of sessions in `home`.
pub fn folder(home: &Path) -> PathBuf {
    home.join("index")
}

impl Target for IndexTarget {
    const NAME: &'static str = "the search index";
    const TURN: Option<&'static str> = Some("follower: turn");
    type Settings = DiskLimits;

    fn durable(&self) -> u64 {
        self.indexes.applied().0
    }

    fn prepare(&mut self) -> u64 {
        if !self.is_new {
            return self.durable();
        }
        self.fill();
        0
    }

    fn settings(&self) -> watch::Receiver<DiskLimits> {
        self.quota.limits()
    }

    fn apply_settings(&mut self, position: u64) {
        self.keep_within_limit(Position(position));
    }

    fn apply(&mut self, entry: OutboxEntry, end: u64) -> Result<(), TargetError> {
        let position = Position(entry.position);
        self.feed_change(entry.what, position, end).map_err(TargetError::from)
    }

    fn pass(&mut self, position: u64) {
        self.indexes.pass(Position(position));
    }

    fn step_applied(&mut self, position: u64) {
        self.snapshots.passed(position);
        fault::point("index: applied");
    }

    fn is_full(&self) -> bool {
        self.indexes.is_full()
    }

    fn commit(&mut self, _: u64) -> Option<u64> {
        let durable = match self.indexes.commit() {
            Ok(position) => {
                fault::point("index: committed");
                Some(position.0)
            }
            Err(error) => {
                tracing::warn!(%error, "the search index cannot be written to disk");
                None
            }
        };
        allocator::trim();
        durable
    }

    fn released(&mut self) {
        fault::point("index: taken queued");
    }

    fn rest(&mut self) {
        if let Err(error) = self.indexes.release_memory() {
            tracing::warn!(%error, "the search index cannot free its memory");
        }
        releasable::release_all();
        allocator::trim();
    }
}

impl IndexTarget {
    /// Returns the indexes, for searching.
    pub fn indexes(&self) -> &Indexes {
        &self.indexes
    }

    fn commit_when_full(&self, backlog: Backlog, position: Position) {
        if backlog.is_full() {
            self.commit_early(position);
        }
    }

    /// Commits in the middle of a long step. All entries up to `position` were applied.
    fn commit_early(&self, position: Position) {
        if let Err(error) = self.indexes.commit() {
            tracing::warn!(%error, "the search index cannot be written to disk");
        }
        self.keep_within_limit(position);
        allocator::trim();
    }

    fn keep_within_limit(&self, position: Position) {
        self.quota.enforce(self.store.as_ref(), &self.indexes, position);
    }
}
