//! Answers to those who ask.

use std::{collections::HashSet, sync::atomic::Ordering};

use tokio::sync::oneshot;

use super::{EngineState, SettleWaiter};
use crate::{
    capture::watch::Watch,
    engine::{
        CloseOutcome, Closed, EngineError, PendingEpisode, Scope, Status,
        backfill::BackfillContext, command::Command, schedule::Queue,
    },
    fault,
    model::{
        EpisodeId, SessionKey, Timestamp,
        session::{State as SessionState, Unindexed},
    },
    session::SessionEvent,
};

impl EngineState {
    pub(super) fn answer(&mut self, ask: Command, now: Timestamp) {
        match ask {
            Command::Close { session, reply, .. }
                if let Some(episode) = self.episode_of_elsewhere(session) =>
            {
                let (episode, how) = (Some(episode), CloseOutcome::Unchanged);
                drop(reply.send(Ok(Closed { session, episode, how, position: 0 })));
            }
            Command::Close { reply, .. } if let Err(error) = self.engine.has_room() => {
                drop(reply.send(Err(error)));
            }
            Command::Close { session, reason, reply } => {
                if reason.is_asked() {
                    self.try_again(session, now);
                }
                match self.session_event(session, SessionEvent::CloseAsked(reason), now) {
                    Some(_) => self.waiting.entry(session).or_default().push(reply),
                    None => drop(reply.send(Err(EngineError::NoSuchSession))),
                }
            }
            Command::CloseLater { session, reply, .. }
                if self.episode_of_elsewhere(session).is_some() =>
            {
                drop(reply.send(Ok(())));
            }
            Command::CloseLater { session, reason, reply } => {
                match self.session_event(session, SessionEvent::CloseAsked(reason), now) {
                    Some(_) => self.reply_when_saved(reply),
                    None => drop(reply.send(Err(EngineError::NoSuchSession))),
                }
            }
            Command::Need { scope, reply } => drop(reply.send(self.need(&scope, now))),
            Command::Live(reply) => drop(reply.send(self.tracker.iter().cloned().collect())),
            Command::Running(reply) => drop(reply.send(self.agents.iter().cloned().collect())),
            Command::AgentRuns(running) => self.agent_runs(running),
            Command::AgentLeft(session) => self.agent_left(&session, now),
            Command::AtHand(reply) => drop(reply.send(self.states.sources().cloned().collect())),
            Command::Known(reply) => drop(reply.send(BackfillContext {
                live: self.tracker.iter().cloned().collect(),
                roots: self.places.roots.clone(),
                excluded: self.settings.excluded.clone(),
                forgotten: self.reader.forgotten.clone(),
            })),
            Command::Status(reply) => drop(reply.send(self.status())),
            Command::PendingAnswer { session, reply } => {
                drop(reply.send(self.pending(session, now)))
            }
            Command::Summarizer(reply) => drop(reply.send(self.settings.summarizer.clone())),
            Command::Settled { sessions, reply } => {
                let unreadable = self.unreadable.take();
                self.files_changed(unreadable, now);
                self.look_for_agents(now);
                let scans = self.watches.iter().map(Watch::rescan);
                let scan = scans.max().unwrap_or(0);
                self.settling.push(SettleWaiter { sessions, scan, reply });
            }
            Command::Summarise { session, reply } => self.summarise(session, reply, now),
            Command::Asking { scope, reply } => drop(reply.send(self.asking(&scope, now))),
            Command::EvictionStats { sessions, reply } => self.let_go(sessions, reply),
            Command::LetGoEnded { sessions, reply } => {
                self.let_go_ended(&sessions);
                let _ = reply.send(());
            }
            Command::NoteProblem(problem) => self.note_problem(problem),
            Command::Reload(settings, reply) => {
                let (settings, places) = *settings;
                self.tracker.set_config(settings.session);
                self.settings = settings;
                self.another_asker(now);
                if places.roots != self.places.roots {
                    self.places = places;
                    self.end_watches();
                    self.start_watches();
                }
                let _ = reply.send(());
            }
            Command::Stop(reply) => self.stop(reply),
        }
    }

    /// The episode of a session that has no transcript here, and nothing to be made of it.
    fn episode_of_elsewhere(&self, session: SessionKey) -> Option<EpisodeId> {
        let indexed = self.session(session)?.indexed?;
        let sources = self.engine.store.sources_of(session);
        sources.is_ok_and(|sources| sources.is_empty()).then_some(indexed.episode)
    }

    /// Someone asks for a session, though it may be left alone.
    fn try_again(&mut self, session: SessionKey, now: Timestamp) {
        self.schedule.test_now(session, now);
        if let Some(session) = self.session(session) {
            self.reader.crash_tracker.try_again(&session.id);
        }
    }

    /// Replies when everything saved so far would survive a power cut.
    fn reply_when_saved(&self, reply: oneshot::Sender<Result<(), EngineError>>) {
        // Writes are applied in order: behind an empty list all earlier ones are safe.
        let saved = self.engine.store.write(Vec::new());
        tokio::spawn(async move {
            let saved = saved.done().await.map(drop);
            fault::point("close: taken down");
            drop(reply.send(saved.map_err(|error| EngineError::Failed(error.to_string()))));
        });
    }

    /// Starts the jobs that a search needs, the most recently written sessions first.
    fn need(&mut self, scope: &Scope, now: Timestamp) -> Vec<PendingEpisode> {
        if self.engine.has_room().is_err() {
            return Vec::new();
        }
        let sessions = self.tracker.iter().filter(|session| scope.has(session));
        let mut sessions: Vec<(Timestamp, SessionKey)> =
            sessions.map(|session| (session.last_activity, session.key)).collect();
        sessions.sort_unstable_by(|a, b| b.cmp(a));
        let mut needed = Vec::new();
        for (_, key) in sessions {
            if needed.len() == scope.limit {
                break;
            }
            let after = self.session_event(key, SessionEvent::Needed, now);
            if after.is_some_and(|after| matches!(after.state, SessionState::Indexing(_))) {
                let (reply, done) = oneshot::channel();
                self.waiting.entry(key).or_default().push(reply);
                needed.push(PendingEpisode { session: key, done });
            }
        }
        needed
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

    /// Replies to those who wait for everything to be done, if it is; as soon as it is on disk and
    /// in the index, too.
    pub(super) fn reply_to_settling(&mut self, now: Timestamp) {
        if self.settling.is_empty() || self.is_busy() || self.asks_now(now) {
            return;
        }
        let all_over = self.tracker.next_deadline().is_none();
        let rescanned = self.rescanned;
        let is_done = |settling: &mut SettleWaiter| {
            settling.scan <= rescanned && (all_over || !settling.sessions)
        };
        for done in self.settling.extract_if(.., is_done) {
            // Writes are applied in order: behind an empty list all earlier ones are there.
            let saved = self.engine.store.write(Vec::new());
            let engine = self.engine.clone();
            tokio::spawn(async move {
                // A database that takes nothing has nothing more to be found.
                if let Ok(position) = saved.done().await
                    && engine.until_followed(position).await.is_err()
                {
                    return;
                }
                let _ = done.reply.send(());
            });
        }
    }

    fn is_busy(&self) -> bool {
        !self.scanned
            || !self.discovery.is_empty()
            || !self.schedule.is_idle()
            || self.tracker.newest_history().is_some() && self.engine.has_room().is_ok()
    }

    /// Takes nothing in any more. Jobs in hand come to an end, and the states at hand are saved.
    fn stop(&mut self, reply: oneshot::Sender<()>) {
        self.stopping = Some(reply);
        self.reader.stop.store(true, Ordering::Relaxed);
        self.discovery.stop();
        self.schedule.clear();
        self.waiting.clear();
        self.settings.summarizer.client.stop();
        self.end_watches();
        let unsaved: HashSet<SessionKey> = self.states.unsaved().into_iter().collect();
        for session in unsaved {
            self.schedule.add(session, Queue::Live, |due| due.save = true);
        }
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopping.is_some()
            && self.schedule.is_idle()
            && !self.discovery.is_identifying()
            && !self.asks.is_running()
    }
}
