//! Sessions whose requests to the model failed and are not repeated, so that they have no summary
//! by the model.

use std::{cell::Cell, collections::BTreeMap};

use super::{EngineEffect, EngineState};
use crate::{
    engine::model_queue::queued::{self, AbandonedQuestion},
    llm::error::Error,
    model::{SessionKey, episode::Author, session::Session},
};

#[derive(Default)]
pub(super) struct AbandonedQuestions {
    questions: BTreeMap<SessionKey, AbandonedQuestion>,
    /// The number of sessions in `questions` that still lack the summary by the model; `None` after
    /// a change. The number is cached, so that the status need not read all these sessions. If an
    /// episode is evicted or deleted, its session is counted until the sessions are listed.
    count: Cell<Option<AbandonedCount>>,
}

#[derive(Clone, Copy, Default)]
struct AbandonedCount {
    sessions: usize,
    last: Option<SessionKey>,
}

impl AbandonedQuestions {
    pub(super) fn new(questions: Vec<(SessionKey, AbandonedQuestion)>) -> AbandonedQuestions {
        AbandonedQuestions { questions: questions.into_iter().collect(), count: Cell::default() }
    }

    /// Removes a session. Returns whether its question had been abandoned.
    pub(super) fn remove(&mut self, session: SessionKey) -> bool {
        let was_abandoned = self.questions.remove(&session).is_some();
        if was_abandoned {
            self.count.set(None);
        }
        was_abandoned
    }

    /// Notes that an episode of a session is replaced.
    pub(super) fn episode_changed(&self, session: SessionKey) {
        if self.questions.contains_key(&session) {
            self.count.set(None);
        }
    }
}

impl EngineState {
    /// Returns the sessions whose summary the model did not write, and counts them again.
    pub(super) fn abandoned(&self) -> Vec<SessionKey> {
        let AbandonedQuestions { questions, count } = &self.model_queue.abandoned;
        let lacks_summary = |key: &SessionKey| {
            self.session(*key).is_some_and(|session| self.has_evidence_episode(&session))
        };
        let found: Vec<SessionKey> = questions.keys().copied().filter(lacks_summary).collect();
        count.set(Some(AbandonedCount { sessions: found.len(), last: found.last().copied() }));
        found
    }

    /// Returns the number of sessions whose summary the model did not write, and the error of the
    /// last of these sessions.
    pub(super) fn abandoned_status(&self) -> (usize, Option<String>) {
        let AbandonedQuestions { questions, count } = &self.model_queue.abandoned;
        if count.get().is_none() {
            self.abandoned();
        }
        let AbandonedCount { sessions, last } = count.get().unwrap_or_default();
        let last = last.and_then(|key| questions.get(&key));
        (sessions, last.map(|question| question.error.clone()))
    }

    pub(super) fn has_evidence_episode(&self, session: &Session) -> bool {
        let Some(indexed) = &session.indexed else { return false };
        let episode = self.view.episode(indexed.episode);
        episode.is_ok_and(|episode| episode.is_some_and(|one| one.author == Author::Evidence))
    }

    /// Records that the model did not write the summary of a session and is not asked again.
    pub(super) fn abandon(&mut self, session: SessionKey, error: &Error) {
        if *error == Error::Off || !self.settings.summarizer.writes_summaries() {
            return;
        }
        let question = AbandonedQuestion { error: error.to_string() };
        if self.settings.summarizer.resilience.persist_to_disk {
            let write = queued::abandoned(session, &question);
            self.effects.push(EngineEffect::Write(vec![write]));
        }
        let abandoned = &mut self.model_queue.abandoned;
        abandoned.questions.insert(session, question);
        abandoned.count.set(None);
    }
}
