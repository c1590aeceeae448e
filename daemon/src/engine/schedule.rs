//! Which session is worked on next.
//!
//! A session waits in one of two queues: those that someone waits for or writes to, and history.
//! At most one job runs for a session.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use crate::model::{CloseReason, SessionKey};

/// Jobs for live sessions at one time.
const LIVE_JOBS: usize = 2;
/// Jobs for history at one time: it has time, and the machine is the user's.
const HISTORY_JOBS: usize = 1;
/// Jobs at one time.
pub(super) const JOBS: usize = LIVE_JOBS + HISTORY_JOBS;

/// What is to be done for each session, and what is being done.
#[derive(Default)]
pub(super) struct Schedule {
    due: HashMap<SessionKey, Due>,
    live: VecDeque<SessionKey>,
    history: VecDeque<SessionKey>,
    running: HashMap<SessionKey, Running>,
    /// Sessions in whose work the daemon may have died. One is worked on at a time, so that none
    /// is blamed for another.
    pub(super) suspects: HashSet<SessionKey>,
}

/// What is to be done for one session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Due {
    /// Files that changed, by number.
    pub(super) files: BTreeSet<u32>,
    /// Why its episode is to be made, if it is.
    pub(super) index: Option<CloseReason>,
    /// Whether what is known of it is to be gathered, for asking a model.
    pub(super) gather: bool,
    /// Whether the states of its files are to be saved and let go.
    pub(super) save: bool,
    /// Whether its files are to be read from their beginning.
    pub(super) anew: bool,
}

/// A session that is worked on.
#[derive(Clone, Copy)]
struct Running {
    queue: Queue,
    /// The number of its thread, the lowest that was idle.
    thread: usize,
}

/// How urgent a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Queue {
    /// Someone waits for it or writes to it.
    Live,
    /// It is being imported.
    History,
}

impl Schedule {
    /// Notes that something is to be done for a session.
    pub(super) fn add(&mut self, session: SessionKey, queue: Queue, add: impl FnOnce(&mut Due)) {
        let waits = self.due.contains_key(&session);
        add(self.due.entry(session).or_default());
        match queue {
            // It may wait as history.
            Queue::Live if !self.live.contains(&session) => self.live.push_back(session),
            Queue::History if !waits => self.history.push_back(session),
            Queue::Live | Queue::History => {}
        }
    }

    /// The next session to be worked on, if a job may be started; it counts as running.
    pub(super) fn next(&mut self) -> Option<(SessionKey, Due)> {
        self.take(Queue::Live, LIVE_JOBS).or_else(|| self.take(Queue::History, HISTORY_JOBS))
    }

    /// Whether a job for history may be started, and none waits.
    pub(super) fn wants_history(&self) -> bool {
        self.history.is_empty() && self.count(Queue::History) < HISTORY_JOBS
    }

    /// Notes that the job of a session ended.
    pub(super) fn ended(&mut self, session: SessionKey) {
        self.running.remove(&session);
        self.suspects.remove(&session);
    }

    /// Forgets what is to be done for a session, unless it was begun.
    pub(super) fn forget(&mut self, session: SessionKey) {
        self.due.remove(&session);
    }

    /// Whether a job works on a session.
    pub(super) fn is_running(&self, session: SessionKey) -> bool {
        self.running.contains_key(&session)
    }

    /// The number of the thread on which a session is worked on.
    pub(super) fn thread_of(&self, session: SessionKey) -> usize {
        self.running.get(&session).map_or(0, |running| running.thread)
    }

    /// Jobs running.
    pub(super) fn running(&self) -> usize {
        self.running.len()
    }

    /// Whether nothing runs and nothing waits.
    pub(super) fn is_idle(&self) -> bool {
        self.running.is_empty() && self.due.is_empty()
    }

    /// Forgets everything that was not begun.
    pub(super) fn clear(&mut self) {
        self.due.clear();
        self.live.clear();
        self.history.clear();
    }

    fn take(&mut self, queue: Queue, limit: usize) -> Option<(SessionKey, Due)> {
        if self.count(queue) >= limit {
            return None;
        }
        let (running, suspects) = (&self.running, &self.suspects);
        let is_suspected = running.keys().any(|session| suspects.contains(session));
        let waiting = match queue {
            Queue::Live => &mut self.live,
            Queue::History => &mut self.history,
        };
        let mut at = 0;
        while let Some(session) = waiting.get(at).copied() {
            if running.contains_key(&session) || is_suspected && suspects.contains(&session) {
                at += 1;
                continue;
            }
            waiting.remove(at);
            // Those without anything due were done in the other queue, or forgotten.
            if let Some(due) = self.due.remove(&session) {
                let thread = self.idle_thread();
                self.running.insert(session, Running { queue, thread });
                return Some((session, due));
            }
        }
        None
    }

    fn count(&self, queue: Queue) -> usize {
        self.running.values().filter(|running| running.queue == queue).count()
    }

    fn idle_thread(&self) -> usize {
        let is_idle =
            |thread: &usize| self.running.values().all(|running| running.thread != *thread);
        (0..).find(is_idle).expect("fewer sessions than numbers are worked on")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: SessionKey = SessionKey(1);
    const B: SessionKey = SessionKey(2);
    const C: SessionKey = SessionKey(3);

    fn file(number: u32) -> impl FnOnce(&mut Due) {
        move |due| {
            due.files.insert(number);
        }
    }

    #[test]
    fn what_is_due_for_a_session_is_gathered_until_its_job_begins() {
        let mut schedule = Schedule::default();
        schedule.add(A, Queue::Live, file(0));
        schedule.add(A, Queue::Live, file(2));
        schedule.add(A, Queue::Live, |due| due.index = Some(CloseReason::PreCompact));
        let (session, due) = schedule.next().unwrap();
        assert_eq!((session, due.files), (A, BTreeSet::from([0, 2])));
        assert_eq!(due.index, Some(CloseReason::PreCompact));
        assert_eq!(schedule.next(), None);
    }

    #[test]
    fn one_job_a_session() {
        let mut schedule = Schedule::default();
        schedule.add(A, Queue::Live, file(0));
        schedule.next().unwrap();
        schedule.add(A, Queue::Live, file(0));
        assert_eq!(schedule.next(), None);
        schedule.ended(A);
        assert_eq!(schedule.next().unwrap().0, A);
    }

    #[test]
    fn the_first_thread_that_is_idle_is_taken() {
        let mut schedule = Schedule::default();
        let mut thread = |session| {
            schedule.add(session, Queue::Live, file(0));
            schedule.next().unwrap();
            schedule.thread_of(session)
        };
        assert_eq!([thread(A), thread(B)], [0, 1]);
        schedule.ended(A);
        schedule.add(C, Queue::History, file(0));
        schedule.next().unwrap();
        assert_eq!(schedule.thread_of(C), 0);
        schedule.add(A, Queue::Live, file(0));
        schedule.next().unwrap();
        assert_eq!(schedule.thread_of(A), 2);
    }

    #[test]
    fn of_those_who_may_end_the_daemon_one_is_worked_on_at_a_time() {
        let mut schedule = Schedule { suspects: HashSet::from([A, B]), ..Schedule::default() };
        [A, B, C].into_iter().for_each(|session| schedule.add(session, Queue::Live, file(0)));
        assert_eq!(schedule.next().unwrap().0, A);
        assert_eq!(schedule.next().unwrap().0, C);
        schedule.ended(C);
        assert_eq!(schedule.next(), None);
        schedule.ended(A);
        assert_eq!(schedule.next().unwrap().0, B);
        schedule.add(A, Queue::Live, file(0));
        assert_eq!(schedule.next().unwrap().0, A, "it ended well");
    }

    #[test]
    fn history_waits_for_no_one_and_no_one_for_history() {
        let mut schedule = Schedule::default();
        schedule.add(A, Queue::History, file(0));
        schedule.add(B, Queue::History, file(0));
        schedule.add(C, Queue::Live, file(0));
        assert_eq!(schedule.next().unwrap().0, C);
        assert_eq!(schedule.next().unwrap().0, A);
        assert_eq!(schedule.next(), None);
        schedule.ended(A);
        assert_eq!(schedule.next().unwrap().0, B);
    }

    #[test]
    fn a_session_of_history_that_someone_wants_is_done_at_once_and_only_once() {
        let mut schedule = Schedule::default();
        schedule.add(A, Queue::History, file(0));
        schedule.add(B, Queue::History, file(0));
        schedule.add(B, Queue::Live, |due| due.index = Some(CloseReason::LazyQuery));
        assert_eq!(schedule.next().unwrap().0, B);
        schedule.ended(B);
        assert_eq!(schedule.next().unwrap().0, A);
        schedule.ended(A);
        assert_eq!(schedule.next(), None);
        assert!(schedule.is_idle());
    }

    #[test]
    fn what_was_forgotten_and_is_due_again_is_done_once() {
        let mut schedule = Schedule::default();
        schedule.add(A, Queue::History, file(0));
        schedule.forget(A);
        schedule.add(A, Queue::History, file(1));
        schedule.add(A, Queue::History, file(2));
        let (session, due) = schedule.next().unwrap();
        assert_eq!((session, due.files), (A, BTreeSet::from([1, 2])));
        schedule.ended(A);
        assert_eq!(schedule.next(), None);
        assert!(schedule.wants_history() && schedule.is_idle());
    }
}
