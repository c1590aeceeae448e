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

/// A session whose requests to the model failed and are not repeated. It keeps its summary from
/// evidence until a user requests a summary again, or the session changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AbandonedQuestion {
    /// Why the last attempt failed.
    pub error: String,
}

#[derive(Debug, Default)]
pub struct SavedQuestions {
    pub queued: Vec<(SessionKey, QueuedQuestion)>,
    pub abandoned: Vec<(SessionKey, AbandonedQuestion)>,
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
/// The version of a record of an abandoned question. Programs before 0.3 skip such a record.
const ABANDONED: u32 = 2;

/// Loads the saved questions. A record that is damaged or cannot be parsed is skipped: its session
/// keeps its present summary.
pub fn load(store: &dyn Store) -> Result<SavedQuestions, StoreError> {
    let mut saved = SavedQuestions::default();
    for (name, content) in store.undamaged_notes(NoteNamespace::Awaiting)? {
        let Ok(key) = name.try_into().map(|name| SessionKey(u64::from_be_bytes(name))) else {
            continue;
        };
        match serde_json::from_slice(&content) {
            Ok(QueuedRecord { version: VERSION, due, retried, error }) => {
                let due = Timestamp::from_micros(due);
                saved.queued.push((key, QueuedQuestion { due, retried, error }));
            }
            Ok(QueuedRecord { version: ABANDONED, error, .. }) => {
                let error = error.unwrap_or_default();
                saved.abandoned.push((key, AbandonedQuestion { error }));
            }
            _ => {}
        }
    }
    Ok(saved)
}

/// Returns the write that saves the question about a session, or removes it.
pub fn write(session: SessionKey, awaiting: Option<&QueuedQuestion>) -> Write {
    note(
        session,
        awaiting.map(|QueuedQuestion { due, retried, error }| {
            record(VERSION, *due, *retried, error.as_deref())
        }),
    )
}

/// Returns the write that saves that the question about a session was abandoned.
pub fn abandoned(session: SessionKey, question: &AbandonedQuestion) -> Write {
    note(session, Some(record(ABANDONED, Timestamp::default(), 0, Some(&question.error))))
}

fn record(version: u32, due: Timestamp, retried: u32, error: Option<&str>) -> QueuedRecord {
    let error = error.map(|error| redaction::text(error).into_owned());
    QueuedRecord { version, due: due.micros(), retried, error }
}

fn note(session: SessionKey, record: Option<QueuedRecord>) -> Write {
    Write::Note(Note {
        namespace: NoteNamespace::Awaiting,
        name: session.0.to_be_bytes().to_vec(),
        content: record.map(|record| serde_json::to_vec(&record).expect("a record is plain data")),
    })
}
