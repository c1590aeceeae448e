//! The queue of sessions that wait for a model.
//!
//! An episode is stored before a request about it is sent. The queue is saved if `persist_to_disk`
//! is set. When a session is due, a job prepares the question, and a task of the executor sends the
//! requests. The answer becomes part of the episode, unless the session has got a new episode
//! meanwhile.

use std::collections::{BTreeMap, HashMap, HashSet};

use tokio::sync::oneshot;

use super::{
    EngineEffect, EngineState, abandoned::AbandonedQuestions, answer, sessions::writes_of,
};
use crate::{
    engine::{
        command::{EngineError, ModelStatus, PendingAnswer, Scope},
        job_result::GatherOutcome,
        model_queue::{
            SummarizeOutcome,
            queued::{self, QueuedQuestion},
        },
        schedule::Queue,
    },
    llm::{
        error::{Error, Retry},
        resilience::{self, Plan},
    },
    model::{CloseReason, EpisodeId, SessionKey, Timestamp, session::Session},
    store::{Store, StoreError},
};

/// The sessions that wait for a model.
#[derive(Default)]
pub(super) struct ModelQueue {
    awaiting: BTreeMap<SessionKey, QueuedQuestion>,
    pub(super) abandoned: AbandonedQuestions,
    /// Sessions whose question is being prepared by a job.
    gathering: HashSet<SessionKey>,
    /// Sessions with running requests to a model.
    running: HashSet<SessionKey>,
    waiting: HashMap<SessionKey, Vec<oneshot::Sender<Result<(), EngineError>>>>,
    /// The last failure for which no caller waited. The caller that closed the session may still
    /// request the result.
    failed: Option<(SessionKey, EngineError)>,
    /// The number of the summarizer. A reload replaces the summarizer. If a request of an earlier
    /// summarizer fails after the reload, its session is queued again.
    generation: u64,
}

/// The outcome of a question.
pub(in crate::engine) struct ModelAnswer {
    pub(in crate::engine) session: SessionKey,
    /// The episode that the question is about.
    pub(in crate::engine) episode: EpisodeId,
    pub(in crate::engine) end: SummarizeOutcome,
    /// The generation of the summarizer that sent the requests.
    pub(in crate::engine) generation: u64,
}

impl ModelQueue {
    pub(super) fn load(store: &dyn Store) -> Result<ModelQueue, StoreError> {
        let saved = queued::load(store)?;
        Ok(ModelQueue {
            awaiting: saved.queued.into_iter().collect(),
            abandoned: AbandonedQuestions::new(saved.abandoned),
            ..ModelQueue::default()
        })
    }

    /// Returns when the next session is due.
    fn next_due(&self) -> Option<Timestamp> {
        self.idle().map(|(_, awaiting)| awaiting.due).min()
    }

    /// Returns the queued sessions without a running job or a running request.
    fn idle(&self) -> impl Iterator<Item = (SessionKey, &QueuedQuestion)> {
        let is_idle =
            |key: &SessionKey| !self.gathering.contains(key) && !self.running.contains(key);
        self.awaiting.iter().filter(move |(key, _)| is_idle(key)).map(|(key, one)| (*key, one))
    }

    /// Removes a session. A running request continues.
    pub(super) fn forget(&mut self, session: SessionKey) {
        self.awaiting.remove(&session);
        self.abandoned.remove(session);
        self.gathering.remove(&session);
        self.waiting.remove(&session);
    }

    /// Whether a request about a session is running.
    pub(super) fn is_asking(&self, session: SessionKey) -> bool {
        self.running.contains(&session)
    }

    pub(super) fn is_running(&self) -> bool {
        !self.running.is_empty()
    }
}

impl EngineState {
    /// Whether a request is running, is being prepared or is due.
    pub(super) fn has_due_questions(&self, now: Timestamp) -> bool {
        let is_due = || self.model_queue.next_due().is_some_and(|due| due <= now);
        !self.model_queue.running.is_empty()
            || !self.model_queue.gathering.is_empty()
            || self.settings.summarizer.is_on() && is_due()
    }

    /// Returns when the next question is due; `None` if no question waits, the model is off, or the
    /// limit of concurrent requests is reached.
    pub(super) fn next_question(&self) -> Option<Timestamp> {
        let summarizer = &self.settings.summarizer;
        let has_capacity = self.model_queue.gathering.len() + self.model_queue.running.len()
            < summarizer.concurrency;
        self.model_queue.next_due().filter(|_| summarizer.is_on() && has_capacity)
    }

    /// Starts to prepare the questions about due sessions, up to the limit of concurrent requests.
    pub(super) fn start_questions(&mut self, now: Timestamp) {
        if !self.settings.summarizer.is_on() {
            return;
        }
        let busy = self.model_queue.gathering.len() + self.model_queue.running.len();
        let free = self.settings.summarizer.concurrency.saturating_sub(busy);
        let due = self.model_queue.idle().filter(|(_, awaiting)| awaiting.due <= now);
        let due: Vec<SessionKey> = due.map(|(key, _)| key).take(free).collect();
        for session in due {
            self.model_queue.gathering.insert(session);
            self.schedule.add(session, Queue::Live, |due| due.gather = true);
        }
    }

    /// Queues a session that was closed with a new or an unchanged episode, if a request about it
    /// is needed. No requests are sent about history. If the session did not change and is not
    /// queued, counts the request as avoided.
    pub(super) fn queue_closed(
        &mut self,
        session: &Session,
        reason: &CloseReason,
        is_new: bool,
        now: Timestamp,
    ) {
        if !self.settings.summarizer.is_on() || *reason == CloseReason::HistorySync {
            return;
        }
        let key = session.key;
        let is_explicit = matches!(reason, CloseReason::Explicit(_));
        let is_known = self.model_queue.awaiting.contains_key(&key);
        let writes = self.settings.summarizer.writes_summaries();
        if is_new || is_explicit && (is_known || writes && self.has_evidence_episode(session)) {
            self.enqueue(key, QueuedQuestion { due: now, retried: 0, error: None });
        } else if !is_known && writes {
            let project = session.project.as_ref().map(crate::model::Project::namespace);
            self.effects.push(EngineEffect::CountAvoided(project));
        }
    }

    /// Handles the end of a job that prepared a question.
    pub(super) fn gathered(
        &mut self,
        session: SessionKey,
        gathered: GatherOutcome,
        now: Timestamp,
    ) {
        if matches!(gathered, GatherOutcome::NotRequested)
            || !self.model_queue.gathering.remove(&session)
            || self.stopping.is_some()
        {
            return;
        }
        match gathered {
            // Usually, the session has changed and is queued again at its next close, or a model
            // has already written the episode.
            GatherOutcome::NotRequested | GatherOutcome::Nothing => {
                self.finish_question(session, &Ok(()));
            }
            GatherOutcome::Question(question) => {
                self.model_queue.running.insert(session);
                self.effects.push(EngineEffect::Ask {
                    summarizer: self.settings.summarizer.clone(),
                    generation: self.model_queue.generation,
                    question,
                });
            }
            GatherOutcome::Failed(reason) => {
                self.question_failed(session, &Error::NotPrepared { reason }, now);
            }
        }
    }

    /// Handles the end of a job whose session was deleted or cannot be read. The question about a
    /// session that cannot be read is postponed, because it would be due again at once.
    pub(super) fn unknown_gathered(
        &mut self,
        session: SessionKey,
        gathered: GatherOutcome,
        now: Timestamp,
    ) {
        match gathered {
            GatherOutcome::Failed(_) => self.gathered(session, gathered, now),
            GatherOutcome::NotRequested | GatherOutcome::Nothing | GatherOutcome::Question(_) => {
                self.not_gathered(session);
            }
        }
    }

    /// Records that a job ended without preparing its question.
    pub(super) fn not_gathered(&mut self, session: SessionKey) {
        self.model_queue.gathering.remove(&session);
    }

    pub(super) fn model_answered(&mut self, answered: ModelAnswer, now: Timestamp) {
        let ModelAnswer { session: key, episode: asked_about, end, generation } = answered;
        self.model_queue.running.remove(&key);
        if self.stopping.is_some() {
            return;
        }
        let session = self.session(key);
        let indexed = session.as_ref().and_then(|session| session.indexed.as_ref());
        if indexed.is_none_or(|indexed| indexed.episode != asked_about) {
            // The session is being forgotten, or has a new episode. The question about a new
            // episode is queued separately.
            return;
        }
        match end {
            SummarizeOutcome::Made(made) => {
                self.remaking.take_if(|remaking| *remaking == key);
                // A user may have deleted the episode.
                if self.has_episode(asked_about) {
                    self.effects.push(EngineEffect::Write(writes_of(*made)));
                }
                self.finish_question(key, &Ok(()));
            }
            SummarizeOutcome::Nothing => self.finish_question(key, &Ok(())),
            SummarizeOutcome::Failed(_) if generation != self.model_queue.generation => {
                self.enqueue(key, QueuedQuestion { due: now, retried: 0, error: None });
            }
            SummarizeOutcome::Failed(error) => self.question_failed(key, &error, now),
        }
    }

    /// Queues a session whose episode was made from evidence. Replies when the model answered or
    /// the question was postponed, or at once if there is nothing to queue.
    pub(super) fn request_summary(
        &mut self,
        key: SessionKey,
        reply: oneshot::Sender<Result<(), EngineError>>,
        now: Timestamp,
    ) {
        let session = self.session(key).filter(|session| self.has_evidence_episode(session));
        if session.is_none() || !self.settings.summarizer.writes_summaries() {
            self.reply(reply, Ok(()));
            return;
        }
        self.enqueue(key, QueuedQuestion { due: now, retried: 0, error: None });
        self.model_queue.waiting.entry(key).or_default().push(reply);
    }

    /// Estimates the number of sessions in `scope` whose question to the model runs or is due.
    pub(super) fn pending_summaries(&self, scope: &Scope, now: Timestamp) -> usize {
        if !self.settings.summarizer.writes_summaries() {
            return 0;
        }
        let due = self.model_queue.awaiting.iter().filter(|(_, awaiting)| awaiting.due <= now);
        let keys: HashSet<SessionKey> =
            due.map(|(key, _)| *key).chain(self.model_queue.running.iter().copied()).collect();
        let sessions = keys.into_iter().filter_map(|key| self.session(key));
        sessions.filter(|session| scope.has(session)).count()
    }

    /// Handles the replacement of the summarizer: all postponed questions are due now.
    pub(super) fn summarizer_changed(&mut self, now: Timestamp) {
        self.model_queue.generation += 1;
        for awaiting in self.model_queue.awaiting.values_mut() {
            awaiting.due = awaiting.due.min(now);
        }
    }

    /// Limits the pauses of postponed questions, because later times may come from a clock that was
    /// ahead. If a question waits for a new budget, the client postpones it again without a
    /// request.
    pub(super) fn limit_pauses_of_questions(&mut self, now: Timestamp) {
        let delays = &self.settings.summarizer.resilience.retry_delays;
        let latest = now.plus(delays.iter().max().copied().unwrap_or_default());
        for awaiting in self.model_queue.awaiting.values_mut() {
            awaiting.due = awaiting.due.min(latest);
        }
    }

    /// Returns the pending answer about a session that a caller closed, with the time limit for the
    /// wait; `None` when the model is off.
    pub(super) fn pending(&mut self, session: SessionKey, now: Timestamp) -> Option<PendingAnswer> {
        let summarizer = self.settings.summarizer.clone();
        let is_running = self.model_queue.running.contains(&session)
            || self.model_queue.gathering.contains(&session);
        let is_due =
            self.model_queue.awaiting.get(&session).is_some_and(|awaiting| awaiting.due <= now);
        let done = (summarizer.is_on() && (is_running || is_due)).then(|| {
            let (reply, done) = oneshot::channel();
            self.model_queue.waiting.entry(session).or_default().push(reply);
            done
        });
        let done = done.or_else(|| {
            let (_, error) = self.model_queue.failed.take_if(|(failed, _)| *failed == session)?;
            let (reply, done) = oneshot::channel();
            answer(reply, Err(error));
            Some(done)
        });
        summarizer.is_on().then_some(PendingAnswer { done, patience: summarizer.close_timeout })
    }

    pub(super) fn model_status(&self) -> ModelStatus {
        let summarizer = &self.settings.summarizer;
        let (abandoned, abandoned_error) = self.abandoned_status();
        ModelStatus {
            is_on: summarizer.is_on(),
            writes_summaries: summarizer.writes_summaries(),
            awaiting: self.model_queue.awaiting.len(),
            next_attempt: self.next_question(),
            abandoned,
            abandoned_error,
            running_requests: self.model_queue.running.len(),
            outage: summarizer
                .client
                .outage()
                .filter(|_| summarizer.is_on())
                .map(|error| error.to_string()),
            last_error: self
                .model_queue
                .awaiting
                .values()
                .find_map(|awaiting| awaiting.error.clone()),
        }
    }

    fn question_failed(&mut self, session: SessionKey, error: &Error, now: Timestamp) {
        let before = self.model_queue.awaiting.get(&session).map_or(0, |awaiting| awaiting.retried);
        let resilience = &self.settings.summarizer.resilience;
        let is_full = self.model_queue.awaiting.len() > resilience.max_queue_size as usize;
        let plan = match resilience::plan(resilience, error, before, now) {
            Plan::StoreRawAndRetry(_) if is_full => Plan::StoreRaw,
            plan => plan,
        };
        self.log_failure(session, error, plan);
        match plan {
            Plan::StoreRawAndRetry(due) => {
                let is_try = !matches!(error.retry(), Retry::At(_));
                let retried = before + u32::from(is_try);
                let text = Some(error.to_string());
                self.enqueue(session, QueuedQuestion { due, retried, error: text });
                self.reply_to_waiting_for_model(session, &Ok(()));
            }
            Plan::StoreRaw => {
                self.finish_question(session, &Ok(()));
                self.abandon(session, error);
            }
            Plan::Fail => {
                self.note_problem(error.to_string());
                let error = EngineError::Failed(error.to_string());
                let is_waited_for = self.model_queue.waiting.contains_key(&session);
                self.finish_question(session, &Err(error.clone()));
                self.model_queue.failed = (!is_waited_for).then_some((session, error));
            }
        }
    }

    fn log_failure(&self, session: SessionKey, error: &Error, plan: Plan) {
        let id = self.session(session).map(|session| session.id.to_string()).unwrap_or_default();
        let retry_at = plan.retry_at().map(|at| at.to_string());
        tracing::warn!(session = %id, kind = error.kind(), %error, retry_at, "the request to the model failed");
    }

    fn enqueue(&mut self, session: SessionKey, awaiting: QueuedQuestion) {
        let was_abandoned = self.model_queue.abandoned.remove(session);
        let is_saved = self.settings.summarizer.resilience.persist_to_disk;
        if is_saved || was_abandoned {
            let write = queued::write(session, Some(&awaiting).filter(|_| is_saved));
            self.effects.push(EngineEffect::Write(vec![write]));
        }
        self.model_queue.awaiting.insert(session, awaiting);
    }

    /// Removes a session from the queue and replies to the callers that wait for it.
    fn finish_question(&mut self, session: SessionKey, how: &Result<(), EngineError>) {
        if self.model_queue.awaiting.remove(&session).is_some() {
            self.effects.push(EngineEffect::Write(vec![queued::write(session, None)]));
        }
        self.model_queue.failed.take_if(|(failed, _)| *failed == session);
        self.reply_to_waiting_for_model(session, how);
    }

    fn reply_to_waiting_for_model(&mut self, session: SessionKey, how: &Result<(), EngineError>) {
        for reply in self.model_queue.waiting.remove(&session).into_iter().flatten() {
            self.reply(reply, how.clone());
        }
    }
}
