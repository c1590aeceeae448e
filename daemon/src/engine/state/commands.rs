//! Handles the commands of other modules.

use std::collections::HashSet;

use tokio::sync::oneshot;

use super::{EngineEffect, EngineState, SettleWaiter};
use crate::{
    engine::{
        CloseOutcome, Closed, EngineError, PendingEpisode, RequestedEpisodes, Scope, Settings,
        Status, TranscriptFolders, backfill::BackfillContext, command::EngineCommand,
        schedule::Queue,
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
            EngineCommand::CloseAgain { session, reply } => self.close_again(session, reply, now),
            EngineCommand::Abandoned(reply) => self.reply(reply, self.abandoned()),
            EngineCommand::CloseLater { session, reason, reply } => {
                self.close_later(session, reason, reply, now);
            }
            EngineCommand::RequestEpisodes { scope, reply } => {
                let pending = self.request_episodes(&scope, now);
                self.reply(reply, pending);
            }
            EngineCommand::Live(reply) => self.reply(reply, self.tracker.iter().cloned().collect()),
            EngineCommand::Running(reply) => {
                self.reply(reply, self.agents.iter().cloned().collect());
            }
            EngineCommand::AgentRuns(running) => self.agent_runs(running, now),
            EngineCommand::AgentEnded(session) => self.agent_ended(&session, now),
            EngineCommand::OpenSources(reply) => {
                self.reply(reply, self.source_states.sources().cloned().collect());
            }
            EngineCommand::BackfillContext(reply) => self.backfills.push(reply),
            EngineCommand::Status(reply) => self.reply(reply, self.status()),
            EngineCommand::Pending { session, reply } => {
                let pending = self.pending(session, now);
                self.reply(reply, pending);
            }
            EngineCommand::Summarizer(reply) => self.reply(reply, self.settings.summarizer.clone()),
            EngineCommand::Settle { until_no_timeouts, reply } => {
                self.settle(until_no_timeouts, reply);
            }
            EngineCommand::RequestSummary { session, reply } => {
                self.request_summary(session, reply, now);
            }
            EngineCommand::PendingSummaries { scope, reply } => {
                self.reply(reply, self.pending_summaries(&scope, now));
            }
            EngineCommand::Release { sessions, reply } => self.release(sessions, reply),
            EngineCommand::ReleaseEnded { sessions, reply } => {
                self.release_ended(&sessions, now);
                self.reply(reply, ());
            }
            EngineCommand::PermitRemake { session, episode, reply } => {
                self.permit_remake(session, episode, reply, now);
            }
            EngineCommand::StoreRemade { made, reply } => {
                let is_stored = self.store_remade(*made);
                self.reply(reply, is_stored);
            }
            EngineCommand::NoteProblem(problem) => self.note_problem(problem),
            EngineCommand::Reload { settings, folders, reply } => {
                self.reload(*settings, folders, now);
                self.reply(reply, ());
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
            Ok(Some(closed)) => self.reply(reply, Ok(closed)),
            Err(error) => self.reply(reply, Err(error)),
        }
    }

    /// Closes a session, and creates its episode even if the session did not change.
    fn close_again(&mut self, session: SessionKey, reply: CloseReply, now: Timestamp) {
        self.close(session, CloseReason::Explicit(None), reply, now);
        self.schedule.add(session, Queue::Live, |due| due.again = true);
    }

    fn close_later(
        &mut self,
        session: SessionKey,
        reason: CloseReason,
        reply: oneshot::Sender<Result<(), EngineError>>,
        now: Timestamp,
    ) {
        match self.record_close(session, reason, now) {
            Ok(()) => self.reply_when_saved(reply),
            Err(error) => self.reply(reply, Err(error)),
        }
    }

    /// Begins to close a session. Returns the result if the close needs no job.
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
        self.view.check_writable()?;
        if reason.is_requested() {
            self.lift_quarantine(&session, now);
        }
        self.apply_event(&session, SessionEvent::CloseRequested(reason), now);
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
            self.apply_event(&session, SessionEvent::CloseRequested(reason), now);
        }
        Ok(())
    }

    /// Returns the episode of a session without a transcript on this machine.
    fn imported_episode(&self, session: &Session) -> Result<Option<EpisodeId>, StoreError> {
        let Some(indexed) = &session.indexed else { return Ok(None) };
        let has_transcript = !self.view.sources_of(session.key)?.is_empty();
        Ok((!has_transcript).then_some(indexed.episode))
    }

    /// Allows one more attempt for a quarantined session, because a caller requested it.
    fn lift_quarantine(&mut self, session: &Session, now: Timestamp) {
        self.schedule.test_now(session.key, now);
        self.effects.push(EngineEffect::LiftQuarantine(session.id.clone()));
    }

    /// Replies when all writes so far are durable.
    fn reply_when_saved(&mut self, reply: oneshot::Sender<Result<(), EngineError>>) {
        self.effects.push(EngineEffect::ReplyWhenSaved(Box::new(move |saved| {
            fault::point("close: recorded");
            answer(reply, saved.map(drop).map_err(EngineError::from));
        })));
    }

    fn settle(&mut self, until_no_timeouts: bool, reply: oneshot::Sender<()>) {
        let unreadable = self.unreadable.take();
        self.observe_files(unreadable);
        self.request_agent_observation(Vec::new());
        self.effects.push(EngineEffect::Rescan { until_no_timeouts, reply });
    }

    fn reload(&mut self, settings: Settings, folders: TranscriptFolders, now: Timestamp) {
        self.tracker.set_config(settings.session);
        let has_other_formats = settings.parse_context.formats != *self.formats();
        // The first scan of new watches also reports files that the earlier settings excluded.
        let has_other_limits = settings.excluded != self.settings.excluded
            || settings.max_age != self.settings.max_age;
        self.settings = settings;
        self.summarizer_changed(now);
        if has_other_formats {
            self.effects.push(EngineEffect::FindOutdated);
        }
        if has_other_formats || has_other_limits || folders.roots != self.folders.roots {
            self.folders = folders;
            self.start_watches();
        }
    }

    fn backfill_context(&self) -> BackfillContext {
        BackfillContext {
            live: self.tracker.iter().cloned().collect(),
            formats: self.formats().clone(),
            roots: self.folders.roots.clone(),
            excluded: self.settings.excluded.clone(),
            forgotten: self.view.forgotten(),
            makes_episodes: self.settings.parse_context.makes_episodes,
        }
    }

    /// Requests the missing episodes of the latest sessions in `scope` that are no longer active.
    /// If there are more history sessions than [`Scope::history_limit`], none of them is requested:
    /// the search could not wait for all of them, and their jobs would delay the import.
    fn request_episodes(&mut self, scope: &Scope, now: Timestamp) -> RequestedEpisodes {
        let mut requested = RequestedEpisodes { pending: Vec::new(), left_out: 0 };
        if self.view.check_writable().is_err() {
            return requested;
        }
        let is_history =
            |session: &Session| session.state == SessionState::Unindexed(Unindexed::History);
        let sessions = || self.tracker.iter().filter(|session| scope.has(session));
        let history = sessions().filter(|session| is_history(session)).count();
        if scope.history_limit.is_some_and(|limit| history > limit) {
            requested.left_out = history;
        }
        let due = sessions().filter(|session| requested.left_out == 0 || !is_history(session));
        let mut due: Vec<(Timestamp, SessionKey)> =
            due.map(|session| (session.last_activity, session.key)).collect();
        due.sort_unstable_by(|a, b| b.cmp(a));
        for (_, session) in due {
            if requested.pending.len() == scope.limit {
                break;
            }
            let after = self.session_event(session, SessionEvent::Needed, now);
            if after.is_some_and(|after| matches!(after.state, SessionState::Indexing(_))) {
                let (reply, done) = oneshot::channel();
                self.waiting.entry(session).or_default().push(reply);
                requested.pending.push(PendingEpisode { session, done });
            }
        }
        requested
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
            unread: self.keys(|one| one.content.is_none() && self.schedule.has_work(one.key)).len(),
            unidentified: self.discovery.len() + self.registering,
            jobs: self.schedule.running(),
            scanned: self.scanned,
            mode: self.mode,
            bytes_read: self.view.bytes_read(),
            problems: self.problems.iter().cloned().collect(),
            model: self.model_status(),
        }
    }

    /// If the engine has settled, replies to the callers that wait for this. The reply is sent when
    /// all writes are durable and in the search index.
    pub(super) fn reply_to_settling(&mut self, now: Timestamp) {
        if self.settling.is_empty() || self.is_busy() || self.has_due_questions(now) {
            return;
        }
        let has_no_timeouts = self.tracker.next_deadline().is_none();
        let rescanned = self.rescanned;
        let is_done = |waiter: &mut SettleWaiter| {
            waiter.scan <= rescanned && (has_no_timeouts || !waiter.until_no_timeouts)
        };
        let done = self.settling.extract_if(.., is_done);
        self.effects.extend(done.map(|waiter| EngineEffect::ReplyWhenFound(waiter.reply)));
    }

    /// Replies to the callers that search for old sessions, as soon as all existing files are
    /// known. An earlier reply would miss a file that is being registered: when the caller
    /// searches, the store may have the file, but the live sessions in the reply do not include its
    /// session.
    pub(super) fn reply_to_backfills(&mut self) {
        if !self.knows_all_files() {
            return;
        }
        for reply in std::mem::take(&mut self.backfills) {
            self.reply(reply, self.backfill_context());
        }
    }

    /// Whether the first scan is complete and all files that it found are registered.
    pub(super) fn knows_all_files(&self) -> bool {
        self.scanned && self.discovery.is_empty()
    }

    pub(super) fn is_busy(&self) -> bool {
        !self.knows_all_files()
            || !self.schedule.is_idle()
            || self.tracker.newest_history().is_some() && self.view.check_writable().is_ok()
    }

    /// Begins to stop: no new work starts, running jobs end, and the file states in memory are
    /// saved.
    fn stop(&mut self, reply: oneshot::Sender<()>) {
        self.stopping = Some(reply);
        self.effects.push(EngineEffect::StopWork);
        self.discovery.stop();
        self.schedule.clear();
        self.waiting.clear();
        self.backfills.clear();
        self.settling.clear();
        let unsaved: HashSet<SessionKey> = self.source_states.unsaved().into_iter().collect();
        for session in unsaved {
            self.schedule.add(session, Queue::Live, |due| due.save = true);
        }
    }

    /// Whether all work has ended after [`EngineState::stop`].
    pub(in crate::engine) fn is_stopped(&self) -> bool {
        self.stopping.is_some()
            && self.schedule.is_idle()
            && !self.discovery.is_identifying()
            && !self.model_queue.is_running()
    }
}

pub(in crate::engine) fn answer<T>(reply: oneshot::Sender<T>, value: T) {
    // The caller may have disconnected.
    let _ = reply.send(value);
}
