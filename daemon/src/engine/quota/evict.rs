//! What goes, in its order: the text of the oldest sessions, then the oldest episodes.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::EvictionStats;
use crate::{
    fault,
    model::{EpisodeId, SessionKey, Timestamp, episode::MEMORY, session::State},
    store::{Source, SourceKey, Store, StoreError, Write},
};

/// Sessions in one list of writes.
const SESSIONS: usize = 16;

/// Lets go of things, and notes each with the same list of writes, so that what is said to have gone
/// is what went, whenever the process ends.
pub(super) struct Evictor<'a> {
    store: &'a dyn Store,
    /// What is noted is a sum: nobody else adds to it meanwhile.
    _alone: MutexGuard<'static, ()>,
    /// What went before.
    before: EvictionStats,
    /// What this let go.
    gone: EvictionStats,
}

impl Evictor<'_> {
    /// Waits until nobody else lets go of anything.
    pub(super) fn of(store: &dyn Store) -> Evictor<'_> {
        static ONE: Mutex<()> = Mutex::new(());
        let alone = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        Evictor {
            store,
            _alone: alone,
            before: EvictionStats::noted(store),
            gone: EvictionStats::default(),
        }
    }

    pub(super) fn gone(&self) -> EvictionStats {
        self.gone
    }

    /// Lets go of what is too much until the content is `goal` bytes, or nothing more may go; returns
    /// how many it is then.
    pub(super) fn down_to(&mut self, goal: u64) -> Result<u64, StoreError> {
        loop {
            let content = self.store.quota().content_bytes()?;
            if content <= goal {
                return Ok(content);
            }
            // Looked at in this order, for what waits now may be indexed a moment later.
            let waiting = waiting_bytes(self.store)?;
            if !self.text(content - goal)?.is_empty() {
                continue;
            }
            // Text that is not indexed yet can go as soon as it is: no episode makes room for it. But
            // where agents are always at work, some always waits.
            let others = content.saturating_sub(waiting);
            let excess = others.saturating_sub(goal);
            let most = likely_half(excess, others, self.store);
            if excess == 0 || self.episodes(most)? == 0 {
                return Ok(content);
            }
        }
    }

    /// Lets go of the text of the oldest sessions, of `bytes` at least if there are as many; returns
    /// the files that had it.
    pub(super) fn text(&mut self, bytes: u64) -> Result<Vec<SourceKey>, StoreError> {
        let before = self.gone;
        let (mut files, mut writes) = (Vec::new(), Vec::new());
        for (session, _) in oldest(self.store)? {
            if self.gone.bytes - before.bytes >= bytes {
                break;
            }
            let text = self.store.quota().text_bytes(session)?;
            if text == 0 {
                continue;
            }
            self.gone.bytes += text;
            self.gone.sessions += 1;
            for source in self.store.sources_of(session)? {
                files.push(source.key);
                writes.push(Write::DropText(source.key));
            }
            if writes.len() >= SESSIONS {
                self.write(&mut writes)?;
            }
        }
        self.write(&mut writes)?;
        fault::point("room: text gone");
        Ok(files)
    }

    /// Lets go of at most so many of the oldest episodes; returns of how many.
    fn episodes(&mut self, most: u64) -> Result<u64, StoreError> {
        let before = self.gone.episodes;
        let mut writes = Vec::new();
        for (session, episode) in oldest(self.store)? {
            let gone = self.gone.episodes - before;
            if gone == most {
                break;
            }
            if self.store.episode(episode)?.is_none() {
                continue;
            }
            self.gone.episodes += 1;
            writes.push(Write::DropEpisode(episode));
            for source in self.store.sources_of(session)? {
                // What is saved beside the cursor goes, too: if it went on, it is read anew.
                writes.push(Write::ClearSource(source.key));
                let source = Source { offset: 0, ..source };
                writes.push(Write::Source { source, checkpoint: None });
            }
            if (gone + 1).is_multiple_of(SESSIONS as u64) {
                self.write(&mut writes)?;
            }
        }
        self.write(&mut writes)?;
        Ok(self.gone.episodes - before)
    }

    fn write(&self, writes: &mut Vec<Write>) -> Result<(), StoreError> {
        if writes.is_empty() {
            return Ok(());
        }
        let mut writes = std::mem::take(writes);
        writes.push(self.before.and(self.gone).to_note());
        self.store.write(writes).wait().map(drop)
    }
}

/// About half as many episodes as are too much, so that a few looks at all of the database suffice
/// and hardly any goes in vain.
fn likely_half(excess: u64, content: u64, store: &dyn Store) -> u64 {
    let each = content / store.totals().episodes.max(1);
    (excess / each.max(1) / 2).max(SESSIONS as u64)
}

/// Bytes of all text that may go.
pub(super) fn text_bytes(store: &dyn Store) -> Result<u64, StoreError> {
    let mut bytes = 0;
    for (session, _) in oldest(store)? {
        bytes += store.quota().text_bytes(session)?;
    }
    Ok(bytes)
}

/// Bytes of the text of sessions that are not over and indexed: it may go as soon as they are.
fn waiting_bytes(store: &dyn Store) -> Result<u64, StoreError> {
    let mut bytes = 0;
    for session in store.live_sessions()? {
        bytes += store.quota().text_bytes(session.key)?;
    }
    Ok(bytes)
}

/// The sessions of which something may go, the oldest first.
fn oldest(store: &dyn Store) -> Result<Vec<(SessionKey, EpisodeId)>, StoreError> {
    let mut found: Vec<(Timestamp, SessionKey, EpisodeId)> = Vec::new();
    store.visit_sessions(&mut |session| {
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

    use super::*;
    use crate::store::{contract, sled::SledStore};

    /// A session as a property has it: its age, its messages, whether it is indexed.
    type Made = (i64, u32, bool);

    fn fill(store: &SledStore, made: &[Made]) -> Vec<SessionKey> {
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
                contract::index_saying(store, &mut session, &episode, contract::statements(1));
            }
            keys.push(key);
        }
        keys
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        #[test]
        fn the_oldest_text_goes_and_nothing_that_is_not_indexed(
            made in prop::collection::vec((0..9_000i64, 0..40u32, any::<bool>()), 1..12),
            wanted in 0..40_000u64,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let store = SledStore::open(folder.path()).unwrap();
            let keys = fill(&store, &made);
            let texts = |key: SessionKey| store.quota().text_bytes(key).unwrap();
            let before: Vec<u64> = keys.iter().map(|key| texts(*key)).collect();
            let episodes = store.totals().episodes;
            let content = store.quota().content_bytes().unwrap();
            let mut going = Evictor::of(&store);
            going.text(wanted).unwrap();
            let gone = going.gone();
            prop_assert_eq!(gone, EvictionStats { version: 0, at: 0, ..EvictionStats::noted(&store) });

            let is_left = |at: usize| before[at] > 0 && texts(keys[at]) > 0;
            let went = |at: usize| before[at] > 0 && texts(keys[at]) == 0;
            for (at, (age, _, is_indexed)) in made.iter().enumerate() {
                if went(at) {
                    prop_assert!(is_indexed);
                    let older = made.iter().enumerate().filter(|(_, (other, _, _))| other > age);
                    let spared = older.filter(|(at, (_, _, indexed))| *indexed && is_left(*at));
                    prop_assert_eq!(spared.count(), 0);
                }
            }
            let sum: u64 = (0..made.len()).filter(|at| went(*at)).map(|at| before[at]).sum();
            prop_assert_eq!(gone.bytes, sum);
            let could: u64 = made.iter().zip(&before).filter(|(one, _)| one.2).map(|(_, text)| text).sum();
            prop_assert!(sum >= wanted.min(could));
            prop_assert_eq!(store.totals().episodes, episodes);
            prop_assert!(store.quota().content_bytes().unwrap() <= content.saturating_sub(sum) + 8_192);
            for key in &keys {
                let source = store.sources_of(*key).unwrap().remove(0);
                prop_assert_eq!(store.checkpoint(source.key).unwrap(), Some(vec![7; 5_000]));
            }

            // Then episodes, until only what is not indexed is left.
            while going.episodes(5).unwrap() > 0 {}
            prop_assert_eq!(EvictionStats::noted(&store).episodes, episodes);
            prop_assert_eq!(store.totals().episodes, 0);
            for (at, (_, messages, is_indexed)) in made.iter().enumerate() {
                let source = store.sources_of(keys[at]).unwrap().remove(0);
                let is_whole = store.messages(source.key, 0, 99).unwrap().len() == *messages as usize;
                prop_assert!(*is_indexed || is_whole);
                prop_assert_eq!(source.offset == 0, *is_indexed);
            }
        }
    }

    #[test]
    fn no_episode_goes_for_text_that_waits_and_each_that_must_although_some_waits() {
        let folder = tempfile::tempdir().unwrap();
        let store = SledStore::open(folder.path()).unwrap();
        let mut made: Vec<Made> = (0..40).map(|age| (age, 5, true)).collect();
        made.push((0, 30, false));
        fill(&store, &made);
        let waiting = waiting_bytes(&store).unwrap();
        assert!(waiting > 20_000, "{waiting} bytes of text wait");

        let without_text = store.quota().content_bytes().unwrap() - text_bytes(&store).unwrap();
        let mut going = Evictor::of(&store);
        let content = going.down_to(without_text - waiting / 2).unwrap();
        assert_eq!((going.gone().sessions, going.gone().episodes), (40, 0));

        let goal = content - waiting - 50_000;
        let content = going.down_to(goal).unwrap();
        let gone = going.gone().episodes;
        assert!((16..40).contains(&gone), "{gone} episodes went");
        assert!(content - waiting <= goal, "{content} bytes are left");
    }
}
