//! Models: which sessions they are asked about, when, and what comes of it.
//!
//! An episode is stored before a model is asked. Which sessions a model is still to be asked about
//! is saved; when one falls due, a job gathers what is known of it, and the question is asked
//! beside everything else. What comes back is put into the episode, unless that is another one by
//! then.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use tokio::sync::oneshot;

use super::{EngineState, sessions::writes_of};
use crate::{
    engine::{
        EngineEvent,
        command::{EngineError, ModelStatus, PendingAnswer, Scope},
        defect,
        job::GatherOutcome,
        model_queue::{
            SummarizeOutcome, Summarizer,
            queued::{self, QueuedQuestion},
        },
        schedule::Queue,
    },
    llm::{
        error::{Error, Retry},
        ports::Avoided,
        request::Purpose,
        resilience::{self, Plan},
    },
    model::{CloseReason, EpisodeId, SessionKey, Timestamp, episode::Author, session::Session},
    store::{Store, StoreError},
};

/// What models are asked about.
#[derive(Default)]
pub(super) struct ModelQueue {
    awaiting: BTreeMap<SessionKey, QueuedQuestion>,
    /// Sessions whose question is being gathered.
    gathering: HashSet<SessionKey>,
    /// Sessions that a model is being asked about.
    running: HashSet<SessionKey>,
    waiting: HashMap<SessionKey, Vec<oneshot::Sender<Result<(), EngineError>>>>,
    /// The last failure that nobody waited for: whoever closed the session may be about to.
    failed: Option<(SessionKey, EngineError)>,
    /// Counts the askers: what another one says after a reload is no outage of this one's.
    generation: u64,
}

/// What came of a question.
pub(in crate::engine) struct ModelAnswer {
    session: SessionKey,
    /// The episode that was asked about.
    episode: EpisodeId,
    end: SummarizeOutcome,
    generation: u64,
}

impl ModelQueue {
    pub(super) fn load(store: &dyn Store) -> Result<ModelQueue, StoreError> {
        Ok(ModelQueue {
            awaiting: queued::load(store)?.into_iter().collect(),
            ..ModelQueue::default()
        })
    }

    /// When the next session falls due.
    fn next_due(&self) -> Option<Timestamp> {
        self.idle().map(|(_, awaiting)| awaiting.due).min()
    }

    /// Sessions that nothing is done about at present.
    fn idle(&self) -> impl Iterator<Item = (SessionKey, &QueuedQuestion)> {
        let is_idle =
            |key: &SessionKey| !self.gathering.contains(key) && !self.running.contains(key);
        self.awaiting.iter().filter(move |(key, _)| is_idle(key)).map(|(key, one)| (*key, one))
    }

    /// Lets go of a session; what is being asked about it comes to its end.
    pub(super) fn forget(&mut self, session: SessionKey) {
        self.awaiting.remove(&session);
        self.gathering.remove(&session);
        self.waiting.remove(&session);
    }

    /// Whether a model is being asked about a session.
    pub(super) fn is_asking(&self, session: SessionKey) -> bool {
        self.running.contains(&session)
    }

    pub(super) fn is_running(&self) -> bool {
        !self.running.is_empty()
    }
}

impl EngineState {
    /// Whether a model is being asked, or is to be asked now.
    pub(super) fn asks_now(&self, now: Timestamp) -> bool {
        let is_due = || self.asks.next_due().is_some_and(|due| due <= now);
        !self.asks.running.is_empty()
            || !self.asks.gathering.is_empty()
            || self.settings.summarizer.is_on() && is_due()
    }

    /// When the next question is gathered; `None` while as many are asked as may be at a time.
    pub(super) fn next_ask(&self) -> Option<Timestamp> {
        let summarizer = &self.settings.summarizer;
        let has_room = self.asks.gathering.len() + self.asks.running.len() < summarizer.concurrency;
        self.asks.next_due().filter(|_| summarizer.is_on() && has_room)
    }

    /// Gathers what is known of sessions that fall due, as many as may be asked about at a time.
    pub(super) fn start_asking(&mut self, now: Timestamp) {
        if !self.settings.summarizer.is_on() {
            return;
        }
        let busy = self.asks.gathering.len() + self.asks.running.len();
        let free = self.settings.summarizer.concurrency.saturating_sub(busy);
        let due = self.asks.idle().filter(|(_, awaiting)| awaiting.due <= now);
        let due: Vec<SessionKey> = due.map(|(key, _)| key).take(free).collect();
        for session in due {
            self.asks.gathering.insert(session);
            self.schedule.add(session, Queue::Live, |due| due.gather = true);
        }
    }

    /// A session has a new episode, or still its old one: a model may be asked about it. History
    /// is nothing that a model is asked about.
    pub(super) fn episode_stands(
        &mut self,
        session: &Session,
        reason: &CloseReason,
        (is_new, now): (bool, Timestamp),
    ) {
        if !self.settings.summarizer.is_on() || *reason == CloseReason::HistorySync {
            return;
        }
        let key = session.key;
        let asked_for = matches!(reason, CloseReason::Explicit(_));
        let is_known = self.asks.awaiting.contains_key(&key);
        let writes = self.settings.summarizer.writes_summaries();
        if is_new || asked_for && (is_known || writes && self.is_of_evidence(session)) {
            self.await_model(key, QueuedQuestion { due: now, retried: 0, error: None });
        } else if !is_known && writes {
            let project = session.project.as_ref().map(crate::model::Project::namespace);
            let client = &self.settings.summarizer.client;
            client.avoided(Purpose::SessionSummary, Avoided::Unchanged, project);
        }
    }

    /// The job that gathered what is known of a session ended.
    pub(super) fn gathered(&mut self, session: SessionKey, gathered: GatherOutcome) {
        let question = match gathered {
            GatherOutcome::NotAsked => return,
            GatherOutcome::Nothing => None,
            GatherOutcome::Question(question) => Some(question),
        };
        if !self.asks.gathering.remove(&session) || self.stopping.is_some() {
            return;
        }
        let Some(question) = question else {
            // It went on since, and its next close asks; or a model wrote its episode by now.
            self.asked(session, &Ok(()));
            return;
        };
        self.asks.running.insert(session);
        let (events, generation) = (self.engine.events.clone(), self.asks.generation);
        let summarizer: Arc<Summarizer> = self.settings.summarizer.clone();
        let store = self.engine.store.clone();
        let episode = question.episode.id;
        tokio::spawn(async move {
            let ask = move || summarizer.ask(*question, store.as_ref());
            let ended = tokio::task::spawn_blocking(ask).await;
            let end = ended.unwrap_or_else(|error| {
                SummarizeOutcome::Failed(Error::BadReply {
                    reason: defect::told(&error).to_owned(),
                })
            });
            let answered = ModelAnswer { session, episode, end, generation };
            drop(events.send(EngineEvent::ModelAnswered(Box::new(answered))).await);
        });
    }

    /// A job that also made an episode gathered nothing.
    pub(super) fn not_gathered(&mut self, session: SessionKey) {
        self.asks.gathering.remove(&session);
    }

    pub(super) fn answered(&mut self, answered: ModelAnswer, now: Timestamp) {
        let ModelAnswer { session: key, episode: asked_about, end, generation } = answered;
        self.asks.running.remove(&key);
        if self.stopping.is_some() {
            return;
        }
        let session = self.session(key);
        let indexed = session.as_ref().and_then(|session| session.indexed.as_ref());
        if indexed.is_none_or(|indexed| indexed.episode != asked_about) {
            // It went on while the model was asked. What it awaits now is its new episode's.
            return;
        }
        match end {
            SummarizeOutcome::Made(made) => {
                drop(self.engine.store.write(writes_of(*made)));
                self.asked(key, &Ok(()));
            }
            SummarizeOutcome::Nothing => self.asked(key, &Ok(())),
            SummarizeOutcome::Failed(_) if generation != self.asks.generation => {
                self.await_model(key, QueuedQuestion { due: now, retried: 0, error: None });
            }
            SummarizeOutcome::Failed(error) => self.not_answered(key, &error, now),
        }
    }

    /// Asks about a session of the past, whose episode is the evidence's, and replies when that is
    /// done, or put off.
    pub(super) fn summarise(
        &mut self,
        key: SessionKey,
        reply: oneshot::Sender<Result<(), EngineError>>,
        now: Timestamp,
    ) {
        let session = self.session(key).filter(|session| self.is_of_evidence(session));
        if session.is_none() || !self.settings.summarizer.writes_summaries() {
            drop(reply.send(Ok(())));
            return;
        }
        self.await_model(key, QueuedQuestion { due: now, retried: 0, error: None });
        self.asks.waiting.entry(key).or_default().push(reply);
    }

    /// About how many sessions in `scope` a model is being asked, or will be at once.
    pub(super) fn asking(&self, scope: &Scope, now: Timestamp) -> usize {
        if !self.settings.summarizer.writes_summaries() {
            return 0;
        }
        let due = self.asks.awaiting.iter().filter(|(_, awaiting)| awaiting.due <= now);
        let keys: HashSet<SessionKey> =
            due.map(|(key, _)| *key).chain(self.asks.running.iter().copied()).collect();
        let sessions = keys.into_iter().filter_map(|key| self.session(key));
        sessions.filter(|session| scope.has(session)).count()
    }

    /// Another asker is in force: what waits for the old one's outage is due.
    pub(super) fn another_asker(&mut self, now: Timestamp) {
        self.asks.generation += 1;
        for awaiting in self.asks.awaiting.values_mut() {
            awaiting.due = awaiting.due.min(now);
        }
    }

    /// What someone who closed a session waits for, and how long; `None` when no model is asked.
    pub(super) fn pending(&mut self, session: SessionKey, now: Timestamp) -> Option<PendingAnswer> {
        let summarizer = self.settings.summarizer.clone();
        let is_running =
            self.asks.running.contains(&session) || self.asks.gathering.contains(&session);
        let is_due = self.asks.awaiting.get(&session).is_some_and(|awaiting| awaiting.due <= now);
        let done = (summarizer.is_on() && (is_running || is_due)).then(|| {
            let (reply, done) = oneshot::channel();
            self.asks.waiting.entry(session).or_default().push(reply);
            done
        });
        let done = done.or_else(|| {
            let (_, error) = self.asks.failed.take_if(|(failed, _)| *failed == session)?;
            let (reply, done) = oneshot::channel();
            drop(reply.send(Err(error)));
            Some(done)
        });
        summarizer.is_on().then_some(PendingAnswer { done, patience: summarizer.patience })
    }

    pub(super) fn model_status(&self) -> ModelStatus {
        let summarizer = &self.settings.summarizer;
        ModelStatus {
            is_on: summarizer.is_on(),
            writes_summaries: summarizer.writes_summaries(),
            awaiting: self.asks.awaiting.len(),
            asking: self.asks.running.len(),
            outage: summarizer
                .client
                .outage()
                .filter(|_| summarizer.is_on())
                .map(|error| error.to_string()),
            last_error: self.asks.awaiting.values().find_map(|awaiting| awaiting.error.clone()),
        }
    }

    fn is_of_evidence(&self, session: &Session) -> bool {
        let Some(indexed) = &session.indexed else { return false };
        let episode = self.engine.store.episode(indexed.episode);
        episode.is_ok_and(|episode| episode.is_some_and(|one| one.author == Author::Evidence))
    }

    fn not_answered(&mut self, session: SessionKey, error: &Error, now: Timestamp) {
        let before = self.asks.awaiting.get(&session).map_or(0, |awaiting| awaiting.retried);
        let resilience = &self.settings.summarizer.resilience;
        let is_full = self.asks.awaiting.len() > resilience.max_queue_size as usize;
        let plan = match resilience::plan(resilience, error, before, now) {
            Plan::StoreRawAndRetry(_) if is_full => Plan::StoreRaw,
            plan => plan,
        };
        tracing::warn!(session = session.0, kind = error.kind(), %error, ?plan, "no answer from the model");
        match plan {
            Plan::StoreRawAndRetry(due) => {
                let is_try = !matches!(error.retry(), Retry::At(_));
                let retried = before + u32::from(is_try);
                let told = Some(error.to_string());
                self.await_model(session, QueuedQuestion { due, retried, error: told });
                self.reply_to_asking(session, &Ok(()));
            }
            Plan::StoreRaw => self.asked(session, &Ok(())),
            Plan::Fail => {
                self.note_problem(error.to_string());
                let error = EngineError::Failed(error.to_string());
                let is_waited_for = self.asks.waiting.contains_key(&session);
                self.asked(session, &Err(error.clone()));
                self.asks.failed = (!is_waited_for).then_some((session, error));
            }
        }
    }

    fn await_model(&mut self, session: SessionKey, awaiting: QueuedQuestion) {
        if self.settings.summarizer.resilience.persist_to_disk {
            drop(self.engine.store.write(vec![queued::write(session, Some(&awaiting))]));
        }
        self.asks.awaiting.insert(session, awaiting);
    }

    /// A model need not be asked about a session any more.
    fn asked(&mut self, session: SessionKey, how: &Result<(), EngineError>) {
        if self.asks.awaiting.remove(&session).is_some() {
            drop(self.engine.store.write(vec![queued::write(session, None)]));
        }
        self.asks.failed.take_if(|(failed, _)| *failed == session);
        self.reply_to_asking(session, how);
    }

    fn reply_to_asking(&mut self, session: SessionKey, how: &Result<(), EngineError>) {
        for reply in self.asks.waiting.remove(&session).into_iter().flatten() {
            drop(reply.send(how.clone()));
        }
    }
}
