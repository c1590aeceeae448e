//! Carries out commands.

use std::{collections::HashSet, sync::atomic::Ordering};

use tokio::sync::oneshot;

use super::{EngineState, SettleWaiter};
use crate::{
    capture::watch::Watch,
    engine::{
        CloseOutcome, Closed, EngineError, PendingEpisode, Scope, Settings, Status,
        TranscriptFolders, backfill::BackfillContext, command::EngineCommand, schedule::Queue,
    },
    fault,
    model::{
        CloseReason, EpisodeId, SessionKey, Timestamp,
        session::{Session, State as SessionState, Unindexed},
    },
    session::SessionEvent,
    store::StoreError,
};

type CloseReply = oneshot::Sender<Result<Closed, EngineError>>;

impl EngineState {
    pub(super) fn execute(&mut self, command: EngineCommand, now: Timestamp) {
        match command {
            EngineCommand::Close { session, reason, reply } => {
                self.close(session, reason, reply, now);
            }
            EngineCommand::CloseLater { session, reason, reply } => {
                match self.record_close(session, reason, now) {
                    Ok(()) => self.reply_when_saved(reply),
                    Err(error) => answer(reply, Err(error)),
                }
            }
            EngineCommand::RequestEpisodes { scope, reply } => {
                answer(reply, self.request_episodes(&scope, now));
            }
            EngineCommand::Live(reply) => answer(reply, self.tracker.iter().cloned().collect()),
            EngineCommand::Running(reply) => answer(reply, self.agents.iter().cloned().collect()),
            EngineCommand::AgentRuns(running) => self.agent_runs(running),
            EngineCommand::AgentEnded(session) => self.agent_ended(&session, now),
            EngineCommand::OpenSources(reply) => {
                answer(reply, self.source_states.sources().cloned().collect());
            }
            EngineCommand::BackfillContext(reply) => answer(reply, self.backfill_context()),
            EngineCommand::Status(reply) => answer(reply, self.status()),
            EngineCommand::Pending { session, reply } => answer(reply, self.pending(session, now)),
            EngineCommand::Summarizer(reply) => answer(reply, self.settings.summarizer.clone()),
            EngineCommand::Settle { sessions, reply } => self.settle(sessions, reply, now),
            EngineCommand::RequestSummary { session, reply } => {
                self.request_summary(session, reply, now);
            }
            EngineCommand::PendingSummaries { scope, reply } => {
                answer(reply, self.pending_summaries(&scope, now));
            }
            EngineCommand::Release { sessions, reply } => self.release(sessions, reply),
            EngineCommand::ReleaseEnded { sessions, reply } => {
                self.release_ended(&sessions);
                answer(reply, ());
            }
            EngineCommand::PermitRemake { session, episode, now, reply } => {
                answer(reply, self.permit_remake(session, episode, now));
            }
            EngineCommand::StoreRemade { made, reply } => answer(reply, self.store_remade(*made)),
            EngineCommand::NoteProblem(problem) => self.note_problem(problem),
            EngineCommand::Reload { settings, folders, reply } => {
                self.reload(*settings, folders, now);
                answer(reply, ());
            }
            EngineCommand::Stop(reply) => self.stop(reply),
        }
    }

    fn close(
        &mut self,
        session: SessionKey,
        reason: CloseReason,
        reply: CloseReply,
        now: Timestamp,
    ) {
        match self.start_close(session, reason, now) {
            Ok(None) => self.waiting.entry(session).or_default().push(reply),
            Ok(Some(closed)) => answer(reply, Ok(closed)),
            Err(error) => answer(reply, Err(error)),
        }
    }

    /// Starts to close a session. Returns the result when there is nothing to do.
    fn start_close(
        &mut self,
        key: SessionKey,
        reason: CloseReason,
        now: Timestamp,
    ) -> Result<Option<Closed>, EngineError> {
        let session = self.try_session(key)?.ok_or(EngineError::NoSuchSession)?;
        if let Some(episode) = self.imported_episode(&session)? {
            let (episode, how) = (Some(episode), CloseOutcome::Unchanged);
            return Ok(Some(Closed { session: key, episode, how, position: 0 }));
        }
        self.engine.check_writable()?;
        if reason.is_asked() {
            self.lift_quarantine(&session, now);
        }
        self.move_on(&session, SessionEvent::CloseAsked(reason), now);
        Ok(None)
    }

    /// Records the intent to close a session.
    fn record_close(
        &mut self,
        key: SessionKey,
        reason: CloseReason,
        now: Timestamp,
    ) -> Result<(), EngineError> {
        let session = self.try_session(key)?.ok_or(EngineError::NoSuchSession)?;
        if self.imported_episode(&session)?.is_none() {
            self.move_on(&session, SessionEvent::CloseAsked(reason), now);
        }
        Ok(())
    }

    /// The episode of a session that has no transcript on this machine.
    fn imported_episode(&self, session: &Session) -> Result<Option<EpisodeId>, StoreError> {
        let Some(indexed) = &session.indexed else { return Ok(None) };
        let has_transcript = !self.engine.store.sources_of(session.key)?.is_empty();
        Ok((!has_transcript).then_some(indexed.episode))
    }

    /// Has a quarantined session tried once more, because someone asked for it.
    fn lift_quarantine(&mut self, session: &Session, now: Timestamp) {
        self.schedule.test_now(session.key, now);
        self.reader.crash_tracker.try_again(&session.id);
    }

    /// Replies when everything saved so far would survive a power cut.
    fn reply_when_saved(&self, reply: oneshot::Sender<Result<(), EngineError>>) {
        // Writes are applied in order: once an empty list is done, all earlier ones are.
        let saved = self.engine.store.write(Vec::new());
        tokio::spawn(async move {
            let saved = saved.done().await.map(drop);
            fault::point("close: taken down");
            answer(reply, saved.map_err(EngineError::from));
        });
    }

    fn settle(&mut self, sessions: bool, reply: oneshot::Sender<()>, now: Timestamp) {
        let unreadable = self.unreadable.take();
        self.files_changed(unreadable, now);
        self.look_for_agents(now);
        let scan = self.watches.iter().map(Watch::rescan).max().unwrap_or(0);
        self.settling.push(SettleWaiter { sessions, scan, reply });
    }

    fn reload(&mut self, settings: Settings, folders: TranscriptFolders, now: Timestamp) {
        self.tracker.set_config(settings.session);
        self.settings = settings;
        self.summarizer_changed(now);
        if folders.roots != self.folders.roots {
            self.folders = folders;
            self.end_watches();
            self.start_watches();
        }
    }

    fn backfill_context(&self) -> BackfillContext {
        BackfillContext {
            live: self.tracker.iter().cloned().collect(),
            roots: self.folders.roots.clone(),
            excluded: self.settings.excluded.clone(),
            forgotten: self.reader.forgotten.clone(),
        }
    }

    /// Starts the jobs that a search needs, the most recently written sessions first.
    fn request_episodes(&mut self, scope: &Scope, now: Timestamp) -> Vec<PendingEpisode> {
        if self.engine.check_writable().is_err() {
            return Vec::new();
        }
        let sessions = self.tracker.iter().filter(|session| scope.has(session));
        let mut sessions: Vec<(Timestamp, SessionKey)> =
            sessions.map(|session| (session.last_activity, session.key)).collect();
        sessions.sort_unstable_by(|a, b| b.cmp(a));
        let mut pending = Vec::new();
        for (_, session) in sessions {
            if pending.len() == scope.limit {
                break;
            }
            let after = self.session_event(session, SessionEvent::Needed, now);
            if after.is_some_and(|after| matches!(after.state, SessionState::Indexing(_))) {
                let (reply, done) = oneshot::channel();
                self.waiting.entry(session).or_default().push(reply);
                pending.push(PendingEpisode { session, done });
            }
        }
        pending
    }

    fn status(&self) -> Status {
        let count = |name: &str| self.keys(|session| session.state.as_str() == name).len();
        let history = SessionState::Unindexed(Unindexed::History);
        Status {
            active: count("active"),
            inactive: count("inactive"),
            indexing: count("indexing"),
            failed: count("failed"),
            unindexed: count("unindexed"),
            history_left: self.keys(|session| session.state == history).len(),
            history_done: self.history_done,
            unidentified: self.discovery.len(),
            jobs: self.schedule.running(),
            scanned: self.scanned,
            mode: self.mode,
            bytes_read: self.reader.bytes.load(Ordering::Relaxed),
            problems: self.problems.iter().cloned().collect(),
            model: self.model_status(),
        }
    }

    /// Replies to those who wait for the engine to settle, once it has, and the result is on disk
    /// and in the search index.
    pub(super) fn reply_to_settling(&mut self, now: Timestamp) {
        if self.settling.is_empty() || self.is_busy() || self.has_due_questions(now) {
            return;
        }
        let all_over = self.tracker.next_deadline().is_none();
        let rescanned = self.rescanned;
        let is_done =
            |waiter: &mut SettleWaiter| waiter.scan <= rescanned && (all_over || !waiter.sessions);
        for done in self.settling.extract_if(.., is_done) {
            // Writes are applied in order: once an empty list is done, all earlier ones are.
            let saved = self.engine.store.write(Vec::new());
            let engine = self.engine.clone();
            tokio::spawn(async move {
                // A database that accepts no writes leaves nothing to be indexed.
                if let Ok(position) = saved.done().await
                    && engine.until_followed(position).await.is_err()
                {
                    return;
                }
                answer(done.reply, ());
            });
        }
    }

    pub(super) fn is_busy(&self) -> bool {
        !self.scanned
            || !self.discovery.is_empty()
            || !self.schedule.is_idle()
            || self.tracker.newest_history().is_some() && self.engine.check_writable().is_ok()
    }

    /// Accepts no new work. Running jobs end, and the file states in memory are saved.
    fn stop(&mut self, reply: oneshot::Sender<()>) {
        self.stopping = Some(reply);
        self.reader.stop.store(true, Ordering::Relaxed);
        self.discovery.stop();
        self.schedule.clear();
        self.waiting.clear();
        self.settings.summarizer.client.stop();
        self.end_watches();
        let unsaved: HashSet<SessionKey> = self.source_states.unsaved().into_iter().collect();
        for session in unsaved {
            self.schedule.add(session, Queue::Live, |due| due.save = true);
        }
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopping.is_some()
            && self.schedule.is_idle()
            && !self.discovery.is_identifying()
            && !self.model_queue.is_running()
    }
}

/// Sends a reply.
pub(super) fn answer<T>(reply: oneshot::Sender<T>, value: T) {
    // The caller may have gone away.
    let _ = reply.send(value);
}
