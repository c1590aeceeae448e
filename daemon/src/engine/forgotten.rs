//! Keeps the list of forgotten sessions, and recognises their transcripts.
//!
//! The transcript of a forgotten session may still exist, and an agent may write to it, copy it or
//! fork it. The transcript is recognised by its session id, which the agent assigned. A copy under
//! another session id is recognised by the ids of its records. These ids reveal nothing about the
//! content.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{
    model::{Message, SessionId, SessionKey, Timestamp, hex, transcript::RecordUuid},
    store::{
        Note, NoteNamespace, SourceKey, Store, StoreError, Write, damaged::skip_damaged,
        notes::name_of,
    },
};

/// The effect of a damaged record.
const NOT_RECOGNISED: &str = "copies of its messages are not recognised";

/// A session that was forgotten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForgottenSession {
    pub id: SessionId,
    pub at: Timestamp,
}

#[derive(Debug, Default)]
pub(super) struct Forgotten(RwLock<ForgottenIndex>);

#[derive(Debug, Default)]
struct ForgottenIndex {
    sessions: BTreeMap<SessionId, Timestamp>,
    fork_keys: HashMap<RecordUuid, Vec<SessionId>>,
}

/// The first bytes of the hash of a record's id. Eight bytes are enough to be unique in a session.
type Fingerprint = [u8; 8];

/// The form on disk.
#[derive(Serialize, Deserialize)]
struct ForgottenRecord {
    version: u32,
    agent: String,
    id: String,
    at: i64,
    #[serde(rename = "landmarks")]
    fork_keys: Vec<RecordUuid>,
}

/// The writes that record that a session is forgotten.
pub(super) struct ForgottenWrites {
    pub(super) writes: Vec<Write>,
    /// The ids of the records at which a fork of the session may start.
    pub(super) fork_keys: Vec<RecordUuid>,
    /// Whether every stored record of the session is recognised in a copy. If a block of messages
    /// is damaged, its records are not recognised.
    pub(super) is_complete: bool,
}

const VERSION: u32 = 1;

impl Forgotten {
    /// Loads the forgotten sessions. A record that cannot be read is an error, because its session
    /// would be imported again.
    pub(super) fn load(store: &dyn Store) -> Result<Forgotten, StoreError> {
        let forgotten = Forgotten::default();
        for (name, content) in store.notes(NoteNamespace::Forgotten)? {
            let record: ForgottenRecord = serde_json::from_slice(&content)
                .map_err(|error| damaged(&name, &error.to_string()))?;
            if record.version != VERSION {
                let what = format!("forgotten sessions of version {}", record.version);
                return Err(StoreError::TooNew(what));
            }
            let id = SessionId { agent: record.agent, id: record.id };
            forgotten.add(&id, Timestamp::from_micros(record.at), &record.fork_keys);
        }
        Ok(forgotten)
    }

    /// Whether a session was forgotten.
    pub(super) fn has(&self, id: &SessionId) -> bool {
        self.read().sessions.contains_key(id)
    }

    pub(super) fn list(&self) -> Vec<ForgottenSession> {
        let known = self.read();
        let sessions = known.sessions.iter();
        sessions.map(|(id, at)| ForgottenSession { id: id.clone(), at: *at }).collect()
    }

    /// Returns the forgotten sessions of which a fork may start at `record`.
    pub(super) fn with_fork_key(&self, record: &RecordUuid) -> Vec<SessionId> {
        self.read().fork_keys.get(record).cloned().unwrap_or_default()
    }

    pub(super) fn add(&self, id: &SessionId, at: Timestamp, fork_keys: &[RecordUuid]) {
        let mut known = self.write();
        known.sessions.insert(id.clone(), at);
        for fork_key in fork_keys {
            let sessions = known.fork_keys.entry(*fork_key).or_default();
            if !sessions.contains(id) {
                sessions.push(id.clone());
            }
        }
    }

    pub(super) fn remove(&self, id: &SessionId) {
        let mut known = self.write();
        known.sessions.remove(id);
        known.fork_keys.retain(|_, sessions| {
            sessions.retain(|session| session != id);
            !sessions.is_empty()
        });
    }

    fn read(&self) -> RwLockReadGuard<'_, ForgottenIndex> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, ForgottenIndex> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The fingerprints of the ids of a session's records.
pub(super) struct Fingerprints(HashSet<Fingerprint>);

impl Fingerprints {
    /// Loads the fingerprints of a forgotten session.
    pub(super) fn load(store: &dyn Store, id: &SessionId) -> Result<Fingerprints, StoreError> {
        let bytes = store.note(NoteNamespace::ForgottenRecords, &name_of(id))?.unwrap_or_default();
        Ok(Fingerprints(bytes.as_chunks().0.iter().copied().collect()))
    }

    #[cfg(test)]
    pub(super) fn of(records: &[RecordUuid]) -> Fingerprints {
        Fingerprints(records.iter().map(fingerprint).collect())
    }

    pub(super) fn has(&self, record: &RecordUuid) -> bool {
        self.0.contains(&fingerprint(record))
    }
}

/// Returns the writes that record that a session is forgotten. `session` is the key of the session;
/// `None` if the session was never read.
pub(super) fn writes(
    store: &dyn Store,
    id: &SessionId,
    session: Option<SessionKey>,
    at: Timestamp,
) -> Result<ForgottenWrites, StoreError> {
    let (mut fork_keys, mut records, mut is_complete) = (Vec::new(), Vec::new(), true);
    if let Some(session) = session {
        fork_keys = store.fork_keys_of(session)?;
        (records, is_complete) = fingerprints(store, session)?;
    }
    let record = ForgottenRecord {
        version: VERSION,
        agent: id.agent.clone(),
        id: id.id.clone(),
        at: at.micros(),
        fork_keys: fork_keys.clone(),
    };
    let record = serde_json::to_vec(&record).expect("a record is plain data");
    let note = |namespace, content| {
        Write::Note(Note { namespace, name: name_of(id), content: Some(content) })
    };
    let writes = vec![
        note(NoteNamespace::Forgotten, record),
        note(NoteNamespace::ForgottenRecords, records),
    ];
    Ok(ForgottenWrites { writes, fork_keys, is_complete })
}

/// Returns the writes that remove a session from the list of forgotten sessions.
pub(super) fn restore_writes(id: &SessionId) -> Vec<Write> {
    let namespaces = [NoteNamespace::Forgotten, NoteNamespace::ForgottenRecords];
    namespaces
        .map(|namespace| Write::Note(Note { namespace, name: name_of(id), content: None }))
        .into()
}

/// Returns the fingerprints of all stored records of a session, except those in damaged blocks of
/// messages, and whether no block is damaged.
fn fingerprints(store: &dyn Store, session: SessionKey) -> Result<(Vec<u8>, bool), StoreError> {
    let mut bytes = Vec::new();
    let visit = &mut |message: Message| bytes.extend(message.uuid.iter().flat_map(fingerprint));
    // The user must be able to forget a session with a damaged record.
    let visited = store.visit_messages(session, None, visit).map(|()| true);
    let is_complete = skip_damaged(visited, NOT_RECOGNISED)?;
    Ok((bytes, is_complete))
}

/// Calls `visit` for every stored record of one file, except records in damaged blocks of messages.
pub(super) fn visit_records_of(
    store: &dyn Store,
    source: SourceKey,
    visit: &mut dyn FnMut(&RecordUuid),
) -> Result<(), StoreError> {
    visit_messages_of(store, source, &mut |message| message.uuid.iter().for_each(&mut *visit))
}

/// Calls `visit` for every stored message of one file, except messages in damaged blocks.
pub(super) fn visit_messages_of(
    store: &dyn Store,
    source: SourceKey,
    visit: &mut dyn FnMut(&Message),
) -> Result<(), StoreError> {
    let visited =
        store.visit_messages(source.session, Some(source.number), &mut |message| visit(&message));
    skip_damaged(visited, NOT_RECOGNISED)
}

fn fingerprint(record: &RecordUuid) -> Fingerprint {
    // Some agents begin the ids of records with the time, so the first bytes of an id are not
    // unique.
    let digest: [u8; 32] = Sha256::digest(record).into();
    *digest.first_chunk().expect("a digest has thirty-two bytes")
}

fn damaged(name: &[u8], what: &str) -> StoreError {
    StoreError::Damaged { key: hex::encode(name), what: what.to_owned() }
}
