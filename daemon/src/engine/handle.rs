//! The handle through which other modules use the engine.

use std::{
    collections::VecDeque,
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError, RwLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::sync::{mpsc, oneshot, watch};

use crate::{
    capture::{
        format::{Formats, RunningSession},
        liveness::Process,
    },
    clock,
    engine::{
        BackfillCandidate, Closed, EngineError, EngineEvent, IndexLag, RequestedEpisodes, Scope,
        Settings, Status, TranscriptFolders, backfill,
        command::{EngineCommand, PendingAnswer, check_writable, failed},
        defect, exited,
        files::{self, IdentifyResult},
        follow::FollowerProgress,
        forgotten::Forgotten,
        memory_use::MemoryUse,
        model_queue::Summarizer,
        projects::Projects,
        redaction,
    },
    model::{CloseReason, EpisodeId, SessionKey, session::Session},
    store::{Source, Store},
};

#[derive(Clone)]
pub struct Engine {
    pub(super) events: mpsc::Sender<EngineEvent>,
    pub(super) store: Arc<dyn Store>,
    /// The progress of the search index.
    pub(super) followed: watch::Receiver<FollowerProgress>,
    pub(super) forgotten: Arc<Forgotten>,
    /// The number of summaries that will be created again by newer rules.
    pub(super) older_summaries: Arc<AtomicUsize>,
    /// The summaries by a model that had older rules when they were checked last; `None` before the
    /// first check.
    pub(super) older_by_model: Arc<Mutex<Option<VecDeque<EpisodeId>>>>,
    pub(super) projects: Arc<Projects>,
    pub(super) memory_use: Arc<MemoryUse>,
    /// The formats of the current settings.
    pub(super) formats: Arc<RwLock<Formats>>,
    /// Locked while a memory is compared with the known wishes and stored.
    pub(super) adding_memory: Arc<tokio::sync::Mutex<()>>,
}

impl Engine {
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Returns the projects that sessions belong to.
    pub fn projects(&self) -> &Arc<Projects> {
        &self.projects
    }

    /// Returns the counts of the lines that sessions got from the memory, and of the lines that
    /// they used.
    pub fn memory_use(&self) -> &MemoryUse {
        &self.memory_use
    }

    /// Whether the sessions of an agent are followed.
    pub fn follows(&self, agent: &str) -> bool {
        self.formats().of_agent(agent).is_some()
    }

    /// Returns the formats of the current settings.
    pub fn formats(&self) -> Formats {
        self.formats.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Closes a session, and waits until searches find its episode. If a caller or an agent
    /// requested the close, also waits for the model's answer, but not longer than configured.
    pub async fn close(
        &self,
        session: SessionKey,
        reason: CloseReason,
    ) -> Result<Closed, EngineError> {
        let waits_for_model = reason.is_requested();
        let reason = redaction::reason(reason);
        let close = |reply| EngineCommand::Close { session, reason, reply };
        self.finish_close(session, self.request(close).await??, waits_for_model).await
    }

    /// Like [`Engine::close`], but creates the episode again even if the session did not change,
    /// and asks the model again.
    pub async fn close_again(&self, session: SessionKey) -> Result<Closed, EngineError> {
        let close = |reply| EngineCommand::CloseAgain { session, reply };
        self.finish_close(session, self.request(close).await??, true).await
    }

    /// Returns the sessions whose requests to the model failed and are not repeated.
    pub async fn abandoned(&self) -> Result<Vec<SessionKey>, EngineError> {
        self.request(EngineCommand::Abandoned).await
    }

    async fn finish_close(
        &self,
        session: SessionKey,
        mut closed: Closed,
        waits_for_model: bool,
    ) -> Result<Closed, EngineError> {
        if waits_for_model && let Some(position) = self.wait_for_model(session).await? {
            closed.position = closed.position.max(position);
        }
        // The session is closed even if the search index cannot follow.
        let _ = self.wait_until_searchable(closed.position).await;
        Ok(closed)
    }

    /// Waits for the model's answer about a session that was just closed, but not longer than
    /// configured. Returns the outbox position after the answer.
    async fn wait_for_model(&self, session: SessionKey) -> Result<Option<u64>, EngineError> {
        let pending = self.request(|reply| EngineCommand::Pending { session, reply }).await?;
        let Some(PendingAnswer { done, patience }) = pending else { return Ok(None) };
        if let Some(done) = done {
            match tokio::time::timeout(patience, done).await {
                // Usually, the request still runs. Until the model answers, the session keeps the
                // episode that was made from evidence.
                Err(_) | Ok(Err(_)) => return Ok(None),
                Ok(Ok(answered)) => answered?,
            }
        }
        // Writes are applied in order: when the empty list is done, all earlier lists are done.
        let saved = self.store.write(Vec::new()).done().await;
        saved.map(Some).map_err(failed)
    }

    pub async fn summarizer(&self) -> Result<Arc<Summarizer>, EngineError> {
        self.request(EngineCommand::Summarizer).await
    }

    /// Records the intent to close a session. Returns when the record is durable.
    pub async fn close_later(
        &self,
        session: SessionKey,
        reason: CloseReason,
    ) -> Result<(), EngineError> {
        let reason = redaction::reason(reason);
        self.request(|reply| EngineCommand::CloseLater { session, reason, reply }).await?
    }

    /// Starts the jobs for the episodes that a search in `scope` should find. The caller decides
    /// how long it waits for them.
    pub async fn request_episodes(&self, scope: Scope) -> Result<RequestedEpisodes, EngineError> {
        self.request(|reply| EngineCommand::RequestEpisodes { scope, reply }).await
    }

    /// Requests a summary by a model for an old session whose episode was made from evidence.
    /// Returns when the model answered, or the request was postponed or is not needed.
    pub async fn request_summary(&self, session: SessionKey) -> Result<(), EngineError> {
        self.request(|reply| EngineCommand::RequestSummary { session, reply }).await?
    }

    /// Estimates the number of sessions in `scope` whose request to the model runs or is due.
    pub async fn pending_summaries(&self, scope: Scope) -> Result<usize, EngineError> {
        self.request(|reply| EngineCommand::PendingSummaries { scope, reply }).await
    }

    /// Returns the live sessions: all except those that are indexed.
    pub async fn live(&self) -> Result<Vec<Session>, EngineError> {
        self.request(EngineCommand::Live).await
    }

    /// Returns the live sessions except those whose agents have exited, even if the engine has not
    /// noticed the exit yet.
    pub async fn live_with_agents(&self) -> Result<Vec<Session>, EngineError> {
        let mut live = self.live().await?;
        exited::remove_exited(&mut live, &self.running().await?, exited::has_exited);
        Ok(live)
    }

    /// Returns the sessions that agents report as running. If a process has several sessions, its
    /// current session is first.
    pub async fn running(&self) -> Result<Vec<RunningSession>, EngineError> {
        self.request(EngineCommand::Running).await
    }

    /// Records that `agent` runs a session, as one of its hooks reported.
    pub fn agent_runs(&self, session: String, agent: Process, directory: Option<String>) {
        let Process { pid, started } = agent;
        let running = RunningSession { session, pid, started, cwd: directory };
        self.notify(EngineCommand::AgentRuns(running));
    }

    /// Records that an agent reported the end of a session.
    pub fn agent_ended(&self, session: String) {
        self.notify(EngineCommand::AgentEnded(session));
    }

    /// Returns the files whose state is in memory. The store may have older states of these files.
    pub async fn open_sources(&self) -> Result<Vec<Source>, EngineError> {
        self.request(EngineCommand::OpenSources).await
    }

    /// Returns the old sessions without a current episode that were written within the last `age`
    /// (`None` for all), the latest first. Waits until all files that the first scan found are
    /// registered.
    pub async fn backfill_candidates(
        &self,
        age: Option<Duration>,
    ) -> Result<Vec<BackfillCandidate>, EngineError> {
        let context = self.request(EngineCommand::BackfillContext).await?;
        let (store, since) = (self.store.clone(), backfill::since(age, clock::now()));
        let find = move || backfill::find(&context, store.as_ref(), since);
        let found = tokio::task::spawn_blocking(find).await;
        found.map_err(|error| failed(defect::describe(&error)))
    }

    /// Returns the sessions that were closed while the settings turned episodes off, if episodes
    /// are turned on now.
    pub async fn closed_without_episode(&self) -> Result<Vec<Session>, EngineError> {
        if !self.summarizer().await?.parse_context.makes_episodes {
            return Ok(Vec::new());
        }
        let store = self.store.clone();
        let find = move || backfill::closed_without_episode(store.as_ref());
        let found = tokio::task::spawn_blocking(find).await;
        found.map_err(|error| failed(defect::describe(&error)))
    }

    /// Ingests an old session, unless it was ingested before, and returns its key. Returns `None`
    /// when its transcript does not exist, cannot be read or belongs to an excluded project.
    pub async fn ingest(
        &self,
        candidate: &BackfillCandidate,
    ) -> Result<Option<SessionKey>, EngineError> {
        let known = self.store.source_at(&candidate.path).map_err(failed)?;
        if known.is_none() || !candidate.sub_agents.is_empty() {
            let mut paths = vec![PathBuf::from(&candidate.path)];
            paths.extend(candidate.sub_agents.iter().cloned());
            let formats = self.formats();
            let identify = move || files::identify(paths, &formats);
            let found = tokio::task::spawn_blocking(identify).await;
            let IdentifyResult { found, defects, .. } =
                found.map_err(|error| failed(defect::describe(&error)))?;
            if !defects.is_empty() {
                return Err(failed(defect::PANIC));
            }
            let (reply, ingested) = oneshot::channel();
            let event = EngineEvent::Backfill { found, reply };
            self.events.send(event).await.map_err(|_| EngineError::Stopping)?;
            ingested.await.map_err(|_| EngineError::Stopping)?;
        }
        let known = self.store.source_at(&candidate.path).map_err(failed)?;
        Ok(known.map(|source| source.key.session))
    }

    /// See [`check_writable`].
    pub(super) fn check_writable(&self) -> Result<(), EngineError> {
        check_writable(self.store.as_ref())
    }

    pub async fn status(&self) -> Result<Status, EngineError> {
        self.request(EngineCommand::Status).await
    }

    /// Waits until all files are read, due episodes are created, and searches find the messages and
    /// the episodes. With `until_no_timeouts`, also waits for all sessions that will end by a
    /// timeout.
    pub async fn wait_until_settled(&self, until_no_timeouts: bool) -> Result<(), EngineError> {
        self.request(|reply| EngineCommand::Settle { until_no_timeouts, reply }).await
    }

    /// Returns the number of summaries that will be created again by newer rules.
    pub fn older_summaries(&self) -> usize {
        self.older_summaries.load(Ordering::Relaxed)
    }

    /// Applies new settings and folders.
    pub async fn reload(
        &self,
        settings: Settings,
        folders: TranscriptFolders,
    ) -> Result<(), EngineError> {
        let formats = settings.parse_context.formats.clone();
        *self.formats.write().unwrap_or_else(PoisonError::into_inner) = formats;
        let settings = Box::new(settings);
        self.request(|reply| EngineCommand::Reload { settings, folders, reply }).await
    }

    /// Adds a problem to the status.
    pub async fn note_problem(&self, problem: String) {
        let command = EngineCommand::NoteProblem(problem);
        // The problem is lost only if the engine has stopped. A stopped engine shows no status.
        let _ = self.events.send(EngineEvent::Command(command)).await;
    }

    /// Sends a command that a busy engine may miss without harm.
    fn notify(&self, command: EngineCommand) {
        // The command is dropped when the channel is full or closed.
        let _ = self.events.try_send(EngineEvent::Command(command));
    }

    /// Sends a command and waits for its reply.
    pub(super) async fn request<T>(
        &self,
        command: impl FnOnce(oneshot::Sender<T>) -> EngineCommand,
    ) -> Result<T, EngineError> {
        let (reply, answer) = oneshot::channel();
        let event = EngineEvent::Command(command(reply));
        self.events.send(event).await.map_err(|_| EngineError::Stopping)?;
        answer.await.map_err(|_| EngineError::Stopping)
    }

    /// Waits until searches find all data that were stored up to `position`.
    ///
    /// # Errors
    ///
    /// Returns an error if the search index no longer follows the database. The stored data are
    /// safe, and searches find them after the next start.
    pub async fn wait_until_searchable(&self, position: u64) -> Result<(), EngineError> {
        let mut followed = self.followed.clone();
        let reached = followed.wait_for(|followed| followed.position >= position).await;
        reached.map(drop).map_err(|_| EngineError::Stopping)
    }

    /// Returns how far the search index is behind the store.
    pub fn index_lag(&self) -> IndexLag {
        let followed = *self.followed.borrow();
        let changes = self.store.outbox_end().saturating_sub(followed.position);
        let is_followed = self.followed.has_changed().is_ok();
        IndexLag { changes, is_stalled: changes > 0 && (!is_followed || followed.is_stalled()) }
    }

    /// Stops the loop: it starts no new work, and finishes or saves the work in progress.
    pub async fn stop(&self) {
        // The request fails only when the loop has already ended.
        let _ = self.request(EngineCommand::Stop).await;
    }
}
