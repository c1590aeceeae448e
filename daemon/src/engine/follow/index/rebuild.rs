//! Fills new indexes from the store.

use super::{IndexTarget, Target as _};
use crate::{
    model::{SessionKey, graph::EntityOrFact},
    search::index::Position,
    store::{Source, StoreError},
};

impl IndexTarget {
    /// Fills the new indexes with all sessions, entities and facts in the store.
    pub(super) fn fill(&mut self) {
        let mut sessions: Vec<SessionKey> = Vec::new();
        let listed = self.store.visit_sessions(&mut |session| {
            sessions.push(session.key);
            true
        });
        if let Err(error) = listed {
            tracing::warn!(%error, "the search index cannot be filled");
        }
        for session in sessions {
            // A damaged record must not exclude other sessions from the index.
            if let Err(error) = self.feed_session(session) {
                tracing::warn!(%error, session = session.0, "a session cannot be searched");
            }
        }
        self.feed_entities_and_facts();
        self.partly_applied_to = self.store.outbox_end();
        // No entry of the outbox was applied yet.
        self.commit(0);
    }

    fn feed_entities_and_facts(&self) {
        let mut things: Vec<EntityOrFact> = Vec::new();
        let listed = self.store.visit_entities_and_facts(&mut |thing| {
            things.push(thing);
            true
        });
        if let Err(error) = listed {
            tracing::warn!(%error, "entities and facts cannot be searched");
        }
        for thing in things {
            if let Err(error) = self.feed_entity_or_fact(thing, Position(0)) {
                tracing::warn!(%error, "an entity or a fact cannot be searched");
            }
            if self.indexes.is_full() {
                self.commit_early(Position(0));
            }
        }
    }

    fn feed_session(&self, key: SessionKey) -> Result<(), StoreError> {
        let sources: Vec<Source> = self.store.sources_of(key)?;
        for source in sources {
            self.feed(source.key, 0, usize::MAX, Position(0))?;
        }
        match self.store.stored_episode_of(key)? {
            Some(episode) => self.feed_episode(&episode, Position(0)),
            None => Ok(()),
        }
    }
}
