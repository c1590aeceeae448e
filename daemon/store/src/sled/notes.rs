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

    fn readable_notes(&self, namespace: NoteNamespace) -> (Vec<NamedNote>, Vec<StoreError>) {
        let (mut found, mut errors) = (Vec::new(), Vec::new());
        let mut joiner = Joiner::default();
        for entry in self.tree.scan_prefix(keys::notes(namespace)) {
            let (key, piece) = match entry {
                Ok(row) => row,
                Err(error) => {
                    // A scan does not advance past an unreadable page.
                    errors.push(error.into());
                    break;
                }
            };
            let Some(sealed) = joiner.take(&key, &piece) else { continue };
            let Some(name) = keys::note_in(&key) else { continue };
            match open(&key.to_vec(), &sealed) {
                Ok(content) => found.push((name.to_vec(), content)),
                Err(error) => errors.push(error),
            }
        }
        (found, errors)
    }
}

fn open(key: &Key, sealed: &[u8]) -> Result<Vec<u8>, StoreError> {
    envelope::open(sealed).map_err(|what| damaged(key, what))
}
