//! States of files at hand between two jobs.
//!
//! A file that is being written to is read on every few seconds. Its state would have to be saved
//! and loaded each time; instead it is held here, and saved when the session falls quiet, when
//! much was read, or when too many are held.

use std::collections::HashMap;

use crate::{
    engine::{pipeline::SourceState, reading::ReadProgress},
    model::SessionKey,
    store::{Source, SourceKey},
};

/// So many are held; the one longest untouched goes first.
const HELD: usize = 64;

#[derive(Default)]
pub(super) struct SourceStateCache {
    held: HashMap<SourceKey, CachedState>,
    uses: u64,
}

struct CachedState {
    source: Source,
    state: Box<SourceState>,
    saved: bool,
    used: u64,
}

impl SourceStateCache {
    /// The file as it was when it was last read, if its state is held.
    pub(super) fn source(&self, key: SourceKey) -> Option<&Source> {
        self.held.get(&key).map(|held| &held.source)
    }

    /// All held files.
    pub(super) fn sources(&self) -> impl Iterator<Item = &Source> {
        self.held.values().map(|held| &held.source)
    }

    /// Whether the state of a file is held.
    pub(super) fn holds(&self, key: SourceKey) -> bool {
        self.held.contains_key(&key)
    }

    /// Gives up the state of a file for a job.
    pub(super) fn take(&mut self, key: SourceKey) -> Option<(Source, Box<SourceState>)> {
        self.held.remove(&key).map(|held| (held.source, held.state))
    }

    /// Holds the state that a job came back with.
    pub(super) fn put(&mut self, read: ReadProgress) {
        self.uses += 1;
        let ReadProgress { source, state, saved, .. } = read;
        self.held.insert(source.key, CachedState { source, state, saved, used: self.uses });
    }

    /// Lets go of the states of a session's files, saved or not.
    pub(super) fn forget(&mut self, session: SessionKey) {
        self.held.retain(|key, _| key.session != session);
    }

    /// Lets go of saved states until few enough are held. Returns the session of one that must be
    /// saved before it can go, when it comes to that.
    pub(super) fn make_room(&mut self) -> Option<SessionKey> {
        while self.held.len() > HELD {
            let (oldest, held) = self.held.iter().min_by_key(|(_, held)| held.used)?;
            let oldest = *oldest;
            if !held.saved {
                return Some(oldest.session);
            }
            self.held.remove(&oldest);
        }
        None
    }

    /// The sessions with a state that is not saved.
    pub(super) fn unsaved(&self) -> Vec<SessionKey> {
        let unsaved = self.held.values().filter(|held| !held.saved);
        unsaved.map(|held| held.source.key.session).collect()
    }
}
