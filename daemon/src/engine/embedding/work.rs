//! Computes the missing vectors of the current model in the background.

use std::{sync::Arc, time::Duration};

use tokio::sync::watch;

use super::{
    EmbeddingProgress, EmbeddingService, VectorTables, queue::EmbeddingQueue, texts::Texts,
};
use crate::{
    engine::follow::{Backoff, OutboxFollower},
    fault,
    llm::{embed::Embeddings, error::Error},
    model::{
        graph::EntityOrFact,
        vector::{Owner, Packed, Vectors},
    },
    store::{Store, StoreError, Write},
};

/// Maximum number of texts in one call. A local model takes a few seconds for this number.
const TEXTS: usize = 32;
/// Maximum duration of a call.
const LIMIT: Duration = Duration::from_secs(120);
/// The first pause after a failure. The pause doubles with each further failure, up to `MAX_PAUSE`.
const PAUSE: Duration = Duration::from_secs(30);
const MAX_PAUSE: Duration = Duration::from_secs(900);

/// Why a round ended early.
enum RoundError {
    /// The model returned no identity or no vectors.
    Model(Error),
    /// The store cannot be read.
    Store(StoreError),
}

impl EmbeddingService {
    /// Works until `stopping` turns true, or the store cannot be read.
    pub async fn run(
        self: Arc<Self>,
        follower: OutboxFollower<EmbeddingQueue>,
        mut stopping: watch::Receiver<bool>,
    ) {
        let followed = follower.run(self.followed.clone(), stopping.clone());
        let stopped = stopping.wait_for(|stopping| *stopping);
        tokio::select! {
            biased;
            _ = stopped => self.model().stop(),
            () = followed => {}
            () = self.work() => {}
        }
    }

    async fn work(self: &Arc<Self>) {
        let mut backoff = Backoff::new(PAUSE, MAX_PAUSE);
        loop {
            fault::point("embedder: turn");
            let model = self.model();
            if !model.is_on() {
                self.changed.notified().await;
                continue;
            }
            let error = match self.round(&model).await {
                Ok(true) => {
                    backoff.reset();
                    continue;
                }
                Ok(false) => {
                    tokio::select! {
                        () = self.changed.notified() => {}
                        () = self.queue_changed.notified() => {}
                    }
                    continue;
                }
                Err(RoundError::Model(error)) => error.to_string(),
                Err(RoundError::Store(error)) => error.to_string(),
            };
            if !Arc::ptr_eq(&model, &self.model()) {
                continue;
            }
            if self.progress.borrow().error.is_none() {
                tracing::warn!(error, "searches use no vectors for now");
            }
            self.progress.send_modify(|progress| progress.error = Some(error));
            tokio::select! {
                () = self.changed.notified() => backoff.reset(),
                () = tokio::time::sleep(backoff.pause()) => {}
            }
        }
    }

    /// Computes the vectors of a few owners. After a change of the model, first loads the vectors
    /// of the new model from the store. Returns whether the queue had any owners.
    async fn round(self: &Arc<Self>, model: &Arc<Embeddings>) -> Result<bool, RoundError> {
        let identity = model.identity().await.map_err(RoundError::Model)?;
        if self.read(|tables| tables.model.as_ref() != Some(&identity)) {
            let this = self.clone();
            let (of, name) = (model.clone(), identity.clone());
            blocking(move || this.load(&of, &name)).await?;
            self.progress.send_modify(|progress| progress.pending = self.lock_queue().len());
        }
        let owners = self.lock_queue().take(TEXTS);
        if owners.is_empty() {
            self.report(model);
            return Ok(false);
        }
        let made = self.make(model, &identity, owners.clone()).await;
        match &made {
            Ok(()) => self.report(model),
            Err(_) if Arc::ptr_eq(model, &self.model()) => {
                let mut queue = self.lock_queue();
                owners.into_iter().for_each(|owner| queue.add(owner));
            }
            Err(_) => {}
        }
        made.map(|()| true)
    }

    /// Loads the vectors of `model` from the store, and queues the owners without such vectors.
    fn load(&self, model: &Arc<Embeddings>, identity: &str) -> Result<(), StoreError> {
        let mut tables =
            VectorTables { model: Some(identity.to_owned()), ..VectorTables::default() };
        self.store.visit_vectors(&mut |vectors| {
            if vectors.model == identity {
                tables.put(vectors.owner, vectors.texts, &vectors.vectors);
            }
            true
        })?;
        let missing = owners_without_vectors(self.store.as_ref(), &tables)?;
        let current = self.model.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        if Arc::ptr_eq(model, &current) {
            let mut queue = self.lock_queue();
            missing.into_iter().for_each(|owner| queue.add(owner));
            self.change(|all| *all = tables);
        }
        Ok(())
    }

    async fn make(
        self: &Arc<Self>,
        model: &Arc<Embeddings>,
        identity: &str,
        owners: Vec<Owner>,
    ) -> Result<(), RoundError> {
        let this = self.clone();
        let read = move || {
            let look = |owner: &Owner| (*owner, Texts::of(*owner, this.store.as_ref()));
            Ok(owners.iter().map(look).collect::<Vec<_>>())
        };
        let mut wanted = Vec::new();
        for (owner, texts) in blocking(read).await? {
            match texts {
                Ok(Some(texts)) if !self.has(&texts) => wanted.push(texts),
                Ok(Some(texts)) => self.store_vectors(identity, &texts),
                Ok(None) => self.change(|tables| tables.remove(owner)),
                // The full-text search still finds the owner.
                Err(error @ StoreError::Damaged { .. }) => {
                    tracing::warn!(%error, "no vectors for the owner of a damaged record");
                }
                Err(error) => return Err(RoundError::Store(error)),
            }
        }
        let all: Vec<String> = wanted.iter().flat_map(|texts| texts.texts.clone()).collect();
        let mut vectors = Vec::with_capacity(all.len());
        for texts in all.chunks(TEXTS) {
            let made = model.embed(texts, LIMIT).await.map_err(RoundError::Model)?;
            vectors.extend(made.iter().map(|vector| Packed::new(vector)));
        }
        if !Arc::ptr_eq(model, &self.model()) {
            return Ok(());
        }
        let mut vectors = vectors.into_iter();
        for texts in &wanted {
            let own: Vec<Packed> = vectors.by_ref().take(texts.texts.len()).collect();
            self.change(|tables| tables.put(texts.owner, texts.fingerprint(), &own));
            self.store_vectors(identity, texts);
        }
        Ok(())
    }

    /// Whether vectors of exactly these texts are loaded.
    fn has(&self, texts: &Texts) -> bool {
        self.read(|tables| tables.texts.get(&texts.owner) == Some(&texts.fingerprint()))
    }

    /// Writes the vectors of `texts` to the store. The store deletes them when an episode of their
    /// owner, or an episode that mentions the owner, is written or deleted.
    fn store_vectors(&self, identity: &str, texts: &Texts) {
        let vectors = self.change(|tables| {
            let (table, number) = tables.of(texts.owner);
            table.of(number)
        });
        let vectors = Vectors {
            owner: texts.owner,
            episode: texts.episode,
            model: identity.to_owned(),
            texts: texts.fingerprint(),
            vectors,
        };
        // If the write fails, the vectors are computed again after the next start.
        let _ = self.store.write(vec![Write::Vectors(Box::new(vectors))]);
    }

    /// Reports the progress after a round without errors.
    fn report(&self, model: &Arc<Embeddings>) {
        if !Arc::ptr_eq(model, &self.model()) {
            return;
        }
        let done = self.read(|tables| tables.texts.len());
        // The queue is counted under the lock of the channel, so that no older count is sent later.
        self.progress.send_modify(|progress| {
            let pending = self.lock_queue().len();
            *progress =
                EmbeddingProgress { is_on: true, done, pending, error: None, is_starting: false };
        });
    }
}

fn owners_without_vectors(
    store: &dyn Store,
    tables: &VectorTables,
) -> Result<Vec<Owner>, StoreError> {
    let mut missing: Vec<Owner> = Vec::new();
    let mut check = |owner: Owner| {
        if !tables.texts.contains_key(&owner) {
            missing.push(owner);
        }
        true
    };
    store.visit_undamaged_sessions(&mut |session| {
        session.indexed.is_none() || check(Owner::Session(session.key))
    })?;
    store.visit_entities_and_facts(&mut |thing: EntityOrFact| check(Owner::EntityOrFact(thing)))?;
    Ok(missing)
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, RoundError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.expect("work on vectors does not panic: it reports errors").map_err(RoundError::Store)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::SessionKey,
        store::{contract, sled::SledStore},
    };

    #[test]
    fn a_damaged_session_does_not_prevent_the_vectors_of_others() {
        let folder = tempfile::tempdir().unwrap();
        let store = SledStore::open(folder.path()).unwrap();
        let keys = [1, 2, 3].map(SessionKey);
        for key in keys {
            let mut session = contract::session(key, &key.0.to_string());
            let episode = contract::episode(&session, 2_000);
            let statements = crate::model::graph::Statements::default();
            contract::index_with_statements(&store, &mut session, &episode, statements);
        }
        store.damage_session(keys[1]);
        let missing = owners_without_vectors(&store, &VectorTables::default()).unwrap();
        assert_eq!(missing, [keys[0], keys[2]].map(Owner::Session));
    }
}
