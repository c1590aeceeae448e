//! Updates the graph in the background with the sessions that have changed.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    sync::Arc,
    time::Duration,
};

use tokio::{sync::watch, time::Instant};

use super::{
    ShareStatus, ShareTarget, Sharing,
    compare::{BatchComparison, Comparison},
    pending::PendingBatch,
    queue::ShareQueue,
    state::{self, ShareState},
};
use crate::{
    clock,
    engine::follow::{Backoff, OutboxFollower},
    model::SessionKey,
    share::{
        EngineError, GraphEngine, Statement,
        node::SharedSession,
        schema,
        write::{self, Removal},
    },
    store::{NoteNamespace, StoreError, Write},
};

/// Maximum number of sessions in one batch.
const BATCH: usize = 32;
/// Time after a change until all sessions are compared again, because a session may end facts of
/// other sessions.
const SWEEP: Duration = Duration::from_secs(6 * 3600);

/// Why a round did not succeed.
#[derive(Debug, thiserror::Error)]
enum RoundError {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The state of the connection to the engine.
struct EngineConnection {
    target: Arc<ShareTarget>,
    state: ShareState,
    /// Whether the engine was checked for a restart since the last failure or pause without work.
    is_checked: bool,
    /// The groups whose indexes exist.
    prepared: HashSet<String>,
}

impl Sharing {
    /// Works until `stopping` turns true, or the store cannot be read.
    pub async fn run(
        self: Arc<Self>,
        follower: OutboxFollower<ShareQueue>,
        stopping: watch::Receiver<bool>,
    ) {
        let followed = follower.run(self.followed.clone(), stopping);
        tokio::select! {
            biased;
            // The follower saves its position when it ends.
            () = followed => {}
            () = self.work() => {}
        }
    }

    async fn work(self: &Arc<Self>) {
        let mut backoff = Backoff::new(self.pauses.first, self.pauses.longest);
        let mut sweep_at = None;
        let mut connection: Option<EngineConnection> = None;
        loop {
            let target = self.target();
            let known = connection.take().filter(|known| Arc::ptr_eq(&known.target, &target));
            let mut known = match known {
                Some(known) => known,
                None => match self.connect(&target).await {
                    Ok(known) => {
                        backoff.reset();
                        known
                    }
                    Err(error) => {
                        self.report(error.to_string());
                        self.pause(backoff.pause(), &target).await;
                        continue;
                    }
                },
            };
            if !target.is_on() {
                connection = Some(known);
                self.changed.notified().await;
                continue;
            }
            let result = self.round(&mut known).await;
            connection = Some(known);
            match result {
                Ok(true) => {
                    backoff.reset();
                    sweep_at.get_or_insert_with(|| Instant::now() + SWEEP);
                }
                Ok(false) => {
                    tokio::select! {
                        () = self.changed.notified() => {}
                        () = tokio::time::sleep(self.pauses.check) => {
                            // The engine may have been restarted, and may have lost its last data.
                            connection.iter_mut().for_each(|known| known.is_checked = false);
                        }
                    }
                    if sweep_at.is_some_and(|at| at <= Instant::now()) {
                        sweep_at = None;
                        self.fill(false);
                    }
                }
                Err(error) => {
                    self.report(error.to_string());
                    connection.iter_mut().for_each(|known| known.is_checked = false);
                    self.pause(backoff.pause(), &target).await;
                }
            }
        }
    }

    /// Waits after a failure, until the pause is over, the settings change, or a fill is requested.
    async fn pause(&self, pause: Duration, target: &Arc<ShareTarget>) {
        let until = Instant::now() + pause;
        loop {
            tokio::select! {
                () = tokio::time::sleep_until(until) => return,
                () = self.changed.notified() => {
                    let is_requested = self.status.borrow().error.is_none();
                    if is_requested || !Arc::ptr_eq(target, &self.target()) {
                        return;
                    }
                }
            }
        }
    }

    fn report(&self, error: String) {
        if self.status.borrow().error.is_none() {
            tracing::warn!(error, "the shared graph is not up to date for now");
        }
        self.status.send_modify(|status| status.error = Some(error));
    }

    /// Applies new settings. After a change of the engine's address or of the user's name, all
    /// sessions are written again; after a change of the projects, or if sharing was off, all
    /// sessions are compared. The ledger is kept, because a new address may belong to the same
    /// engine, and this engine still has the data that the ledger records.
    async fn connect(&self, target: &Arc<ShareTarget>) -> Result<EngineConnection, StoreError> {
        let before = ShareState::load(self.store.as_ref());
        let config = &target.config;
        let mut state = ShareState {
            address: target.address(),
            projects: config.projects.clone(),
            name: config.name.clone(),
            ..ShareState::default()
        };
        let mut writes = Vec::new();
        if !target.is_on() {
            if state::position(self.store.as_ref()).is_some() {
                writes.push(state::save_position(None));
            }
        } else {
            match &before {
                Some(before) if before.address == state.address => {
                    state.run.clone_from(&before.run);
                    let is_renamed = before.name != state.name;
                    let is_known = state::position(self.store.as_ref()).is_some();
                    if is_renamed || before.projects != state.projects || !is_known {
                        writes.push(self.lock().request_fill(is_renamed));
                    }
                }
                _ => writes.push(self.lock().request_fill(true)),
            }
            writes.push(state.save());
        }
        if !writes.is_empty() {
            self.store.write(writes).done().await?;
        }
        let target = target.clone();
        Ok(EngineConnection { target, state, is_checked: false, prepared: HashSet::new() })
    }

    /// Compares some sessions and writes the differences. Returns whether there was work to do.
    async fn round(self: &Arc<Self>, known: &mut EngineConnection) -> Result<bool, RoundError> {
        let Some(engine) = known.target.engine.clone() else { return Ok(false) };
        if !known.is_checked {
            self.check_instance(engine.as_ref(), known).await?;
        }
        if self.lock().needs_list() {
            let this = self.clone();
            let keys = blocking(move || this.all_sessions()).await?;
            self.lock().set_list(keys);
        }
        let batch = self.lock().next(BATCH);
        if batch.sessions.is_empty() {
            let ended = self.lock().end_fill();
            let is_ended = ended.is_some();
            if let Some(write) = ended {
                self.store.write(vec![write]).done().await?;
            }
            self.succeeded(0);
            return Ok(is_ended);
        }
        self.write_batch(engine.as_ref(), known, &batch).await?;
        Ok(true)
    }

    /// Checks whether the engine was restarted. If so, all sessions are written again, because the
    /// engine may have lost data.
    async fn check_instance(
        &self,
        engine: &dyn GraphEngine,
        known: &mut EngineConnection,
    ) -> Result<(), RoundError> {
        let instance = engine.instance().await?;
        known.prepared.clear();
        self.status.send_modify(|status| status.engine.clone_from(&instance.version));
        if instance.run != known.state.run {
            let mut writes = Vec::new();
            if known.state.run.is_some() {
                tracing::info!(
                    "the engine of the shared graph was restarted; writing everything again"
                );
                writes.push(self.lock().request_fill(true));
            }
            known.state.run = instance.run;
            writes.push(known.state.save());
            self.store.write(writes).done().await?;
        }
        known.is_checked = true;
        Ok(())
    }

    /// Returns all sessions that are in the graph or may have to be written to it.
    fn all_sessions(&self) -> Result<Vec<SessionKey>, StoreError> {
        let mut keys = BTreeSet::new();
        self.store.visit_undamaged_sessions(&mut |session| {
            if session.indexed.is_some() {
                keys.insert(session.key);
            }
            true
        })?;
        for (name, _) in self.store.undamaged_notes(NoteNamespace::Shared)? {
            keys.extend(name.first_chunk().map(|key| SessionKey(u64::from_be_bytes(*key))));
        }
        Ok(keys.into_iter().collect())
    }

    async fn write_batch(
        self: &Arc<Self>,
        engine: &dyn GraphEngine,
        known: &mut EngineConnection,
        batch: &PendingBatch,
    ) -> Result<(), RoundError> {
        let (this, target, given) = (self.clone(), known.target.clone(), batch.clone());
        let compared = blocking(move || this.compare(&target, &given)).await?;
        let BatchComparison { comparisons, neighbours, cleared, unremovable } = compared;
        let intents = comparisons.iter().map(|comparison| {
            let changing = comparison.before.during_change(comparison.part.as_ref());
            changing.save(comparison.key)
        });
        let intents: Vec<Write> = intents.collect();
        if !intents.is_empty() {
            self.store.write(intents).done().await?;
        }
        let mut rejected = self.write_comparisons(engine, known, &comparisons).await?;
        rejected.extend(unremovable);
        let done = comparisons.iter().filter(|comparison| !rejected.contains(&comparison.key));
        let mut writes: Vec<Write> = done.map(Comparison::finished).collect();
        let written = writes.len() as u64;
        let pending = {
            let mut pending = self.lock();
            for key in &rejected {
                if batch.is_fill() {
                    pending.mark_changed(*key, true);
                }
                pending.reject(*key);
            }
            let mut done = batch.clone();
            done.sessions.retain(|(key, _)| batch.is_fill() || !rejected.contains(key));
            writes.extend(pending.finish(&done));
            writes.extend(cleared.iter().map(|(key, entry)| entry.save(*key)));
            neighbours
                .into_iter()
                .chain(cleared.into_keys())
                .for_each(|key| pending.mark_changed(key, true));
            writes.extend(pending.save());
            self.store.write(writes)
        };
        pending.done().await?;
        self.succeeded(written);
        Ok(())
    }

    fn succeeded(&self, written: u64) {
        let rejected = self.lock().rejected();
        self.status.send_modify(|status| {
            let before = std::mem::take(status);
            *status = ShareStatus {
                error: None,
                last_success: Some(clock::now()),
                written: before.written + written,
                rejected,
                ..before
            };
        });
    }

    /// Writes sessions to the graph. Returns the sessions that the engine rejects.
    async fn write_comparisons(
        &self,
        engine: &dyn GraphEngine,
        known: &mut EngineConnection,
        comparisons: &[Comparison],
    ) -> Result<Vec<SessionKey>, RoundError> {
        let mut rejected = Vec::new();
        let error = match write(engine, known, comparisons).await {
            Err(EngineError::Rejected(what)) => what,
            done => return done.map(|()| rejected).map_err(RoundError::from),
        };
        // If the engine rejects this query, too, the sessions are not the reason.
        let group = comparisons.iter().find_map(|one| Some(&one.part.as_ref()?.group));
        let probe = [Statement::plain("RETURN 1 AS one")];
        engine.run(group.map_or("probe", String::as_str), &probe).await?;
        tracing::warn!(error, "the engine rejects a batch; writing its sessions one by one");
        for comparison in comparisons {
            match write(engine, known, std::slice::from_ref(comparison)).await {
                Err(EngineError::Rejected(error)) => {
                    let session = comparison.key.0;
                    tracing::warn!(session, error, "the engine rejects a session");
                    rejected.push(comparison.key);
                }
                done => done?,
            }
        }
        Ok(rejected)
    }
}

/// For each group, clears the summaries that may quote removed sessions, then writes the new parts
/// of all sessions, and then removes the old parts.
async fn write(
    engine: &dyn GraphEngine,
    known: &mut EngineConnection,
    comparisons: &[Comparison],
) -> Result<(), EngineError> {
    let mut groups: BTreeMap<String, (Vec<SharedSession>, Vec<Removal>)> = BTreeMap::new();
    for Comparison { wanted, part, before, .. } in comparisons {
        if let Some(session) = wanted {
            groups.entry(session.group.clone()).or_default().0.push(session.clone());
        }
        for (group, removal) in before.removals(part.as_ref()) {
            groups.entry(group).or_default().1.push(removal);
        }
    }
    for (group, (sessions, removals)) in &groups {
        if !known.prepared.contains(group) {
            schema::prepare(engine, group).await?;
            known.prepared.insert(group.clone());
        }
        let clear = write::clear_summaries(removals);
        engine.run(group, clear.as_slice()).await?;
        engine.run(group, &write::put(engine.dialect(), sessions)).await?;
        engine.run(group, &write::remove(removals)).await?;
    }
    Ok(())
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, RoundError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.expect("work on the shared graph does not panic: it reports errors")
        .map_err(RoundError::Store)
}
