//! Explores every history of one session that a few writes, closes, failures and crashes can cause.
//!
//! The simulated world around the pure machine is small, but contains the races: the file is ahead
//! of the daemon, a job reads at one time and ends at another, and a crash loses the job but not
//! the saved state. The test visits all reachable states, and checks in each state that the machine
//! keeps its guarantees.

use std::{
    collections::{HashSet, VecDeque},
    time::Duration,
};

use super::{
    Config,
    machine::{self, JobEnd, SessionEvent},
};
use crate::model::{
    EpisodeId,
    session::{CloseReason, ContentHash, Indexed, Session, SessionId, SessionKey, State},
    time::Timestamp,
};

const START: Timestamp = Timestamp::from_seconds(1_000_000);
const MINUTE: Duration = Duration::from_secs(60);

/// Maximum numbers of events in one history.
const MAX_WRITES: u8 = 3;
const MAX_CLOSES: u8 = 2;
const MAX_FAILURES: u8 = 1;
const MAX_CRASHES: u8 = 2;
/// Maximum number of steps until a session is idle; more than any state needs.
const MAX_STEPS_TO_IDLE: usize = 20;

#[derive(Clone, Debug)]
struct SessionWorld {
    session: Session,
    now: Timestamp,
    /// The version of the file. Each write creates a new version.
    file: u8,
    /// Whether the daemon was notified of the last write.
    is_notified: bool,
    /// The running job, and the version of the file that the job has read. The inner value is
    /// `None` before the job reads the file.
    job: Option<Option<u8>>,
    /// The version that an episode must contain because of the last acknowledged close.
    owed_version: u8,
    failures: u8,
    closes: u8,
    crashes: u8,
}

#[derive(Clone, Copy, Debug)]
enum SessionStep {
    Write,
    Notify,
    Wait,
    Close,
    Need,
    Gone,
    Crash,
    Read,
    End,
    Fail,
}

/// Steps with an external cause.
const EXTERNAL_STEPS: [SessionStep; 6] = [
    SessionStep::Write,
    SessionStep::Close,
    SessionStep::Need,
    SessionStep::Gone,
    SessionStep::Crash,
    SessionStep::Fail,
];
/// Steps that eventually happen without an external cause.
const INTERNAL_STEPS: [SessionStep; 4] =
    [SessionStep::Notify, SessionStep::Read, SessionStep::End, SessionStep::Wait];

#[test]
fn no_history_loses_a_close_runs_two_jobs_or_hangs() {
    for timeout in [Some(30 * MINUTE), None] {
        let config = Config { inactivity_timeout: timeout, ..Config::default() };
        let visited = explore(&config);
        // A machine that has only a few states would pass all checks.
        assert!(visited > 5_000, "{visited} worlds");
    }
}

fn explore(config: &Config) -> usize {
    let mut visited = HashSet::new();
    let mut open = VecDeque::from([(SessionWorld::new(), Vec::new())]);
    while let Some((world, path)) = open.pop_front() {
        if !visited.insert(world.fingerprint(config)) {
            continue;
        }
        world.check(&path);
        check_becomes_idle(world.clone(), config, &path);
        for step in EXTERNAL_STEPS.into_iter().chain(INTERNAL_STEPS) {
            let mut next = world.clone();
            if next.take(step, config) {
                let mut path = path.clone();
                path.push(step);
                open.push_back((next, path));
            }
        }
    }
    visited.len()
}

/// Checks that the session becomes idle without further external steps.
fn check_becomes_idle(mut world: SessionWorld, config: &Config, path: &[SessionStep]) {
    for _ in 0..MAX_STEPS_TO_IDLE {
        let Some(step) = INTERNAL_STEPS.into_iter().find(|step| world.clone().take(*step, config))
        else {
            let made = world.indexed_version();
            assert!(made >= world.owed_version, "a close is lost: {path:?}\n{world:#?}");
            let is_over = matches!(world.session.state, State::Indexed | State::Unindexed(_));
            assert!(is_over, "the session hangs: {path:?}\n{world:#?}");
            if config.inactivity_timeout.is_some() && world.session.state == State::Indexed {
                assert_eq!(
                    made, world.file,
                    "the file was not read completely: {path:?}\n{world:#?}"
                );
            }
            return;
        };
        assert!(world.take(step, config));
    }
    panic!("the session does not become idle: {path:?}\n{world:#?}");
}

impl SessionWorld {
    fn new() -> SessionWorld {
        let session = Session {
            key: SessionKey(1),
            id: SessionId { agent: "claude".to_owned(), id: "a".to_owned() },
            project: None,
            file: "/t/a.jsonl".to_owned(),
            state: State::Active,
            content: None,
            indexed: None,
            started_at: None,
            last_activity: START,
        };
        SessionWorld {
            session,
            now: START,
            file: 1,
            is_notified: true,
            job: None,
            owed_version: 0,
            failures: 0,
            closes: 0,
            crashes: 0,
        }
    }

    /// Returns the version of the file from which the episode was created; 0 without an episode.
    fn indexed_version(&self) -> u8 {
        self.session.indexed.as_ref().map_or(0, |indexed| indexed.hash.0[0])
    }

    /// Returns a text that identifies the state. It contains times only relative to now.
    fn fingerprint(&self, config: &Config) -> String {
        let due = machine::deadline(&self.session, config);
        let session = &self.session;
        let quiet = self.now.since(session.last_activity).min(31 * MINUTE);
        let due = due.map(|due| due.since(self.now));
        let SessionWorld {
            file, is_notified, job, owed_version, failures, closes, crashes, ..
        } = self;
        let state = state(&session.state);
        let counts = (
            file,
            is_notified,
            job,
            owed_version,
            failures,
            closes,
            crashes,
            self.indexed_version(),
        );
        format!("{state} {quiet:?} {due:?} {counts:?}")
    }

    fn check(&self, path: &[SessionStep]) {
        let is_indexing = matches!(self.session.state, State::Indexing(_));
        assert_eq!(
            self.job.is_some(),
            is_indexing,
            "a job runs exactly while the session is being indexed: {path:?}\n{self:#?}"
        );
    }

    /// Takes a step. Returns whether it was possible.
    fn take(&mut self, step: SessionStep, config: &Config) -> bool {
        match step {
            SessionStep::Write if self.file <= MAX_WRITES => {
                self.file += 1;
                self.is_notified = false;
                true
            }
            SessionStep::Notify if !self.is_notified => {
                self.is_notified = true;
                self.apply(SessionEvent::Written(self.now), config)
            }
            SessionStep::Wait => match machine::deadline(&self.session, config) {
                Some(due) => {
                    self.now = self.now.max(due);
                    self.apply(SessionEvent::DeadlinePassed, config)
                }
                None => false,
            },
            SessionStep::Close if self.closes < MAX_CLOSES => {
                self.closes += 1;
                self.owed_version = self.file;
                self.apply(SessionEvent::CloseRequested(CloseReason::Explicit(None)), config)
            }
            SessionStep::Need => self.apply(SessionEvent::Needed, config),
            SessionStep::Gone => self.apply(SessionEvent::AgentGone, config),
            SessionStep::Crash if self.crashes < MAX_CRASHES => {
                self.crashes += 1;
                self.job = None;
                // A change without a notification is found later, when the daemon checks the file.
                self.apply(SessionEvent::Restarted, config)
            }
            SessionStep::Read => {
                let file = self.file;
                self.job.as_mut().is_some_and(|read| read.is_none() && read.replace(file).is_none())
            }
            SessionStep::End => match self.job {
                Some(Some(read)) => {
                    self.job = None;
                    let end = if read == self.indexed_version() {
                        JobEnd::Unchanged
                    } else {
                        JobEnd::Made(indexed(read, self.now))
                    };
                    self.apply(SessionEvent::JobEnded(end), config)
                }
                _ => false,
            },
            SessionStep::Fail if self.job.is_some() && self.failures < MAX_FAILURES => {
                self.failures += 1;
                self.job = None;
                let retry_at = Some(self.now.plus(MINUTE));
                let end = JobEnd::Failed { error: "no".to_owned(), retry_at };
                self.apply(SessionEvent::JobEnded(end), config)
            }
            SessionStep::Write
            | SessionStep::Notify
            | SessionStep::Close
            | SessionStep::Crash
            | SessionStep::Fail => false,
        }
    }

    fn apply(&mut self, event: SessionEvent, config: &Config) -> bool {
        if machine::handle(&mut self.session, event, self.now, config).is_some() {
            assert!(self.job.is_none(), "two jobs at once\n{self:#?}");
            self.job = Some(None);
        }
        true
    }
}

fn indexed(version: u8, at: Timestamp) -> Indexed {
    Indexed {
        episode: EpisodeId(uuid::Uuid::nil()),
        hash: ContentHash([version; 32]),
        at,
        reason: CloseReason::Explicit(None),
    }
}

/// Returns the state without its times.
fn state(state: &State) -> String {
    match state {
        State::Indexing(indexing) => {
            format!("indexing {} {:?}", indexing.written_since, indexing.again.is_some())
        }
        State::Failed(failure) => format!("failed {:?}", failure.retry_at.is_some()),
        State::Unindexed(unindexed) => format!("{:?}", std::mem::discriminant(unindexed)),
        other => other.as_str().to_owned(),
    }
}
