//! Sessions that have to be read again from the start of their files. A failed attempt is retried
//! after a pause, a limited number of times.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    time::Duration,
};

use super::{
    EngineEffect, EngineState,
    jobs::{LONGEST_RETRY, RETRIES},
};
use crate::{
    engine::{reading::ReadError, rereads, schedule::Queue},
    model::{SessionKey, Timestamp},
    store::{Store, StoreError},
};

#[derive(Default)]
pub(super) struct PendingRereads(BTreeMap<SessionKey, Reread>);

struct Reread {
    /// The number of failed attempts.
    attempts: u32,
    state: RereadState,
}

enum RereadState {
    Scheduled,
    /// A job reads the files of the session from their start.
    Running,
    /// The last attempt failed. The next attempt is due at this time.
    Postponed(Timestamp),
}

impl PendingRereads {
    /// Loads the sessions that the last run did not read again.
    pub(super) fn load(store: &dyn Store) -> Result<PendingRereads, StoreError> {
        let saved = rereads::load(store)?.into_iter();
        let scheduled = |attempts| Reread { attempts, state: RereadState::Scheduled };
        Ok(PendingRereads(
            saved.map(|(session, attempts)| (session, scheduled(attempts))).collect(),
        ))
    }

    /// Records that a job reads a session from its start.
    pub(super) fn begin(&mut self, session: SessionKey) {
        if let Some(reread) = self.0.get_mut(&session) {
            reread.state = RereadState::Running;
        }
    }

    /// Returns when the next attempt is due; `None` if no attempt is postponed.
    pub(super) fn due(&self) -> Option<Timestamp> {
        let due = |reread: &Reread| match reread.state {
            RereadState::Postponed(due) => Some(due),
            RereadState::Scheduled | RereadState::Running => None,
        };
        self.0.values().filter_map(due).min()
    }
}

impl EngineState {
    /// Schedules the copies of a session to be read again, because one of the session's files was
    /// replaced. The copies skipped the records that they shared with this file.
    pub(super) fn reread_copies(&mut self, session: SessionKey) {
        match self.view.copies_of(session) {
            Ok(copies) => self.request_rereads(copies),
            Err(error) => self.note_problem(error.to_string()),
        }
    }

    /// Schedules sessions to be read from their start, and records this on disk.
    fn request_rereads(&mut self, sessions: Vec<SessionKey>) {
        for session in sessions {
            let reread = Reread { attempts: 0, state: RereadState::Scheduled };
            self.rereads.0.insert(session, reread);
            self.effects.push(EngineEffect::Write(vec![rereads::write(session, 0)]));
            self.schedule_reread(session);
        }
    }

    /// Schedules the sessions that the last run did not read again.
    pub(super) fn resume_rereads(&mut self) {
        let sessions: Vec<SessionKey> = self.rereads.0.keys().copied().collect();
        sessions.into_iter().for_each(|session| self.schedule_reread(session));
    }

    /// Schedules the sessions whose next attempt is due.
    pub(super) fn retry_rereads(&mut self, now: Timestamp) {
        let is_due = |reread: &Reread| match reread.state {
            // After the clock was set back, the due time may be far ahead.
            RereadState::Postponed(due) => due <= now || due > now.plus(LONGEST_RETRY),
            RereadState::Scheduled | RereadState::Running => false,
        };
        let due = self.rereads.0.iter().filter(|(_, reread)| is_due(reread));
        let due: Vec<SessionKey> = due.map(|(session, _)| *session).collect();
        due.into_iter().for_each(|session| self.schedule_reread(session));
    }

    /// Schedules a session whose reread was dropped from the schedule.
    pub(super) fn restore_reread(&mut self, session: SessionKey) {
        if self.rereads.0.contains_key(&session) {
            self.schedule_reread(session);
        }
    }

    /// Schedules the sessions that only the notes on disk contain: a job that failed after it had
    /// written its first messages may have written notes, too.
    fn add_saved_rereads(&mut self) {
        match self.view.saved_rereads() {
            Ok(saved) => {
                for (session, attempts) in saved {
                    if let Entry::Vacant(entry) = self.rereads.0.entry(session) {
                        entry.insert(Reread { attempts, state: RereadState::Scheduled });
                        self.schedule_reread(session);
                    }
                }
            }
            Err(error) => self.note_problem(error.to_string()),
        }
    }

    /// Handles the end of a job. An interrupted job leaves the note for the next run. An attempt
    /// does not count if the job failed because of the state of the store, or because of a
    /// quarantine: these end at an unknown time.
    pub(super) fn reread_ended(
        &mut self,
        session: SessionKey,
        errors: &[ReadError],
        now: Timestamp,
    ) {
        let is_counted = !errors.iter().any(|error| match error {
            ReadError::Quarantined { .. } => true,
            ReadError::Store(error) => self.needs_reopening(error),
            ReadError::File { .. } | ReadError::UnknownFormat { .. } | ReadError::Defect => false,
        });
        let has_failed = !errors.is_empty();
        if has_failed && self.stopping.is_none() {
            self.add_saved_rereads();
        }
        let Some(reread) = self.rereads.0.get_mut(&session) else { return };
        let is_running = matches!(reread.state, RereadState::Running);
        if !is_running || self.stopping.is_some() {
            return;
        }
        let pause = RETRIES.get(reread.attempts as usize).copied().map(Duration::from_secs);
        let pause = pause.or((!is_counted).then_some(LONGEST_RETRY));
        let Some(pause) = pause.filter(|_| has_failed) else {
            if has_failed {
                tracing::warn!(session = session.0, "a copy is not read again after many failures");
            }
            self.drop_reread(session);
            return;
        };
        reread.attempts += u32::from(is_counted);
        reread.state = RereadState::Postponed(now.plus(pause));
        let write = rereads::write(session, reread.attempts);
        self.effects.push(EngineEffect::Write(vec![write]));
    }

    /// Handles a session of which no job can be started. If its format is not configured, the note
    /// is left for the next run. If the session is being forgotten, its removal may fail.
    pub(super) fn reread_not_started(&mut self, session: SessionKey) {
        if self.session(session).is_none() && !self.forgetting.has(session) {
            self.drop_reread(session);
        }
    }

    /// Drops the reread of a session that does not exist any more, or was read.
    pub(super) fn drop_reread(&mut self, session: SessionKey) {
        if self.rereads.0.remove(&session).is_some() {
            self.effects.push(EngineEffect::Write(vec![rereads::done(session)]));
        }
    }

    fn schedule_reread(&mut self, session: SessionKey) {
        if let Some(reread) = self.rereads.0.get_mut(&session) {
            reread.state = RereadState::Scheduled;
        }
        self.schedule.add(session, Queue::Live, |due| due.from_start = true);
    }
}
