//! Keeps the search index within its limit. Who feeds it does this whenever it was written to disk, so
//! that it does not grow meanwhile.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::watch;

use super::{
    DiskLimits,
    evict::{self, Evictor},
    tell,
};
use crate::{
    engine::indexes::Indexes,
    search::index::{IndexChange, IndexError, Position},
    store::{SourceKey, Store, StoreError},
};

/// Of each eight bytes that the index may take: from so many on something goes, until so many are
/// left. What is merged is there twice meanwhile, beside what was just written.
const TIGHT: u64 = 3;
const GOAL: u64 = 2;

/// The room of the search index.
pub struct IndexQuota {
    limits: watch::Receiver<DiskLimits>,
    /// Bytes that it took when there was no text that could go for it.
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
    /// With these limits, as they change.
    pub fn new(limits: watch::Receiver<DiskLimits>) -> IndexQuota {
        IndexQuota { limits, in_vain: AtomicU64::new(0) }
    }

    /// The limits, as they change.
    pub(in crate::engine) fn limits(&self) -> watch::Receiver<DiskLimits> {
        self.limits.clone()
    }

    /// Lets go of the oldest text as long as the indexes take too much, and rids the disk of it at
    /// once. They were told everything up to `position`. Text is refused when that does not suffice.
    /// Blocks.
    pub(in crate::engine) fn keep(&self, store: &dyn Store, indexes: &Indexes, position: Position) {
        let limit = self.limits.borrow().index;
        if let Err(error) = self.make_room(store, (indexes, limit), position) {
            tracing::warn!(%error, "the search index cannot be made smaller");
        }
        if let Some(why) = lack(indexes, limit) {
            store.quota().refuse_text(&why);
        }
    }

    fn make_room(
        &self,
        store: &dyn Store,
        (indexes, limit): (&Indexes, u64),
        position: Position,
    ) -> Result<(), QuotaError> {
        loop {
            let taken = indexes.bytes()?;
            let in_vain = self.in_vain.load(Ordering::Relaxed);
            let is_more = taken >= in_vain + limit / 16 || taken > limit;
            if taken < limit / 8 * TIGHT || !is_more {
                return Ok(());
            }
            let gone = share_goes(store, (taken - limit / 8 * GOAL) as f64 / taken as f64)?;
            if gone.is_empty() {
                self.in_vain.store(taken, Ordering::Relaxed);
                return Ok(());
            }
            // The outbox says so, too, but behind all that is still to be taken over.
            for SourceKey { session, number } in gone {
                indexes
                    .sessions
                    .apply(IndexChange::DropSource { session, source: number }, position);
            }
            indexes.purge()?;
        }
    }
}

/// What is to be said when the indexes take more than the limit.
pub(super) fn lack(indexes: &Indexes, limit: u64) -> Option<String> {
    let taken = indexes.disk_bytes();
    (taken > limit).then(|| {
        format!(
            "the search index takes {} MB of the {} MB that session_tracking.limits.index_bytes allows; raise it and `graphiti reload`",
            taken / 1_000_000,
            limit / 1_000_000
        )
    })
}

/// Lets go of so large a part of all text, from 0 to 1; returns the files whose text went.
fn share_goes(store: &dyn Store, share: f64) -> Result<Vec<SourceKey>, StoreError> {
    let all = evict::text_bytes(store)?;
    let mut going = Evictor::of(store);
    let gone = going.text((all as f64 * share).ceil() as u64)?;
    tell(going.gone(), "search index");
    Ok(gone)
}
