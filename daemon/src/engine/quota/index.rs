//! Keeps the search index within its quota. The follower calls this after each write of the index
//! to disk, so that the index does not grow at the same time, and when the quotas change.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::watch;

use super::{
    DiskLimits,
    evict::{self, Evictor},
    log_evicted,
};
use crate::{
    engine::indexes::Indexes,
    search::index::{IndexChange, IndexError, Position},
    store::{SourceKey, Store, StoreError},
};

/// The size at which eviction starts, in eighths of the quota. The rest is left free, because a
/// merge temporarily needs twice the space of its segments, in addition to newly written ones.
const TIGHT: u64 = 3;
/// The size at which eviction stops, in eighths of the quota.
const GOAL: u64 = 2;

/// The quota of the search index.
pub struct IndexQuota {
    limits: watch::Receiver<DiskLimits>,
    /// The size of the index, in bytes, when no text could be evicted for it.
    in_vain: AtomicU64,
}

/// Why the index was not made smaller.
#[derive(Debug, thiserror::Error)]
enum QuotaError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Index(#[from] IndexError),
}

impl IndexQuota {
    pub fn new(limits: watch::Receiver<DiskLimits>) -> IndexQuota {
        IndexQuota { limits, in_vain: AtomicU64::new(0) }
    }

    pub(in crate::engine) fn limits(&self) -> watch::Receiver<DiskLimits> {
        self.limits.clone()
    }

    /// Evicts the oldest text when the indexes approach their quota (from [`TIGHT`] down to
    /// [`GOAL`]), and purges it from the disk. The indexes have everything up to `position`. If
    /// they exceed the quota nevertheless, the store refuses new text. Blocks.
    pub(in crate::engine) fn keep(&self, store: &dyn Store, indexes: &Indexes, position: Position) {
        let limit = self.limits.borrow().index;
        if let Err(error) = self.evict_until_goal(store, indexes, limit, position) {
            tracing::warn!(%error, "failed to make the search index smaller");
        }
        if let Some(why) = lack(indexes, limit) {
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
            let in_vain = self.in_vain.load(Ordering::Relaxed);
            let is_more = taken >= in_vain + limit / 16 || taken > limit;
            if taken < limit / 8 * TIGHT || !is_more {
                return Ok(());
            }
            let evicted = evict_share(store, (taken - limit / 8 * GOAL) as f64 / taken as f64)?;
            if evicted.is_empty() {
                self.in_vain.store(taken, Ordering::Relaxed);
                return Ok(());
            }
            // The outbox has these removals, too, but after all other pending entries.
            for SourceKey { session, number } in evicted {
                indexes
                    .sessions
                    .apply(IndexChange::DropSource { session, source: number }, position);
            }
            indexes.purge()?;
        }
    }
}

/// Returns a message if the indexes exceed their quota.
pub(super) fn lack(indexes: &Indexes, limit: u64) -> Option<String> {
    let taken = indexes.disk_bytes();
    (taken > limit).then(|| {
        format!(
            "the search index takes {} MB of the {} MB that session_tracking.limits.index_bytes allows; raise it and run `graphiti reload`",
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
