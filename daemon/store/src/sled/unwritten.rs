//! Sessions and episodes that are queued and not written yet.
//!
//! A caller that queues a list continues before the list is written. Reads look here first, so that
//! they return the last queued state of a session or an episode.

use std::{collections::HashMap, sync::PoisonError};

use crate::{
    Write,
    model::{Episode, EpisodeId, SessionKey, session::Session},
    sync::{Mutex, MutexGuard},
};

#[derive(Default)]
pub(super) struct Unwritten(Mutex<Queued>);

#[derive(Default)]
struct Queued {
    lists: u64,
    /// Each session with the number of the list that queued it last.
    sessions: HashMap<SessionKey, (u64, Session)>,
    /// Each episode with the number of the list that queued it last.
    episodes: HashMap<EpisodeId, (u64, Episode)>,
}

impl Unwritten {
    /// Returns the last queued state of a session; `None` if the session is not queued.
    pub(super) fn session(&self, key: SessionKey) -> Option<Session> {
        self.lock().sessions.get(&key).map(|(_, session)| session.clone())
    }

    /// Returns an episode if it is queued.
    pub(super) fn episode(&self, id: EpisodeId) -> Option<Episode> {
        self.lock().episodes.get(&id).map(|(_, episode)| episode.clone())
    }

    /// Adds the sessions and episodes of a list. Returns the number of the list.
    pub(super) fn add(&self, writes: &[Write]) -> u64 {
        let mut queued = self.lock();
        queued.lists += 1;
        let number = queued.lists;
        for write in writes {
            match write {
                Write::Session(session) => {
                    queued.sessions.insert(session.key, (number, session.as_ref().clone()));
                }
                Write::Episode(episode) => {
                    queued.episodes.insert(episode.id, (number, episode.as_ref().clone()));
                }
                _ => {}
            }
        }
        number
    }

    /// Removes the sessions and episodes of a list that was applied or refused, unless a later list
    /// queued them again.
    pub(super) fn remove(&self, number: u64) {
        let mut queued = self.lock();
        queued.sessions.retain(|_, (list, _)| *list != number);
        queued.episodes.retain(|_, (list, _)| *list != number);
    }

    fn lock(&self) -> MutexGuard<'_, Queued> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract;

    #[test]
    fn an_episode_that_was_queued_again_stays_until_its_last_list_is_written() {
        let unwritten = Unwritten::default();
        let session = contract::session(SessionKey(1), "a");
        let first = contract::episode(&session, 1_000);
        let second = Episode { name: "A new name".to_owned(), ..first.clone() };
        let lists = [first, second.clone()]
            .map(|episode| unwritten.add(&[Write::Episode(Box::new(episode))]));
        unwritten.remove(lists[0]);
        assert_eq!(unwritten.episode(second.id), Some(second.clone()));
        unwritten.remove(lists[1]);
        assert_eq!(unwritten.episode(second.id), None);
    }
}

#[cfg(all(test, feature = "shuttle"))]
mod shuttled {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{
        contract,
        model::Timestamp,
        sync::{Arc, in_orders, thread},
    };

    /// The written state of the tree: sessions by their keys, with their last activity.
    type Tree = Arc<Mutex<BTreeMap<SessionKey, Timestamp>>>;

    /// Reads a session as the store does: first from the queued writes, then from the tree.
    fn read(unwritten: &Unwritten, tree: &Tree, key: SessionKey) -> Timestamp {
        let queued = unwritten.session(key).map(|session| session.last_activity);
        queued.or_else(|| tree.lock().unwrap().get(&key).copied()).unwrap_or_default()
    }

    #[test]
    fn shuttled_a_read_never_returns_an_older_state_than_before() {
        in_orders(3_000, || {
            let key = SessionKey(1);
            let (unwritten, tree) = (Arc::new(Unwritten::default()), Tree::default());
            let (queue, jobs) = shuttle::sync::mpsc::sync_channel::<(u64, Timestamp)>(2);
            let writer = {
                let (unwritten, tree) = (unwritten.clone(), tree.clone());
                thread::spawn(move || {
                    while let Ok((list, at)) = jobs.recv() {
                        tree.lock().unwrap().insert(key, at);
                        unwritten.remove(list);
                    }
                })
            };
            let reader = {
                let (unwritten, tree) = (unwritten.clone(), tree.clone());
                thread::spawn(move || {
                    let mut seen = Timestamp::default();
                    for _ in 0..4 {
                        let now = read(&unwritten, &tree, key);
                        assert!(now >= seen, "{now:?} after {seen:?}");
                        seen = now;
                    }
                })
            };
            for second in 1..=4 {
                let mut session = contract::session(key, "a");
                session.last_activity = Timestamp::from_seconds(second);
                let list = unwritten.add(&[Write::Session(Box::new(session))]);
                queue.send((list, Timestamp::from_seconds(second))).unwrap();
                assert_eq!(read(&unwritten, &tree, key), Timestamp::from_seconds(second));
            }
            drop(queue);
            writer.join().unwrap();
            reader.join().unwrap();
            assert_eq!(unwritten.session(key), None);
            assert_eq!(read(&unwritten, &tree, key), Timestamp::from_seconds(4));
        });
    }
}
