//! Keeps targets up to date with the store: the search index ([`index`]), the queue of the embedder
//! ([`crate::engine::embedding`]) and the queue of the shared graph ([`crate::engine::sharing`]).
//!
//! An [`OutboxFollower`] reads the store's outbox in its order, applies each entry to its
//! [`Target`], commits when no entries follow for a while or the target is full, and reports its
//! position. It skips damaged entries, retries an entry that a target cannot apply at present, and
//! ends when the store cannot be read. The outbox keeps an entry until every follower has committed
//! it ([`OutboxPositions`]).

mod backoff;
mod index;
mod positions;
mod progress;
mod state;
#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use tokio::{sync::watch, time::Instant};

pub(in crate::engine) use self::backoff::Backoff;
pub use self::{
    index::{IndexTarget, folder, open},
    positions::OutboxPositions,
    progress::FollowerProgress,
};
use self::{
    positions::DurablePosition,
    state::{FollowerEvent, FollowerState},
};
use crate::{
    fault,
    store::{OutboxEntry, Store, StoreError, StoreHealth},
};

/// Time without a new entry after which changes are committed. The time doubles with each failed
/// commit, up to `MAX_PAUSE`.
const COMMIT_WHEN_QUIET: Duration = Duration::from_secs(3);
/// [`Target::rest`] is called if no entry is added for this time after a commit.
const REST_WHEN_QUIET: Duration = Duration::from_secs(30);
/// Maximum time for which a follower that cannot read the store waits until the store reports its
/// failure.
const STORE_FAILURE_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of outbox entries that are applied in one step.
const ENTRIES_PER_STEP: usize = 256;
/// The first pause after a target did not accept a change. The pause doubles with each further
/// failure, up to `MAX_PAUSE`.
const PAUSE: Duration = Duration::from_secs(1);
const MAX_PAUSE: Duration = Duration::from_secs(900);

/// The data that a follower keeps up to date. All methods except `durable`, `settings` and
/// `is_full` run on the blocking pool, so they may block.
pub trait Target: Send + 'static {
    /// The name of the target in the log.
    const NAME: &'static str;
    /// The name of the fault point (where tests make the daemon fail) at each turn of the follower.
    const TURN: Option<&'static str> = None;
    /// Settings that may change while the follower runs.
    type Settings: Send + Sync + 'static;

    /// Returns the position up to which changes are durable in the target.
    fn durable(&self) -> u64;

    /// Prepares the target before the first entry, for example fills a new target. Returns the
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

    /// Makes the entries up to `position` durable. Returns the durable position; `None` if this
    /// failed. The target itself logs the failure.
    fn commit(&mut self, position: u64) -> Option<u64>;

    /// Called after a commit, when the outbox was released up to the durable position.
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

/// How the follower continues.
enum FollowerTurn {
    Next,
    Commit,
    Stop,
    StoreFailed,
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
        stopping: watch::Receiver<bool>,
    ) {
        let (mut state, mut turn): (FollowerState<T::Settings>, FollowerTurn);
        (self, state) = self.start(progress, stopping).await;
        loop {
            T::TURN.into_iter().for_each(fault::point);
            let end = *state.ends.borrow_and_update();
            (self, turn) = match end > state.reached {
                true => self.catch_up(&mut state, end).await,
                false => self.wait(&mut state).await,
            };
            match turn {
                FollowerTurn::Next => {}
                FollowerTurn::Commit => self = self.commit_and_apply_settings(&mut state).await,
                FollowerTurn::Stop => break,
                FollowerTurn::StoreFailed => {
                    drop(state);
                    return self.until_store_fails().await;
                }
            }
        }
        let reached = state.reached;
        self.blocking(&state.progress, move |it| it.commit(reached)).await;
    }

    async fn start(
        mut self,
        progress: watch::Sender<FollowerProgress>,
        stopping: watch::Receiver<bool>,
    ) -> (Self, FollowerState<T::Settings>) {
        let (ends, settings) = (self.store.outbox_ends(), self.target.settings());
        let reached;
        (self, reached) = self.blocking(&progress, |it| it.target.prepare()).await;
        progress.send_modify(|progress| progress.position = reached);
        // The settings may have changed since the last commit.
        (self, ()) = self.blocking(&progress, move |it| it.target.apply_settings(reached)).await;
        let state = FollowerState {
            progress,
            ends,
            settings,
            stopping,
            backoff: Backoff::new(PAUSE, MAX_PAUSE),
            reached,
            committed: reached,
            commit_pause: COMMIT_WHEN_QUIET,
            is_resting: false,
        };
        (self, state)
    }

    /// Applies some of the entries up to `end`. Pauses if the target does not accept changes.
    async fn catch_up(
        self,
        state: &mut FollowerState<T::Settings>,
        end: u64,
    ) -> (Self, FollowerTurn) {
        let after = state.reached;
        let apply = move |it: &mut Self| it.apply_entries(after, end);
        let (follower, step) = self.blocking(&state.progress, apply).await;
        state.reached = step.position;
        state.progress.send_modify(|progress| {
            progress.position = step.position;
            progress.is_unavailable = matches!(step.result, Err(TargetError::Unavailable(_)));
        });
        match step.result {
            Ok(()) => state.backoff.reset(),
            Err(TargetError::Unavailable(error)) => {
                let pause = state.backoff.pause();
                tracing::warn!(error, ?pause, "{} accepts no changes", T::NAME);
                if state.stops_within(pause).await {
                    return (follower, FollowerTurn::Stop);
                }
            }
            Err(TargetError::Store(error)) => {
                tracing::warn!(%error, "{} cannot follow the database", T::NAME);
                return (follower, FollowerTurn::StoreFailed);
            }
        }
        let is_full = follower.target.is_full();
        (follower, if is_full { FollowerTurn::Commit } else { FollowerTurn::Next })
    }

    /// Waits for new entries. If no entry is added for a while, the next turn is a commit. If all
    /// entries are committed, the target rests.
    async fn wait(mut self, state: &mut FollowerState<T::Settings>) -> (Self, FollowerTurn) {
        let is_committed = state.committed == state.reached;
        let pause = match (is_committed, state.is_resting) {
            (true, true) => None,
            (true, false) => Some(REST_WHEN_QUIET),
            (false, _) => Some(state.commit_pause),
        };
        match state.next_event(pause).await {
            FollowerEvent::Stop => return (self, FollowerTurn::Stop),
            FollowerEvent::Entries => {}
            FollowerEvent::Settings => {
                let reached = state.reached;
                let apply = move |it: &mut Self| it.target.apply_settings(reached);
                (self, ()) = self.blocking(&state.progress, apply).await;
                state.is_resting = false;
            }
            FollowerEvent::Quiet if is_committed => {
                (self, ()) = self.blocking(&state.progress, |it| it.target.rest()).await;
                state.is_resting = true;
            }
            FollowerEvent::Quiet => return (self, FollowerTurn::Commit),
        }
        (self, FollowerTurn::Next)
    }

    async fn commit_and_apply_settings(self, state: &mut FollowerState<T::Settings>) -> Self {
        let reached = state.reached;
        let commit = move |it: &mut Self| {
            let is_committed = it.commit(reached);
            it.target.apply_settings(reached);
            is_committed
        };
        let (follower, is_committed) = self.blocking(&state.progress, commit).await;
        state.is_resting = false;
        if is_committed {
            (state.committed, state.commit_pause) = (reached, COMMIT_WHEN_QUIET);
        } else {
            state.commit_pause = (state.commit_pause * 2).min(MAX_PAUSE);
        }
        follower
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
                    tracing::warn!(%error, "{} skips a change, because a record is damaged", T::NAME);
                    *position += 1;
                    self.target.pass(*position);
                    return Ok(());
                }
                first => first?,
            },
            entries => entries?,
        };
        // Entries after `end` are not durable yet, and may be lost in a crash.
        entries.retain(|entry| entry.position <= end);
        let Some(last) = entries.last().map(|entry| entry.position) else {
            // The entries up to `end` were deleted from the outbox, so the target has applied them
            // before.
            *position = end;
            self.target.pass(end);
            return Ok(());
        };
        for entry in entries {
            let at = entry.position;
            match self.target.apply(entry, end) {
                // A damaged record must not exclude other records from the target.
                Err(TargetError::Store(error @ StoreError::Damaged { .. })) => {
                    tracing::warn!(%error, "{} skips a change, because a record is damaged", T::NAME);
                }
                applied => applied?,
            }
            self.target.pass(at);
            *position = at;
        }
        self.target.step_applied(last);
        Ok(())
    }

    /// Returns whether the target has committed.
    fn commit(&mut self, position: u64) -> bool {
        let durable = self.target.commit(position);
        if let Some(durable) = durable {
            self.durable.release(durable);
            self.target.released();
        }
        durable.is_some()
    }

    /// Waits until the store reports its failure. The writer of the store detects the failure.
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
