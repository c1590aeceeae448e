//! The owner of the engine's mutable state, and the loop that changes it.
//!
//! Each file beside this one handles one subject: watched transcript files ([`sources`]), the
//! [`sessions`] they belong to, running [`agents`], [`jobs`] and the [`workers`] that run them, file
//! states in memory between jobs ([`source_cache`]), files that were [`unreadable`], questions to
//! models ([`model_queue`]), sessions that are being forgotten ([`forgetting`]), summaries that are made again by newer
//! rules ([`remaking`]), and [`commands`].

mod agents;
mod commands;
mod forgetting;
mod jobs;
mod model_queue;
mod remaking;
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
    agents::Agents, commands::answer, forgetting::Forgetting, model_queue::ModelQueue,
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

/// Problems kept for the status.
const PROBLEMS: usize = 20;
/// Smaller steps of the clock are routine corrections.
const CLOCK_STEP: Duration = Duration::from_secs(60);
/// The longest sleep: the clock may jump, and the machine may be suspended.
const LONGEST_SLEEP: Duration = Duration::from_secs(300);

/// The mutable state of the engine.
pub(super) struct EngineState {
    engine: Engine,
    reader: Arc<SourceReader>,
    settings: Settings,
    folders: TranscriptFolders,
    tracker: Tracker,
    schedule: Schedule,
    workers: Workers,
    source_states: SourceStateCache,
    model_queue: ModelQueue,
    forgetting: Forgetting,
    /// The session whose summary is being made again by newer rules. `None` once a model wrote it.
    remaking: Option<SessionKey>,
    /// New files that are not yet matched to a session.
    discovery: Discovery,
    unreadable: Unreadable,
    agents: Agents,
    /// Who waits for the end of a session's job.
    waiting: HashMap<SessionKey, Vec<oneshot::Sender<Result<Closed, EngineError>>>>,
    settling: Vec<SettleWaiter>,
    watches: Vec<Watch>,
    mode: Option<Mode>,
    /// Whether the first scan is complete.
    scanned: bool,
    /// The number of the latest requested scan that is complete.
    rescanned: u64,
    history_done: usize,
    problems: VecDeque<String>,
    stopping: Option<oneshot::Sender<()>>,
    /// The latest time that was read from the clock.
    latest: Timestamp,
}

/// A caller that waits until the engine has settled.
struct SettleWaiter {
    /// Whether sessions that end by themselves must have ended.
    sessions: bool,
    /// The scan that must be complete, so that no earlier write is missed.
    scan: u64,
    reply: oneshot::Sender<()>,
}

impl EngineState {
    pub(super) fn new(
        engine: Engine,
        reader: Arc<SourceReader>,
        settings: Settings,
        folders: TranscriptFolders,
    ) -> Result<EngineState, StartError> {
        let workers = Workers::start(schedule::JOBS)?;
        let mut tracker = Tracker::new(settings.session);
        for session in engine.store.live_sessions()? {
            tracker.hold(session);
        }
        let model_queue = ModelQueue::load(engine.store.as_ref())?;
        let schedule = schedule_with_suspects(&engine, &reader)?;
        Ok(EngineState {
            engine,
            reader,
            settings,
            folders,
            tracker,
            schedule,
            workers,
            source_states: SourceStateCache::default(),
            model_queue,
            forgetting: Forgetting::default(),
            remaking: None,
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

    /// Handles events one after the other until asked to stop.
    pub(super) async fn run(mut self, mut inbox: mpsc::Receiver<EngineEvent>) {
        self.repair_duplicates(clock::now()).await;
        self.resume_jobs(clock::now());
        self.start_watches();
        loop {
            fault::point("engine: turn");
            // One time for both steps: the pause must cover everything that was not due just now.
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
            self.detect_clock_step(now);
            if let Some(event) = event {
                self.handle(event, now).await;
            }
            if self.stopping.is_none() {
                self.meet_deadlines(now);
            }
        }
        if let Some(reply) = self.stopping.take() {
            answer(reply, ());
        }
    }

    /// Corrects the times of sessions when the clock was set back. Sessions of the last run may
    /// have times from a clock that was ahead, too.
    fn detect_clock_step(&mut self, now: Timestamp) {
        if now.plus(CLOCK_STEP) < self.latest {
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
                self.report_unreadable(unreadable, now);
                if let Some(path) = defects.first() {
                    self.note_problem(format!("{}: {}", path.display(), defect::PANIC));
                }
                self.identified(found, self.settings.max_age, now).await;
                let changed = self.discovery.batch_done();
                self.files_changed(changed, now);
            }
            EngineEvent::Backfill { found, reply } => {
                self.identified(found, None, now).await;
                answer(reply, ());
            }
            EngineEvent::JobDone(done) => self.job_ended(*done, now),
            EngineEvent::ModelAnswered(model_answer) => self.model_answered(*model_answer, now),
            EngineEvent::Command(command) => self.execute(command, now),
        }
    }

    /// Repairs files that an older version registered twice.
    async fn repair_duplicates(&mut self, now: Timestamp) {
        let excluded = self.settings.excluded.clone();
        let is_excluded = |path: &Path| excluded.iter().any(|folder| path.starts_with(folder));
        let is_readable = |path: &Path| path.exists() && !is_excluded(path);
        match duplicates::repair(self.engine.store.as_ref(), &is_readable).await {
            Ok(paths) if paths.is_empty() => {}
            Ok(paths) => {
                self.note_problem(duplicates::describe(&paths));
                self.files_changed(paths, now);
            }
            Err(error) => self.note_problem(error.to_string()),
        }
    }

    fn report_unreadable(&mut self, unreadable: Vec<PathBuf>, now: Timestamp) {
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
                    tracing::warn!(?reason, "the file system reports no changes; scanning instead");
                }
                self.mode = Some(mode);
            }
        }
    }

    /// How long the loop may sleep; `None` when nothing is due at any time.
    fn pause(&self, now: Timestamp) -> Option<Duration> {
        let deadline = self.tracker.next_deadline().into_iter().chain(self.next_question());
        let deadline =
            deadline.chain(self.unreadable.due()).chain(self.schedule.next_test(now)).min();
        let deadline = deadline.filter(|_| self.stopping.is_none())?;
        Some(deadline.since(now).min(LONGEST_SLEEP))
    }

    fn note_problem(&mut self, problem: String) {
        // Most problems name a file, and a path may contain a secret.
        let problem = redaction::owned(problem);
        // A problem that repeats is logged once.
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

/// An empty schedule that knows the sessions during whose work the daemon died.
fn schedule_with_suspects(engine: &Engine, reader: &SourceReader) -> Result<Schedule, StartError> {
    let now = clock::now();
    let tested = Suspicion::TestedFrom(now.plus(crash_tracker::TEST_DELAY));
    let mut schedule = Schedule::default();
    for suspect in reader.crash_tracker.suspects() {
        // A quarantined session is not worked on, and so not tested.
        let is_tested =
            suspect.is_tested && reader.crash_tracker.quarantine(&suspect.session, now).is_none();
        let suspicion = if is_tested { tested } else { Suspicion::Slight };
        if let Some(session) = engine.store.find_session(&suspect.session)? {
            schedule.suspect(session, suspicion);
        }
    }
    Ok(schedule)
}

impl Drop for EngineState {
    /// Stops readers and model calls, which nobody would wait for, however the loop ended.
    fn drop(&mut self) {
        self.reader.stop.store(true, Ordering::Relaxed);
        self.settings.summarizer.client.stop();
    }
}
