//! Damages records, for tests of the code that reads damaged records.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use super::{
    SledStore,
    keys::{self, Key},
};
use crate::{NoteNamespace, SourceKey, model::SessionKey};

impl SledStore {
    /// Damages the record of a session.
    pub fn damage_session(&self, session: SessionKey) {
        self.damage(&keys::session(session));
    }

    /// Damages all messages of a file.
    pub fn damage_messages(&self, source: SourceKey) {
        self.damage(&keys::messages_of(source));
    }

    /// Damages a note.
    pub fn damage_note(&self, namespace: NoteNamespace, name: &[u8]) {
        self.damage(&keys::note(namespace, name));
    }

    fn damage(&self, prefix: &Key) {
        for key in self.tree.scan_prefix(prefix).keys() {
            self.tree.insert(key.unwrap(), &[1, 0xff]).unwrap();
        }
    }
}
