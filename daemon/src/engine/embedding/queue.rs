//! The queue of the embedder as a target of a follower.
//!
//! The queue is not on disk: after a start, the embedder queues all documents without vectors
//! ([`super::work`]). The follower therefore begins at the end of the outbox.

use std::sync::Arc;

use tokio::sync::watch;

use super::EmbeddingService;
use crate::{
    engine::follow::{Target, TargetError},
    model::vector::Owner,
    store::{OutboxChange, OutboxEntry},
};

/// Queues the owners whose vectors may be outdated by a change.
pub struct EmbeddingQueue {
    embedding: Arc<EmbeddingService>,
    start: u64,
}

impl EmbeddingQueue {
    pub(super) fn new(embedding: Arc<EmbeddingService>) -> EmbeddingQueue {
        let start = *embedding.store.outbox_ends().borrow();
        EmbeddingQueue { embedding, start }
    }
}

impl Target for EmbeddingQueue {
    const NAME: &'static str = "the queue of the embedder";
    type Settings = ();

    fn durable(&self) -> u64 {
        self.start
    }

    fn settings(&self) -> watch::Receiver<()> {
        watch::channel(()).1
    }

    /// Entries can be skipped while no model is configured, because all owners without vectors are
    /// queued when a model is configured later.
    fn takes_entries(&self) -> bool {
        self.embedding.model().is_on()
    }

    fn apply(&mut self, entry: OutboxEntry, _end: u64) -> Result<(), TargetError> {
        let embedding = &self.embedding;
        match entry.what {
            OutboxChange::Episode(id) => {
                if let Some(episode) = embedding.store.episode(id)? {
                    embedding.enqueue(Owner::Session(episode.session));
                }
            }
            OutboxChange::EpisodeDropped { session, .. }
            | OutboxChange::SessionDropped(session) => {
                embedding.enqueue(Owner::Session(session));
            }
            OutboxChange::EntitiesAndFacts(things) => {
                things.into_iter().for_each(|thing| embedding.enqueue(Owner::EntityOrFact(thing)));
            }
            OutboxChange::Messages { .. }
            | OutboxChange::Session(_)
            | OutboxChange::SourceCleared(_) => {}
        }
        Ok(())
    }

    fn commit(&mut self, position: u64) -> Option<u64> {
        Some(position)
    }
}
