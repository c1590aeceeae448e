//! Which sessions a model is still to be asked about, and when.

use serde::{Deserialize, Serialize};

use crate::{
    engine::redaction,
    model::{SessionKey, Timestamp},
    store::{Note, NoteNamespace, Store, StoreError, Write},
};

/// A session that a model is still to be asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedQuestion {
    /// When it is asked.
    pub due: Timestamp,
    /// How often it was asked again.
    pub retried: u32,
    /// Why there is no answer yet.
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

/// All of them, as they were saved. What cannot be read is left out: such a session keeps the
/// summary that it has.
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

/// Saves what a session awaits, or that it awaits nothing any more.
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
