//! Keeps targets up to date with the store: the search index ([`index`]), the queue of the embedder
//! ([`crate::engine::embedding`]) and the queue of the shared graph ([`crate::engine::sharing`]).
//!
//! An [`OutboxFollower`] reads the store's outbox in its order, applies each entry to its
//! [`Target`], commits when no entries follow for a while, and reports its position. It skips
//! damaged entries, retries an entry that a target cannot apply at present, and ends when the store
//! cannot be read. The outbox keeps an entry until every follower has committed it
//! ([`OutboxPositions`]).

mod backoff;
mod index;
mod positions;
mod progress;
#[cfg(test)]
mod tests;

use std::{future::pending, sync::Arc, time::Duration};

use tokio::{sync::watch, time::Instant};

pub(in crate::engine) use self::backoff::Backoff;
use self::positions::DurablePosition;
pub use self::{
    index::{IndexTarget, folder, open},
    positions::OutboxPositions,
    progress::FollowerProgress,
};
use crate::{
    fault,
    store::{OutboxEntry, Store, StoreError, StoreHealth},
};

/// Changes are committed when no entry was added for this time.
const COMMIT_WHEN_QUIET: Duration = Duration::from_secs(3);
/// [`Target::rest`] is called when no entry was added for this time after a commit.
const REST_WHEN_QUIET: Duration = Duration::from_secs(30);
/// When a follower cannot read the store, it waits at most this long for the store to report its
/// failure.
const STORE_FAILURE_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of outbox entries that are applied in one step.
const ENTRIES_PER_STEP: usize = 256;
/// The first pause after a target did not accept a change. The pause doubles with each further
/// failure, up to `MAX_PAUSE`.
const PAUSE: Duration = Duration::from_secs(1);
const MAX_PAUSE: Duration = Duration::from_secs(900);

/// The data that a follower keeps up to date. All methods may block: they run on the blocking pool.
pub trait Target: Send + 'static {
    /// The name of the target in the log.
    const NAME: &'static str;
    /// The fault point at each turn of the follower.
    const TURN: Option<&'static str> = None;
    /// Settings that may change while the follower runs.
    type Settings: Send + Sync + 'static;

    /// Returns the position up to which changes are durable in the target.
    fn durable(&self) -> u64;

    /// Prepares the target before the first entry; a new target is filled here. Returns the
    /// position after which the follower starts.
    fn prepare(&mut self) -> u64 {
        self.durable()
    }

    /// Returns the settings; [`Target::apply_settings`] is called when they change.
    fn settings(&self) -> watch::Receiver<Self::Settings>;

    /// Applies the current settings to a target that has all entries up to `position`.
    fn apply_settings(&mut self, _position: u64) {}

    /// Whether entries change the target at present. If not, they are skipped without being read.
    fn takes_entries(&self) -> bool {
        true
    }

    /// Applies an entry. All entries up to `end` are in the store.
    fn apply(&mut self, entry: OutboxEntry, end: u64) -> Result<(), TargetError>;

    /// Records that all entries up to `position` were applied or skipped.
    fn pass(&mut self, _position: u64) {}

    /// Records that a step has ended with the entry at `position`.
    fn step_applied(&mut self, _position: u64) {}

    /// Whether the target has to commit before it can apply more entries.
    fn is_full(&self) -> bool {
        false
    }

    /// Makes the entries up to `position` durable. Returns the durable position; `None` when that
    /// failed, which the target logs.
    fn commit(&mut self, position: u64) -> Option<u64>;

    /// Records that the store was asked to delete the entries that no follower needs any more.
    fn released(&mut self) {}

    /// Frees memory that only a busy target needs.
    fn rest(&mut self) {}
}

/// Why an entry was not applied.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The target does not accept changes at present.
    #[error("{0}")]
    Unavailable(String),
}

/// Applies the outbox of a store to a target.
pub struct OutboxFollower<T> {
    store: Arc<dyn Store>,
    target: T,
    durable: DurablePosition,
}

/// The progress of one step.
struct Step {
    position: u64,
    result: Result<(), TargetError>,
}

impl<T: Target> OutboxFollower<T> {
    pub(in crate::engine) fn new(
        store: Arc<dyn Store>,
        target: T,
        positions: &OutboxPositions,
    ) -> OutboxFollower<T> {
        let durable = positions.register(target.durable());
        OutboxFollower { store, target, durable }
    }

    pub fn target(&self) -> &T {
        &self.target
    }

    /// Follows the outbox until `stopping` turns true, and then commits. Also ends when the store
    /// cannot be read. Reports its position through `progress`.
    pub async fn run(
        mut self,
        progress: watch::Sender<FollowerProgress>,
        mut stopping: watch::Receiver<bool>,
    ) {
        let (mut ends, mut settings) = (self.store.outbox_ends(), self.target.settings());
        let mut reached;
        (self, reached) = self.blocking(&progress, |it| it.target.prepare()).await;
        progress.send_modify(|progress| progress.position = reached);
        let mut committed = reached;
        // The settings may have changed since the last commit.
        (self, ()) = self.blocking(&progress, move |it| it.target.apply_settings(reached)).await;
        let mut backoff = Backoff::new(PAUSE, MAX_PAUSE);
        let mut is_resting = false;
        loop {
            T::TURN.into_iter().for_each(fault::point);
            let end = *ends.borrow_and_update();
            if end > reached {
                let step: Step;
                let apply = move |it: &mut Self| it.apply_entries(reached, end);
                (self, step) = self.blocking(&progress, apply).await;
                reached = step.position;
                let is_unavailable = matches!(step.result, Err(TargetError::Unavailable(_)));
                progress.send_modify(|progress| {
                    progress.position = reached;
                    progress.is_unavailable = is_unavailable;
                });
                match step.result {
                    Ok(()) => backoff.reset(),
                    Err(TargetError::Unavailable(error)) => {
                        let pause = backoff.pause();
                        tracing::warn!(error, ?pause, "{} accepts no changes", T::NAME);
                        tokio::select! {
                            _ = stopping.wait_for(|stopping| *stopping) => break,
                            () = tokio::time::sleep(pause) => {}
                        }
                    }
                    Err(TargetError::Store(error)) => {
                        tracing::warn!(%error, "{} cannot follow the database", T::NAME);
                        drop(progress);
                        return self.until_store_fails().await;
                    }
                }
                if !self.target.is_full() {
                    continue;
                }
            } else {
                let is_committed = committed == reached;
                let pause = if is_committed { REST_WHEN_QUIET } else { COMMIT_WHEN_QUIET };
                let have_settings_changed = tokio::select! {
                    changed = ends.changed() => if changed.is_err() { break } else { continue },
                    _ = stopping.wait_for(|stopping| *stopping) => break,
                    () = changed(&mut settings) => true,
                    () = tokio::time::sleep(pause), if !(is_committed && is_resting) => false,
                };
                if have_settings_changed {
                    let apply = move |it: &mut Self| it.target.apply_settings(reached);
                    (self, ()) = self.blocking(&progress, apply).await;
                    is_resting = false;
                    continue;
                }
                if is_committed {
                    (self, ()) = self.blocking(&progress, |it| it.target.rest()).await;
                    is_resting = true;
                    continue;
                }
            }
            let commit = move |it: &mut Self| {
                it.commit(reached);
                it.target.apply_settings(reached);
            };
            (self, ()) = self.blocking(&progress, commit).await;
            (committed, is_resting) = (reached, false);
        }
        self.blocking(&progress, move |it| it.commit(reached)).await;
    }

    /// Applies some of the entries after `after`, up to `end`.
    fn apply_entries(&mut self, after: u64, end: u64) -> Step {
        let mut position = after;
        let result = self.try_apply_entries(&mut position, end);
        Step { position, result }
    }

    fn try_apply_entries(&mut self, position: &mut u64, end: u64) -> Result<(), TargetError> {
        if !self.target.takes_entries() {
            *position = end;
            self.target.pass(end);
            return Ok(());
        }
        let mut entries = match self.store.outbox(*position, ENTRIES_PER_STEP) {
            Err(StoreError::Damaged { .. }) => match self.store.outbox(*position, 1) {
                Err(error @ StoreError::Damaged { .. }) => {
                    tracing::warn!(%error, "{} lacks a change", T::NAME);
                    *position += 1;
                    self.target.pass(*position);
                    return Ok(());
                }
                first => first?,
            },
            entries => entries?,
        };
        // Later entries are not durable yet, and may be lost in a crash.
        entries.retain(|entry| entry.position <= end);
        let Some(last) = entries.last().map(|entry| entry.position) else {
            // The entries are deleted from the outbox, so the target has applied them before.
            *position = end;
            self.target.pass(end);
            return Ok(());
        };
        for entry in entries {
            let at = entry.position;
            match self.target.apply(entry, end) {
                // A damaged record must not exclude the others from the target.
                Err(TargetError::Store(error @ StoreError::Damaged { .. })) => {
                    tracing::warn!(%error, "{} lacks a change", T::NAME);
                }
                applied => applied?,
            }
            self.target.pass(at);
            *position = at;
        }
        self.target.step_applied(last);
        Ok(())
    }

    fn commit(&mut self, position: u64) {
        if let Some(durable) = self.target.commit(position) {
            self.durable.release(durable);
            self.target.released();
        }
    }

    /// Waits until the store reports its failure, which a writer notices.
    async fn until_store_fails(self) {
        let mut health = self.store.quota().health();
        let has_failed = health.wait_for(|health| matches!(health, StoreHealth::Failed(_)));
        // If the store does not fail, the end of this task is reported as a defect.
        let _ = tokio::time::timeout(STORE_FAILURE_TIMEOUT, has_failed).await;
    }

    async fn blocking<R: Send + 'static>(
        self,
        progress: &watch::Sender<FollowerProgress>,
        work: impl FnOnce(&mut Self) -> R + Send + 'static,
    ) -> (Self, R) {
        let mut follower = self;
        progress.send_modify(|progress| progress.busy_since = Some(Instant::now()));
        let done = tokio::task::spawn_blocking(move || {
            let result = work(&mut follower);
            (follower, result)
        });
        let done = done.await.expect("a target does not panic: it reports errors");
        progress.send_modify(|progress| progress.busy_since = None);
        done
    }
}

/// Waits for new settings. Waits forever when they cannot change any more.
async fn changed<S>(settings: &mut watch::Receiver<S>) {
    if settings.changed().await.is_err() {
        pending::<()>().await;
    }
}
