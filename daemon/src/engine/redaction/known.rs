//! Stores the secrets that were recognised in a session, as hashes, so that they are also replaced
//! after a restart and in the other files of the session.

use serde::{Deserialize, Serialize};

use crate::{
    model::SessionKey,
    redact::KnownSecrets,
    store::{NoteNamespace, Store, StoreError, Write},
};

/// The form on disk.
#[derive(Serialize, Deserialize)]
struct KnownSecretsRecord<S> {
    version: u32,
    known: S,
}

const VERSION: u32 = 1;

/// Returns an empty list with a new key for the hashes.
pub fn empty() -> KnownSecrets {
    KnownSecrets::new(uuid::Uuid::new_v4().simple().to_string())
}

/// Returns the secrets that were recognised in a session.
pub fn load(store: &dyn Store, session: SessionKey) -> Result<KnownSecrets, StoreError> {
    let note = store.note(NoteNamespace::KnownSecrets, &session.0.to_be_bytes())?;
    let saved = note
        .and_then(|note| serde_json::from_slice::<KnownSecretsRecord<KnownSecrets>>(&note).ok());
    let saved = saved.filter(|saved| saved.version == VERSION && saved.known.has_key());
    Ok(saved.map_or_else(empty, |saved| saved.known))
}

/// Returns the write that saves the secrets of a session.
pub fn write(session: SessionKey, known: &KnownSecrets) -> Write {
    let saved = KnownSecretsRecord { version: VERSION, known };
    Write::note(NoteNamespace::KnownSecrets, &session.0.to_be_bytes(), &saved)
}
