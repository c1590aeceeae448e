//! Keeps the states of files in memory between two jobs.
//!
//! A file to which an agent writes is read every few seconds. Its state is cached here instead of
//! being saved and loaded each time. The state is saved when the session becomes inactive, when an
//! episode is created, when many bytes were read, when the cache is full, and at the shutdown.

use std::collections::HashMap;

use crate::{
    engine::{pipeline::SourceState, reading::ReadProgress},
    model::SessionKey,
    store::{Source, SourceKey},
};

/// Maximum number of cached states; the least recently used state is evicted first.
const CAPACITY: usize = 64;

#[derive(Default)]
pub(super) struct SourceStateCache {
    cached: HashMap<SourceKey, CachedState>,
    uses: u64,
}

struct CachedState {
    source: Source,
    state: Box<SourceState>,
    saved: bool,
    used: u64,
}

impl SourceStateCache {
    /// Returns the file as it was last read, if its state is cached.
    pub(super) fn source(&self, key: SourceKey) -> Option<&Source> {
        self.cached.get(&key).map(|cached| &cached.source)
    }

    pub(super) fn sources(&self) -> impl Iterator<Item = &Source> {
        self.cached.values().map(|cached| &cached.source)
    }

    pub(super) fn holds(&self, key: SourceKey) -> bool {
        self.cached.contains_key(&key)
    }

    /// Records that a file has another path now.
    pub(super) fn move_to(&mut self, key: SourceKey, path: &str) {
        if let Some(cached) = self.cached.get_mut(&key) {
            path.clone_into(&mut cached.source.path);
        }
    }

    /// Removes and returns the state of a file, for a job.
    pub(super) fn take(&mut self, key: SourceKey) -> Option<(Source, Box<SourceState>)> {
        self.cached.remove(&key).map(|cached| (cached.source, cached.state))
    }

    /// Caches the state that a job returned.
    pub(super) fn put(&mut self, read: ReadProgress) {
        self.uses += 1;
        let ReadProgress { source, state, is_saved: saved, .. } = read;
        self.cached.insert(source.key, CachedState { source, state, saved, used: self.uses });
    }

    /// Drops the states of a session's files, saved or not.
    pub(super) fn forget(&mut self, session: SessionKey) {
        self.cached.retain(|key, _| key.session != session);
    }

    /// Evicts saved states until the cache is within its capacity. Returns the session of a state
    /// that has to be saved before it can be evicted.
    pub(super) fn evict(&mut self) -> Option<SessionKey> {
        while self.cached.len() > CAPACITY {
            let (oldest, cached) = self.cached.iter().min_by_key(|(_, cached)| cached.used)?;
            let oldest = *oldest;
            if !cached.saved {
                return Some(oldest.session);
            }
            self.cached.remove(&oldest);
        }
        None
    }

    /// Returns the sessions with unsaved states.
    pub(super) fn unsaved(&self) -> Vec<SessionKey> {
        let unsaved = self.cached.values().filter(|cached| !cached.saved);
        unsaved.map(|cached| cached.source.key.session).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::contract;

    fn put(cache: &mut SourceStateCache, session: u64, is_saved: bool) {
        let source = contract::source_of(&contract::session(SessionKey(session), "a"), 0);
        cache.put(ReadProgress {
            state: Box::new(SourceState::new(0)),
            source,
            new_messages: 0,
            moved: true,
            exists: true,
            was_replaced: false,
            is_saved,
        });
    }

    fn holds(cache: &SourceStateCache, session: u64) -> bool {
        cache.holds(SourceKey { session: SessionKey(session), number: 0 })
    }

    #[test]
    fn the_least_recently_used_state_is_evicted_when_the_cache_is_full() {
        let (mut cache, capacity) = (SourceStateCache::default(), CAPACITY as u64);
        (0..capacity).for_each(|session| put(&mut cache, session, true));
        assert_eq!(cache.evict(), None);
        assert!(holds(&cache, 0));
        put(&mut cache, 0, true);
        put(&mut cache, capacity, true);
        assert_eq!(cache.evict(), None);
        assert!(holds(&cache, 0) && !holds(&cache, 1) && holds(&cache, 2));
    }

    #[test]
    fn a_state_that_is_not_saved_is_saved_before_it_is_evicted() {
        let (mut cache, capacity) = (SourceStateCache::default(), CAPACITY as u64);
        put(&mut cache, 0, false);
        (1..=capacity).for_each(|session| put(&mut cache, session, true));
        assert_eq!(cache.unsaved(), [SessionKey(0)]);
        assert_eq!(cache.evict(), Some(SessionKey(0)));
        assert!(holds(&cache, 0));
        // The job that saved the state used it last.
        put(&mut cache, 0, true);
        assert_eq!(cache.evict(), None);
        assert!(holds(&cache, 0) && !holds(&cache, 1));
    }
}
