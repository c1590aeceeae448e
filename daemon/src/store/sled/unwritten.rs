//! What is queued and not written yet.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::{
    model::{SessionKey, session::Session},
    store::Write,
};

/// Sessions that are queued and not written yet: whoever reads one sees it as it was queued last.
#[derive(Default)]
pub(super) struct Unwritten(Mutex<Queued>);

#[derive(Default)]
struct Queued {
    lists: u64,
    /// With the number of the list that it stands in.
    sessions: HashMap<SessionKey, (u64, Session)>,
}

impl Unwritten {
    /// A session as it was queued last, unless it is written.
    pub(super) fn session(&self, key: SessionKey) -> Option<Session> {
        self.lock().sessions.get(&key).map(|(_, session)| session.clone())
    }

    /// Notes the sessions in a list; returns the list's number.
    pub(super) fn add(&self, writes: &[Write]) -> u64 {
        let mut queued = self.lock();
        queued.lists += 1;
        let number = queued.lists;
        for write in writes {
            if let Write::Session(session) = write {
                queued.sessions.insert(session.key, (number, session.as_ref().clone()));
            }
        }
        number
    }

    /// Forgets the sessions of a list that is written, as far as they were not queued again.
    pub(super) fn remove(&self, number: u64, sessions: &[SessionKey]) {
        let mut queued = self.lock();
        for key in sessions {
            if queued.sessions.get(key).is_some_and(|(list, _)| *list == number) {
                queued.sessions.remove(key);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queued> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
