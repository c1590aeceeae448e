//! Writes and deletes sessions.

use std::sync::atomic::Ordering;

use super::{Transaction, WriterThread};
use crate::{
    NoteNamespace, OutboxChange, Source, StoreError,
    model::{
        SessionId, SessionKey,
        episode::MEMORY,
        session::{Session, State},
    },
    sled::{
        keys::{self, Key},
        pieces, reading,
        records::SourceRecord,
    },
};

impl WriterThread {
    pub(super) fn put_session(
        &self,
        transaction: &mut Transaction,
        session: &Session,
        record: Vec<u8>,
    ) -> Result<(), StoreError> {
        let key = keys::session(session.key);
        let before = self.session(session.key)?;
        if before.is_none() && transaction.new_sessions.insert(session.key) {
            let id = keys::id(&session.id);
            transaction.counts.sessions += counted(&id);
            transaction.ops.insert(id, &session.key.0.to_be_bytes());
        }
        if before.is_none_or(|before| before.project != session.project) {
            self.push_outbox(transaction, OutboxChange::Session(session.key));
        }
        self.counters.next_session.fetch_max(session.key.0 + 1, Ordering::Relaxed);
        transaction.ops.insert(key, record);
        transaction.counted.put_session(session);
        match session.state {
            State::Indexed => transaction.ops.remove(keys::live(session.key)),
            State::Active
            | State::Inactive
            | State::Indexing(_)
            | State::Failed(_)
            | State::Unindexed(_) => transaction.ops.insert(keys::live(session.key), &[]),
        }
        Ok(())
    }

    pub(super) fn drop_session(
        &self,
        transaction: &mut Transaction,
        key: SessionKey,
    ) -> Result<(), StoreError> {
        let (ids, episodes) = match self.session(key) {
            Ok(None) => return Ok(()),
            Ok(Some(session)) => {
                let episode = session.indexed.map(|indexed| indexed.episode);
                (vec![keys::id(&session.id)], episode.into_iter().collect())
            }
            Err(error @ StoreError::Damaged { .. }) => {
                tracing::warn!(%error, "a session with a damaged record is deleted");
                (self.ids_of(key)?, self.episodes_of(key)?)
            }
            Err(error) => return Err(error),
        };
        for episode in episodes {
            self.drop_episode_of(transaction, episode, key)?;
        }
        self.drop_sources(transaction, key)?;
        pieces::remove(&self.tree, &mut transaction.ops, &keys::checkpoints_of_session(key))?;
        // Older versions also stored messages of files that have no record.
        let blocks = self.tree.scan_prefix(keys::messages_of_session(key)).keys();
        let blocks = blocks.map(|key| Ok(key?.to_vec())).collect::<Result<Vec<_>, StoreError>>()?;
        self.remove_blocks(transaction, &blocks)?;
        for namespace in [
            NoteNamespace::Awaiting,
            NoteNamespace::Forks,
            NoteNamespace::Figures,
            NoteNamespace::KnownSecrets,
            NoteNamespace::Rereads,
        ] {
            let note = keys::note(namespace, &key.0.to_be_bytes());
            pieces::remove(&self.tree, &mut transaction.ops, &note)?;
        }
        for record in reading::fork_keys_of(&self.tree, key)? {
            keys::fork_key(key, record).into_iter().for_each(|key| transaction.ops.remove(key));
        }
        transaction.ops.remove(keys::session(key));
        transaction.counted.sessions.insert(key, None);
        transaction.ops.remove(keys::live(key));
        for id in ids {
            let sessions = &mut transaction.counts.sessions;
            *sessions = sessions.saturating_sub(counted(&id));
            transaction.ops.remove(id);
        }
        self.push_outbox(transaction, OutboxChange::SessionDropped(key));
        Ok(())
    }

    /// Removes the records of a session's files, also damaged records.
    fn drop_sources(
        &self,
        transaction: &mut Transaction,
        session: SessionKey,
    ) -> Result<(), StoreError> {
        let mut has_damaged = false;
        for row in self.tree.scan_prefix(keys::sources_of(session)) {
            let (key, value) = row?;
            match reading::read::<SourceRecord, Source>(&key, &value) {
                Ok(source) => {
                    transaction.counted.sources.insert(source.key, None);
                    transaction.ops.remove(keys::path(&source.path));
                }
                Err(_) => has_damaged = true,
            }
            transaction.ops.remove(key);
        }
        if has_damaged {
            self.paths_of(session)?.into_iter().for_each(|path| transaction.ops.remove(path));
        }
        Ok(())
    }
}

/// Returns 1 if the session with this key in table `i` is counted, and 0 if it is an added memory.
fn counted(id: &Key) -> u64 {
    let memories = SessionId { agent: MEMORY.to_owned(), id: String::new() };
    u64::from(!id.starts_with(&keys::id(&memories)))
}
