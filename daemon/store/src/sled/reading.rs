//! Reads records and outbox entries, on any thread.

use std::sync::atomic::Ordering;

use serde::de::DeserializeOwned;
use sled::Tree;
use tokio::sync::watch;

use super::{
    SledStore, envelope,
    keys::{self, table},
    pieces::{self, Joiner},
    records::{EpisodeRecord, MessageRecord, OutboxRecord, SessionRecord, SourceRecord},
};
use crate::{
    DiskQuota, OutboxEntry, PendingWrite, SessionHead, Source, SourceKey, Store, StoreError,
    Totals, TotalsByAgent, Write,
    damaged::skip_damaged,
    model::{
        Episode, EpisodeId, Message, Namespace, SessionId, SessionKey, session::Session,
        transcript::RecordUuid,
    },
};

impl Store for SledStore {
    fn write(&self, writes: Vec<Write>) -> PendingWrite {
        self.queue(writes)
    }

    fn next_session_key(&self) -> Result<SessionKey, StoreError> {
        Ok(SessionKey(self.counters.next_session.fetch_add(1, Ordering::Relaxed)))
    }

    fn session(&self, key: SessionKey) -> Result<Option<Session>, StoreError> {
        match self.writer.unwritten().session(key) {
            Some(session) => Ok(Some(session)),
            None => session(&self.tree, key),
        }
    }

    fn find_session(&self, id: &SessionId) -> Result<Option<SessionKey>, StoreError> {
        let stored = self.tree.get(keys::id(id))?;
        Ok(stored.and_then(|bytes| bytes.first_chunk().map(|b| SessionKey(u64::from_be_bytes(*b)))))
    }

    fn id_of(&self, session: SessionKey) -> Result<Option<SessionId>, StoreError> {
        for entry in self.tree.scan_prefix([table::IDS]) {
            let (key, value) = entry?;
            if *value == session.0.to_be_bytes() {
                return Ok(keys::id_in(&key));
            }
        }
        Ok(None)
    }

    fn sessions_with_prefix(
        &self,
        prefix: &str,
        limit: usize,
    ) -> Result<Vec<SessionKey>, StoreError> {
        let mut found = Vec::new();
        if limit == 0 {
            return Ok(found);
        }
        let mut from = vec![table::IDS];
        // Skips from agent to agent, so that the time does not grow with the number of sessions.
        while let Some(first) = self.tree.range(from.as_slice()..).next() {
            let (first, _) = first?;
            let Some(end) = first.iter().position(|byte| *byte == 0) else { break };
            if first.first() != Some(&table::IDS) {
                break;
            }
            let agent = &first[..end];
            for entry in self.tree.scan_prefix([agent, &[0], prefix.as_bytes()].concat()) {
                let (_, value) = entry?;
                found.extend(value.first_chunk().map(|key| SessionKey(u64::from_be_bytes(*key))));
                if found.len() == limit {
                    return Ok(found);
                }
            }
            from = [agent, &[1]].concat();
        }
        Ok(found)
    }

    fn visit_sessions(&self, visit: &mut dyn FnMut(Session) -> bool) -> Result<(), StoreError> {
        let mut visited = Ok(());
        for entry in self.tree.scan_prefix([table::SESSIONS]) {
            let (key, value) = entry?;
            match read::<SessionRecord, Session>(&key, &value) {
                Ok(session) => {
                    if !visit(session) {
                        break;
                    }
                }
                Err(error) => visited = visited.and(Err(error)),
            }
        }
        visited
    }

    fn visit_session_heads(
        &self,
        visit: &mut dyn FnMut(SessionKey, &SessionHead),
    ) -> Result<(), StoreError> {
        self.counters.heads.visit(&self.tree, visit)
    }

    fn live_sessions(&self) -> Result<Vec<Session>, StoreError> {
        let mut live = Vec::new();
        for key in self.tree.scan_prefix([table::LIVE]).keys() {
            let Some(key) = keys::session_in(&key?) else { continue };
            live.extend(skip_damaged(self.session(key), "a live session is not tracked")?);
        }
        Ok(live)
    }

    fn source_at(&self, path: &str) -> Result<Option<Source>, StoreError> {
        source_at(&self.tree, path)
    }

    fn visit_sources(&self, visit: &mut dyn FnMut(Source) -> bool) -> Result<(), StoreError> {
        let mut visited = Ok(());
        for entry in self.tree.scan_prefix([table::SOURCES]) {
            let (key, value) = entry?;
            match read::<SourceRecord, Source>(&key, &value) {
                Ok(source) => {
                    if !visit(source) {
                        break;
                    }
                }
                Err(error) => visited = visited.and(Err(error)),
            }
        }
        visited
    }

    fn sessions_with_fork_key(&self, record: RecordUuid) -> Result<Vec<SessionKey>, StoreError> {
        let mut found = Vec::new();
        for key in self.tree.scan_prefix(keys::fork_keys(record)).keys() {
            found.extend(keys::session_of_fork_key(&key?));
        }
        Ok(found)
    }

    fn fork_keys_of(&self, session: SessionKey) -> Result<Vec<RecordUuid>, StoreError> {
        fork_keys_of(&self.tree, session)
    }

    fn sources_of(&self, session: SessionKey) -> Result<Vec<Source>, StoreError> {
        sources_of(&self.tree, session)
    }

    fn checkpoint(&self, source: SourceKey) -> Result<Option<Vec<u8>>, StoreError> {
        let key = keys::checkpoint(source);
        let Some(sealed) = pieces::get(&self.tree, &key)? else { return Ok(None) };
        envelope::open(&sealed).map(Some).map_err(|what| damaged(&key, what))
    }

    fn messages(
        &self,
        source: SourceKey,
        from: u32,
        limit: usize,
    ) -> Result<Vec<Message>, StoreError> {
        let prefix = keys::messages_of(source);
        let start = block_with(&self.tree, source, from)?.unwrap_or(from);
        let mut found = Vec::new();
        let mut joiner = Joiner::default();
        for entry in self.tree.range(keys::messages(source, start)..) {
            let (key, value) = entry?;
            if !key.starts_with(&prefix) || found.len() >= limit {
                break;
            }
            let Some(block) = joiner.take(&key, &value) else { continue };
            for message in messages_in(&key, &block)? {
                if message.seq >= from && found.len() < limit {
                    found.push(message);
                }
            }
        }
        Ok(found)
    }

    fn visit_messages(
        &self,
        session: SessionKey,
        number: Option<u32>,
        visit: &mut dyn FnMut(Message),
    ) -> Result<(), StoreError> {
        let prefix = match number {
            Some(number) => keys::messages_of(SourceKey { session, number }),
            None => keys::messages_of_session(session),
        };
        let mut visited = Ok(());
        let mut joiner = Joiner::default();
        for entry in self.tree.scan_prefix(prefix) {
            let (key, value) = entry?;
            let Some(block) = joiner.take(&key, &value) else { continue };
            match messages_in(&key, &block) {
                Ok(messages) => messages.into_iter().for_each(&mut *visit),
                Err(error) => visited = visited.and(Err(error)),
            }
        }
        visited
    }

    fn episode(&self, id: EpisodeId) -> Result<Option<Episode>, StoreError> {
        match self.writer.unwritten().episode(id) {
            Some(episode) => Ok(Some(episode)),
            None => episode(&self.tree, id),
        }
    }

    fn newest_episodes(
        &self,
        project: Option<Namespace>,
        before: Option<EpisodeId>,
        limit: usize,
    ) -> Result<Vec<Episode>, StoreError> {
        let (prefix, at) = match project {
            Some(project) => (keys::episodes_of(project), 5),
            None => (vec![table::EPISODES], 1),
        };
        let mut end = prefix.clone();
        end.extend_from_slice(
            &before.map_or([0xff; 17].as_slice().to_vec(), |id| id.0.as_bytes().to_vec()),
        );
        let mut ids: Vec<EpisodeId> = Vec::new();
        for key in self.tree.range(prefix..end).keys().rev() {
            let Some(id) = keys::episode_in(&key?, at) else { continue };
            // Without a project, the keys are the keys of pieces, and an episode may have several
            // pieces.
            if ids.last() != Some(&id) {
                if ids.len() == limit {
                    break;
                }
                ids.push(id);
            }
        }
        let mut found = Vec::with_capacity(ids.len());
        for id in ids {
            found.extend(skip_damaged(self.episode(id), "an episode is not listed")?);
        }
        Ok(found)
    }

    fn outbox(&self, after: u64, limit: usize) -> Result<Vec<OutboxEntry>, StoreError> {
        let mut found = Vec::new();
        let range = keys::outbox(after.saturating_add(1))..=keys::outbox(u64::MAX);
        for entry in self.tree.range(range).take(limit) {
            let (key, value) = entry?;
            let Some(position) = keys::position_in(&key) else { continue };
            let record: OutboxRecord =
                envelope::open(&value).map_err(|what| damaged(&key, what))?;
            found.push(OutboxEntry { position, what: record.into() });
        }
        Ok(found)
    }

    fn outbox_end(&self) -> u64 {
        self.counters.get().outbox
    }

    fn outbox_ends(&self) -> watch::Receiver<u64> {
        self.writer.outbox_ends()
    }

    fn totals(&self) -> Totals {
        let counts = self.counters.get();
        let (sessions, messages, episodes) = (counts.sessions, counts.messages, counts.episodes);
        Totals { sessions, messages, episodes }
    }

    fn totals_by_agent(&self) -> TotalsByAgent {
        self.counters.agents.get()
    }

    fn quota(&self) -> &dyn DiskQuota {
        self
    }
}

pub(super) fn session(tree: &Tree, key: SessionKey) -> Result<Option<Session>, StoreError> {
    let key = keys::session(key);
    tree.get(&key)?.map(|value| read::<SessionRecord, Session>(&key, &value)).transpose()
}

pub(super) fn source(tree: &Tree, key: SourceKey) -> Result<Option<Source>, StoreError> {
    let key = keys::source(key);
    tree.get(&key)?.map(|value| read::<SourceRecord, Source>(&key, &value)).transpose()
}

/// Returns the file that is registered under `path`.
pub(super) fn source_at(tree: &Tree, path: &str) -> Result<Option<Source>, StoreError> {
    let Some(bytes) = tree.get(keys::path(path))? else { return Ok(None) };
    let Some(key) = keys::source_of_path(&bytes) else { return Ok(None) };
    let found = source(tree, key)?;
    Ok(found.filter(|source| source.path == path))
}

pub(super) fn sources_of(tree: &Tree, session: SessionKey) -> Result<Vec<Source>, StoreError> {
    let mut found = Vec::new();
    for entry in tree.scan_prefix(keys::sources_of(session)) {
        let (key, value) = entry?;
        found.push(read::<SourceRecord, Source>(&key, &value)?);
    }
    Ok(found)
}

pub(super) fn fork_keys_of(
    tree: &Tree,
    session: SessionKey,
) -> Result<Vec<RecordUuid>, StoreError> {
    let mut found = Vec::new();
    for key in tree.scan_prefix(keys::fork_keys_of(session)).keys() {
        found.extend(keys::fork_key_in(&key?));
    }
    Ok(found)
}

/// Returns the messages of the block that begins at message `first`.
pub(super) fn block(
    tree: &Tree,
    source: SourceKey,
    first: u32,
) -> Result<Vec<Message>, StoreError> {
    let key = keys::messages(source, first);
    let sealed = pieces::get(tree, &key)?;
    let sealed = sealed.ok_or_else(|| damaged(&key, "a piece is missing".to_owned()))?;
    messages_in(&key, &sealed)
}

fn messages_in(key: &[u8], sealed: &[u8]) -> Result<Vec<Message>, StoreError> {
    let records: Vec<MessageRecord> = envelope::open(sealed).map_err(|what| damaged(key, what))?;
    let read = |record| Message::try_from(record).map_err(|what| damaged(key, what));
    records.into_iter().map(read).collect()
}

pub(super) fn episode(tree: &Tree, id: EpisodeId) -> Result<Option<Episode>, StoreError> {
    let key = keys::episode(id);
    let Some(sealed) = pieces::get(tree, &key)? else { return Ok(None) };
    read::<EpisodeRecord, Episode>(&key, &sealed).map(Some)
}

pub(super) fn read<R, M>(key: &[u8], sealed: &[u8]) -> Result<M, StoreError>
where
    R: DeserializeOwned,
    M: TryFrom<R, Error = String>,
{
    let record: R = envelope::open(sealed).map_err(|what| damaged(key, what))?;
    M::try_from(record).map_err(|what| damaged(key, what))
}

/// Returns the number of the first message of the last block that begins at message `seq` or
/// before.
pub(super) fn block_with(
    tree: &Tree,
    source: SourceKey,
    seq: u32,
) -> Result<Option<u32>, StoreError> {
    let range = keys::messages_of(source)..keys::messages(source, seq.saturating_add(1));
    let last = tree.range(range).keys().next_back().transpose()?;
    Ok(last.and_then(|key| keys::first_message_in(&key)))
}

pub(super) fn damaged(key: &[u8], what: String) -> StoreError {
    let key = key.iter().map(|byte| char::from(*byte)).flat_map(char::escape_default).collect();
    StoreError::Damaged { key, what }
}
