//! Records which sessions have changed, according to the entries of the outbox. Never waits for the
//! network.

use std::sync::Arc;

use tokio::sync::watch;

use super::{Sharing, state};
use crate::{
    engine::follow::{Target, TargetError},
    model::{
        EpisodeId,
        graph::{EntityId, EntityOrFact, FactKey},
    },
    store::{OutboxChange, OutboxEntry, StoreError, damaged::skip_damaged, graph::RenameEnd},
};

/// The effect of a damaged record.
const NOT_QUEUED: &str = "a changed session is not queued for the shared graph";

/// Queues the sessions whose data in the graph may be outdated by a change.
pub struct ShareQueue {
    sharing: Arc<Sharing>,
    start: u64,
}

impl ShareQueue {
    pub(super) fn new(sharing: Arc<Sharing>) -> ShareQueue {
        let end = *sharing.store.outbox_ends().borrow();
        // Without a position, the work begins with a comparison of all sessions.
        let position = state::position(sharing.store.as_ref());
        let start = position.filter(|_| sharing.target().is_on()).unwrap_or(end);
        ShareQueue { sharing, start: start.min(end) }
    }

    fn mark_episode(&self, id: EpisodeId) -> Result<(), StoreError> {
        if let Some(episode) = skip_damaged(self.sharing.store.episode(id), NOT_QUEUED)? {
            self.sharing.mark_changed(episode.session);
        }
        Ok(())
    }

    /// Queues the sessions that state a fact, because the session that stated the fact first may
    /// have been deleted.
    fn mark_fact(&self, fact: FactKey) -> Result<(), StoreError> {
        for claim in skip_damaged(self.sharing.store.claims(fact), NOT_QUEUED)? {
            self.mark_episode(claim.episode)?;
        }
        Ok(())
    }

    /// Queues the sessions that mention an entity, if the entity was renamed.
    fn mark_entity(&self, entity: EntityId) -> Result<(), StoreError> {
        let renames = self.sharing.store.renames(entity, RenameEnd::From);
        if skip_damaged(renames, NOT_QUEUED)?.is_empty() {
            return Ok(());
        }
        for mention in skip_damaged(self.sharing.store.mentions(entity), NOT_QUEUED)? {
            self.mark_episode(mention.episode)?;
        }
        Ok(())
    }
}

impl Target for ShareQueue {
    const NAME: &'static str = "the queue of the shared graph";
    type Settings = ();

    fn durable(&self) -> u64 {
        self.start
    }

    fn settings(&self) -> watch::Receiver<()> {
        watch::channel(()).1
    }

    /// While sharing is off, entries can be skipped, because all sessions are compared when sharing
    /// is switched on.
    fn takes_entries(&self) -> bool {
        self.sharing.target().is_on()
    }

    fn apply(&mut self, entry: OutboxEntry, _end: u64) -> Result<(), TargetError> {
        match entry.what {
            OutboxChange::Episode(id) => self.mark_episode(id)?,
            OutboxChange::EpisodeDropped { session, .. } | OutboxChange::Session(session) => {
                self.sharing.mark_changed(session);
            }
            OutboxChange::SessionDropped(session) => self.sharing.note_deletion(session),
            OutboxChange::EntitiesAndFacts(things) => {
                for thing in things {
                    match thing {
                        EntityOrFact::Fact(fact) => self.mark_fact(fact)?,
                        EntityOrFact::Entity(entity) => self.mark_entity(entity)?,
                    }
                }
            }
            OutboxChange::Messages { .. } | OutboxChange::SourceCleared(_) => {}
        }
        Ok(())
    }

    fn commit(&mut self, position: u64) -> Option<u64> {
        let pending = {
            let mut pending = self.sharing.lock();
            if !self.takes_entries() {
                return Some(position);
            }
            let mut writes = pending.save();
            writes.push(state::save_position(Some(position)));
            // The writes are queued while the lock is held, so that the background work does not
            // delete a note before the note is written.
            self.sharing.store.write(writes)
        };
        match pending.wait() {
            Ok(_) => Some(position),
            Err(error) => {
                tracing::warn!(%error, "failed to save the queue of sessions for the shared graph");
                None
            }
        }
    }
}
