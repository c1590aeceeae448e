//! Computes the vectors of sessions, entities and facts in the background, and compares queries
//! with them.
//!
//! A session gets vectors when it has an episode. An entity or a fact gets vectors when an episode
//! mentions it. No operation waits for the vectors of documents: documents without vectors are
//! found by full text. While the model does not answer, all documents are found by full text. The
//! store keeps vectors together with the identity of their model. After a change of the model,
//! [`work`] computes all vectors again from the same texts ([`texts`]).

mod query_cache;
mod queue;
mod texts;
mod work;

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock},
};

use tokio::sync::{Notify, watch};

use self::{query_cache::QueryCache, queue::EmbeddingQueue};
use crate::{
    engine::follow::{FollowerProgress, OutboxFollower, OutboxPositions},
    llm::embed::Embeddings,
    model::{
        SessionKey,
        graph::EntityOrFact,
        vector::{Owner, Packed},
    },
    search::{
        rank::SecondRanker,
        vectors::{Ranker, Vectors},
    },
    store::Store,
};

/// The vectors of one store, with the model that computes them.
pub struct EmbeddingService {
    store: Arc<dyn Store>,
    model: RwLock<Arc<Embeddings>>,
    tables: RwLock<VectorTables>,
    queue: Mutex<OwnerQueue>,
    query_cache: Mutex<QueryCache>,
    progress: watch::Sender<EmbeddingProgress>,
    /// The progress of the follower that fills the queue.
    followed: watch::Sender<FollowerProgress>,
    /// Notified when the model is replaced.
    changed: Notify,
    /// Notified when something is queued.
    queue_changed: Notify,
}

/// The vectors that a query is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VectorSet {
    Sessions,
    Entities,
    Facts,
}

/// The progress of the background work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EmbeddingProgress {
    /// Whether a model is configured.
    pub is_on: bool,
    /// The number of sessions, entities and facts that have vectors of the current model.
    pub done: usize,
    /// The number of sessions, entities and facts that wait for their vectors.
    pub pending: usize,
    /// The error of the last attempt; `None` if it succeeded.
    pub error: Option<String>,
    /// `true` until the store was searched for missing vectors.
    is_starting: bool,
}

/// The vectors of one model.
#[derive(Default)]
struct VectorTables {
    /// The identity of the model; `None` until it is known.
    model: Option<String>,
    sessions: Vectors,
    entities: Vectors,
    facts: Vectors,
    /// The fingerprints of the texts whose vectors are loaded.
    texts: HashMap<Owner, u64>,
}

/// The owners (sessions, entities and facts) whose vectors have to be computed or checked.
#[derive(Default)]
struct OwnerQueue {
    sessions: BTreeSet<SessionKey>,
    things: BTreeSet<EntityOrFact>,
}

/// The usual number of texts of a session.
const TEXTS_PER_SESSION: usize = 10;

impl EmbeddingService {
    /// Creates the service without vectors. [`EmbeddingService::run`] computes the vectors of the
    /// documents in `store` with `model`.
    pub fn new(store: Arc<dyn Store>, model: Arc<Embeddings>) -> EmbeddingService {
        let is_on = model.is_on();
        EmbeddingService {
            store,
            model: RwLock::new(model),
            tables: RwLock::default(),
            queue: Mutex::default(),
            query_cache: Mutex::default(),
            progress: watch::Sender::new(EmbeddingProgress {
                is_on,
                is_starting: is_on,
                ..EmbeddingProgress::default()
            }),
            followed: watch::Sender::default(),
            changed: Notify::new(),
            queue_changed: Notify::new(),
        }
    }

    /// Replaces the model. Vectors of the old model are not used any more.
    pub fn set_model(&self, model: Arc<Embeddings>) {
        let is_on = model.is_on();
        let before = std::mem::replace(
            &mut *self.model.write().unwrap_or_else(PoisonError::into_inner),
            model,
        );
        before.stop();
        *self.tables.write().unwrap_or_else(PoisonError::into_inner) = VectorTables::default();
        *self.lock_queue() = OwnerQueue::default();
        self.lock_query_cache().replace_model();
        self.progress.send_replace(EmbeddingProgress {
            is_on,
            is_starting: is_on,
            ..EmbeddingProgress::default()
        });
        self.changed.notify_one();
    }

    pub fn model(&self) -> Arc<Embeddings> {
        self.model.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Queues `owner`: its texts may have changed, or it may have been deleted.
    fn enqueue(&self, owner: Owner) {
        if !self.model().is_on() {
            return;
        }
        self.lock_queue().add(owner);
        self.progress.send_modify(|progress| progress.pending = self.lock_queue().len());
        self.queue_changed.notify_one();
    }

    pub fn progress(&self) -> EmbeddingProgress {
        self.progress.borrow().clone()
    }

    /// Returns the follower that queues changes of the store for [`EmbeddingService::run`].
    pub fn follower(
        self: &Arc<Self>,
        positions: &OutboxPositions,
    ) -> OutboxFollower<EmbeddingQueue> {
        OutboxFollower::new(self.store.clone(), EmbeddingQueue::new(self.clone()), positions)
    }

    /// Waits until all documents in the store have their vectors, or an attempt to compute vectors
    /// failed.
    pub async fn wait_until_settled(&self) {
        if !self.model().is_on() {
            return;
        }
        let end = *self.store.outbox_ends().borrow();
        let is_settled = |progress: &EmbeddingProgress| {
            !progress.is_on
                || progress.error.is_some()
                || (progress.pending == 0 && !progress.is_starting)
        };
        // The senders are in `self`, so neither channel can close meanwhile.
        let _ = self.followed.subscribe().wait_for(|followed| followed.position >= end).await;
        let _ = self.progress.subscribe().wait_for(is_settled).await;
    }

    /// Returns the vector of a query; `None` when the query is empty, no vectors exist, or the
    /// model is off, fails, or does not answer in time.
    pub async fn query_vector(&self, text: &str) -> Option<Arc<Packed>> {
        let model_number = self.lock_query_cache().model();
        let model = self.model();
        let is_empty = self.read(|tables| tables.model.is_none() || tables.texts.is_empty());
        if !model.is_on() || is_empty || text.trim().is_empty() {
            return None;
        }
        if let Some(vector) = self.lock_query_cache().get(text) {
            return Some(vector);
        }
        let limit = model.config().query_timeout;
        let made = tokio::time::timeout(limit, model.embed(&[text.to_owned()], limit)).await;
        let vector = match made {
            Ok(Ok(vectors)) => Arc::new(Packed::new(vectors.first()?)),
            Ok(Err(error)) => {
                tracing::debug!(
                    kind = error.kind(),
                    "no vector for the query; searching by full text only"
                );
                return None;
            }
            Err(_) => return None,
        };
        let is_current = self.lock_query_cache().put(model_number, text, vector.clone());
        is_current.then_some(vector)
    }

    /// Calls `search` with a ranker that compares the vector `question` of a query with the vectors
    /// in `kind`. Without a `question`, or without vectors, calls `search` without a ranker.
    pub fn with_ranker<T>(
        &self,
        kind: VectorSet,
        question: Option<&Packed>,
        search: impl FnOnce(Option<&dyn SecondRanker>) -> T,
    ) -> T {
        let Some(question) = question else { return search(None) };
        self.read(|tables| {
            let vectors = match kind {
                VectorSet::Sessions => &tables.sessions,
                VectorSet::Entities => &tables.entities,
                VectorSet::Facts => &tables.facts,
            };
            if vectors.is_empty() {
                return search(None);
            }
            search(Some(&Ranker { vectors, query: question }))
        })
    }

    fn read<T>(&self, look: impl FnOnce(&VectorTables) -> T) -> T {
        look(&self.tables.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn change<T>(&self, change: impl FnOnce(&mut VectorTables) -> T) -> T {
        change(&mut self.tables.write().unwrap_or_else(PoisonError::into_inner))
    }

    fn lock_queue(&self) -> MutexGuard<'_, OwnerQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_query_cache(&self) -> MutexGuard<'_, QueryCache> {
        self.query_cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl VectorTables {
    /// Returns the table that holds the vectors of `owner`, and the number of `owner` in that
    /// table.
    fn of(&mut self, owner: Owner) -> (&mut Vectors, u64) {
        match owner {
            Owner::Session(key) => (&mut self.sessions, key.0),
            Owner::EntityOrFact(EntityOrFact::Entity(id)) => (&mut self.entities, id.number()),
            Owner::EntityOrFact(EntityOrFact::Fact(key)) => (&mut self.facts, key.number()),
        }
    }

    fn put(&mut self, owner: Owner, texts: u64, vectors: &[Packed]) {
        let (table, number) = self.of(owner);
        table.put(number, vectors);
        self.texts.insert(owner, texts);
    }

    fn remove(&mut self, owner: Owner) {
        let (table, number) = self.of(owner);
        table.remove(number);
        self.texts.remove(&owner);
    }
}

impl OwnerQueue {
    fn add(&mut self, owner: Owner) {
        match owner {
            Owner::Session(key) => self.sessions.insert(key),
            Owner::EntityOrFact(thing) => self.things.insert(thing),
        };
    }

    fn len(&self) -> usize {
        self.sessions.len() + self.things.len()
    }

    /// Removes owners with about `texts` texts from the queue and returns them. The latest sessions
    /// are returned first, because users search them most often.
    fn take(&mut self, texts: usize) -> Vec<Owner> {
        let mut taken = Vec::new();
        let mut left = texts;
        while left > 0 {
            let session = self.sessions.pop_last().map(Owner::Session);
            let Some(owner) = session.or_else(|| self.things.pop_last().map(Owner::EntityOrFact))
            else {
                break;
            };
            let usual = if matches!(owner, Owner::Session(_)) { TEXTS_PER_SESSION } else { 1 };
            left = left.saturating_sub(usual);
            taken.push(owner);
        }
        taken
    }
}
