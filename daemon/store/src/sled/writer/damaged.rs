//! Finds and deletes the rows of a session whose records are damaged. The damaged records do not
//! show which other rows belong to the session, so these rows are found by their keys and values.

use std::collections::BTreeSet;

use super::{Transaction, WriterThread};
use crate::{
    OutboxChange, StoreError,
    model::{
        EpisodeId, SessionKey,
        graph::{EntityId, EntityOrFact, FactKey},
        session::Session,
        vector::Owner,
    },
    sled::{
        keys::{self, Key, table},
        reading,
        records::SessionRecord,
    },
};

/// The tables with the statements of episodes. The keys of their rows contain the id of the
/// episode.
const TABLES_OF_STATEMENTS: [u8; 9] = [
    table::EPISODE_INDEX,
    table::MENTIONS,
    table::MENTIONS_BY_KIND,
    table::CLAIMS,
    table::CLAIMS_BY_ENTITY,
    table::CLAIMS_BY_PROJECT,
    table::MARKS,
    table::RENAMES_FROM,
    table::RENAMES_TO,
];

impl WriterThread {
    /// Returns the keys of the rows with the id of a session.
    pub(super) fn ids_of(&self, session: SessionKey) -> Result<Vec<Key>, StoreError> {
        self.keys_with_value(table::IDS, &|value| value == session.0.to_be_bytes())
    }

    /// Returns the keys of the rows with the paths of a session's files.
    pub(super) fn paths_of(&self, session: SessionKey) -> Result<Vec<Key>, StoreError> {
        let is_of_session = |value: &[u8]| {
            keys::source_of_path(value).is_some_and(|source| source.session == session)
        };
        self.keys_with_value(table::PATHS, &is_of_session)
    }

    /// Returns the episodes of a session whose record is damaged. An episode that cannot be read,
    /// and that no readable session has, is also returned: it belongs to this session, or to
    /// another session with a damaged record, which cannot use the episode either.
    pub(super) fn episodes_of(&self, session: SessionKey) -> Result<Vec<EpisodeId>, StoreError> {
        let mut ids = Vec::new();
        for key in self.tree.scan_prefix([table::EPISODES]).keys() {
            ids.extend(keys::episode_in(&key?, 1));
        }
        // An episode may have several pieces.
        ids.dedup();
        let (mut found, mut unreadable) = (Vec::new(), BTreeSet::new());
        for id in ids {
            match reading::episode(&self.tree, id) {
                Ok(Some(episode)) if episode.session == session => found.push(id),
                Ok(Some(_)) => {}
                Ok(None) | Err(StoreError::Damaged { .. }) => {
                    unreadable.insert(id);
                }
                Err(error) => return Err(error),
            }
        }
        if !unreadable.is_empty() {
            self.remove_used_episodes(&mut unreadable)?;
        }
        found.extend(unreadable);
        Ok(found)
    }

    /// Removes the episodes of readable sessions from `episodes`.
    fn remove_used_episodes(&self, episodes: &mut BTreeSet<EpisodeId>) -> Result<(), StoreError> {
        for row in self.tree.scan_prefix([table::SESSIONS]) {
            let (key, value) = row?;
            match reading::read::<SessionRecord, Session>(&key, &value) {
                Ok(session) => {
                    session.indexed.into_iter().for_each(|indexed| {
                        episodes.remove(&indexed.episode);
                    });
                }
                Err(StoreError::Damaged { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Removes a damaged episode of `session`. The rows of the episode are found by their keys, so
    /// the tables are searched.
    pub(super) fn drop_damaged_episode(
        &self,
        transaction: &mut Transaction,
        id: EpisodeId,
        session: SessionKey,
    ) -> Result<(), StoreError> {
        for table in [table::EPISODES, table::BY_PROJECT] {
            let rows = self.keys_with_episode(table, id)?;
            rows.into_iter().for_each(|key| transaction.ops.remove(key));
        }
        self.drop_damaged_statements(transaction, id)?;
        self.drop_vectors(transaction, Owner::Session(session))?;
        let episodes = &mut transaction.counts.episodes;
        *episodes = episodes.saturating_sub(1);
        self.push_outbox(transaction, OutboxChange::EpisodeDropped { id, session });
        Ok(())
    }

    /// Removes the statements of an episode whose index is damaged.
    pub(super) fn drop_damaged_statements(
        &self,
        transaction: &mut Transaction,
        episode: EpisodeId,
    ) -> Result<(), StoreError> {
        for table in TABLES_OF_STATEMENTS {
            for key in self.keys_with_episode(table, episode)? {
                let subject = keys::uuid_in(&key, 1);
                let changed = match table {
                    table::MENTIONS => subject.map(|id| EntityOrFact::Entity(EntityId(id))),
                    table::CLAIMS => subject.map(|id| EntityOrFact::Fact(FactKey(id))),
                    _ => None,
                };
                transaction.entities_and_facts.extend(changed);
                transaction.ops.remove(key);
            }
        }
        Ok(())
    }

    fn keys_with_episode(&self, table: u8, id: EpisodeId) -> Result<Vec<Key>, StoreError> {
        let mut found = Vec::new();
        for key in self.tree.scan_prefix([table]).keys() {
            let key = key?;
            if key.windows(16).any(|part| part == id.0.as_bytes()) {
                found.push(key.to_vec());
            }
        }
        Ok(found)
    }

    fn keys_with_value(
        &self,
        table: u8,
        is_wanted: &dyn Fn(&[u8]) -> bool,
    ) -> Result<Vec<Key>, StoreError> {
        let mut found = Vec::new();
        for row in self.tree.scan_prefix([table]) {
            let (key, value) = row?;
            if is_wanted(&value) {
                found.push(key.to_vec());
            }
        }
        Ok(found)
    }
}
