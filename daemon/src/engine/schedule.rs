//! Schedules the work on sessions.
//!
//! There are two queues: one for the import of history, and one for all other work, which is more
//! urgent. At most one job runs for a session.

use std::collections::{BTreeSet, HashMap, VecDeque};

use crate::{
    engine::crash_tracker::TEST_DELAY,
    model::{CloseReason, SessionKey, Timestamp},
};

/// Maximum number of concurrent jobs for live sessions.
const LIVE_JOBS: usize = 2;
/// Maximum number of concurrent jobs for history, which is not urgent.
const HISTORY_JOBS: usize = 1;
/// Maximum number of all concurrent jobs.
pub(super) const JOBS: usize = LIVE_JOBS + HISTORY_JOBS;

/// The work that is due for each session, and the running jobs.
#[derive(Default)]
pub(super) struct Schedule {
    due: HashMap<SessionKey, DueWork>,
    live: VecDeque<SessionKey>,
    history: VecDeque<SessionKey>,
    running: HashMap<SessionKey, RunningJob>,
    /// Sessions that may have crashed the daemon. At most one of them has a running job, so that a
    /// crash counts against only one of them.
    suspects: HashMap<SessionKey, Suspicion>,
}

/// How strongly a session is suspected of having crashed the daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Suspicion {
    /// The session is not tested: the crash may have been a coincidence, or the session is
    /// quarantined.
    NotTested,
    /// The session is tested: its job does not start before this time, and no other job runs at
    /// the same time.
    TestedFrom(Timestamp),
}

/// The work that is due for one session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DueWork {
    /// The numbers of the files that changed.
    pub(super) files: BTreeSet<u32>,
    /// Why an episode is created; `None` if the job creates no episode.
    pub(super) index: Option<CloseReason>,
    /// Whether to create the episode even if the session did not change.
    pub(super) again: bool,
    /// Whether to prepare a question to a model.
    pub(super) gather: bool,
    /// Whether to save the cached states of the files.
    pub(super) save: bool,
    /// Whether to read the files from their start.
    pub(super) from_start: bool,
}

/// A session that a job works on.
#[derive(Clone, Copy)]
struct RunningJob {
    queue: Queue,
    /// The number of the job's thread.
    thread: usize,
}

/// The queue in which a session waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Queue {
    /// Work other than the import of history. For example, an agent writes to the session.
    Live,
    History,
}

impl Schedule {
    pub(super) fn add(
        &mut self,
        session: SessionKey,
        queue: Queue,
        add: impl FnOnce(&mut DueWork),
    ) {
        let waits = self.due.contains_key(&session);
        add(self.due.entry(session).or_default());
        match queue {
            // The session may wait in the other queue, too.
            Queue::Live if !self.live.contains(&session) => self.live.push_back(session),
            Queue::History if !waits => self.history.push_back(session),
            Queue::Live | Queue::History => {}
        }
    }

    /// Records that a session may have crashed the daemon.
    pub(super) fn suspect(&mut self, session: SessionKey, suspicion: Suspicion) {
        self.suspects.insert(session, suspicion);
    }

    /// Allows the test of a session to start now, because a caller waits for the session.
    pub(super) fn test_now(&mut self, session: SessionKey, now: Timestamp) {
        if let Some(suspicion @ Suspicion::TestedFrom(_)) = self.suspects.get_mut(&session) {
            *suspicion = Suspicion::TestedFrom(now);
        }
    }

    /// Returns the earliest time at which a test that is not due yet may start.
    pub(super) fn next_test(&self, now: Timestamp) -> Option<Timestamp> {
        let due = self.tests().filter(|(session, at)| self.due.contains_key(session) && *at > now);
        due.map(|(_, at)| at).min()
    }

    /// Returns the next session, if a job may start. The session counts as running from now on.
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
            // The test waits for the running jobs. Until the test starts, jobs for live sessions
            // may start.
            false => self.take(Queue::Live, LIVE_JOBS),
        }
    }

    fn tests(&self) -> impl Iterator<Item = (SessionKey, Timestamp)> {
        self.suspects.iter().filter_map(|(session, suspicion)| match suspicion {
            Suspicion::NotTested => None,
            Suspicion::TestedFrom(at) => Some((*session, *at)),
        })
    }

    fn to_be_tested(&self, now: Timestamp) -> Option<SessionKey> {
        // If the clock was set back, the test would wait too long, so it starts immediately.
        let is_time = |at: Timestamp| at <= now || now.plus(TEST_DELAY) < at;
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

    /// Whether a job for history may start and no session of history waits.
    pub(super) fn wants_history(&self) -> bool {
        self.history.is_empty() && self.count(Queue::History) < HISTORY_JOBS
    }

    /// Records that the job of a session ended without a crash, or was not started. The session is
    /// then no longer suspected.
    pub(super) fn ended(&mut self, session: SessionKey) {
        self.running.remove(&session);
        self.suspects.remove(&session);
    }

    /// Drops the due work of a session. A running job continues.
    pub(super) fn forget(&mut self, session: SessionKey) {
        self.due.remove(&session);
    }

    pub(super) fn is_running(&self, session: SessionKey) -> bool {
        self.running.contains_key(&session)
    }

    /// Whether a session has a running job or due work.
    pub(super) fn has_work(&self, session: SessionKey) -> bool {
        self.is_running(session) || self.due.contains_key(&session)
    }

    /// Returns the number of the thread that works on a session.
    pub(super) fn thread_of(&self, session: SessionKey) -> usize {
        self.running.get(&session).map_or(0, |running| running.thread)
    }

    /// Returns the number of running jobs.
    pub(super) fn running(&self) -> usize {
        self.running.len()
    }

    pub(super) fn is_idle(&self) -> bool {
        self.running.is_empty() && self.due.is_empty()
    }

    /// Drops all work that has not started, and all suspicions, for the shutdown.
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
                Some(Suspicion::NotTested) => is_suspected,
                Some(Suspicion::TestedFrom(_)) => true,
            };
            if waits || running.contains_key(&session) {
                at += 1;
                continue;
            }
            waiting.remove(at);
            // The other queue may have started the work of the session, or the work was dropped.
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
        (0..).find(is_idle).expect("a number is free, because few jobs run")
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
    fn the_due_work_of_a_session_accumulates_until_its_job_begins() {
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
    fn at_most_one_job_runs_per_session() {
        let mut schedule = Schedule::default();
        schedule.add(A, Queue::Live, file(0));
        schedule.next(NOW).unwrap();
        schedule.add(A, Queue::Live, file(0));
        assert_eq!(schedule.next(NOW), None);
        schedule.ended(A);
        assert_eq!(schedule.next(NOW).unwrap().0, A);
    }

    #[test]
    fn a_job_gets_the_first_idle_thread() {
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
    fn suspected_sessions_are_worked_on_one_at_a_time() {
        let mut schedule = Schedule::default();
        [A, B].into_iter().for_each(|session| schedule.suspect(session, Suspicion::NotTested));
        [A, B, C].into_iter().for_each(|session| schedule.add(session, Queue::Live, file(0)));
        assert_eq!(schedule.next(NOW).unwrap().0, A);
        assert_eq!(schedule.next(NOW).unwrap().0, C);
        schedule.ended(C);
        assert_eq!(schedule.next(NOW), None);
        schedule.ended(A);
        assert_eq!(schedule.next(NOW).unwrap().0, B);
        schedule.add(A, Queue::Live, file(0));
        assert_eq!(schedule.next(NOW).unwrap().0, A, "its job ended without a crash");
    }

    #[test]
    fn a_session_is_tested_alone_and_only_after_a_delay() {
        let mut schedule = Schedule::default();
        let then = NOW.plus(TEST_DELAY);
        schedule.suspect(A, Suspicion::TestedFrom(then));
        schedule.add(A, Queue::Live, file(0));
        schedule.add(B, Queue::Live, file(0));
        schedule.add(C, Queue::History, file(0));
        assert_eq!(schedule.next(NOW).unwrap().0, B);
        assert_eq!(schedule.next_test(NOW), Some(then));
        // The test is due, but the running job has to end first.
        assert_eq!(schedule.next(then), None);
        schedule.ended(B);
        assert_eq!(schedule.next(then).unwrap().0, A);
        schedule.add(B, Queue::Live, file(0));
        assert_eq!(schedule.next(then), None, "no other job runs during a test");
        schedule.ended(A);
        assert_eq!(schedule.next(then).unwrap().0, B);
        assert_eq!(schedule.next(then).unwrap().0, C);
        schedule.add(A, Queue::Live, file(0));
        assert_eq!(schedule.next(then).unwrap().0, A, "its job ended without a crash");
        assert_eq!(schedule.next_test(NOW), None);
    }

    #[test]
    fn a_test_starts_early_after_a_clock_step_or_a_request_or_a_stop() {
        let mut schedule = Schedule::default();
        let mut tested = |change: &dyn Fn(&mut Schedule), now| {
            schedule.suspect(A, Suspicion::TestedFrom(NOW.plus(TEST_DELAY)));
            change(&mut schedule);
            schedule.add(A, Queue::History, file(0));
            let next = schedule.next(now).map(|(session, _)| session);
            schedule.ended(A);
            schedule.clear();
            next
        };
        assert_eq!(tested(&|_| {}, NOW), None);
        assert_eq!(tested(&|_| {}, NOW.minus(TEST_DELAY)), Some(A));
        assert_eq!(tested(&|schedule| schedule.test_now(A, NOW), NOW), Some(A));
        assert_eq!(tested(&Schedule::clear, NOW), Some(A));
    }

    #[test]
    fn history_and_live_sessions_do_not_wait_for_each_other() {
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
    fn a_session_of_history_that_becomes_live_runs_next_and_only_once() {
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
    fn a_forgotten_session_that_is_due_again_runs_once() {
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
