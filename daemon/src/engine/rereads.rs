//! Saves which sessions have to be read again from the start of their files, because a file was
//! replaced.
//!
//! A copy of a transcript skipped the records that it shares with the transcript. If the transcript
//! is replaced, these records are deleted with its messages, and no change of the copy announces
//! that the copy has to be read. The note is written in the list of writes that deletes the
//! messages, so that the copy is also read after an interruption.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    engine::forks,
    model::SessionKey,
    store::{Note, NoteNamespace, Store, StoreError, Write},
};

/// The form on disk.
#[derive(Serialize, Deserialize)]
struct RereadRecord {
    version: u32,
    attempts: u32,
}

const VERSION: u32 = 1;

/// Returns the sessions that have to be read again, with the numbers of their failed attempts. A
/// record that is damaged or of another version is skipped.
pub(super) fn load(store: &dyn Store) -> Result<BTreeMap<SessionKey, u32>, StoreError> {
    let mut saved = BTreeMap::new();
    for (name, content) in store.undamaged_notes(NoteNamespace::Rereads)? {
        let session = name.try_into().map(|name| SessionKey(u64::from_be_bytes(name)));
        let record = serde_json::from_slice(&content);
        if let (Ok(session), Ok(RereadRecord { version: VERSION, attempts })) = (session, record) {
            saved.insert(session, attempts);
        }
    }
    Ok(saved)
}

/// Returns the write which records that a session has to be read again. `attempts` is the number of
/// failed attempts.
pub(super) fn write(session: SessionKey, attempts: u32) -> Write {
    let record = RereadRecord { version: VERSION, attempts };
    Write::note(NoteNamespace::Rereads, &session.0.to_be_bytes(), &record)
}

/// Returns the write which records that a session needs no further attempt.
pub(super) fn done(session: SessionKey) -> Write {
    let (namespace, name) = (NoteNamespace::Rereads, session.0.to_be_bytes().to_vec());
    Write::Note(Note { namespace, name, content: None })
}

/// Returns the sessions that have to be read again when a file of `session` is replaced: the
/// sessions that may be copies, and `session` itself if it has several files, because other files
/// of the session may be copies, too.
pub(super) fn copies_of(
    store: &dyn Store,
    session: SessionKey,
) -> Result<Vec<SessionKey>, StoreError> {
    let mut copies = forks::relatives(store, session)?;
    let has_several = store.sources_of(session)?.len() > 1;
    copies.extend(has_several.then_some(session));
    Ok(copies)
}
