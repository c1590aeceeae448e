//! The one owner of what changes, and the one loop that changes it.
//!
//! Each file beside this one holds what the loop does about one thing: the watched [`sources`],
//! the [`sessions`] they belong to, the [`agents`] that run them, the [`jobs`] that work on these
//! and the [`workers`] that do them, the states of files [`held`] at hand between jobs, files that
//! were [`unreadable`], what models are asked about ([`asks`]), what is [`forgetting`], and the
//! [`answers`] to those who ask.

mod agents;
mod commands;
mod forgetting;
mod jobs;
mod model_queue;
mod sessions;
mod source_cache;
mod sources;
mod unreadable;
mod workers;

use std::{
    collections::{HashMap, VecDeque},
    path::{Path, PathBuf},
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use tokio::sync::{mpsc, oneshot};

pub(super) use self::model_queue::ModelAnswer;
use self::{
    agents::Agents, forgetting::Forgetting, model_queue::ModelQueue,
    source_cache::SourceStateCache, unreadable::Unreadable, workers::Workers,
};
use crate::{
    capture::watch::{Mode, Notice, Watch},
    clock,
    engine::{
        Closed, Engine, EngineError, EngineEvent, Settings, StartError, TranscriptFolders,
        crash_tracker, defect,
        discovery::Discovery,
        duplicates,
        files::IdentifyResult,
        reading::SourceReader,
        redaction,
        schedule::{self, Schedule, Suspicion},
    },
    fault,
    model::{SessionKey, Timestamp},
    session::Tracker,
};

/// Problems remembered for the status display.
const PROBLEMS: usize = 20;
/// A clock that is set back by more is noticed; by less it is corrected all the time.
const SET_BACK: Duration = Duration::from_secs(60);
/// A sleep is cut to this, for a clock that jumps or a machine that was suspended.
const LONGEST_SLEEP: Duration = Duration::from_secs(300);

/// Everything that changes.
pub(super) struct EngineState {
    engine: Engine,
    reader: Arc<SourceReader>,
    settings: Settings,
    places: TranscriptFolders,
    tracker: Tracker,
    schedule: Schedule,
    workers: Workers,
    states: SourceStateCache,
    asks: ModelQueue,
    forgetting: Forgetting,
    /// New files whose session is not known yet.
    discovery: Discovery,
    unreadable: Unreadable,
    agents: Agents,
    waiting: HashMap<SessionKey, Vec<oneshot::Sender<Result<Closed, EngineError>>>>,
    settling: Vec<SettleWaiter>,
    watches: Vec<Watch>,
    mode: Option<Mode>,
    /// Whether all files that were there at the start have been seen.
    scanned: bool,
    /// The number of the latest scan that was asked for and is complete.
    rescanned: u64,
    history_done: usize,
    problems: VecDeque<String>,
    stopping: Option<oneshot::Sender<()>>,
    /// The latest time that was read from the clock.
    latest: Timestamp,
}

/// Someone who waits for everything to be done.
struct SettleWaiter {
    /// Whether sessions that end by themselves must have ended.
    sessions: bool,
    /// The scan that must be complete, so that nothing written before is missed.
    scan: u64,
    reply: oneshot::Sender<()>,
}

impl EngineState {
    /// The state at the start: what the store knows, and nothing seen yet.
    pub(super) fn new(
        engine: Engine,
        reader: Arc<SourceReader>,
        settings: Settings,
        places: TranscriptFolders,
    ) -> Result<EngineState, StartError> {
        let workers = Workers::start(schedule::JOBS)?;
        let mut tracker = Tracker::new(settings.session);
        for session in engine.store.live_sessions()? {
            tracker.hold(session);
        }
        let asks = ModelQueue::load(engine.store.as_ref())?;
        let mut schedule = Schedule::default();
        let now = clock::now();
        let test = Suspicion::TestedFrom(now.plus(crash_tracker::QUIET));
        for (suspect, is_tested) in reader.crash_tracker.suspects() {
            // One that is left alone is not worked on.
            let is_tested = is_tested && reader.crash_tracker.left_alone(&suspect, now).is_none();
            let suspicion = if is_tested { test } else { Suspicion::Slight };
            let session = engine.store.find_session(&suspect)?;
            session.into_iter().for_each(|session| schedule.suspect(session, suspicion));
        }
        Ok(EngineState {
            engine,
            reader,
            settings,
            places,
            tracker,
            schedule,
            workers,
            states: SourceStateCache::default(),
            asks,
            forgetting: Forgetting::default(),
            discovery: Discovery::default(),
            unreadable: Unreadable::default(),
            agents: Agents::default(),
            waiting: HashMap::new(),
            settling: Vec::new(),
            watches: Vec::new(),
            mode: None,
            scanned: false,
            rescanned: 0,
            history_done: 0,
            problems: VecDeque::new(),
            stopping: None,
            latest: Timestamp::MAX,
        })
    }

    /// Handles one event after the other until asked to stop.
    pub(super) async fn run(mut self, mut inbox: mpsc::Receiver<EngineEvent>) {
        self.mend_duplicates(clock::now()).await;
        self.resume_jobs(clock::now());
        self.start_watches();
        loop {
            fault::point("engine: turn");
            // One time for both: what is not due for the one must be waited for by the other.
            let turn = clock::now();
            self.start_work(turn);
            self.reply_to_settling(turn);
            self.reply_to_forgetting();
            if self.is_stopped() {
                break;
            }
            let pause = self.pause(turn);
            let event = tokio::select! {
                event = inbox.recv() => event,
                () = tokio::time::sleep(pause.unwrap_or(LONGEST_SLEEP)), if pause.is_some() => None,
            };
            let now = clock::now();
            self.mind_the_clock(now);
            if let Some(event) = event {
                self.handle(event, now).await;
            }
            if self.stopping.is_none() {
                self.meet_deadlines(now);
            }
        }
        if let Some(reply) = self.stopping.take() {
            let _ = reply.send(());
        }
    }

    /// Sessions of the last run may be of a clock that was ahead, too.
    fn mind_the_clock(&mut self, now: Timestamp) {
        if now.plus(SET_BACK) < self.latest {
            for session in self.tracker.set_back(now) {
                tracing::info!(session = %session.id, "the clock was set back");
                self.save_session(session);
            }
        }
        self.latest = now;
    }

    async fn handle(&mut self, event: EngineEvent, now: Timestamp) {
        match event {
            EngineEvent::Notice(notice) => self.noticed(notice, now),
            EngineEvent::Liveness => self.look_for_agents(now),
            EngineEvent::Identified(IdentifyResult { found, unreadable, defects }) => {
                self.cannot_read(unreadable, now);
                if let Some(path) = defects.first() {
                    self.note_problem(format!("{}: {}", path.display(), defect::PANIC));
                }
                self.identified(found, self.settings.keep, now).await;
                let changed = self.discovery.batch_done();
                self.files_changed(changed, now);
            }
            EngineEvent::Past { found, reply } => {
                self.identified(found, None, now).await;
                let _ = reply.send(());
            }
            EngineEvent::JobDone(done) => self.job_ended(*done, now),
            EngineEvent::ModelAnswered(answered) => self.answered(*answered, now),
            EngineEvent::Command(ask) => self.answer(ask, now),
        }
    }

    /// Puts files in order that an older version registered twice.
    async fn mend_duplicates(&mut self, now: Timestamp) {
        let excluded = self.settings.excluded.clone();
        let is_excluded = |path: &Path| excluded.iter().any(|folder| path.starts_with(folder));
        let is_readable = |path: &Path| path.exists() && !is_excluded(path);
        match duplicates::mend(self.engine.store.as_ref(), &is_readable).await {
            Ok(paths) if paths.is_empty() => {}
            Ok(paths) => {
                self.note_problem(duplicates::told(&paths));
                self.files_changed(paths, now);
            }
            Err(error) => self.note_problem(error.to_string()),
        }
    }

    fn cannot_read(&mut self, unreadable: Vec<PathBuf>, now: Timestamp) {
        if let Some(path) = unreadable.first() {
            let (count, path) = (unreadable.len(), path.display());
            self.note_problem(format!("{count} transcripts cannot be read, {path} among them"));
        }
        unreadable.into_iter().for_each(|path| self.unreadable.add(path, now));
    }

    fn noticed(&mut self, notice: Notice, now: Timestamp) {
        match notice {
            Notice::Files(paths) => self.files_changed(paths, now),
            Notice::Complete { asked } => {
                self.scanned = true;
                self.rescanned = asked;
            }
            Notice::Mode(mode) => {
                if let Mode::Polling(reason) = mode {
                    tracing::warn!(?reason, "no events from the file system: scanning instead");
                }
                self.mode = Some(mode);
            }
        }
    }

    fn pause(&self, now: Timestamp) -> Option<Duration> {
        let deadline = self.tracker.next_deadline().into_iter().chain(self.next_ask());
        let deadline =
            deadline.chain(self.unreadable.due()).chain(self.schedule.next_test(now)).min();
        let deadline = deadline.filter(|_| self.stopping.is_none())?;
        Some(deadline.since(now).min(LONGEST_SLEEP))
    }

    fn note_problem(&mut self, problem: String) {
        // Most of them name a file.
        let problem = redaction::owned(problem);
        // What goes on going wrong is said once.
        if let Some(at) = self.problems.iter().position(|known| *known == problem) {
            self.problems.remove(at);
        } else {
            tracing::warn!(problem, "something went wrong");
        }
        if self.problems.len() == PROBLEMS {
            self.problems.pop_front();
        }
        self.problems.push_back(problem);
    }
}

impl Drop for EngineState {
    /// However the loop ended, what runs beside it works for nobody any more.
    fn drop(&mut self) {
        self.reader.stop.store(true, Ordering::Relaxed);
        self.settings.summarizer.client.stop();
    }
}
