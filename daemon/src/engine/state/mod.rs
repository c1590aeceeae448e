//! Owns the engine's mutable state, and makes the engine's decisions.
//!
//! The decisions are pure: [`EngineState::decide`] takes an event and the time, and returns
//! [`EngineEffect`]s. It reads the store and other shared data through a [`View`]. It uses no
//! clock, file system, thread or task. The executor performs the effects.
//!
//! Most submodules decide on one subject: transcript files ([`sources`]), [`sessions`], running
//! [`agents`], [`jobs`], file states in memory between jobs ([`source_cache`]), [`unreadable`]
//! files, sessions to be read again ([`rereads`]), numbers of messages ([`message_counts`]),
//! questions to models ([`model_queue`], [`abandoned`]), sessions that are being forgotten
//! ([`forgetting`]), summaries that are created again by newer rules ([`remaking`]), and
//! [`commands`]. [`effect`] lists the effects.

mod abandoned;
mod agents;
mod commands;
mod effect;
mod forgetting;
mod jobs;
mod message_counts;
mod model_queue;
mod remaking;
mod rereads;
mod sessions;
mod source_cache;
mod sources;
mod unreadable;
mod view;

use std::{
    collections::{BTreeSet, HashMap, VecDeque},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use tokio::sync::oneshot;

use self::{
    agents::Agents, forgetting::Forgetting, message_counts::MessageCounts, model_queue::ModelQueue,
    rereads::PendingRereads, source_cache::SourceStateCache, unreadable::Unreadable, view::View,
};
pub(super) use self::{
    agents::{AgentObservation, FolderListing},
    commands::answer,
    effect::EngineEffect,
    model_queue::ModelAnswer,
    sources::RegisteredFiles,
};
use crate::{
    capture::{
        format::Formats,
        watch::{Mode, Notice},
    },
    engine::{
        Closed, EngineError, EngineEvent, Settings, StartError, TranscriptFolders,
        backfill::BackfillContext,
        crash_tracker, defect,
        discovery::Discovery,
        duplicates,
        files::IdentifyResult,
        model_queue::Summarizer,
        reading::SourceReader,
        redaction,
        schedule::{Queue, Schedule, Suspicion},
    },
    model::{SessionKey, Timestamp},
    session::Tracker,
    store::StoreError,
};

/// Maximum number of problems that are kept for the status.
const MAX_PROBLEMS: usize = 20;
/// Minimum step of the clock into the past after which the times of sessions are corrected. Smaller
/// steps are usual.
const CLOCK_STEP: Duration = Duration::from_secs(60);
/// Maximum duration of a sleep, because the clock may jump, and the machine may be suspended.
pub(super) const MAX_SLEEP: Duration = Duration::from_secs(300);

pub(super) struct EngineState {
    /// The effects of the current decision.
    effects: Vec<EngineEffect>,
    view: View,
    settings: Settings,
    folders: TranscriptFolders,
    tracker: Tracker,
    schedule: Schedule,
    source_states: SourceStateCache,
    message_counts: MessageCounts,
    rereads: PendingRereads,
    model_queue: ModelQueue,
    forgetting: Forgetting,
    /// The session whose summary is being created again by newer rules. Reset to `None` when a
    /// model writes the summary meanwhile.
    remaking: Option<SessionKey>,
    /// New files that are not yet matched to a session.
    discovery: Discovery,
    /// The number of new files that are being stored. Queries are answered meanwhile.
    registering: usize,
    unreadable: Unreadable,
    agents: Agents,
    /// The callers that wait for the end of a session's job.
    waiting: HashMap<SessionKey, Vec<oneshot::Sender<Result<Closed, EngineError>>>>,
    settling: Vec<SettleWaiter>,
    /// The callers that search for old sessions and wait until all files are known.
    backfills: Vec<oneshot::Sender<BackfillContext>>,
    mode: Option<Mode>,
    /// Whether the first scan is complete.
    scanned: bool,
    /// The number of the latest requested scan that is complete.
    rescanned: u64,
    history_done: usize,
    problems: VecDeque<String>,
    stopping: Option<oneshot::Sender<()>>,
    /// The time of the last decision. Initially `MAX`, so that the first decision corrects times of
    /// the last run that are in the future.
    latest: Timestamp,
}

/// A caller that waits until the engine has settled.
pub(super) struct SettleWaiter {
    /// Whether the caller also waits until no session has a pending timeout.
    pub(super) until_no_timeouts: bool,
    /// The number of the scan that must be complete, so that no earlier write to a file is missed.
    pub(super) scan: u64,
    pub(super) reply: oneshot::Sender<()>,
}

impl EngineState {
    pub(super) fn new(
        reader: Arc<SourceReader>,
        settings: Settings,
        folders: TranscriptFolders,
        now: Timestamp,
    ) -> Result<EngineState, StartError> {
        let mut tracker = Tracker::new(settings.session);
        for session in reader.store.live_sessions()? {
            tracker.track(session);
        }
        let model_queue = ModelQueue::load(reader.store.as_ref())?;
        let rereads = PendingRereads::load(reader.store.as_ref())?;
        let schedule = schedule_with_suspects(&reader, now)?;
        Ok(EngineState {
            effects: Vec::new(),
            view: View::new(reader),
            settings,
            folders,
            tracker,
            schedule,
            source_states: SourceStateCache::default(),
            message_counts: MessageCounts::default(),
            rereads,
            model_queue,
            forgetting: Forgetting::default(),
            remaking: None,
            discovery: Discovery::default(),
            registering: 0,
            unreadable: Unreadable::default(),
            agents: Agents::default(),
            waiting: HashMap::new(),
            settling: Vec::new(),
            backfills: Vec::new(),
            mode: None,
            scanned: false,
            rescanned: 0,
            history_done: 0,
            problems: VecDeque::new(),
            stopping: None,
            latest: Timestamp::MAX,
        })
    }

    /// Handles an event. Returns the effects, which have to be performed in their order.
    pub(super) fn decide(&mut self, event: EngineEvent, now: Timestamp) -> Vec<EngineEffect> {
        self.detect_clock_step(now);
        self.handle(event, now);
        std::mem::take(&mut self.effects)
    }

    /// Returns how long the engine may sleep; `None` when it has no deadline or is stopping.
    pub(super) fn pause(&self, now: Timestamp) -> Option<Duration> {
        let deadline = self.tracker.next_deadline().into_iter().chain(self.next_question());
        let deadline = deadline.chain(self.unreadable.due()).chain(self.rereads.due());
        let deadline = deadline.chain(self.schedule.next_test(now)).min();
        let deadline = deadline.filter(|_| self.stopping.is_none())?;
        Some(deadline.since(now).min(MAX_SLEEP))
    }

    pub(super) fn summarizer(&self) -> &Summarizer {
        &self.settings.summarizer
    }

    pub(super) fn formats(&self) -> &Formats {
        &self.settings.parse_context.formats
    }

    pub(super) fn excluded(&self) -> &[PathBuf] {
        &self.settings.excluded
    }

    /// Replies to the caller that requested the stop.
    pub(super) fn reply_to_stop(&mut self) {
        if let Some(reply) = self.stopping.take() {
            answer(reply, ());
        }
    }

    /// Corrects the times of sessions and of questions when the clock was set back, now or since
    /// the last run.
    fn detect_clock_step(&mut self, now: Timestamp) {
        if now.plus(CLOCK_STEP) < self.latest {
            for session in self.tracker.clamp_future_times(now) {
                tracing::info!(session = %session.id, "the clock was set back");
                self.save_session(session);
            }
            self.limit_pauses_of_questions(now);
        }
        self.latest = now;
    }

    fn handle(&mut self, event: EngineEvent, now: Timestamp) {
        match event {
            EngineEvent::DuplicatesRepaired(repaired) => self.duplicates_repaired(repaired),
            EngineEvent::Started => {
                self.resume_jobs(now);
                self.resume_rereads();
                self.start_watches();
                self.effects.push(EngineEffect::FindOutdated);
            }
            EngineEvent::Notice(notice) => self.noticed(notice),
            EngineEvent::Liveness => self.request_agent_observation(Vec::new()),
            EngineEvent::Identified(IdentifyResult { found, unreadable, defects }) => {
                self.report_unreadable(unreadable, now);
                if let Some(path) = defects.first() {
                    self.note_problem(format!("{}: {}", path.display(), defect::PANIC));
                }
                self.identified(found, self.settings.max_age, now);
                let changed = self.discovery.batch_done();
                self.observe_files(changed);
            }
            EngineEvent::Backfill { found, reply } => {
                self.identified(found, None, now);
                self.reply(reply, ());
            }
            EngineEvent::JobDone(done) => self.job_ended(*done, now),
            EngineEvent::ModelAnswered(model_answer) => self.model_answered(*model_answer, now),
            EngineEvent::Command(command) => self.execute(command, now),
            EngineEvent::FilesObserved(files) => self.files_observed(files, now),
            EngineEvent::OutdatedFound(found) => self.outdated_found(found),
            EngineEvent::Registered(registered) => self.registered(registered, now),
            EngineEvent::AgentsObserved(observation) => self.agents_observed(observation, now),
            EngineEvent::RescanRequested(waiter) if self.stopping.is_none() => {
                self.settling.push(waiter);
            }
            EngineEvent::RescanRequested(_) => {}
            EngineEvent::DeadlinesDue if self.stopping.is_none() => self.handle_due_deadlines(now),
            EngineEvent::DeadlinesDue => {}
            EngineEvent::TurnEnded => {
                self.start_work(now);
                self.reply_to_backfills();
                self.reply_to_settling(now);
                self.reply_to_forgetting();
            }
        }
    }

    fn duplicates_repaired(&mut self, repaired: Result<Vec<PathBuf>, StoreError>) {
        match repaired {
            Ok(paths) if paths.is_empty() => {}
            Ok(paths) => {
                self.note_problem(duplicates::describe(&paths));
                self.observe_files(paths);
            }
            Err(error) => self.note_problem(error.to_string()),
        }
    }

    /// Schedules sessions to be read again by newer rules of their format.
    fn outdated_found(&mut self, found: Result<BTreeSet<SessionKey>, StoreError>) {
        match found {
            Ok(sessions) if sessions.is_empty() => {}
            Ok(sessions) => {
                tracing::info!(sessions = sessions.len(), "reading sessions again by newer rules");
                for session in sessions {
                    self.schedule.add(session, Queue::Live, |due| due.from_start = true);
                }
            }
            Err(error) => self.note_problem(error.to_string()),
        }
    }

    fn report_unreadable(&mut self, unreadable: Vec<PathBuf>, now: Timestamp) {
        if let Some(path) = unreadable.first() {
            let (count, path) = (unreadable.len(), path.display());
            self.note_problem(format!(
                "cannot read {path} (number of unreadable transcripts: {count})"
            ));
        }
        unreadable.into_iter().for_each(|path| self.unreadable.add(path, now));
    }

    fn noticed(&mut self, notice: Notice) {
        match notice {
            Notice::Files(paths) => self.observe_files(paths),
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

    fn reply<T: Send + 'static>(&mut self, reply: oneshot::Sender<T>, value: T) {
        self.effects.push(EngineEffect::Reply(Box::new(move || answer(reply, value))));
    }

    fn note_problem(&mut self, problem: String) {
        // Many problems contain a path, and a path may contain a secret.
        let problem = redaction::owned(problem);
        // A problem that repeats is logged once.
        if let Some(at) = self.problems.iter().position(|known| *known == problem) {
            self.problems.remove(at);
        } else {
            tracing::warn!(problem, "a problem was added to the status");
        }
        if self.problems.len() == MAX_PROBLEMS {
            self.problems.pop_front();
        }
        self.problems.push_back(problem);
    }
}

/// Returns a schedule without work. Its suspects are the sessions whose work was in progress when
/// the daemon died.
fn schedule_with_suspects(reader: &SourceReader, now: Timestamp) -> Result<Schedule, StartError> {
    let tested = Suspicion::TestedFrom(now.plus(crash_tracker::TEST_DELAY));
    let mut schedule = Schedule::default();
    for suspect in reader.crash_tracker.suspects() {
        // No job works on a quarantined session, so it is not tested.
        let is_tested =
            suspect.is_tested && reader.crash_tracker.quarantine(&suspect.session, now).is_none();
        let suspicion = if is_tested { tested } else { Suspicion::NotTested };
        if let Some(session) = reader.store.find_session(&suspect.session)? {
            schedule.suspect(session, suspicion);
        }
    }
    Ok(schedule)
}
