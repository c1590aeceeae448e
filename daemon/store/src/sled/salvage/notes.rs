//! Copies the notes that cannot be created again.

use super::Transfer;
use crate::{
    Note, NoteNamespace, NoteStore, Store, StoreError, Write, model::SessionKey, notes::name_of,
    sled::reading,
};

impl Transfer<'_> {
    pub(super) fn notes(&mut self) -> Result<(), StoreError> {
        // `copy_session_notes`, `engine::sharing` and `engine::model_queue` copy further notes. No
        // other notes are copied.
        let namespaces = [
            // A request may be counted in both databases if this database is recovered again, so
            // counters of the same day are not added.
            NoteNamespace::Usage,
            NoteNamespace::Forgotten,
            NoteNamespace::ForgottenRecords,
            // The names are keys of facts, which do not change when transcripts are read again.
            NoteNamespace::Corrections,
        ];
        for namespace in namespaces {
            let (notes, errors) = self.from.readable_notes(namespace);
            self.salvaged.unreadable += errors.len() as u64;
            for (name, content) in notes {
                if self.into.note(namespace, &name)?.is_none() {
                    let note = Note { namespace, name, content: Some(content) };
                    self.write(Write::Note(note))?;
                }
            }
        }
        Ok(())
    }

    /// Deletes sessions that were read again while the notes about forgotten sessions were missing.
    pub(super) fn forget(&mut self) -> Result<(), StoreError> {
        let mut found = Vec::new();
        self.into.visit_sessions(&mut |session| {
            found.push((session.key, name_of(&session.id)));
            true
        })?;
        for (key, name) in found {
            if self.into.note(NoteNamespace::Forgotten, &name)?.is_some() {
                self.salvaged.forgotten += 1;
                self.write(Write::DropSession(key))?;
            }
        }
        Ok(())
    }

    /// Deletes the note about the redaction rules if the databases have different notes, so that
    /// all text is redacted again.
    pub(super) fn compare_redaction(&mut self) -> Result<(), StoreError> {
        let namespace = NoteNamespace::Redaction;
        let theirs = self.readable(self.from.notes(namespace)).unwrap_or_default();
        let ours = self.into.notes(namespace)?;
        if theirs != ours {
            for (name, _) in ours {
                self.write(Write::Note(Note { namespace, name, content: None }))?;
            }
        }
        Ok(())
    }

    /// Copies the session's fork keys and notes. Returns whether all of these notes can be read.
    pub(super) fn copy_session_notes(
        &mut self,
        before: SessionKey,
        now: SessionKey,
    ) -> Result<bool, StoreError> {
        let records = self.readable(reading::fork_keys_of(&self.from.tree, before));
        let records = records.unwrap_or_default();
        self.write(Write::ForkKeys { session: now, records })?;
        let mut is_whole = true;
        // The text of later lines is redacted with the known secrets, too.
        for namespace in [NoteNamespace::Forks, NoteNamespace::KnownSecrets] {
            let content = self.readable(self.from.note(namespace, &before.0.to_be_bytes()));
            is_whole &= content.is_some();
            if let Some(content) = content.flatten() {
                let name = now.0.to_be_bytes().to_vec();
                self.write(Write::Note(Note { namespace, name, content: Some(content) }))?;
            }
        }
        Ok(is_whole)
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        Note, NoteNamespace, NoteStore, Store, Write,
        sled::{
            SledStore, keys, open_damaged,
            salvage::tests::{damage, filled, salvaged, session_key},
        },
    };

    fn note(namespace: NoteNamespace, name: &[u8]) -> Write {
        let content = Some([b"content of ", name].concat());
        Write::Note(Note { namespace, name: name.to_vec(), content })
    }

    #[test]
    fn counters_of_the_same_day_are_not_added() {
        let folder = tempfile::tempdir().unwrap();
        let store = SledStore::open(folder.path()).unwrap();
        let namespace = NoteNamespace::Usage;
        store.write([b"a", b"b", b"c"].map(|name| note(namespace, name)).into()).wait().unwrap();
        store.close();
        let new = tempfile::tempdir().unwrap();
        let left = open_damaged(folder.path(), &new.path().join("work")).unwrap();
        let store = SledStore::open(&new.path().join("new")).unwrap();
        let ours = Note { namespace, name: b"b".to_vec(), content: Some(b"ours".to_vec()) };
        store.write(vec![Write::Note(ours)]).wait().unwrap();
        let wanted = [b"a", b"b", b"c"].map(|name| {
            let content =
                if name == b"b" { b"ours".to_vec() } else { [b"content of ", &name[..]].concat() };
            (name.to_vec(), content)
        });
        // The second repair follows an interrupted repair.
        for _ in 0..2 {
            store.salvage(&left).unwrap();
            assert_eq!(store.notes(namespace).unwrap(), wanted);
        }
    }

    #[test]
    fn notes_and_fork_keys_of_sessions_are_copied_even_if_the_session_is_unreadable() {
        let namespaces = [NoteNamespace::Forks, NoteNamespace::KnownSecrets];
        let folder = tempfile::tempdir().unwrap();
        filled(folder.path());
        let store = SledStore::open(folder.path()).unwrap();
        // A session key that differs in the other database.
        store.write(vec![Write::DropSession(session_key(&store, 0))]).wait().unwrap();
        for number in [1, 2] {
            let key = session_key(&store, number);
            let mut writes: Vec<Write> =
                namespaces.map(|namespace| note(namespace, &key.0.to_be_bytes())).into();
            writes.push(Write::ForkKeys { session: key, records: vec![[number as u8; 16]] });
            store.write(writes).wait().unwrap();
        }
        let before = [1, 2].map(|number| session_key(&store, number));
        damage(&store, &keys::session(before[1]));
        store.close();
        let (store, _, _folder) = salvaged(folder.path());
        for (number, before) in [1, 2].into_iter().zip(before) {
            let key = session_key(&store, number);
            assert_ne!(key, before);
            for namespace in namespaces {
                let content = store.note(namespace, &key.0.to_be_bytes()).unwrap();
                let wanted = [b"content of ".as_slice(), &before.0.to_be_bytes()].concat();
                assert_eq!(content, Some(wanted), "{number} {namespace:?}");
            }
            assert_eq!(store.fork_keys_of(key).unwrap(), [[number as u8; 16]]);
        }
    }
}
