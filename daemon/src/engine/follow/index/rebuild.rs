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
        let listed = self.store.visit_undamaged_sessions(&mut |session| {
            sessions.push(session.key);
            true
        });
        if let Err(error) = listed {
            tracing::warn!(%error, "the search index cannot be filled");
        }
        for session in sessions {
            // A damaged record must not exclude other sessions from the index.
            if let Err(error) = self.feed_session(session) {
                tracing::warn!(%error, session = session.0, "a session, or a part of it, cannot be searched");
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

    /// Feeds the files and the episode of a session. Returns the first error after all that can be
    /// read is fed.
    fn feed_session(&self, key: SessionKey) -> Result<(), StoreError> {
        let (sources, mut result): (Vec<Source>, _) = match self.store.sources_of(key) {
            Ok(sources) => (sources, Ok(())),
            Err(error) => (Vec::new(), Err(error)),
        };
        for source in sources {
            result = result.and(self.feed(source.key, 0, usize::MAX, Position(0)).map(drop));
        }
        result.and(self.feed_episode_of(key))
    }

    fn feed_episode_of(&self, key: SessionKey) -> Result<(), StoreError> {
        match self.store.stored_episode_of(key)? {
            Some(episode) => self.feed_episode(&episode, Position(0)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        engine::{
            follow::{self, OutboxPositions},
            quota::{DiskLimits, IndexQuota},
        },
        model::graph::Statements,
        store::{SourceKey, Store as _, Write, contract, sled::SledStore},
    };

    #[test]
    fn everything_except_damaged_records_is_in_a_new_index() {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(SledStore::open(&folder.path().join("db")).unwrap());
        let keys = [1, 2, 3].map(SessionKey);
        for key in keys {
            let mut session = contract::session(key, &key.0.to_string());
            let episode = contract::episode(&session, 2_000);
            for number in [0, 1] {
                let source = contract::source_of(&session, number);
                let messages = vec![contract::message(0, 50)];
                let messages = Write::Messages { source: source.key, messages };
                let source = Write::Source { source, checkpoint: None };
                store.write(vec![source, messages]).wait().unwrap();
            }
            contract::index_with_statements(&*store, &mut session, &episode, Statements::default());
        }
        store.damage_session(keys[1]);
        store.damage_messages(SourceKey { session: keys[2], number: 0 });
        let limits = DiskLimits {
            database_bytes: u64::MAX,
            index_bytes: u64::MAX,
            spool_bytes: 0,
            log_bytes: 0,
        };
        let quota = IndexQuota::new(tokio::sync::watch::channel(limits).1);
        let positions = OutboxPositions::new(store.clone());
        let follower =
            follow::open(&folder.path().join("index"), store, quota, &positions).unwrap();
        let mut target = follower.target;
        target.prepare();
        let passages = keys.map(|key| target.indexes.sessions.passages_of(key).unwrap());
        // The messages of one of two files are missing.
        assert_eq!(passages, [passages[0], 0, passages[0] - 1]);
    }
}
