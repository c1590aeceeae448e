//! Saves the queue of sessions that wait for a model.

use serde::{Deserialize, Serialize};

use crate::{
    engine::redaction,
    model::{SessionKey, Timestamp},
    store::{Note, NoteNamespace, Store, StoreError, Write},
};

/// A session that waits for a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedQuestion {
    /// When the question is due.
    pub due: Timestamp,
    /// The number of retries.
    pub retried: u32,
    /// Why the last attempt failed.
    pub error: Option<String>,
}

/// The form on disk.
#[derive(Serialize, Deserialize)]
struct QueuedRecord {
    version: u32,
    due: i64,
    retried: u32,
    error: Option<String>,
}

const VERSION: u32 = 1;

/// Loads the saved questions. A record that cannot be parsed is skipped: its session keeps its
/// present summary.
pub fn load(store: &dyn Store) -> Result<Vec<(SessionKey, QueuedQuestion)>, StoreError> {
    let notes = store.notes(NoteNamespace::Awaiting)?.into_iter();
    let read = |(name, content): (Vec<u8>, Vec<u8>)| {
        let key = SessionKey(u64::from_be_bytes(name.try_into().ok()?));
        let record: QueuedRecord = serde_json::from_slice(&content).ok()?;
        let QueuedRecord { version: VERSION, due, retried, error } = record else { return None };
        Some((key, QueuedQuestion { due: Timestamp::from_micros(due), retried, error }))
    };
    Ok(notes.filter_map(read).collect())
}

/// Returns the write that saves the question about a session, or removes it.
pub fn write(session: SessionKey, awaiting: Option<&QueuedQuestion>) -> Write {
    let content = awaiting.map(|awaiting| {
        let record = QueuedRecord {
            version: VERSION,
            due: awaiting.due.micros(),
            retried: awaiting.retried,
            error: awaiting.error.as_deref().map(|error| redaction::text(error).into_owned()),
        };
        serde_json::to_vec(&record).expect("a record is plain data")
    });
    Write::Note(Note {
        namespace: NoteNamespace::Awaiting,
        name: session.0.to_be_bytes().to_vec(),
        content,
    })
}
