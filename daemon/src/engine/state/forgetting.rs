//! Forgetting: sessions that are to go, once nothing works on them any more.
//!
//! From the moment that it is asked for, a session is not there for anyone. Jobs in hand end
//! first, so that none of them writes something of it afterwards.

use std::collections::BTreeSet;

use tokio::sync::oneshot;

use super::EngineState;
use crate::{
    engine::EngineError,
    model::{SessionKey, session::Session},
};

/// Sessions that are being forgotten.
#[derive(Default)]
pub(super) struct Forgetting {
    sessions: BTreeSet<SessionKey>,
    waiting: Vec<ForgetWaiter>,
}

/// Someone who waits until nothing works on some sessions.
struct ForgetWaiter {
    sessions: BTreeSet<SessionKey>,
    reply: oneshot::Sender<()>,
}

impl Forgetting {
    /// Whether a session is going.
    pub(super) fn has(&self, session: SessionKey) -> bool {
        self.sessions.contains(&session)
    }
}

impl EngineState {
    /// Lets go of sessions, and replies when nothing works on them.
    pub(super) fn let_go(&mut self, sessions: Vec<SessionKey>, reply: oneshot::Sender<()>) {
        for session in &sessions {
            if let Some(session) = self.session(*session) {
                self.reader.crash_tracker.forget(&session.id);
            }
            self.tracker.release(*session);
            self.schedule.forget(*session);
            self.states.forget(*session);
            self.asks.forget(*session);
            for waiting in self.waiting.remove(session).into_iter().flatten() {
                drop(waiting.send(Err(EngineError::NoSuchSession)));
            }
        }
        self.forgetting.sessions.extend(&sessions);
        self.forgetting
            .waiting
            .push(ForgetWaiter { sessions: sessions.into_iter().collect(), reply });
        self.reply_to_forgetting();
    }

    /// They are gone, or stay after all: then they are held again.
    pub(super) fn let_go_ended(&mut self, sessions: &[SessionKey]) {
        for key in sessions {
            self.forgetting.sessions.remove(key);
            if let Ok(Some(session)) = self.engine.store.session(*key) {
                self.tracker.hold(session);
            }
        }
    }

    /// Tells those who wait that nothing works on their sessions, as far as that is so.
    pub(super) fn reply_to_forgetting(&mut self) {
        let busy: Vec<SessionKey> = self
            .forgetting
            .sessions
            .iter()
            .copied()
            .filter(|session| self.schedule.is_running(*session) || self.asks.is_asking(*session))
            .collect();
        let is_free =
            |waiting: &mut ForgetWaiter| !busy.iter().any(|busy| waiting.sessions.contains(busy));
        for free in self.forgetting.waiting.extract_if(.., is_free) {
            let _ = free.reply.send(());
        }
    }

    /// Whether a session is there for anyone.
    pub(super) fn is_there(&self, session: &Session) -> bool {
        !self.forgetting.has(session.key)
    }
}
