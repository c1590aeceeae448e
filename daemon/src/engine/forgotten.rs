//! Sessions that were forgotten: by what they are known when they come back.
//!
//! The transcript of a forgotten session may stay where its agent keeps it, and be written to,
//! copied or forked. It is known by the agent's id of it; a copy under another id by the ids of
//! its records, which say nothing of what stood in them.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{
    lang::hex,
    model::{SessionId, SessionKey, Timestamp, transcript::RecordUuid},
    store::{Note, NoteNamespace, SourceKey, Store, StoreError, Write, notes::name_of},
};

/// A session that was forgotten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForgottenSession {
    /// What its agent calls it.
    pub id: SessionId,
    /// When it was forgotten.
    pub at: Timestamp,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Forgotten(RwLock<ForgottenIndex>);

#[derive(Debug, Default)]
struct ForgottenIndex {
    sessions: BTreeMap<SessionId, Timestamp>,
    landmarks: HashMap<RecordUuid, Vec<SessionId>>,
}

/// Of a record's id so much is kept: enough to know it by, among its session's.
type Fingerprint = [u8; 8];

/// The form on disk.
#[derive(Serialize, Deserialize)]
struct ForgottenRecord {
    version: u32,
    agent: String,
    id: String,
    at: i64,
    landmarks: Vec<RecordUuid>,
}

const VERSION: u32 = 1;
/// Messages read at one time.
const MESSAGES: usize = 1_024;

impl Forgotten {
    /// All that were saved. One that cannot be read is an error: its session would come back.
    pub(super) fn load(store: &dyn Store) -> Result<Forgotten, StoreError> {
        let forgotten = Forgotten::default();
        for (name, content) in store.notes(NoteNamespace::Forgotten)? {
            let record: ForgottenRecord = serde_json::from_slice(&content)
                .map_err(|error| damaged(&name, &error.to_string()))?;
            if record.version != VERSION {
                return Err(StoreError::TooNew { found: record.version, known: VERSION });
            }
            let id = SessionId { agent: record.agent, id: record.id };
            forgotten.add(&id, Timestamp::from_micros(record.at), &record.landmarks);
        }
        Ok(forgotten)
    }

    /// Whether a session was forgotten.
    pub(super) fn has(&self, id: &SessionId) -> bool {
        self.read().sessions.contains_key(id)
    }

    /// Every forgotten session.
    pub(super) fn list(&self) -> Vec<ForgottenSession> {
        let known = self.read();
        let sessions = known.sessions.iter();
        sessions.map(|(id, at)| ForgottenSession { id: id.clone(), at: *at }).collect()
    }

    /// The forgotten sessions that have `record` as a landmark.
    pub(super) fn with_landmark(&self, record: &RecordUuid) -> Vec<SessionId> {
        self.read().landmarks.get(record).cloned().unwrap_or_default()
    }

    /// Takes a session for forgotten from now on.
    pub(super) fn add(&self, id: &SessionId, at: Timestamp, landmarks: &[RecordUuid]) {
        let mut known = self.write();
        known.sessions.insert(id.clone(), at);
        for landmark in landmarks {
            let sessions = known.landmarks.entry(*landmark).or_default();
            if !sessions.contains(id) {
                sessions.push(id.clone());
            }
        }
    }

    /// Takes a session for forgotten no longer.
    pub(super) fn remove(&self, id: &SessionId) {
        let mut known = self.write();
        known.sessions.remove(id);
        known.landmarks.retain(|_, sessions| {
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

/// The ids of a session's records, as much of them as is kept.
pub(super) struct Fingerprints(HashSet<Fingerprint>);

impl Fingerprints {
    /// Those of a forgotten session.
    pub(super) fn load(store: &dyn Store, id: &SessionId) -> Result<Fingerprints, StoreError> {
        let bytes = store.note(NoteNamespace::ForgottenRecords, &name_of(id))?.unwrap_or_default();
        Ok(Fingerprints(bytes.as_chunks().0.iter().copied().collect()))
    }

    /// Whether a record is among them.
    pub(super) fn has(&self, record: &RecordUuid) -> bool {
        self.0.contains(&fingerprint(record))
    }
}

/// What takes it down that a session is forgotten, so that it stays so; `session` is its key where
/// it was ever read. Its landmarks come back, too.
pub(super) fn writes(
    store: &dyn Store,
    (id, session): (&SessionId, Option<SessionKey>),
    at: Timestamp,
) -> Result<(Vec<Write>, Vec<RecordUuid>), StoreError> {
    let (landmarks, records) = match session {
        Some(session) => (store.fork_keys_of(session)?, fingerprints(store, session)?),
        None => (Vec::new(), Vec::new()),
    };
    let record = ForgottenRecord {
        version: VERSION,
        agent: id.agent.clone(),
        id: id.id.clone(),
        at: at.micros(),
        landmarks: landmarks.clone(),
    };
    let record = serde_json::to_vec(&record).expect("a record is plain data");
    let note = |namespace, content| {
        Write::Note(Note { namespace, name: name_of(id), content: Some(content) })
    };
    let notes = vec![
        note(NoteNamespace::Forgotten, record),
        note(NoteNamespace::ForgottenRecords, records),
    ];
    Ok((notes, landmarks))
}

/// What takes it back that a session is forgotten.
pub(super) fn withdrawn(id: &SessionId) -> Vec<Write> {
    let shelves = [NoteNamespace::Forgotten, NoteNamespace::ForgottenRecords];
    shelves
        .map(|namespace| Write::Note(Note { namespace, name: name_of(id), content: None }))
        .into()
}

/// Of every record of a session's own files that something was kept of.
fn fingerprints(store: &dyn Store, session: SessionKey) -> Result<Vec<u8>, StoreError> {
    let mut bytes = Vec::new();
    visit_records(store, session, &mut |record| bytes.extend(fingerprint(record)))?;
    Ok(bytes)
}

/// Calls `visit` for every record of a session's own files that something was kept of.
pub(super) fn visit_records(
    store: &dyn Store,
    session: SessionKey,
    visit: &mut dyn FnMut(&RecordUuid),
) -> Result<(), StoreError> {
    for source in store.sources_of(session)? {
        if source.sub_agent.is_none() {
            visit_records_of(store, source.key, visit)?;
        }
    }
    Ok(())
}

/// The same for one file.
pub(super) fn visit_records_of(
    store: &dyn Store,
    source: SourceKey,
    visit: &mut dyn FnMut(&RecordUuid),
) -> Result<(), StoreError> {
    let mut from = 0;
    loop {
        let messages = store.messages(source, from, MESSAGES)?;
        messages.iter().filter_map(|message| message.uuid.as_ref()).for_each(&mut *visit);
        match messages.last() {
            Some(last) => from = last.seq + 1,
            None => return Ok(()),
        }
    }
}

fn fingerprint(record: &RecordUuid) -> Fingerprint {
    // Of some agents' ids the beginning is the time.
    let digest: [u8; 32] = Sha256::digest(record).into();
    *digest.first_chunk().expect("a digest has thirty-two bytes")
}

fn damaged(name: &[u8], what: &str) -> StoreError {
    StoreError::Damaged { key: hex::encode(name), what: what.to_owned() }
}
