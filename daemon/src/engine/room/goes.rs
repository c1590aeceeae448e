//! What goes, in its order: the text of the oldest sessions, then the oldest episodes.

use super::LetGo;
use crate::{
    fault,
    model::{EpisodeId, SessionKey, Timestamp, episode::MEMORY, session::State},
    store::{Source, Store, StoreError, Write},
};

/// Sessions in one list of writes.
const SESSIONS: usize = 16;

/// Lets go of what is too much until the content is `goal` bytes, or nothing more may go; says how
/// many it is then.
pub(super) fn down_to(store: &dyn Store, goal: u64) -> Result<(LetGo, u64), StoreError> {
    let mut gone = LetGo::default();
    loop {
        let content = store.content_bytes()?;
        if content <= goal {
            return Ok((gone, content));
        }
        // Looked at in this order, for what waits now may be indexed a moment later.
        let waiting = waiting_bytes(store)?;
        let text = text(store, content - goal)?;
        gone.sessions += text.sessions;
        gone.bytes += text.bytes;
        if text.sessions > 0 {
            continue;
        }
        // Text that is not indexed yet can go as soon as it is: no episode makes room for it. But
        // where agents are always at work, some always waits.
        let is_for_text = content.saturating_sub(waiting) <= goal;
        let episodes = if is_for_text { 0 } else { episodes(store)? };
        if episodes == 0 {
            return Ok((gone, content));
        }
        gone.episodes += episodes;
    }
}

/// Lets go of the text of the oldest sessions, of so many bytes at least if there are as many.
pub(super) fn text(store: &dyn Store, bytes: u64) -> Result<LetGo, StoreError> {
    let mut gone = LetGo::default();
    let mut writes = Vec::new();
    for (session, _) in oldest(store)? {
        if gone.bytes >= bytes {
            break;
        }
        let text = store.text_bytes(session)?;
        if text == 0 {
            continue;
        }
        gone.bytes += text;
        gone.sessions += 1;
        let sources: Vec<Source> = store.sources_of(session)?;
        writes.extend(sources.into_iter().map(|source| Write::DropText(source.key)));
        if writes.len() >= SESSIONS {
            store.write(std::mem::take(&mut writes)).wait()?;
        }
    }
    store.write(writes).wait()?;
    fault::point("room: text gone");
    Ok(gone)
}

/// Bytes of all text that may go.
pub(super) fn text_bytes(store: &dyn Store) -> Result<u64, StoreError> {
    let mut bytes = 0;
    for (session, _) in oldest(store)? {
        bytes += store.text_bytes(session)?;
    }
    Ok(bytes)
}

/// Bytes of the text of sessions that are not over and indexed: it may go as soon as they are.
fn waiting_bytes(store: &dyn Store) -> Result<u64, StoreError> {
    let mut bytes = 0;
    for session in store.live_sessions()? {
        bytes += store.text_bytes(session.key)?;
    }
    Ok(bytes)
}

/// Lets go of a few of the oldest episodes; says of how many.
fn episodes(store: &dyn Store) -> Result<u64, StoreError> {
    let mut gone = 0;
    let mut writes = Vec::new();
    for (session, episode) in oldest(store)? {
        if gone == SESSIONS as u64 {
            break;
        }
        if store.episode(episode)?.is_none() {
            continue;
        }
        gone += 1;
        writes.push(Write::DropEpisode(episode));
        for source in store.sources_of(session)? {
            // What is saved beside the cursor goes, too: if it went on, it is read anew.
            writes.push(Write::ClearSource(source.key));
            writes.push(Write::Source { source: Source { offset: 0, ..source }, checkpoint: None });
        }
    }
    store.write(writes).wait()?;
    Ok(gone)
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
            let texts = |key: SessionKey| store.text_bytes(key).unwrap();
            let before: Vec<u64> = keys.iter().map(|key| texts(*key)).collect();
            let episodes = store.totals().episodes;
            let content = store.content_bytes().unwrap();
            let gone = text(&store, wanted).unwrap();

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
            prop_assert!(store.content_bytes().unwrap() <= content.saturating_sub(sum) + 8_192);
            for key in &keys {
                let source = store.sources_of(*key).unwrap().remove(0);
                prop_assert_eq!(store.checkpoint(source.key).unwrap(), Some(vec![7; 5_000]));
            }

            // Then episodes, until only what is not indexed is left.
            while episodes_go(&store) > 0 {}
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

        let without_text = store.content_bytes().unwrap() - text_bytes(&store).unwrap();
        let (gone, content) = down_to(&store, without_text - waiting / 2).unwrap();
        assert_eq!((gone.sessions, gone.episodes), (40, 0));

        let goal = content - waiting - 50_000;
        let (gone, content) = down_to(&store, goal).unwrap();
        assert!((16..40).contains(&gone.episodes), "{} episodes went", gone.episodes);
        assert!(content - waiting <= goal, "{content} bytes are left");
    }

    fn episodes_go(store: &SledStore) -> u64 {
        episodes(store).unwrap()
    }
}
