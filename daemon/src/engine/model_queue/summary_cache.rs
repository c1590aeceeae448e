//! Caches summaries of messages on disk, so that no summary is requested and paid for twice.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde::{Deserialize, Serialize};

use crate::{
    prompt::cache_key::SummaryKey,
    store::{Note, NoteNamespace, Store, StoreError, Write},
};

/// The latest summaries of messages, by prompt.
pub struct SummaryCache {
    store: Arc<dyn Store>,
    /// `None` until the first use.
    cached: Mutex<Option<CachedSummaries>>,
}

#[derive(Default)]
struct CachedSummaries {
    by_key: HashMap<SummaryKey, String>,
    /// The keys by number; the oldest has the lowest number.
    in_order: BTreeMap<u64, SummaryKey>,
}

#[derive(Serialize, Deserialize)]
struct SummaryRecord {
    version: u32,
    number: u64,
    summary: String,
}

const VERSION: u32 = 1;
/// Maximum number of cached summaries; the oldest are evicted first.
const CAPACITY: usize = 4_096;

impl SummaryCache {
    /// Creates a cache in `store`. The summaries are loaded at the first use.
    pub fn new(store: Arc<dyn Store>) -> SummaryCache {
        SummaryCache { store, cached: Mutex::default() }
    }

    /// Returns the summary for a prompt, if it is cached.
    pub fn get(&self, key: SummaryKey) -> Option<String> {
        self.with(|cached| cached.by_key.get(&key).cloned())
    }

    pub fn put(&self, key: SummaryKey, summary: &str) {
        self.with(|cached| {
            let number = cached.in_order.last_key_value().map_or(0, |(last, _)| last + 1);
            if cached.by_key.insert(key, summary.to_owned()).is_some() {
                cached.in_order.retain(|_, known| *known != key);
            }
            cached.in_order.insert(number, key);
            let saved = SummaryRecord { version: VERSION, number, summary: summary.to_owned() };
            let content = serde_json::to_vec(&saved).expect("a summary is plain data");
            let mut writes = vec![note(key, Some(content))];
            while cached.in_order.len() > CAPACITY
                && let Some((_, oldest)) = cached.in_order.pop_first()
            {
                cached.by_key.remove(&oldest);
                writes.push(note(oldest, None));
            }
            // If the write fails, the summary is requested again after the next start.
            let _ = self.store.write(writes);
        });
    }

    /// Deletes all summaries, because they may contain text of a session that is forgotten. Blocks
    /// until they are deleted.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be written. Then the summaries are left.
    pub fn clear(&self) -> Result<(), StoreError> {
        let mut cached = self.lock();
        self.store.write(vec![Write::DropNotes(NoteNamespace::Summaries)]).wait()?;
        *cached = Some(CachedSummaries::default());
        Ok(())
    }

    fn with<T>(&self, act: impl FnOnce(&mut CachedSummaries) -> T) -> T {
        let mut cached = self.lock();
        act(cached.get_or_insert_with(|| CachedSummaries::load(self.store.as_ref())))
    }

    fn lock(&self) -> MutexGuard<'_, Option<CachedSummaries>> {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CachedSummaries {
    /// Loads the saved summaries. Summaries that cannot be read are requested again.
    fn load(store: &dyn Store) -> CachedSummaries {
        let notes = store.undamaged_notes(NoteNamespace::Summaries).unwrap_or_else(|error| {
            tracing::warn!(%error, "failed to read the cached summaries of messages");
            Vec::new()
        });
        let mut cached = CachedSummaries::default();
        for (name, content) in notes {
            let Ok(key) = <[u8; 32]>::try_from(name).map(SummaryKey::from_bytes) else { continue };
            if let Ok(SummaryRecord { version: VERSION, number, summary }) =
                serde_json::from_slice(&content)
            {
                cached.by_key.insert(key, summary);
                cached.in_order.insert(number, key);
            }
        }
        cached
    }
}

fn note(key: SummaryKey, content: Option<Vec<u8>>) -> Write {
    Write::Note(Note {
        namespace: NoteNamespace::Summaries,
        name: key.to_bytes().to_vec(),
        content,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{NoteStore as _, sled::SledStore};

    fn key(number: usize) -> SummaryKey {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&number.to_be_bytes());
        SummaryKey::from_bytes(bytes)
    }

    #[test]
    fn summaries_survive_a_restart_and_the_oldest_are_evicted() {
        let folder = tempfile::tempdir().unwrap();
        let open = || {
            let store = SledStore::open(&folder.path().join("db")).unwrap();
            SummaryCache::new(Arc::new(store))
        };
        let summaries = open();
        for number in 0..=CAPACITY {
            summaries.put(key(number), &format!("summary {number}"));
        }
        summaries.put(key(1), "another");
        summaries.store.write(Vec::new()).wait().unwrap();
        drop(summaries);
        let summaries = open();
        assert_eq!(summaries.get(key(0)), None);
        assert_eq!(summaries.get(key(1)).as_deref(), Some("another"));
        summaries.put(key(CAPACITY + 1), "one more");
        assert_eq!(summaries.get(key(2)), None);
        assert_eq!(summaries.get(key(1)).as_deref(), Some("another"));
        assert_eq!(summaries.get(key(3)).as_deref(), Some("summary 3"));
    }

    #[test]
    fn cleared_summaries_are_deleted_in_the_store() {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(SledStore::open(&folder.path().join("db")).unwrap());
        let summaries = SummaryCache::new(store.clone());
        summaries.put(key(1), "the codename is quokka");
        summaries.clear().unwrap();
        assert_eq!(summaries.get(key(1)), None);
        assert_eq!(store.notes(NoteNamespace::Summaries).unwrap(), []);
        summaries.put(key(2), "another");
        store.write(Vec::new()).wait().unwrap();
        store.damage_note(NoteNamespace::Summaries, &key(2).to_bytes());
        // A cache that was not used yet deletes the summaries of the last run.
        let next = SummaryCache::new(store.clone());
        next.clear().unwrap();
        assert_eq!(store.notes(NoteNamespace::Summaries).unwrap(), []);
    }
}
