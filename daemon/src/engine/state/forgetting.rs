//! Sessions that are being forgotten.
//!
//! A session is hidden as soon as a user requests to forget it. The session is removed when no job
//! and no request to a model uses it, so that none of its data are written after its removal.

use std::collections::BTreeSet;

use tokio::sync::oneshot;

use super::{EngineEffect, EngineState};
use crate::{
    engine::EngineError,
    model::{SessionKey, Timestamp},
    session::SessionEvent,
};

#[derive(Default)]
pub(super) struct Forgetting {
    sessions: BTreeSet<SessionKey>,
    waiting: Vec<ForgetWaiter>,
}

/// A caller that waits until no job and no request to a model uses the sessions.
struct ForgetWaiter {
    sessions: BTreeSet<SessionKey>,
    reply: oneshot::Sender<()>,
}

impl Forgetting {
    pub(super) fn has(&self, session: SessionKey) -> bool {
        self.sessions.contains(&session)
    }
}

impl EngineState {
    /// Stops tracking sessions that will be removed, and replies when no job and no request to a
    /// model uses them.
    pub(super) fn release(&mut self, sessions: Vec<SessionKey>, reply: oneshot::Sender<()>) {
        let known = sessions.iter().filter_map(|key| self.session(*key)).map(|session| session.id);
        let known = known.collect();
        self.effects.push(EngineEffect::ForgetCrashes(known));
        for session in &sessions {
            self.tracker.untrack(*session);
            self.schedule.forget(*session);
            self.source_states.forget(*session);
            self.message_counts.forget(*session);
            self.model_queue.forget(*session);
            for waiting in self.waiting.remove(session).into_iter().flatten() {
                self.reply(waiting, Err(EngineError::NoSuchSession));
            }
        }
        self.forgetting.sessions.extend(&sessions);
        self.forgetting
            .waiting
            .push(ForgetWaiter { sessions: sessions.into_iter().collect(), reply });
        self.reply_to_forgetting();
    }

    /// Handles the end of a removal. A session that is still in the store, because its removal
    /// failed, is tracked again, and its dropped work starts again. Its files are observed, because
    /// changes of the files may have been dropped, too.
    pub(super) fn release_ended(&mut self, sessions: &[SessionKey], now: Timestamp) {
        for key in sessions {
            self.forgetting.sessions.remove(key);
            if let Some(session) = self.session(*key) {
                self.tracker.track(session);
                self.session_event(*key, SessionEvent::Restarted, now);
                match self.view.sources_of(*key) {
                    Ok(sources) => {
                        let paths = sources.into_iter().map(|source| source.path.into());
                        self.observe_files(paths.collect());
                    }
                    Err(error) => self.note_problem(error.to_string()),
                }
                self.restore_reread(*key);
            } else {
                self.drop_reread(*key);
            }
        }
    }

    /// Replies to the callers whose sessions are no longer used.
    pub(super) fn reply_to_forgetting(&mut self) {
        let busy: Vec<SessionKey> = self
            .forgetting
            .sessions
            .iter()
            .copied()
            .filter(|session| {
                self.schedule.is_running(*session) || self.model_queue.is_asking(*session)
            })
            .collect();
        let is_free =
            |waiting: &mut ForgetWaiter| !busy.iter().any(|busy| waiting.sessions.contains(busy));
        let free: Vec<ForgetWaiter> = self.forgetting.waiting.extract_if(.., is_free).collect();
        free.into_iter().for_each(|waiter| self.reply(waiter.reply, ()));
    }
}
