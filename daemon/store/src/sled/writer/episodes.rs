//! Writes episodes, their statements, and vectors.

use super::{Transaction, WriterThread};
use crate::{
    OutboxChange, StoreError,
    model::{Episode, EpisodeId, SessionKey, graph::EntityOrFact, vector::Owner},
    sled::{
        keys::{self, Key},
        pieces, reading, statements,
    },
};

impl WriterThread {
    /// Adds the new episode and removes the previous one of its session.
    pub(super) fn put_episode(
        &self,
        transaction: &mut Transaction,
        episode: &Episode,
        record: &[u8],
    ) -> Result<(), StoreError> {
        let old = self.session(episode.session)?.and_then(|session| session.indexed);
        match old {
            Some(old)
                if old.episode == episode.id && !self.is_unreadable_episode(old.episode)? =>
            {
                self.clear_episode(transaction, old.episode)?;
            }
            Some(old) => self.drop_episode_of(transaction, old.episode, episode.session)?,
            None => {}
        }
        self.drop_vectors(transaction, Owner::Session(episode.session))?;
        pieces::put(&mut transaction.ops, &keys::episode(episode.id), record);
        transaction.ops.insert(keys::episode_of(episode.project.namespace(), episode.id), &[]);
        transaction.counts.episodes += 1;
        self.push_outbox(transaction, OutboxChange::Episode(episode.id));
        Ok(())
    }

    /// Removes an episode and its statements. Adds no outbox entry for the episode, and does not
    /// remove the vectors of its session.
    fn clear_episode(
        &self,
        transaction: &mut Transaction,
        id: EpisodeId,
    ) -> Result<(), StoreError> {
        let Some(episode) = reading::episode(&self.tree, id)? else { return Ok(()) };
        pieces::remove(&self.tree, &mut transaction.ops, &keys::episode(id))?;
        self.drop_statements(transaction, id)?;
        transaction.ops.remove(keys::episode_of(episode.project.namespace(), id));
        transaction.counts.episodes = transaction.counts.episodes.saturating_sub(1);
        Ok(())
    }

    pub(super) fn drop_episode(
        &self,
        transaction: &mut Transaction,
        id: EpisodeId,
    ) -> Result<(), StoreError> {
        let Some(episode) = reading::episode(&self.tree, id)? else { return Ok(()) };
        self.clear_episode(transaction, id)?;
        self.drop_vectors(transaction, Owner::Session(episode.session))?;
        self.push_outbox(
            transaction,
            OutboxChange::EpisodeDropped { id, session: episode.session },
        );
        Ok(())
    }

    /// Removes an episode of `session`, also if the episode is damaged.
    pub(super) fn drop_episode_of(
        &self,
        transaction: &mut Transaction,
        id: EpisodeId,
        session: SessionKey,
    ) -> Result<(), StoreError> {
        if self.is_unreadable_episode(id)? {
            return self.drop_damaged_episode(transaction, id, session);
        }
        self.drop_episode(transaction, id)
    }

    /// Whether an episode is stored, but is damaged or lacks one of its pieces.
    pub(super) fn is_unreadable_episode(&self, id: EpisodeId) -> Result<bool, StoreError> {
        match reading::episode(&self.tree, id) {
            Ok(Some(_)) => Ok(false),
            Ok(None) => self.is_any(&keys::episode(id)),
            Err(StoreError::Damaged { .. }) => Ok(true),
            Err(error) => Err(error),
        }
    }

    pub(super) fn put_statements(
        &self,
        transaction: &mut Transaction,
        episode: EpisodeId,
        rows: Vec<(Key, Vec<u8>)>,
        entities_and_facts: Vec<EntityOrFact>,
    ) -> Result<(), StoreError> {
        self.drop_statements(transaction, episode)?;
        for (key, value) in rows {
            transaction.ops.insert(key, value);
        }
        transaction.entities_and_facts.extend(entities_and_facts);
        Ok(())
    }

    fn drop_statements(
        &self,
        transaction: &mut Transaction,
        episode: EpisodeId,
    ) -> Result<(), StoreError> {
        let old = match statements::read(&self.tree, episode) {
            Err(error @ StoreError::Damaged { .. }) => {
                tracing::warn!(%error, "the damaged statements of an episode are deleted");
                return self.drop_damaged_statements(transaction, episode);
            }
            old => old?,
        };
        transaction.entities_and_facts.extend(statements::entities_and_facts(&old));
        for (key, _) in statements::rows(episode, &old) {
            transaction.ops.remove(key);
        }
        Ok(())
    }

    /// Replaces the vectors of `owner`. Stores the new vectors only if the owner still exists and,
    /// for a session, `episode` is still its episode. Vectors without an owner would never be
    /// deleted.
    pub(super) fn put_vectors(
        &self,
        transaction: &mut Transaction,
        owner: Owner,
        episode: Option<EpisodeId>,
        record: &[u8],
    ) -> Result<(), StoreError> {
        let owner_exists = match owner {
            Owner::Session(key) => {
                let indexed = self.session(key)?.and_then(|session| session.indexed);
                match indexed.map(|indexed| indexed.episode) {
                    Some(id) => Some(id) == episode && self.is_any(&keys::episode(id))?,
                    None => false,
                }
            }
            Owner::EntityOrFact(EntityOrFact::Entity(id)) => self.is_any(&keys::mentions_of(id))?,
            Owner::EntityOrFact(EntityOrFact::Fact(fact)) => self.is_any(&keys::claims_of(fact))?,
        };
        self.drop_vectors(transaction, owner)?;
        if owner_exists {
            pieces::put(&mut transaction.ops, &keys::vectors(owner), record);
        }
        Ok(())
    }

    pub(super) fn drop_vectors(
        &self,
        transaction: &mut Transaction,
        owner: Owner,
    ) -> Result<(), StoreError> {
        Ok(pieces::remove(&self.tree, &mut transaction.ops, &keys::vectors(owner))?)
    }

    fn is_any(&self, prefix: &Key) -> Result<bool, StoreError> {
        Ok(self.tree.scan_prefix(prefix).keys().next().transpose()?.is_some())
    }
}
