//! Totals and the next numbers, kept beside the records that they count.

use std::sync::atomic::{AtomicU64, Ordering};

use sled::{Batch, Tree};

use super::keys;
use crate::store::StoreError;

/// Numbers that the writer alone moves on.
#[derive(Debug)]
pub(super) struct Counters {
    pub(super) next_session: AtomicU64,
    pub(super) outbox: AtomicU64,
    pub(super) sessions: AtomicU64,
    pub(super) messages: AtomicU64,
    pub(super) episodes: AtomicU64,
}

impl Counters {
    pub(super) fn load(tree: &Tree) -> Result<Counters, StoreError> {
        let read = |name: &str| -> Result<AtomicU64, StoreError> {
            let stored = tree.get(keys::meta(name))?;
            let number =
                stored.and_then(|bytes| bytes.first_chunk().map(|b| u64::from_be_bytes(*b)));
            Ok(AtomicU64::new(number.unwrap_or(0)))
        };
        Ok(Counters {
            next_session: read("next session")?,
            outbox: read("outbox")?,
            sessions: read("sessions")?,
            messages: read("messages")?,
            episodes: read("episodes")?,
        })
    }

    /// Puts them into `batch`, with what they count.
    pub(super) fn save(&self, batch: &mut Batch) {
        let named = [
            ("next session", &self.next_session),
            ("outbox", &self.outbox),
            ("sessions", &self.sessions),
            ("messages", &self.messages),
            ("episodes", &self.episodes),
        ];
        for (name, number) in named {
            batch.insert(keys::meta(name), &number.load(Ordering::Relaxed).to_be_bytes());
        }
    }
}
