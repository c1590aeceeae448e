//! What is queued and not written yet.
//!
//! Lists of writes are queued by one who goes on with the next thing at once: whoever reads a
//! session, or the episode that a session names, sees it as it was queued last.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::{
    model::{Episode, EpisodeId, SessionKey, session::Session},
    store::Write,
};

/// Sessions and episodes that are queued and not written yet.
#[derive(Default)]
pub(super) struct Unwritten(Mutex<Queued>);

#[derive(Default)]
struct Queued {
    lists: u64,
    /// With the number of the list that it stands in.
    sessions: HashMap<SessionKey, (u64, Session)>,
    episodes: HashMap<EpisodeId, Episode>,
}

/// What a write writes, by its key.
pub(super) enum Named {
    Session(SessionKey),
    Episode(EpisodeId),
}

impl Unwritten {
    /// A session as it was queued last, unless it is written.
    pub(super) fn session(&self, key: SessionKey) -> Option<Session> {
        self.lock().sessions.get(&key).map(|(_, session)| session.clone())
    }

    /// An episode that is queued.
    pub(super) fn episode(&self, id: EpisodeId) -> Option<Episode> {
        self.lock().episodes.get(&id).cloned()
    }

    /// Notes the sessions and episodes in a list; returns the list's number.
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
                    queued.episodes.insert(episode.id, episode.as_ref().clone());
                }
                _ => {}
            }
        }
        number
    }

    /// Forgets what stands in a list that is written, as far as it was not queued again.
    pub(super) fn remove(&self, number: u64, written: &[Named]) {
        let mut queued = self.lock();
        for named in written {
            match named {
                Named::Session(key) => {
                    if queued.sessions.get(key).is_some_and(|(list, _)| *list == number) {
                        queued.sessions.remove(key);
                    }
                }
                Named::Episode(id) => drop(queued.episodes.remove(id)),
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queued> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
