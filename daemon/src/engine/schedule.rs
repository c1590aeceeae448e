//! Which session is worked on next.
//!
//! A session waits in one of two queues: those that someone waits for or writes to, and history.
//! At most one job runs for a session.

use std::collections::{BTreeSet, HashMap, VecDeque};

use crate::{
    engine::crash_tracker::QUIET,
    model::{CloseReason, SessionKey, Timestamp},
};

/// Jobs for live sessions at one time.
const LIVE_JOBS: usize = 2;
/// Jobs for history at one time: it has time, and the machine is the user's.
const HISTORY_JOBS: usize = 1;
/// Jobs at one time.
pub(super) const JOBS: usize = LIVE_JOBS + HISTORY_JOBS;

/// What is to be done for each session, and what is being done.
#[derive(Default)]
pub(super) struct Schedule {
    due: HashMap<SessionKey, DueWork>,
    live: VecDeque<SessionKey>,
    history: VecDeque<SessionKey>,
    running: HashMap<SessionKey, RunningJob>,
    /// Sessions in whose work the daemon may have died. One is worked on at a time, so that none
    /// is blamed for another.
    suspects: HashMap<SessionKey, Suspicion>,
}

/// How strongly a session is suspected of having ended the daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Suspicion {
    /// It may have been chance.
    Slight,
    /// It is put to the test: worked on with nothing beside it, and not before then.
    TestedFrom(Timestamp),
}

/// What is to be done for one session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DueWork {
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
struct RunningJob {
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
    pub(super) fn add(
        &mut self,
        session: SessionKey,
        queue: Queue,
        add: impl FnOnce(&mut DueWork),
    ) {
        let waits = self.due.contains_key(&session);
        add(self.due.entry(session).or_default());
        match queue {
            // It may wait as history.
            Queue::Live if !self.live.contains(&session) => self.live.push_back(session),
            Queue::History if !waits => self.history.push_back(session),
            Queue::Live | Queue::History => {}
        }
    }

    /// Has a session worked on as one that may end the daemon.
    pub(super) fn suspect(&mut self, session: SessionKey, suspicion: Suspicion) {
        self.suspects.insert(session, suspicion);
    }

    /// Has a session that waits for its test put to it now: somebody wants to know.
    pub(super) fn test_now(&mut self, session: SessionKey, now: Timestamp) {
        if let Some(suspicion @ Suspicion::TestedFrom(_)) = self.suspects.get_mut(&session) {
            *suspicion = Suspicion::TestedFrom(now);
        }
    }

    /// When the next session may be put to the test that waits for its time.
    pub(super) fn next_test(&self, now: Timestamp) -> Option<Timestamp> {
        let due = self.tests().filter(|(session, at)| self.due.contains_key(session) && *at > now);
        due.map(|(_, at)| at).min()
    }

    /// The next session to be worked on, if a job may be started; it counts as running.
    pub(super) fn next(&mut self, now: Timestamp) -> Option<(SessionKey, DueWork)> {
        if self.tests().any(|(session, _)| self.running.contains_key(&session)) {
            return None;
        }
        let Some(tested) = self.to_be_tested(now) else {
            let live = self.take(Queue::Live, LIVE_JOBS);
            return live.or_else(|| self.take(Queue::History, HISTORY_JOBS));
        };
        match self.running.is_empty() {
            true => self.begin(tested),
            // What runs comes to its end; those who are waited for go first.
            false => self.take(Queue::Live, LIVE_JOBS),
        }
    }

    fn tests(&self) -> impl Iterator<Item = (SessionKey, Timestamp)> {
        self.suspects.iter().filter_map(|(session, suspicion)| match suspicion {
            Suspicion::Slight => None,
            Suspicion::TestedFrom(at) => Some((*session, *at)),
        })
    }

    fn to_be_tested(&self, now: Timestamp) -> Option<SessionKey> {
        // A clock that was set back would put it off for longer.
        let is_time = |at: Timestamp| at <= now || now.plus(QUIET) < at;
        let due =
            self.tests().filter(|(session, at)| self.due.contains_key(session) && is_time(*at));
        due.map(|(session, _)| session).min()
    }

    fn begin(&mut self, session: SessionKey) -> Option<(SessionKey, DueWork)> {
        let queue = match self.live.contains(&session) {
            true => Queue::Live,
            false => Queue::History,
        };
        self.live.retain(|waiting| *waiting != session);
        self.history.retain(|waiting| *waiting != session);
        let due = self.due.remove(&session)?;
        let thread = self.idle_thread();
        self.running.insert(session, RunningJob { queue, thread });
        Some((session, due))
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

    /// Forgets everything that was not begun, and whom to suspect: what comes now is the end.
    pub(super) fn clear(&mut self) {
        self.suspects.clear();
        self.due.clear();
        self.live.clear();
        self.history.clear();
    }

    fn take(&mut self, queue: Queue, limit: usize) -> Option<(SessionKey, DueWork)> {
        if self.count(queue) >= limit {
            return None;
        }
        let (running, suspects) = (&self.running, &self.suspects);
        let is_suspected = running.keys().any(|session| suspects.contains_key(session));
        let waiting = match queue {
            Queue::Live => &mut self.live,
            Queue::History => &mut self.history,
        };
        let mut at = 0;
        while let Some(session) = waiting.get(at).copied() {
            let waits = match suspects.get(&session) {
                None => false,
                Some(Suspicion::Slight) => is_suspected,
                Some(Suspicion::TestedFrom(_)) => true,
            };
            if waits || running.contains_key(&session) {
                at += 1;
                continue;
            }
            waiting.remove(at);
            // Those without anything due were done in the other queue, or forgotten.
            if let Some(due) = self.due.remove(&session) {
                let thread = self.idle_thread();
                self.running.insert(session, RunningJob { queue, thread });
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
    const NOW: Timestamp = Timestamp::from_seconds(1_000_000);

    fn file(number: u32) -> impl FnOnce(&mut DueWork) {
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
        let (session, due) = schedule.next(NOW).unwrap();
        assert_eq!((session, due.files), (A, BTreeSet::from([0, 2])));
        assert_eq!(due.index, Some(CloseReason::PreCompact));
        assert_eq!(schedule.next(NOW), None);
    }

    #[test]
    fn one_job_a_session() {
        let mut schedule = Schedule::default();
        schedule.add(A, Queue::Live, file(0));
        schedule.next(NOW).unwrap();
        schedule.add(A, Queue::Live, file(0));
        assert_eq!(schedule.next(NOW), None);
        schedule.ended(A);
        assert_eq!(schedule.next(NOW).unwrap().0, A);
    }

    #[test]
    fn the_first_thread_that_is_idle_is_taken() {
        let mut schedule = Schedule::default();
        let mut thread = |session| {
            schedule.add(session, Queue::Live, file(0));
            schedule.next(NOW).unwrap();
            schedule.thread_of(session)
        };
        assert_eq!([thread(A), thread(B)], [0, 1]);
        schedule.ended(A);
        schedule.add(C, Queue::History, file(0));
        schedule.next(NOW).unwrap();
        assert_eq!(schedule.thread_of(C), 0);
        schedule.add(A, Queue::Live, file(0));
        schedule.next(NOW).unwrap();
        assert_eq!(schedule.thread_of(A), 2);
    }

    #[test]
    fn of_those_who_may_end_the_daemon_one_is_worked_on_at_a_time() {
        let mut schedule = Schedule::default();
        [A, B].into_iter().for_each(|session| schedule.suspect(session, Suspicion::Slight));
        [A, B, C].into_iter().for_each(|session| schedule.add(session, Queue::Live, file(0)));
        assert_eq!(schedule.next(NOW).unwrap().0, A);
        assert_eq!(schedule.next(NOW).unwrap().0, C);
        schedule.ended(C);
        assert_eq!(schedule.next(NOW), None);
        schedule.ended(A);
        assert_eq!(schedule.next(NOW).unwrap().0, B);
        schedule.add(A, Queue::Live, file(0));
        assert_eq!(schedule.next(NOW).unwrap().0, A, "it ended well");
    }

    #[test]
    fn a_session_is_put_to_the_test_alone_and_in_a_daemon_that_has_lived_for_a_while() {
        let mut schedule = Schedule::default();
        let then = NOW.plus(QUIET);
        schedule.suspect(A, Suspicion::TestedFrom(then));
        schedule.add(A, Queue::Live, file(0));
        schedule.add(B, Queue::Live, file(0));
        schedule.add(C, Queue::History, file(0));
        assert_eq!(schedule.next(NOW).unwrap().0, B);
        assert_eq!(schedule.next_test(NOW), Some(then));
        // Its time has come, and what runs has to end.
        assert_eq!(schedule.next(then), None);
        schedule.ended(B);
        assert_eq!(schedule.next(then).unwrap().0, A);
        schedule.add(B, Queue::Live, file(0));
        assert_eq!(schedule.next(then), None, "nothing else while it is tested");
        schedule.ended(A);
        assert_eq!(schedule.next(then).unwrap().0, B);
        assert_eq!(schedule.next(then).unwrap().0, C);
        schedule.add(A, Queue::Live, file(0));
        assert_eq!(schedule.next(then).unwrap().0, A, "it ended well");
        assert_eq!(schedule.next_test(NOW), None);
    }

    #[test]
    fn a_test_is_not_put_off_by_a_clock_nor_when_someone_asks_nor_at_the_end() {
        let mut schedule = Schedule::default();
        let mut tested = |change: &dyn Fn(&mut Schedule), now| {
            schedule.suspect(A, Suspicion::TestedFrom(NOW.plus(QUIET)));
            change(&mut schedule);
            schedule.add(A, Queue::History, file(0));
            let next = schedule.next(now).map(|(session, _)| session);
            schedule.ended(A);
            schedule.clear();
            next
        };
        assert_eq!(tested(&|_| {}, NOW), None);
        assert_eq!(tested(&|_| {}, NOW.minus(QUIET)), Some(A));
        assert_eq!(tested(&|schedule| schedule.test_now(A, NOW), NOW), Some(A));
        assert_eq!(tested(&Schedule::clear, NOW), Some(A));
    }

    #[test]
    fn history_waits_for_no_one_and_no_one_for_history() {
        let mut schedule = Schedule::default();
        schedule.add(A, Queue::History, file(0));
        schedule.add(B, Queue::History, file(0));
        schedule.add(C, Queue::Live, file(0));
        assert_eq!(schedule.next(NOW).unwrap().0, C);
        assert_eq!(schedule.next(NOW).unwrap().0, A);
        assert_eq!(schedule.next(NOW), None);
        schedule.ended(A);
        assert_eq!(schedule.next(NOW).unwrap().0, B);
    }

    #[test]
    fn a_session_of_history_that_someone_wants_is_done_at_once_and_only_once() {
        let mut schedule = Schedule::default();
        schedule.add(A, Queue::History, file(0));
        schedule.add(B, Queue::History, file(0));
        schedule.add(B, Queue::Live, |due| due.index = Some(CloseReason::LazyQuery));
        assert_eq!(schedule.next(NOW).unwrap().0, B);
        schedule.ended(B);
        assert_eq!(schedule.next(NOW).unwrap().0, A);
        schedule.ended(A);
        assert_eq!(schedule.next(NOW), None);
        assert!(schedule.is_idle());
    }

    #[test]
    fn what_was_forgotten_and_is_due_again_is_done_once() {
        let mut schedule = Schedule::default();
        schedule.add(A, Queue::History, file(0));
        schedule.forget(A);
        schedule.add(A, Queue::History, file(1));
        schedule.add(A, Queue::History, file(2));
        let (session, due) = schedule.next(NOW).unwrap();
        assert_eq!((session, due.files), (A, BTreeSet::from([1, 2])));
        schedule.ended(A);
        assert_eq!(schedule.next(NOW), None);
        assert!(schedule.wants_history() && schedule.is_idle());
    }
}
