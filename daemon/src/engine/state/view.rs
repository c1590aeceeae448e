//! The shared data that decisions may read: the store, the forgotten sessions and the notes of
//! crashes. The methods neither write nor wait.

use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::Ordering},
};

use crate::{
    engine::{
        EngineError, command, crash_tracker::Quarantine, forgotten::Forgotten,
        reading::SourceReader, rereads,
    },
    model::{Episode, EpisodeId, SessionId, SessionKey, Timestamp, session::Session},
    store::{Source, StoreError},
};

pub(super) struct View {
    reader: Arc<SourceReader>,
}

impl View {
    pub(super) fn new(reader: Arc<SourceReader>) -> View {
        View { reader }
    }

    pub(super) fn session(&self, key: SessionKey) -> Result<Option<Session>, StoreError> {
        self.reader.store.session(key)
    }

    pub(super) fn find_session(&self, id: &SessionId) -> Result<Option<SessionKey>, StoreError> {
        self.reader.store.find_session(id)
    }

    /// Returns a key that was never used before.
    pub(super) fn next_session_key(&self) -> Result<SessionKey, StoreError> {
        self.reader.store.next_session_key()
    }

    pub(super) fn episode(&self, id: EpisodeId) -> Result<Option<Episode>, StoreError> {
        self.reader.store.episode(id)
    }

    pub(super) fn source_at(&self, path: &str) -> Result<Option<Source>, StoreError> {
        self.reader.store.source_at(path)
    }

    pub(super) fn sources_of(&self, session: SessionKey) -> Result<Vec<Source>, StoreError> {
        self.reader.store.sources_of(session)
    }

    /// Returns the sessions that have to be read again when a file of a session is replaced.
    pub(super) fn copies_of(&self, session: SessionKey) -> Result<Vec<SessionKey>, StoreError> {
        rereads::copies_of(self.reader.store.as_ref(), session)
    }

    /// Returns the sessions that have to be read again, with the numbers of their failed attempts.
    pub(super) fn saved_rereads(&self) -> Result<BTreeMap<SessionKey, u32>, StoreError> {
        rereads::load(self.reader.store.as_ref())
    }

    pub(super) fn check_writable(&self) -> Result<(), EngineError> {
        command::check_writable(self.reader.store.as_ref())
    }

    pub(super) fn quarantine(&self, session: &SessionId, now: Timestamp) -> Option<Quarantine> {
        self.reader.crash_tracker.quarantine(session, now)
    }

    pub(super) fn is_forgotten(&self, session: &SessionId) -> bool {
        self.reader.forgotten.has(session)
    }

    pub(super) fn forgotten(&self) -> Arc<Forgotten> {
        self.reader.forgotten.clone()
    }

    pub(super) fn bytes_read(&self) -> u64 {
        self.reader.bytes.load(Ordering::Relaxed)
    }
}
