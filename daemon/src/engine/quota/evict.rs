//! Evicts the text of the oldest sessions, then the oldest episodes.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::EvictionStats;
use crate::{
    fault,
    model::{EpisodeId, SessionKey, Timestamp, episode::MEMORY, session::State},
    store::{SourceKey, Store, StoreError, Write, damaged::skip_damaged},
};

/// Number of evictions (of the text of files, or of episodes) that are written in one batch.
const BATCH: usize = 16;
/// The effect of a damaged record.
const NOT_EVICTED: &str = "its session is not evicted";

/// Evicts the text of sessions, and episodes. Each list of writes contains the statistics, so that
/// the statistics are exact even if the process is killed.
pub(super) struct Evictor<'a> {
    store: &'a dyn Store,
    /// The statistics are a sum, so only one evictor at a time may add to them.
    _lock: MutexGuard<'static, ()>,
    before: EvictionStats,
    /// The evictions of this evictor.
    evicted: EvictionStats,
}

impl Evictor<'_> {
    /// Creates an evictor. Blocks while another evictor exists.
    pub(super) fn new(store: &dyn Store) -> Result<Evictor<'_>, StoreError> {
        static ONE: Mutex<()> = Mutex::new(());
        let lock = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let before = EvictionStats::load(store)?;
        Ok(Evictor { store, _lock: lock, before, evicted: EvictionStats::default() })
    }

    pub(super) fn evicted(&self) -> EvictionStats {
        self.evicted
    }

    /// Evicts until the content has at most `goal` bytes, or nothing more can be evicted. Returns
    /// the size of the content.
    pub(super) fn evict_until(&mut self, goal: u64) -> Result<u64, StoreError> {
        loop {
            let content = self.store.quota().content_bytes()?;
            if content <= goal {
                return Ok(content);
            }
            // Waiting text belongs to sessions that are not indexed yet. Its size is read before
            // text is evicted, because these sessions may be indexed meanwhile.
            let waiting = waiting_bytes(self.store)?;
            if !self.evict_text(content - goal)?.is_empty() {
                continue;
            }
            // Waiting text can be evicted after it is indexed, so no episode is evicted in its
            // place. The loop does not wait until the text is indexed, because busy agents always
            // have waiting text.
            let others = content.saturating_sub(waiting);
            let excess = others.saturating_sub(goal);
            let most = estimate_half(excess, others, self.store);
            if excess == 0 || self.evict_episodes(most)? == 0 {
                return Ok(content);
            }
        }
    }

    /// Evicts the text of the oldest sessions until at least `bytes` are evicted, or no more text
    /// can be evicted. Returns the files whose text was evicted.
    pub(super) fn evict_text(&mut self, bytes: u64) -> Result<Vec<SourceKey>, StoreError> {
        self.evict_text_of(&oldest(self.store)?, bytes)
    }

    fn evict_text_of(
        &mut self,
        sessions: &[(SessionKey, EpisodeId)],
        bytes: u64,
    ) -> Result<Vec<SourceKey>, StoreError> {
        let before = self.evicted;
        let (mut files, mut writes) = (Vec::new(), Vec::new());
        for (session, _) in sessions {
            if self.evicted.bytes - before.bytes >= bytes {
                break;
            }
            let text = self.store.quota().text_bytes(*session)?;
            if text == 0 {
                continue;
            }
            let Some(sources) = self.evictable(*session)? else { continue };
            self.evicted.bytes += text;
            self.evicted.sessions += 1;
            for source in sources {
                files.push(source);
                writes.push(Write::DropText(source));
            }
            if writes.len() >= BATCH {
                self.write(&mut writes)?;
            }
        }
        self.write(&mut writes)?;
        fault::point("quota: text evicted");
        Ok(files)
    }

    /// Evicts at most `most` of the oldest episodes. Returns the number of evicted episodes.
    fn evict_episodes(&mut self, most: u64) -> Result<u64, StoreError> {
        let before = self.evicted.episodes;
        let mut writes = Vec::new();
        for (session, episode) in oldest(self.store)? {
            let evicted = self.evicted.episodes - before;
            if evicted == most {
                break;
            }
            if skip_damaged(self.store.episode(episode), NOT_EVICTED)?.is_none() {
                continue;
            }
            let Some(sources) = self.evictable(session)? else { continue };
            self.evicted.episodes += 1;
            writes.push(Write::DropEpisode(episode));
            // The checkpoint is dropped, too, so a session that grows is read from the start. The
            // offset stays, because a file with an offset of 0 counts as unread.
            writes.extend(sources.into_iter().map(Write::ClearSource));
            if (evicted + 1).is_multiple_of(BATCH as u64) {
                self.write(&mut writes)?;
            }
        }
        self.write(&mut writes)?;
        Ok(self.evicted.episodes - before)
    }

    /// Returns the files of a session; `None` if one of its records is damaged, or if the session
    /// is not indexed any more. A session that continued since the sessions were listed has text
    /// that no episode contains yet.
    fn evictable(&self, session: SessionKey) -> Result<Option<Vec<SourceKey>>, StoreError> {
        let session = skip_damaged(self.store.session(session), NOT_EVICTED)?;
        let Some(session) = session.filter(|session| session.state == State::Indexed) else {
            return Ok(None);
        };
        let sources = skip_damaged(self.store.sources_of(session.key).map(Some), NOT_EVICTED)?;
        Ok(sources.map(|sources| sources.into_iter().map(|source| source.key).collect()))
    }

    fn write(&self, writes: &mut Vec<Write>) -> Result<(), StoreError> {
        if writes.is_empty() {
            return Ok(());
        }
        let mut writes = std::mem::take(writes);
        writes.push(self.before.plus(self.evicted).to_note());
        self.store.write(writes).wait().map(drop)
    }
}

/// Estimates how many episodes together have half the size of the excess; returns at least
/// [`BATCH`]. If half of the excess is evicted at a time, a few scans of the database suffice, and
/// hardly any episode is evicted without need.
fn estimate_half(excess: u64, content: u64, store: &dyn Store) -> u64 {
    let each = content / store.totals().episodes.max(1);
    (excess / each.max(1) / 2).max(BATCH as u64)
}

/// Returns the size, in bytes, of all text that can be evicted.
pub(super) fn text_bytes(store: &dyn Store) -> Result<u64, StoreError> {
    let mut bytes = 0;
    for (session, _) in oldest(store)? {
        bytes += store.quota().text_bytes(session)?;
    }
    Ok(bytes)
}

/// Returns the size, in bytes, of the text that cannot be evicted yet, because it waits to be
/// indexed.
fn waiting_bytes(store: &dyn Store) -> Result<u64, StoreError> {
    let mut bytes = 0;
    for session in store.live_sessions()? {
        bytes += store.quota().text_bytes(session.key)?;
    }
    Ok(bytes)
}

/// Returns the sessions that can be evicted, with their episodes, the oldest first.
fn oldest(store: &dyn Store) -> Result<Vec<(SessionKey, EpisodeId)>, StoreError> {
    let mut found: Vec<(Timestamp, SessionKey, EpisodeId)> = Vec::new();
    store.visit_undamaged_sessions(&mut |session| {
        let indexed = session.indexed.filter(|_| session.state == State::Indexed);
        if let Some(indexed) = indexed
            && session.id.agent != MEMORY
        {
            found.push((session.last_activity, session.key, indexed.episode));
        }
        true
    })?;
    found.sort_unstable();
    Ok(found.into_iter().map(|(_, session, episode)| (session, episode)).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tempfile::TempDir;

    use super::*;
    use crate::{
        engine::quota::prepare_compaction,
        model::session::Unindexed,
        store::{contract, sled::SledStore},
    };

    /// The properties of a session in a property test: its age in seconds, the number of its
    /// messages, and whether the session is indexed.
    type SessionSample = (i64, u32, bool);

    fn fill(store: &SledStore, made: &[SessionSample]) -> Vec<SessionKey> {
        let mut keys = Vec::new();
        for (number, (age, messages, is_indexed)) in made.iter().enumerate() {
            let key = store.next_session_key().unwrap();
            let mut session = contract::session(key, &format!("session-{number}"));
            session.last_activity = Timestamp::from_seconds(1_000_000 - age);
            let source = contract::source_of(&session, 0);
            let messages = (0..*messages).map(|seq| contract::noise(seq, 700)).collect();
            let writes = vec![
                Write::Session(Box::new(session.clone())),
                Write::Messages { source: source.key, messages },
                Write::Source { source, checkpoint: Some(vec![7; 5_000]) },
            ];
            store.write(writes).wait().unwrap();
            if *is_indexed {
                let episode = contract::episode(&session, *age + 1);
                contract::index_with_statements(
                    store,
                    &mut session,
                    &episode,
                    contract::statements(1),
                );
            }
            keys.push(key);
        }
        keys
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        #[test]
        fn the_oldest_indexed_sessions_are_evicted_first(
            made in prop::collection::vec((0..9_000i64, 0..40u32, any::<bool>()), 1..12),
            wanted in 0..40_000u64,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let store = SledStore::open(folder.path()).unwrap();
            let keys = fill(&store, &made);
            let texts = |key: SessionKey| store.quota().text_bytes(key).unwrap();
            let before: Vec<u64> = keys.iter().map(|key| texts(*key)).collect();
            let episodes = store.totals().episodes;
            let sources = keys.iter().flat_map(|key| store.sources_of(*key).unwrap());
            let sources: Vec<_> = sources.collect();
            let content = store.quota().content_bytes().unwrap();
            let mut evictor = Evictor::new(&store).unwrap();
            evictor.evict_text(wanted).unwrap();
            let gone = evictor.evicted();
            prop_assert_eq!(gone, EvictionStats { version: 0, at: 0, ..EvictionStats::load(&store).unwrap() });

            let is_left = |at: usize| before[at] > 0 && texts(keys[at]) > 0;
            let was_evicted = |at: usize| before[at] > 0 && texts(keys[at]) == 0;
            for (at, (age, _, is_indexed)) in made.iter().enumerate() {
                if was_evicted(at) {
                    prop_assert!(is_indexed);
                    let older = made.iter().enumerate().filter(|(_, (other, _, _))| other > age);
                    let spared = older.filter(|(at, (_, _, indexed))| *indexed && is_left(*at));
                    prop_assert_eq!(spared.count(), 0);
                }
            }
            let sum: u64 = (0..made.len()).filter(|at| was_evicted(*at)).map(|at| before[at]).sum();
            prop_assert_eq!(gone.bytes, sum);
            let could: u64 = made.iter().zip(&before).filter(|(one, _)| one.2).map(|(_, text)| text).sum();
            prop_assert!(sum >= wanted.min(could));
            prop_assert_eq!(store.totals().episodes, episodes);
            prop_assert!(store.quota().content_bytes().unwrap() <= content.saturating_sub(sum) + 8_192);
            for key in &keys {
                let source = store.sources_of(*key).unwrap().remove(0);
                prop_assert_eq!(store.checkpoint(source.key).unwrap(), Some(vec![7; 5_000]));
            }

            // Episodes are evicted next, until only data that are not indexed are left.
            while evictor.evict_episodes(5).unwrap() > 0 {}
            prop_assert_eq!(EvictionStats::load(&store).unwrap().episodes, episodes);
            prop_assert_eq!(store.totals().episodes, 0);
            for (at, (_, messages, is_indexed)) in made.iter().enumerate() {
                let source = store.sources_of(keys[at]).unwrap().remove(0);
                let is_whole = store.messages(source.key, 0, 99).unwrap().len() == *messages as usize;
                prop_assert!(*is_indexed || is_whole);
                let checkpoint = store.checkpoint(source.key).unwrap();
                prop_assert_eq!(checkpoint.is_none(), *is_indexed);
                // A source with an offset of 0 would count as unread.
                prop_assert_eq!(&source, &sources[at]);
            }
        }
    }

    /// A closed store with files that are several times as large as its content.
    struct SlackStore {
        home: TempDir,
        /// The size, in bytes, of its content.
        content: u64,
        /// The size, in bytes, of the text that can be evicted.
        text: u64,
    }

    impl SlackStore {
        fn new() -> SlackStore {
            let home = tempfile::tempdir().unwrap();
            let store = SledStore::open(&home.path().join("db")).unwrap();
            let sessions: Vec<SessionSample> = (0..400).map(|age| (age, 4, true)).collect();
            for key in fill(&store, &sessions).into_iter().skip(150) {
                store.write(vec![Write::DropSession(key)]).wait().unwrap();
            }
            let content = store.quota().content_bytes().unwrap();
            let text = text_bytes(&store).unwrap();
            store.close();
            SlackStore { home, content, text }
        }

        /// Sets a limit of `limit` bytes, takes the steps that it requires, and opens the store
        /// again. Returns the statistics of evictions, and the size of the text that is left.
        fn keep_within(&self, limit: u64) -> (EvictionStats, u64) {
            let folder = self.home.path().join("db");
            let store = SledStore::open(&folder).unwrap();
            store.quota().set_limit(limit);
            let before = store.quota().disk_bytes();
            assert!(store.quota().is_near_limit(), "{before} bytes");
            assert!(prepare_compaction(&store).unwrap(), "the store should be opened again");
            store.close();
            let store = SledStore::open_within(&folder, limit).unwrap();
            let after = store.quota().disk_bytes();
            assert!(after < before, "{before} bytes before, {after} after");
            (EvictionStats::load(&store).unwrap(), text_bytes(&store).unwrap())
        }
    }

    #[test]
    fn content_is_evicted_only_if_it_does_not_fit_after_a_compaction() {
        let store = SlackStore::new();
        let (evicted, text) = store.keep_within(store.content * 5 + 40);
        assert_eq!((evicted, text), (EvictionStats::default(), store.text));

        let store = SlackStore::new();
        let (evicted, text) = store.keep_within(store.content * 5 - 40);
        assert_ne!(evicted.sessions, 0);
        assert_eq!(text + evicted.bytes, store.text);
    }

    #[test]
    fn text_and_episodes_are_evicted_although_sessions_are_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let store = SledStore::open(folder.path()).unwrap();
        let made: Vec<SessionSample> = (0..6).map(|age| (9 - age, 5, age != 5)).collect();
        let keys = fill(&store, &made);
        let episode =
            |at: usize| store.session(keys[at]).unwrap().unwrap().indexed.unwrap().episode;
        let (unreadable, without_index) = (episode(1), episode(3));
        store.damage_session(keys[0]);
        store.damage_episode(unreadable);
        store.damage_statements(without_index);
        store.damage_source(SourceKey { session: keys[2], number: 0 });
        store.damage_session(keys[5]);
        let mut evictor = Evictor::new(&store).unwrap();
        assert!(waiting_bytes(&store).is_ok(), "a live session is damaged");
        let evicted = evictor.evict_text(u64::MAX).unwrap();
        let evicted: Vec<SessionKey> = evicted.iter().map(|file| file.session).collect();
        assert_eq!(evicted, [keys[1], keys[3], keys[4]]);
        assert_eq!(evictor.evict_episodes(u64::MAX).unwrap(), 2);
        assert_eq!((evictor.evicted().sessions, evictor.evicted().episodes), (3, 2));
    }

    #[test]
    fn the_text_of_a_session_that_continues_during_an_eviction_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let store = SledStore::open(folder.path()).unwrap();
        let keys = fill(&store, &[(2, 5, true), (1, 5, true)]);
        let listed = oldest(&store).unwrap();
        let mut continued = store.session(keys[0]).unwrap().unwrap();
        continued.state = State::Unindexed(Unindexed::History);
        store.write(vec![Write::Session(Box::new(continued))]).wait().unwrap();
        let mut evictor = Evictor::new(&store).unwrap();
        let evicted = evictor.evict_text_of(&listed, u64::MAX).unwrap();
        let evicted: Vec<SessionKey> = evicted.iter().map(|file| file.session).collect();
        assert_eq!(evicted, [keys[1]]);
    }

    #[test]
    fn waiting_text_neither_evicts_episodes_nor_protects_them() {
        let folder = tempfile::tempdir().unwrap();
        let store = SledStore::open(folder.path()).unwrap();
        let mut made: Vec<SessionSample> = (0..40).map(|age| (age, 5, true)).collect();
        made.push((0, 30, false));
        fill(&store, &made);
        let waiting = waiting_bytes(&store).unwrap();
        assert!(waiting > 20_000, "{waiting} bytes of text wait");

        let without_text = store.quota().content_bytes().unwrap() - text_bytes(&store).unwrap();
        let mut evictor = Evictor::new(&store).unwrap();
        let content = evictor.evict_until(without_text - waiting / 2).unwrap();
        assert_eq!((evictor.evicted().sessions, evictor.evicted().episodes), (40, 0));

        let goal = content - waiting - 50_000;
        let content = evictor.evict_until(goal).unwrap();
        let gone = evictor.evicted().episodes;
        assert!((16..40).contains(&gone), "{gone} episodes were evicted");
        assert!(content - waiting <= goal, "{content} bytes are left");
    }
}
