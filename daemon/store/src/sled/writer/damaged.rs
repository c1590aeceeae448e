//! Finds and deletes the rows of a session whose records are damaged. The damaged records do not
//! show which other rows belong to the session, so these rows are found by their keys and values.

use super::{Transaction, WriterThread};
use crate::{
    OutboxChange, StoreError,
    model::{
        EpisodeId, SessionKey,
        graph::{EntityId, EntityOrFact, FactKey},
        vector::Owner,
    },
    sled::{
        keys::{self, Key, table},
        reading,
    },
};

/// The tables with the rows of episodes. The keys of these rows contain the id of the episode.
const TABLES_OF_EPISODES: [u8; 11] = [
    table::EPISODES,
    table::BY_PROJECT,
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

    /// Returns the episodes of a session, except episodes that are damaged.
    pub(super) fn episodes_of(&self, session: SessionKey) -> Result<Vec<EpisodeId>, StoreError> {
        let mut ids = Vec::new();
        for key in self.tree.scan_prefix([table::EPISODES]).keys() {
            ids.extend(keys::episode_in(&key?, 1));
        }
        // An episode may have several pieces.
        ids.dedup();
        let mut found = Vec::new();
        for id in ids {
            match reading::episode(&self.tree, id) {
                Ok(Some(episode)) if episode.session == session => found.push(id),
                Ok(_) | Err(StoreError::Damaged { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    /// Removes an episode of `session` if the episode or its statements are damaged.
    pub(super) fn drop_damaged_episode(
        &self,
        transaction: &mut Transaction,
        id: EpisodeId,
        session: SessionKey,
    ) -> Result<(), StoreError> {
        let mut is_stored = false;
        for table in TABLES_OF_EPISODES {
            for key in self.tree.scan_prefix([table]).keys() {
                let key = key?;
                if !key.windows(16).any(|part| part == id.0.as_bytes()) {
                    continue;
                }
                is_stored |= table == table::EPISODES;
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
        self.drop_vectors(transaction, Owner::Session(session))?;
        let episodes = &mut transaction.counts.episodes;
        *episodes = episodes.saturating_sub(u64::from(is_stored));
        self.push_outbox(transaction, OutboxChange::EpisodeDropped { id, session });
        Ok(())
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
