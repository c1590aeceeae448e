//! Keeps the search index within its quota.
//!
//! The follower of the outbox, which is the only writer of the index, calls [`IndexQuota::enforce`]
//! after each commit of the index and when the quotas change. So the index does not grow during an
//! eviction.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::watch;

use super::{
    DiskLimits,
    evict::{self, Evictor},
    log_evicted,
};
use crate::{
    engine::indexes::Indexes,
    search::index::{Backlog, IndexChange, IndexError, Position},
    store::{SourceKey, Store, StoreError},
};

/// The size at which eviction starts, in eighths of the quota without [`COMMIT_MARGIN`]. The rest
/// is for newly written segments, and for a merge, which temporarily needs twice the space of its
/// segments.
const HIGH_WATERMARK: u64 = 3;
/// The size at which eviction stops, in the same unit.
const LOW_WATERMARK: u64 = 2;
/// The part of the quota, in bytes, that is kept free for a commit and its merge; at most a quarter
/// of the quota. If the quota is small, one large commit may double the index between two checks.
const COMMIT_MARGIN: u64 = 2 * Backlog::FULL as u64;

pub struct IndexQuota {
    limits: watch::Receiver<DiskLimits>,
    /// The size of the index, in bytes, at the last time when no text could be evicted.
    bytes_when_nothing_evictable: AtomicU64,
}

/// Why the eviction failed.
#[derive(Debug, thiserror::Error)]
enum QuotaError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Index(#[from] IndexError),
}

impl IndexQuota {
    pub fn new(limits: watch::Receiver<DiskLimits>) -> IndexQuota {
        IndexQuota { limits, bytes_when_nothing_evictable: AtomicU64::new(0) }
    }

    pub(in crate::engine) fn limits(&self) -> watch::Receiver<DiskLimits> {
        self.limits.clone()
    }

    /// Evicts the oldest text when the indexes approach their quota (from [`HIGH_WATERMARK`] down
    /// to [`LOW_WATERMARK`]), and purges it from the disk. `position` is the outbox position up to
    /// which all changes are applied to the indexes. If the indexes exceed the quota nevertheless,
    /// the store refuses new text. Blocks.
    pub(in crate::engine) fn enforce(
        &self,
        store: &dyn Store,
        indexes: &Indexes,
        position: Position,
    ) {
        let limit = self.limits.borrow().index_bytes;
        if let Err(error) = self.evict_until_goal(store, indexes, limit, position) {
            tracing::warn!(%error, "failed to make the search index smaller");
        }
        if let Some(why) = over_quota_message(indexes, limit) {
            store.quota().refuse_text(&why);
        }
    }

    fn evict_until_goal(
        &self,
        store: &dyn Store,
        indexes: &Indexes,
        limit: u64,
        position: Position,
    ) -> Result<(), QuotaError> {
        loop {
            let taken = indexes.bytes()?;
            let bytes_when_nothing_evictable =
                self.bytes_when_nothing_evictable.load(Ordering::Relaxed);
            let is_worth_a_try =
                taken >= bytes_when_nothing_evictable + limit / 16 || taken > limit;
            let eighth = (limit - COMMIT_MARGIN.min(limit / 4)) / 8;
            if taken < eighth * HIGH_WATERMARK || !is_worth_a_try {
                return Ok(());
            }
            let evicted =
                evict_share(store, (taken - eighth * LOW_WATERMARK) as f64 / taken as f64)?;
            if evicted.is_empty() {
                self.bytes_when_nothing_evictable.store(taken, Ordering::Relaxed);
                return Ok(());
            }
            // The outbox contains these removals, too, but after all other pending entries, so the
            // follower would apply them too late.
            for SourceKey { session, number } in evicted {
                indexes
                    .sessions
                    .apply(IndexChange::DropSource { session, source: number }, position);
            }
            indexes.purge()?;
        }
    }
}

/// Returns a message for the user if the indexes exceed their quota.
pub(super) fn over_quota_message(indexes: &Indexes, limit: u64) -> Option<String> {
    let taken = indexes.disk_bytes();
    (taken > limit).then(|| {
        format!(
            "the search index takes {} MB of the {} MB that session_tracking.limits.index_bytes allows; raise the limit and run `graphiti reload`",
            taken / 1_000_000,
            limit / 1_000_000
        )
    })
}

/// Evicts a share of all text, from 0 to 1. Returns the files whose text was evicted.
fn evict_share(store: &dyn Store, share: f64) -> Result<Vec<SourceKey>, StoreError> {
    let all = evict::text_bytes(store)?;
    let mut evictor = Evictor::new(store)?;
    let files = evictor.evict_text((all as f64 * share).ceil() as u64)?;
    log_evicted(evictor.evicted(), "search index");
    Ok(files)
}
