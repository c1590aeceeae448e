//! Damages records, for tests of the code that reads damaged records.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use super::{
    SledStore,
    keys::{self, Key},
};
use crate::{
    NoteNamespace, SourceKey,
    model::{EpisodeId, SessionKey},
};

impl SledStore {
    /// Damages the record of a session.
    pub fn damage_session(&self, session: SessionKey) {
        self.damage(&keys::session(session));
    }

    /// Damages the record of a file.
    pub fn damage_source(&self, source: SourceKey) {
        self.damage(&keys::source(source));
    }

    /// Damages an episode.
    pub fn damage_episode(&self, episode: EpisodeId) {
        self.damage(&keys::episode(episode));
    }

    /// Damages the index of an episode's statements.
    pub fn damage_statements(&self, episode: EpisodeId) {
        self.damage(&keys::episode_index(episode));
    }

    /// Damages all messages of a file.
    pub fn damage_messages(&self, source: SourceKey) {
        self.damage(&keys::messages_of(source));
    }

    /// Damages the block of messages that begins with message `first`.
    pub fn damage_block(&self, source: SourceKey, first: u32) {
        self.damage(&keys::messages(source, first));
    }

    /// Damages the saved state of a file.
    pub fn damage_checkpoint(&self, source: SourceKey) {
        self.damage(&keys::checkpoint(source));
    }

    /// Damages a note.
    pub fn damage_note(&self, namespace: NoteNamespace, name: &[u8]) {
        self.damage(&keys::note(namespace, name));
    }

    /// Damages all rows whose keys begin with `prefix`.
    pub(super) fn damage(&self, prefix: &Key) {
        for key in self.tree.scan_prefix(prefix).keys() {
            self.tree.insert(key.unwrap(), &[1, 0xff]).unwrap();
        }
    }
}
