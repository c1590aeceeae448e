//! The numbers of records, the next free session key and the last outbox position. They are stored
//! in the same step as the counted records.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use sled::Tree;

use super::{
    agent_totals::StoredAgentTotals,
    batch::Batch,
    keys::{self, table},
    session_heads::SessionHeads,
};
use crate::{StoreError, model::episode::MEMORY};

/// The version of the counters. With an older version, sessions, episodes and the totals of agents
/// are counted again, because the stored numbers are wrong or missing.
const VERSION: u64 = 3;

/// Numbers, and the heads of sessions. Only the writer changes them, except that any thread may
/// take the next session key and load the heads.
#[derive(Debug)]
pub(super) struct Counters {
    pub(super) next_session: AtomicU64,
    counts: Mutex<Counts>,
    pub(super) agents: StoredAgentTotals,
    pub(super) heads: SessionHeads,
}

/// The last outbox position and the numbers of records.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) outbox: u64,
    pub(super) sessions: u64,
    pub(super) messages: u64,
    pub(super) episodes: u64,
}

impl Counters {
    pub(super) fn load(tree: &Tree) -> Result<Counters, StoreError> {
        let read = |name: &str| -> Result<u64, StoreError> {
            let stored = tree.get(keys::meta(name))?;
            let number =
                stored.and_then(|bytes| bytes.first_chunk().map(|b| u64::from_be_bytes(*b)));
            Ok(number.unwrap_or(0))
        };
        let is_exact = read("counters")? >= VERSION;
        let sessions = if is_exact { read("sessions")? } else { count_sessions(tree)? };
        let episodes = if is_exact { read("episodes")? } else { count_episodes(tree)? };
        Ok(Counters {
            next_session: read("next session")?.into(),
            counts: Mutex::new(Counts {
                outbox: read("outbox")?,
                sessions,
                messages: read("messages")?,
                episodes,
            }),
            agents: StoredAgentTotals::load(tree, is_exact)?,
            heads: SessionHeads::default(),
        })
    }

    pub(super) fn get(&self) -> Counts {
        *self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the counts after a list was applied.
    pub(super) fn set(&self, counts: Counts) {
        *self.counts.lock().unwrap_or_else(PoisonError::into_inner) = counts;
    }

    /// Adds `counts`, and the next session key, to `batch`, which also contains the counted
    /// records.
    pub(super) fn save(&self, counts: Counts, batch: &mut Batch) {
        let named = [
            ("next session", self.next_session.load(Ordering::Relaxed)),
            ("outbox", counts.outbox),
            ("sessions", counts.sessions),
            ("messages", counts.messages),
            ("episodes", counts.episodes),
        ];
        for (name, number) in named {
            batch.insert(keys::meta(name), &number.to_be_bytes());
        }
        batch.insert(keys::meta("counters"), &VERSION.to_be_bytes());
    }
}

/// Returns the number of sessions, without added memories.
pub(super) fn count_sessions(tree: &Tree) -> Result<u64, StoreError> {
    let memories = [MEMORY.as_bytes(), &[0]].concat();
    let mut sessions = 0;
    for key in tree.scan_prefix([table::IDS]).keys() {
        sessions += u64::from(!key?[1..].starts_with(&memories));
    }
    Ok(sessions)
}

pub(super) fn count_episodes(tree: &Tree) -> Result<u64, StoreError> {
    let mut episodes = 0;
    for key in tree.scan_prefix([table::BY_PROJECT]).keys() {
        key?;
        episodes += 1;
    }
    Ok(episodes)
}
