//! Tracks which part of the outbox every follower has committed, so that the store can delete this
//! part.

use std::sync::{Arc, Mutex, PoisonError};

use crate::store::{Store, Write};

/// The durable positions of all followers of one store. Followers register before any of them runs.
#[derive(Clone)]
pub struct OutboxPositions {
    store: Arc<dyn Store>,
    positions: Arc<Mutex<Positions>>,
}

#[derive(Default)]
struct Positions {
    /// The durable position of each follower, in the order of registration.
    durable: Vec<u64>,
    /// The position up to which the outbox was released.
    released: u64,
}

/// The durable position of one follower.
pub(super) struct DurablePosition {
    all: OutboxPositions,
    number: usize,
}

impl OutboxPositions {
    pub fn new(store: Arc<dyn Store>) -> OutboxPositions {
        OutboxPositions { store, positions: Arc::default() }
    }

    /// Registers a follower that has applied everything up to `durable`.
    pub(super) fn register(&self, durable: u64) -> DurablePosition {
        let mut positions = self.positions.lock().unwrap_or_else(PoisonError::into_inner);
        positions.durable.push(durable);
        DurablePosition { all: self.clone(), number: positions.durable.len() - 1 }
    }
}

impl DurablePosition {
    /// Sets the durable position of this follower. Returns the lowest position of all followers, if
    /// the lowest position has increased.
    fn advance(&self, durable: u64) -> Option<u64> {
        let mut positions = self.all.positions.lock().unwrap_or_else(PoisonError::into_inner);
        positions.durable[self.number] = durable;
        let slowest = positions.durable.iter().copied().min().unwrap_or_default();
        if slowest <= positions.released {
            return None;
        }
        positions.released = slowest;
        Some(slowest)
    }

    /// Advances the position, and releases the part of the outbox that no follower needs any more.
    pub(super) fn release(&self, durable: u64) {
        if let Some(position) = self.advance(durable) {
            // If the write fails, these entries are deleted together with later entries.
            let _ = self.all.store.write(vec![Write::OutboxConsumed(position)]);
        }
    }
}
