//! Explores every history of one session that a few writes, closes, failures and crashes can cause.
//!
//! The model around the pure machine is small, but contains its races: the file is ahead of the
//! daemon, a job reads at one moment and ends at another, and a crash loses the job but not the
//! saved state. The test visits all reachable states and checks the guarantees of one session in
//! each.

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
const WRITES: u8 = 3;
const CLOSES: u8 = 2;
const FAILURES: u8 = 1;
const CRASHES: u8 = 2;
/// Maximum number of steps to become idle, which is more than any state needs.
const REST: usize = 20;

#[derive(Clone, Debug)]
struct SessionWorld {
    session: Session,
    now: Timestamp,
    /// The version of the file; each write creates another one.
    file: u8,
    /// Whether the daemon was notified of the last write.
    told: bool,
    /// The running job, with the version of the file that it has read, if it has read one.
    job: Option<Option<u8>>,
    /// The version that the last acknowledged close has to bring into an episode.
    owed: u8,
    failures: u8,
    closes: u8,
    crashes: u8,
}

#[derive(Clone, Copy, Debug)]
enum HistoryStep {
    Write,
    Tell,
    Wait,
    Close,
    Need,
    Gone,
    Crash,
    Read,
    End,
    Fail,
}

/// Steps with a cause from outside.
const ABOUT: [HistoryStep; 6] = [
    HistoryStep::Write,
    HistoryStep::Close,
    HistoryStep::Need,
    HistoryStep::Gone,
    HistoryStep::Crash,
    HistoryStep::Fail,
];
/// Steps that happen eventually without a cause from outside.
const ITSELF: [HistoryStep; 4] =
    [HistoryStep::Tell, HistoryStep::Read, HistoryStep::End, HistoryStep::Wait];

#[test]
fn no_history_loses_a_close_runs_two_jobs_or_hangs() {
    for timeout in [Some(30 * MINUTE), None] {
        let config = Config { inactivity_timeout: timeout, ..Config::default() };
        let visited = explore(&config);
        // A machine that gets stuck at once would pass all checks.
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
        comes_to_rest(world.clone(), config, &path);
        for step in ABOUT.into_iter().chain(ITSELF) {
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

/// Checks that without further steps from outside, the state leads to one without pending work.
fn comes_to_rest(mut world: SessionWorld, config: &Config, path: &[HistoryStep]) {
    for _ in 0..REST {
        let Some(step) = ITSELF.into_iter().find(|step| world.clone().take(*step, config)) else {
            let made = world.made();
            assert!(made >= world.owed, "a close is lost: {path:?}\n{world:#?}");
            let is_over = matches!(world.session.state, State::Indexed | State::Unindexed(_));
            assert!(is_over, "it hangs: {path:?}\n{world:#?}");
            if config.inactivity_timeout.is_some() && world.session.state == State::Indexed {
                assert_eq!(made, world.file, "not all was read: {path:?}\n{world:#?}");
            }
            return;
        };
        assert!(world.take(step, config));
    }
    panic!("it never rests: {path:?}\n{world:#?}");
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
            told: true,
            job: None,
            owed: 0,
            failures: 0,
            closes: 0,
            crashes: 0,
        }
    }

    /// Returns the version from which the episode was created; 0 without one.
    fn made(&self) -> u8 {
        self.session.indexed.as_ref().map_or(0, |indexed| indexed.hash.0[0])
    }

    /// Returns what distinguishes the state from others. Of times, only the distance from now
    /// matters.
    fn fingerprint(&self, config: &Config) -> String {
        let due = machine::deadline(&self.session, config);
        let session = &self.session;
        let quiet = self.now.since(session.last_activity).min(31 * MINUTE);
        let due = due.map(|due| due.since(self.now));
        let SessionWorld { file, told, job, owed, failures, closes, crashes, .. } = self;
        let state = state(&session.state);
        let counts = (file, told, job, owed, failures, closes, crashes, self.made());
        format!("{state} {quiet:?} {due:?} {counts:?}")
    }

    fn check(&self, path: &[HistoryStep]) {
        let is_indexing = matches!(self.session.state, State::Indexing(_));
        assert_eq!(self.job.is_some(), is_indexing, "a job and its state: {path:?}\n{self:#?}");
    }

    /// Takes the step; returns whether it was possible.
    fn take(&mut self, step: HistoryStep, config: &Config) -> bool {
        match step {
            HistoryStep::Write if self.file <= WRITES => {
                self.file += 1;
                self.told = false;
                true
            }
            HistoryStep::Tell if !self.told => {
                self.told = true;
                self.happen(SessionEvent::Written(self.now), config)
            }
            HistoryStep::Wait => match machine::deadline(&self.session, config) {
                Some(due) => {
                    self.now = self.now.max(due);
                    self.happen(SessionEvent::DeadlinePassed, config)
                }
                None => false,
            },
            HistoryStep::Close if self.closes < CLOSES => {
                self.closes += 1;
                self.owed = self.file;
                self.happen(SessionEvent::CloseAsked(CloseReason::Explicit(None)), config)
            }
            HistoryStep::Need => self.happen(SessionEvent::Needed, config),
            HistoryStep::Gone => self.happen(SessionEvent::AgentGone, config),
            HistoryStep::Crash if self.crashes < CRASHES => {
                self.crashes += 1;
                self.job = None;
                // The daemon finds a change without a notification when it checks the file.
                self.happen(SessionEvent::Restarted, config)
            }
            HistoryStep::Read => {
                let file = self.file;
                self.job.as_mut().is_some_and(|read| read.is_none() && read.replace(file).is_none())
            }
            HistoryStep::End => match self.job {
                Some(Some(read)) => {
                    self.job = None;
                    let end = if read == self.made() {
                        JobEnd::Unchanged
                    } else {
                        JobEnd::Made(indexed(read, self.now))
                    };
                    self.happen(SessionEvent::JobEnded(end), config)
                }
                _ => false,
            },
            HistoryStep::Fail if self.job.is_some() && self.failures < FAILURES => {
                self.failures += 1;
                self.job = None;
                let retry_at = Some(self.now.plus(MINUTE));
                let end = JobEnd::Failed { error: "no".to_owned(), retry_at };
                self.happen(SessionEvent::JobEnded(end), config)
            }
            HistoryStep::Write
            | HistoryStep::Tell
            | HistoryStep::Close
            | HistoryStep::Crash
            | HistoryStep::Fail => false,
        }
    }

    fn happen(&mut self, event: SessionEvent, config: &Config) -> bool {
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
