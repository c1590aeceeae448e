//! Changes the states of sessions, and saves the sessions.

use super::{EngineEffect, EngineState};
use crate::{
    engine::{figures, new_episode::NewEpisode, schedule::Queue},
    model::{
        CloseReason, EpisodeId, SessionKey, Timestamp,
        session::{Session, State as SessionState},
    },
    session::SessionEvent,
    store::{StoreError, Write},
};

impl EngineState {
    /// Restarts the jobs that were running when the last run ended.
    pub(super) fn resume_jobs(&mut self, now: Timestamp) {
        let interrupted = self.keys(|session| matches!(session.state, SessionState::Indexing(_)));
        for session in interrupted {
            self.session_event(session, SessionEvent::Restarted, now);
        }
    }

    pub(super) fn handle_due_deadlines(&mut self, now: Timestamp) {
        let unreadable = self.unreadable.take_due(now);
        self.observe_files(unreadable);
        self.retry_rereads(now);
        let due = self.tracker.due(now);
        if !due.is_empty() {
            self.request_agent_observation(due);
        }
    }

    /// Applies `event` to a session and returns the new session; `None` when there is no such
    /// session.
    pub(super) fn session_event(
        &mut self,
        key: SessionKey,
        event: SessionEvent,
        now: Timestamp,
    ) -> Option<Session> {
        let session = self.session(key)?;
        Some(self.apply_event(&session, event, now))
    }

    /// Applies `event` to `session`. Saves the session if its state changed, and schedules the
    /// resulting work.
    pub(super) fn apply_event(
        &mut self,
        session: &Session,
        event: SessionEvent,
        now: Timestamp,
    ) -> Session {
        self.apply_event_with_episode(session, event, None, now)
    }

    /// Like [`EngineState::apply_event`]. Stores the session's new episode in the same list of
    /// writes, so that the new episode replaces the old one atomically.
    pub(super) fn apply_event_with_episode(
        &mut self,
        session: &Session,
        event: SessionEvent,
        made: Option<Box<NewEpisode>>,
        now: Timestamp,
    ) -> Session {
        let (key, before) = (session.key, session.state.clone());
        let change = self.tracker.handle(session, event, now);
        let after = change.session;
        if after.state != before {
            tracing::debug!(
                session = %after.id,
                from = before.as_str(),
                to = after.state.as_str(),
                "session state"
            );
            let is_made = made.is_some();
            self.model_queue.abandoned.episode_changed(key);
            let figures = made.as_ref().and_then(|made| made.figures.clone());
            let mut writes = made.map_or_else(Vec::new, |made| writes_of(*made));
            writes.push(Write::Session(Box::new(after.clone())));
            writes.extend(figures.and_then(|figures| figures::note_of(&after, figures)));
            self.effects.extend(is_made.then_some(EngineEffect::FaultPoint("job: made")));
            self.effects.push(EngineEffect::Write(writes));
            self.effects.extend(is_made.then_some(EngineEffect::FaultPoint("job: queued")));
            if after.state == SessionState::Inactive {
                self.schedule.add(key, Queue::Live, |due| due.save = true);
            }
        }
        if let Some(reason) = change.start {
            let queue = match reason {
                CloseReason::HistorySync => Queue::History,
                _ => Queue::Live,
            };
            self.schedule.add(key, queue, |due| due.index = Some(reason));
        }
        after
    }

    /// Returns a session, unless it is being forgotten.
    pub(super) fn try_session(&self, key: SessionKey) -> Result<Option<Session>, StoreError> {
        let session = match self.tracker.get(key) {
            Some(session) => Some(session.clone()),
            None => self.stored_session(key)?,
        };
        Ok(session.filter(|session| !self.forgetting.has(session.key)))
    }

    /// Like [`EngineState::try_session`], for work without a waiting caller: a session that cannot
    /// be read is logged and skipped.
    pub(super) fn session(&self, key: SessionKey) -> Option<Session> {
        self.try_session(key).unwrap_or_else(|error| {
            tracing::warn!(%error, session = key.0, "failed to read a session");
            None
        })
    }

    /// Saves a session without waiting. If the session has to be on disk, the caller waits for a
    /// later write, because writes are applied in order.
    pub(super) fn save_session(&mut self, session: Session) {
        self.effects.push(EngineEffect::Write(vec![Write::Session(Box::new(session))]));
    }

    /// Returns a session as it will be in the store after the effects so far.
    pub(super) fn stored_session(&self, key: SessionKey) -> Result<Option<Session>, StoreError> {
        let queued = self.queued_writes().rev().find_map(|write| match write {
            Write::Session(session) if session.key == key => Some(session.as_ref().clone()),
            _ => None,
        });
        queued.map_or_else(|| self.view.session(key), |session| Ok(Some(session)))
    }

    /// Whether the store will have an episode after the effects so far.
    pub(super) fn has_episode(&self, id: EpisodeId) -> bool {
        let is_queued = |write: &Write| matches!(write, Write::Episode(made) if made.id == id);
        self.queued_writes().any(is_queued) || matches!(self.view.episode(id), Ok(Some(_)))
    }

    fn queued_writes(&self) -> impl DoubleEndedIterator<Item = &Write> {
        self.effects.iter().flat_map(|effect| match effect {
            EngineEffect::Write(writes) => writes.as_slice(),
            _ => &[],
        })
    }

    /// Returns the keys of the live sessions for which `wanted` holds.
    pub(super) fn keys(&self, wanted: impl Fn(&Session) -> bool) -> Vec<SessionKey> {
        self.tracker.iter().filter(|session| wanted(session)).map(|session| session.key).collect()
    }
}

/// Returns the writes that store an episode.
pub(super) fn writes_of(made: NewEpisode) -> Vec<Write> {
    let NewEpisode { episode, statements, figures: _ } = made;
    let id = episode.id;
    let statements = Write::Statements { episode: id, statements: Box::new(statements) };
    vec![Write::Episode(Box::new(episode)), statements]
}
