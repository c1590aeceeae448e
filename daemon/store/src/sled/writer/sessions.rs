//! Writes and deletes sessions.

use std::sync::atomic::Ordering;

use super::{Transaction, WriterThread};
use crate::{
    NoteNamespace, OutboxChange, StoreError,
    model::{
        SessionId, SessionKey,
        episode::MEMORY,
        session::{Session, State},
    },
    sled::{keys, pieces, reading},
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
            transaction.counts.sessions += counted(&session.id);
            transaction.ops.insert(keys::id(&session.id), &session.key.0.to_be_bytes());
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
        let Some(session) = self.session(key)? else { return Ok(()) };
        if let Some(indexed) = &session.indexed {
            self.drop_episode(transaction, indexed.episode)?;
        }
        for source in reading::sources_of(&self.tree, key)? {
            transaction.ops.remove(keys::source(source.key));
            transaction.counted.sources.insert(source.key, None);
            transaction.ops.remove(keys::path(&source.path));
            pieces::remove(&self.tree, &mut transaction.ops, &keys::checkpoint(source.key))?;
        }
        // Older versions also stored messages of files that have no record.
        let blocks = self.tree.scan_prefix(keys::messages_of_session(key)).keys();
        let blocks = blocks.map(|key| Ok(key?.to_vec())).collect::<Result<Vec<_>, StoreError>>()?;
        self.remove_blocks(transaction, &blocks)?;
        for namespace in [
            NoteNamespace::Awaiting,
            NoteNamespace::Forks,
            NoteNamespace::Figures,
            NoteNamespace::KnownSecrets,
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
        transaction.ops.remove(keys::id(&session.id));
        let sessions = &mut transaction.counts.sessions;
        *sessions = sessions.saturating_sub(counted(&session.id));
        self.push_outbox(transaction, OutboxChange::SessionDropped(key));
        Ok(())
    }
}

/// Returns 1 if the session is counted, and 0 if it is an added memory.
fn counted(id: &SessionId) -> u64 {
    u64::from(id.agent != MEMORY)
}
