//! Recovers the ledger of the shared graph from a damaged database.

use std::collections::BTreeSet;

use super::{
    ledger::LedgerEntry,
    pending::{self, CHANGED, DELETED},
};
use crate::{
    model::SessionKey,
    store::{
        NoteNamespace, Store, StoreError,
        notes::{NamedNote, name_of},
    },
};

/// Maximum number of sessions in one list of writes.
const BATCH: usize = 256;

/// Copies the ledger of `from` to `into`, after the sessions of `from` were restored in `into`.
/// Each session is compared with the graph again, because a session that was read a second time has
/// a new episode, and a forgotten session may still be in the graph. A session that this machine
/// has lost is not removed from the graph, because the graph may have the only copy.
///
/// # Errors
///
/// Returns an error if `into` cannot be read or written.
pub fn salvage(from: &dyn Store, into: &dyn Store) -> Result<(), StoreError> {
    let pending = readable_notes(from, NoteNamespace::SharePending);
    let is_deleted = |(_, content): &NamedNote| content.first() == Some(&DELETED);
    let deleted: BTreeSet<Vec<u8>> =
        pending.into_iter().filter(is_deleted).map(|(name, _)| name).collect();
    for notes in readable_notes(from, NoteNamespace::Shared).chunks(BATCH) {
        let mut writes = Vec::new();
        for (name, content) in notes {
            let key = name.first_chunk().map(|key| SessionKey(u64::from_be_bytes(*key)));
            let (Some(key), Some(entry)) = (key, LedgerEntry::decode(content)) else { continue };
            let session = readable(from.session(key)).map(|session| session.id);
            let (known, is_forgotten) = match &session {
                Some(id) => (
                    into.find_session(id)?,
                    into.note(NoteNamespace::Forgotten, &name_of(id))?.is_some(),
                ),
                None => (None, false),
            };
            let is_deleted = is_forgotten || deleted.contains(name);
            let key = match known {
                Some(key) => key,
                // No session has this key, so the next comparison removes all parts of the entry
                // from the graph.
                None if is_deleted => into.next_session_key()?,
                None => continue,
            };
            let mut restored = LedgerEntry::read(into, key)?.unwrap_or_default();
            restored.hash = 0;
            restored.parts.extend(entry.parts);
            let what = if is_deleted { DELETED } else { CHANGED };
            writes.extend([restored.save(key), pending::note(key, Some(vec![what]))]);
        }
        into.write(writes).wait()?;
    }
    Ok(())
}

fn readable<T: Default>(read: Result<T, StoreError>) -> T {
    read.unwrap_or_else(|error| {
        report_skipped(&error);
        T::default()
    })
}

fn readable_notes(from: &dyn Store, namespace: NoteNamespace) -> Vec<NamedNote> {
    let (notes, errors) = from.readable_notes(namespace);
    errors.iter().for_each(report_skipped);
    notes
}

fn report_skipped(error: &StoreError) {
    tracing::warn!(%error, "a damaged record is skipped; the graph keeps its data");
}
