//! The order of things: the only module that knows how the stages connect.
//!
//! Everything that can wake the daemon is one variant of [`EngineEvent`], and one task
//! ([`state::State`]) handles them one after the other and owns all that changes. Slow work
//! (reading, making episodes, asking models) runs beside it as a [`job::Job`] and comes back as an
//! event. Others talk to it through an [`Engine`].

pub mod backfill;
mod command;
pub mod crash_tracker;
mod defect;
mod discovery;
pub mod document;
mod duplicates;
pub mod embedding;
pub mod entities;
pub mod episode;
pub mod file_check;
mod files;
pub mod follow;
pub mod forgotten;
pub mod forks;
pub mod imported;
pub mod indexes;
pub mod job;
pub mod model_queue;
pub mod pipeline;
pub mod quota;
pub mod reading;
pub mod record_locks;
pub mod redaction;
mod registration;
mod schedule;
mod snapshots;
mod state;
pub mod truncated_messages;

use std::sync::{Arc, atomic::AtomicBool};

use tokio::sync::{mpsc, oneshot, watch};

pub use self::{
    backfill::BackfillCandidate,
    command::{
        CloseOutcome, Closed, EngineError, IndexLag, ModelStatus, PendingEpisode, Scope, Status,
    },
    forgotten::ForgottenSession,
};
use self::{
    command::Command,
    crash_tracker::CrashTracker,
    files::{IdentifiedFile, IdentifyResult},
    follow::FollowerProgress,
    forgotten::Forgotten,
    job::JobResult,
    model_queue::Summarizer,
    pipeline::ParseContext,
    reading::SourceReader,
    state::{EngineState, ModelAnswer},
};
pub use crate::capture::{
    liveness::Process,
    watch::{Mode, PollingReason},
};
use crate::{
    capture::{
        format::{RunningSession, Surroundings},
        watch::{Method, Notice},
    },
    clock,
    model::{CloseReason, SessionId, SessionKey, Timestamp, session::Session},
    session,
    store::{Source, Store, StoreError, StoreHealth, Write},
};

/// Whether the sessions of an agent are followed.
pub fn follows(agent: &str) -> bool {
    files::format_of(agent).is_some()
}

/// What the engine is given at its start and whenever the configuration changes.
#[derive(Clone)]
pub struct Settings {
    /// When a session is over.
    pub session: session::Config,
    /// What is kept of transcripts.
    pub parse_context: Arc<ParseContext>,
    /// What models are asked by.
    pub summarizer: Arc<Summarizer>,
    /// Folders that nothing is captured of, whether transcripts or projects lie in them.
    pub excluded: Vec<std::path::PathBuf>,
    /// How old a transcript may be that is imported; `None` for any age.
    pub keep: Option<std::time::Duration>,
}

/// Where the engine looks for transcripts.
#[derive(Clone)]
pub struct TranscriptFolders {
    /// Folders with transcripts.
    pub roots: Vec<std::path::PathBuf>,
    /// Folders in which agents note which of their sessions run, by format.
    pub liveness: Vec<(&'static dyn crate::capture::format::Format, std::path::PathBuf)>,
    /// How changes are noticed.
    pub method: Method,
}

impl TranscriptFolders {
    /// No place at all.
    pub fn nowhere() -> TranscriptFolders {
        TranscriptFolders { roots: Vec::new(), liveness: Vec::new(), method: Method::Automatic }
    }

    /// The places where the agents of this machine keep their transcripts, and `more`.
    pub fn usual(
        surroundings: &Surroundings<'_>,
        more: &[std::path::PathBuf],
    ) -> TranscriptFolders {
        let formats = crate::capture::format::FORMATS;
        let usual = formats.iter().flat_map(|format| format.roots(surroundings));
        let mut roots: Vec<std::path::PathBuf> = Vec::new();
        for root in usual.chain(more.iter().cloned()) {
            // What is watched is known by its real path: links inside it are not followed.
            let root = root.canonicalize().unwrap_or(root);
            if !roots.iter().any(|known| root.starts_with(known)) {
                roots.retain(|known| !known.starts_with(&root));
                roots.push(root);
            }
        }
        let liveness = formats
            .iter()
            .filter_map(|format| Some((*format, format.liveness_folder(surroundings)?)))
            .collect();
        TranscriptFolders { roots, liveness, method: Method::Automatic }
    }
}

/// What can wake the engine.
enum EngineEvent {
    /// Transcripts changed.
    Notice(Notice),
    /// An agent noted something about its running sessions.
    Liveness,
    /// It is known which sessions some new files belong to, and which could not be read.
    Identified(IdentifyResult),
    /// A job ended.
    JobDone(Box<JobResult>),
    /// Files of the past are to be taken in, whatever their age.
    Past { found: Vec<IdentifiedFile>, reply: oneshot::Sender<()> },
    /// A model was asked about a session.
    ModelAnswered(Box<ModelAnswer>),
    /// Someone asks for something.
    Command(Command),
}

/// Events that may wait. When the channel is full, watches and jobs wait (nothing is lost: files
/// are looked at again, jobs hold their result), and so do those who ask.
const EVENTS: usize = 256;

/// The way to the engine.
#[derive(Clone)]
pub struct Engine {
    events: mpsc::Sender<EngineEvent>,
    store: Arc<dyn Store>,
    /// How far the search index is.
    followed: watch::Receiver<FollowerProgress>,
    forgotten: Arc<Forgotten>,
}

/// Why the engine did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The system gives no threads.
    #[error("start the threads that jobs run on: {0}")]
    Threads(#[from] std::io::Error),
}

/// What an engine does, once it is run.
pub struct EngineLoop {
    state: EngineState,
    inbox: mpsc::Receiver<EngineEvent>,
}

impl Engine {
    /// Makes an engine. It does nothing until its loop is run.
    ///
    /// `follower` tells how far the search index is with the outbox, `at_work` what was worked on
    /// when the last run ended.
    pub fn new(
        store: Arc<dyn Store>,
        settings: Settings,
        places: TranscriptFolders,
        (follower, crash_tracker): (watch::Receiver<FollowerProgress>, CrashTracker),
    ) -> Result<(Engine, EngineLoop), StartError> {
        let (events, inbox) = mpsc::channel(EVENTS);
        redaction::note::note_new(store.as_ref())?;
        let forgotten = Arc::new(Forgotten::load(store.as_ref())?);
        let reader = Arc::new(SourceReader {
            store: store.clone(),
            claims: record_locks::RecordLocks::default(),
            crash_tracker,
            forgotten: forgotten.clone(),
            stop: AtomicBool::new(false),
            bytes: std::sync::atomic::AtomicU64::new(0),
        });
        let engine = Engine { events: events.clone(), store, followed: follower, forgotten };
        let state = EngineState::new(engine.clone(), reader, settings, places)?;
        Ok((engine, EngineLoop { state, inbox }))
    }

    /// The store, for reading.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Closes a session and waits for its episode.
    pub async fn close(
        &self,
        session: SessionKey,
        reason: CloseReason,
    ) -> Result<Closed, EngineError> {
        let waits = reason.is_asked();
        let reason = redaction::reason(reason);
        let mut closed = self.ask(|reply| Command::Close { session, reason, reply }).await??;
        if waits && let Some(position) = self.model_asked(session).await? {
            closed.position = closed.position.max(position);
        }
        // It is closed, whether that is found or not.
        let _ = self.until_followed(closed.position).await;
        Ok(closed)
    }

    /// Waits until a model was asked about a session that was just closed, as long as is worth it.
    /// Returns the outbox position behind its answer.
    async fn model_asked(&self, session: SessionKey) -> Result<Option<u64>, EngineError> {
        let pending = self.ask(|reply| Command::PendingAnswer { session, reply }).await?;
        let Some(command::PendingAnswer { done, patience }) = pending else { return Ok(None) };
        if let Some(done) = done {
            match tokio::time::timeout(patience, done).await {
                // It goes on; what there is is the evidence's.
                Err(_) | Ok(Err(_)) => return Ok(None),
                Ok(Ok(answered)) => answered?,
            }
        }
        // Writes are applied in order: behind an empty list all earlier ones are there.
        let saved = self.store.write(Vec::new()).done().await;
        saved.map(Some).map_err(|error| EngineError::Failed(error.to_string()))
    }

    /// What models are asked by at present.
    pub async fn summarizer(&self) -> Result<Arc<Summarizer>, EngineError> {
        self.ask(Command::Summarizer).await
    }

    /// Takes it down that a session is to be closed; returns when that would survive a power cut.
    pub async fn close_later(
        &self,
        session: SessionKey,
        reason: CloseReason,
    ) -> Result<(), EngineError> {
        let reason = redaction::reason(reason);
        self.ask(|reply| Command::CloseLater { session, reason, reply }).await?
    }

    /// Starts to make the episodes that a search in `scope` should find. Wait for what it returns
    /// as long as suits.
    pub async fn request_episodes(&self, scope: Scope) -> Result<Vec<PendingEpisode>, EngineError> {
        self.ask(|reply| Command::Need { scope, reply }).await
    }

    /// Has a model asked about a session of the past, and waits until it answered or that is put
    /// off.
    pub async fn request_summary(&self, session: SessionKey) -> Result<(), EngineError> {
        self.ask(|reply| Command::Summarise { session, reply }).await?
    }

    /// About how many sessions in `scope` a model is being asked, or will be at once.
    pub async fn pending_summaries(&self, scope: Scope) -> Result<usize, EngineError> {
        self.ask(|reply| Command::Asking { scope, reply }).await
    }

    /// The sessions that are not indexed and quiet, as they are at this moment.
    pub async fn live(&self) -> Result<Vec<Session>, EngineError> {
        self.ask(Command::Live).await
    }

    /// The sessions that agents say are running. Where a process has several, the one that it is
    /// in now comes first.
    pub async fn running(&self) -> Result<Vec<RunningSession>, EngineError> {
        self.ask(Command::Running).await
    }

    /// Notes that `agent` runs a session: one of its hooks reported.
    pub fn agent_runs(&self, session: String, agent: Process, directory: Option<String>) {
        let Process { pid, started } = agent;
        self.mention(Command::AgentRuns(RunningSession { session, pid, started, cwd: directory }));
    }

    /// Notes that an agent said itself that a session is over.
    pub fn agent_ended(&self, session: String) {
        self.mention(Command::AgentLeft(session));
    }

    /// The files that are being written to, as they are at this moment; what the store has of them
    /// may be older.
    pub async fn open_sources(&self) -> Result<Vec<Source>, EngineError> {
        self.ask(Command::AtHand).await
    }

    /// Sessions of the past that have no episode, the latest first; those of the last `age`, or
    /// all.
    pub async fn backfill_candidates(
        &self,
        age: Option<std::time::Duration>,
    ) -> Result<Vec<BackfillCandidate>, EngineError> {
        let known = self.ask(Command::Known).await?;
        let (store, since) = (self.store.clone(), backfill::since(age, clock::now()));
        let find = move || backfill::find(&known, store.as_ref(), since);
        let found = tokio::task::spawn_blocking(find).await;
        found.map_err(|error| EngineError::Failed(defect::told(&error).to_owned()))
    }

    /// Takes a session of the past in, if it is not known yet, and tells its key; `None` when its
    /// transcript is gone or belongs to an excluded project.
    pub async fn ingest(
        &self,
        past: &BackfillCandidate,
    ) -> Result<Option<SessionKey>, EngineError> {
        let failed = |error: &dyn std::fmt::Display| EngineError::Failed(error.to_string());
        let known = self.store.source_at(&past.path).map_err(|error| failed(&error))?;
        if known.is_none() || !past.sub_agents.is_empty() {
            let mut paths = vec![std::path::PathBuf::from(&past.path)];
            paths.extend(past.sub_agents.iter().cloned());
            let found = tokio::task::spawn_blocking(move || files::identify(paths)).await;
            let IdentifyResult { found, defects, .. } =
                found.map_err(|error| failed(&defect::told(&error)))?;
            if !defects.is_empty() {
                return Err(failed(&defect::PANIC));
            }
            let (reply, taken) = oneshot::channel();
            let event = EngineEvent::Past { found, reply };
            self.events.send(event).await.map_err(|_| EngineError::Stopping)?;
            taken.await.map_err(|_| EngineError::Stopping)?;
        }
        let known = self.store.source_at(&past.path).map_err(|error| failed(&error))?;
        Ok(known.map(|source| source.key.session))
    }

    /// Forgets sessions, everywhere and for good: the known ones with all that was made of them,
    /// and those not read yet, too, come back only when asked for. Nobody can stop it half way.
    pub async fn forget(
        &self,
        sessions: Vec<(SessionId, Option<SessionKey>)>,
    ) -> Result<u64, EngineError> {
        let engine = self.clone();
        let forgetting = tokio::spawn(async move { engine.forget_all(sessions).await });
        forgetting.await.map_err(|error| EngineError::Failed(error.to_string()))?
    }

    async fn forget_all(
        &self,
        mut sessions: Vec<(SessionId, Option<SessionKey>)>,
    ) -> Result<u64, EngineError> {
        let now = clock::now();
        // From here on a file of theirs is no new session.
        for (id, _) in &sessions {
            self.forgotten.add(id, now, &[]);
        }
        let mut keys = self.keys_of(&mut sessions)?;
        self.ask(|reply| Command::EvictionStats { sessions: keys.clone(), reply }).await?;
        // One of them may have been seen for the first time in this moment.
        keys = self.keys_of(&mut sessions)?;
        self.ask(|reply| Command::EvictionStats { sessions: keys.clone(), reply }).await?;
        let mut position = 0;
        let mut failed = None;
        // One list a session: it goes in one step, and is known as forgotten with it.
        for (id, session) in &sessions {
            match self.drop_session(id.clone(), *session, now).await {
                Ok(reached) => position = reached,
                Err(error) => {
                    self.forgotten.remove(id);
                    failed = Some(error);
                }
            }
        }
        self.ask(|reply| Command::LetGoEnded { sessions: keys, reply }).await?;
        // They are gone from the database; the index follows at the next start at the latest.
        let _ = self.until_followed(position).await;
        failed.map_or(Ok(position), |error| Err(EngineError::Failed(error.to_string())))
    }

    fn keys_of(
        &self,
        sessions: &mut [(SessionId, Option<SessionKey>)],
    ) -> Result<Vec<SessionKey>, EngineError> {
        for (id, session) in sessions.iter_mut().filter(|(_, session)| session.is_none()) {
            let found = self.store.find_session(id);
            *session = found.map_err(|error| EngineError::Failed(error.to_string()))?;
        }
        Ok(sessions.iter().filter_map(|(_, session)| *session).collect())
    }

    /// An error that says what to do when there is no room for more.
    fn has_room(&self) -> Result<(), EngineError> {
        match &*self.store.quota().health().borrow() {
            StoreHealth::TextRefused(why) | StoreHealth::Failed(why) => {
                Err(EngineError::Failed(why.clone()))
            }
            StoreHealth::Normal | StoreHealth::NearLimit => Ok(()),
        }
    }

    async fn drop_session(
        &self,
        id: SessionId,
        session: Option<SessionKey>,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        let (store, known) = (self.store.clone(), id.clone());
        let gathered = tokio::task::spawn_blocking(move || {
            forgotten::writes(store.as_ref(), (&known, session), now)
        });
        let (mut writes, landmarks) = gathered
            .await
            .map_err(|error| StoreError::Backend(defect::told(&error).to_owned()))??;
        writes.extend(session.map(Write::DropSession));
        let position = self.store.write(writes).done().await?;
        self.forgotten.add(&id, now, &landmarks);
        Ok(position)
    }

    /// The sessions that were forgotten.
    pub fn forgotten(&self) -> Vec<ForgottenSession> {
        self.forgotten.list()
    }

    /// Whether a session was forgotten.
    pub fn is_forgotten(&self, id: &SessionId) -> bool {
        self.forgotten.has(id)
    }

    /// Lets a forgotten session come back; its transcript is taken in again if it is still there.
    /// Says whether it is.
    pub async fn restore_forgotten(&self, id: &SessionId) -> Result<bool, EngineError> {
        let saved = self.store.write(forgotten::withdrawn(id)).done().await;
        saved.map_err(|error| EngineError::Failed(error.to_string()))?;
        self.forgotten.remove(id);
        let past = self.backfill_candidates(None).await?;
        match past.iter().find(|past| past.id == *id) {
            Some(past) => Ok(self.ingest(past).await?.is_some()),
            None => Ok(false),
        }
    }

    /// What the engine is doing.
    pub async fn status(&self) -> Result<Status, EngineError> {
        self.ask(Command::Status).await
    }

    /// Waits until everything that was there is read, made into episodes where due, and found by
    /// searches; with `sessions` also until no session is left that ends by itself.
    pub async fn settled(&self, sessions: bool) -> Result<(), EngineError> {
        self.ask(|reply| Command::Settled { sessions, reply }).await
    }

    /// Puts other settings and places in force.
    pub async fn reload(
        &self,
        settings: Settings,
        places: TranscriptFolders,
    ) -> Result<(), EngineError> {
        self.ask(|reply| Command::Reload(Box::new((settings, places)), reply)).await
    }

    /// Remembers a problem for the status display.
    pub async fn note_problem(&self, problem: String) {
        // An engine that is stopping shows nothing any more.
        drop(self.events.send(EngineEvent::Command(Command::NoteProblem(problem))).await);
    }

    /// Says what is good to know, and can be done without by an engine that has too much to do.
    fn mention(&self, ask: Command) {
        drop(self.events.try_send(EngineEvent::Command(ask)));
    }

    async fn ask<T>(
        &self,
        ask: impl FnOnce(oneshot::Sender<T>) -> Command,
    ) -> Result<T, EngineError> {
        let (reply, answer) = oneshot::channel();
        self.events
            .send(EngineEvent::Command(ask(reply)))
            .await
            .map_err(|_| EngineError::Stopping)?;
        answer.await.map_err(|_| EngineError::Stopping)
    }

    /// Waits until searches find what was stored up to `position`.
    ///
    /// # Errors
    ///
    /// When nothing follows the database any more. What was stored is safe, and found after the next
    /// start.
    pub async fn until_followed(&self, position: u64) -> Result<(), EngineError> {
        let mut followed = self.followed.clone();
        let reached = followed.wait_for(|followed| followed.position >= position).await;
        reached.map(drop).map_err(|_| EngineError::Stopping)
    }

    /// How far searches are behind what was stored.
    pub fn index_lag(&self) -> IndexLag {
        let followed = *self.followed.borrow();
        let changes = self.store.outbox_end().saturating_sub(followed.position);
        let is_followed = self.followed.has_changed().is_ok();
        IndexLag { changes, is_stalled: changes > 0 && (!is_followed || followed.is_stalled()) }
    }

    /// Has the loop come to its end: nothing new is begun, what is in hand is finished or saved.
    pub async fn stop(&self) {
        // One that has ended needs not be stopped.
        let _ = self.ask(Command::Stop).await;
    }
}

impl EngineLoop {
    /// Works until the engine is stopped.
    pub async fn run(self) {
        self.state.run(self.inbox).await;
    }
}

#[cfg(test)]
mod tests;
