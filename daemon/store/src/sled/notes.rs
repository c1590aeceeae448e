//! Reads notes, which are stored in pieces, by namespace and name.

use super::{
    SledStore, envelope,
    keys::{self, Key},
    pieces::{self, Joiner},
    reading::damaged,
};
use crate::{NoteNamespace, NoteStore, StoreError, notes::NamedNote};

impl NoteStore for SledStore {
    fn note(&self, namespace: NoteNamespace, name: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        let key = keys::note(namespace, name);
        let Some(sealed) = pieces::get(&self.tree, &key)? else { return Ok(None) };
        open(&key, &sealed).map(Some)
    }

    fn notes(&self, namespace: NoteNamespace) -> Result<Vec<NamedNote>, StoreError> {
        self.each_note(namespace).into_iter().collect()
    }

    fn undamaged_notes(&self, namespace: NoteNamespace) -> Result<Vec<NamedNote>, StoreError> {
        let is_kept = |note: &Result<NamedNote, StoreError>| match note {
            Err(error @ StoreError::Damaged { .. }) => {
                tracing::warn!(%error, ?namespace, "a damaged note is skipped");
                false
            }
            _ => true,
        };
        self.each_note(namespace).into_iter().filter(is_kept).collect()
    }
}

impl SledStore {
    /// Returns the notes of a namespace, with an error in place of each note that cannot be read.
    pub(super) fn each_note(&self, namespace: NoteNamespace) -> Vec<Result<NamedNote, StoreError>> {
        let mut found = Vec::new();
        let mut joiner = Joiner::default();
        for entry in self.tree.scan_prefix(keys::notes(namespace)) {
            let (key, piece) = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    // A scan does not advance past an unreadable page.
                    found.push(Err(error.into()));
                    break;
                }
            };
            let Some(sealed) = joiner.take(&key, &piece) else { continue };
            let Some(name) = keys::note_in(&key) else { continue };
            found.push(open(&key.to_vec(), &sealed).map(|content| (name.to_vec(), content)));
        }
        found
    }

    /// Damages a note, for tests of the code that reads damaged notes.
    #[cfg(any(test, feature = "testing"))]
    #[allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
    pub fn damage_note(&self, namespace: NoteNamespace, name: &[u8]) {
        for entry in self.tree.scan_prefix(keys::note(namespace, name)) {
            let (key, piece) = entry.unwrap();
            self.tree.insert(key, &[piece[0], 0xff]).unwrap();
        }
    }
}

fn open(key: &Key, sealed: &[u8]) -> Result<Vec<u8>, StoreError> {
    envelope::open(sealed).map_err(|what| damaged(key, what))
}
