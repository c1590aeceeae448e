//! Keeps the search index up with the store.
//!
//! The index takes over what the store's outbox holds, in its order, and can search it at once; it
//! writes it to disk now and then. An index that is missing, damaged or of another version is made
//! anew from the store while everything else goes on.

mod feed;
mod followed;
mod rebuild;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use tokio::{
    sync::{oneshot, watch},
    time::Instant,
};

pub use self::followed::Followed;
use crate::{
    allocator,
    engine::{embedding::Embedding, indexes::Indexes, quota::IndexQuota, snapshots::Snapshots},
    fault,
    search::index::{Backlog, OpenError, Position},
    store::{Store, StoreError, StoreHealth, Write},
};

/// What was taken over is written to disk when nothing more has come for so long.
const COMMIT_WHEN_QUIET: Duration = Duration::from_secs(3);
/// What only busy indexes need is let go of when nothing has come for so long after that.
const REST_WHEN_QUIET: Duration = Duration::from_secs(30);
/// A store that cannot be read is known as failed in this time.
const STORE_FAILS: Duration = Duration::from_secs(10);

/// The search indexes and the store that they follow.
pub struct Follower {
    indexes: Indexes,
    store: Arc<dyn Store>,
    room: IndexQuota,
    /// The indexes are new: everything in the store has to be taken over first.
    rebuild: bool,
    /// Up to here the indexes may hold messages already, of which the outbox tells: a rebuild took
    /// them over, or an entry was written to disk in part when the process ended.
    in_part_to: u64,
    snapshots: Snapshots,
    /// Told of all that may need other vectors.
    embedding: Arc<Embedding>,
}

/// Opens the search indexes in `folder` and beside it, or makes new ones; then the follower fills
/// them.
pub fn open(
    folder: &Path,
    store: Arc<dyn Store>,
    room: IndexQuota,
    embedding: Arc<Embedding>,
) -> Result<Follower, OpenError> {
    let (indexes, rebuild) = Indexes::open(folder, store.as_ref())?;
    let in_part_to = indexes.furthest().0 + 1;
    let snapshots = Snapshots::default();
    Ok(Follower { indexes, store, room, rebuild, in_part_to, snapshots, embedding })
}

/// Where the index of `home` lies.
pub fn folder(home: &Path) -> PathBuf {
    home.join("index")
}

impl Follower {
    /// The indexes, for searching.
    pub fn indexes(&self) -> &Indexes {
        &self.indexes
    }

    /// Follows until `stopping` turns true; what was taken over is on disk then. Ends, too, when the
    /// store cannot be read any more. Tells through `followed` how far it is.
    pub async fn run(
        mut self,
        followed: watch::Sender<Followed>,
        mut stopping: watch::Receiver<bool>,
    ) {
        let (mut ends, mut limits) = (self.store.outbox_ends(), self.room.limits());
        let mut written = self.indexes.applied().0;
        let mut reached = written;
        if self.rebuild {
            self = self.blocking(&followed, Follower::take_everything).await;
            reached = 0;
        }
        followed.send_modify(|followed| followed.position = reached);
        // Other limits may be in force than when it was written to last.
        self = self.blocking(&followed, move |it| it.keep_within_limit(Position(reached))).await;
        let mut is_resting = false;
        loop {
            fault::point("follower: turn");
            let end = *ends.borrow_and_update();
            if end > reached {
                let (follower, result) = self.take_over(&followed, reached, end).await;
                self = follower;
                match result {
                    Ok(position) => reached = position,
                    Err(error) => {
                        tracing::warn!(%error, "the search index cannot follow the database");
                        drop(followed);
                        return self.until_store_fails().await;
                    }
                }
                followed.send_modify(|followed| followed.position = reached);
                if !self.indexes.is_full() {
                    continue;
                }
            } else {
                let is_written = written == reached;
                let pause = if is_written { REST_WHEN_QUIET } else { COMMIT_WHEN_QUIET };
                let are_limits_others = tokio::select! {
                    changed = ends.changed() => if changed.is_err() { break } else { continue },
                    _ = stopping.wait_for(|stopping| *stopping) => break,
                    Ok(()) = limits.changed() => true,
                    () = tokio::time::sleep(pause), if !(is_written && is_resting) => false,
                };
                if are_limits_others {
                    let keep = move |it: &mut Follower| it.keep_within_limit(Position(reached));
                    self = self.blocking(&followed, keep).await;
                    is_resting = false;
                    continue;
                }
                if is_written {
                    self = self.blocking(&followed, Follower::rest).await;
                    is_resting = true;
                    continue;
                }
            }
            let write = move |it: &mut Follower| it.write_and_keep_within_limit(reached);
            self = self.blocking(&followed, write).await;
            (written, is_resting) = (reached, false);
        }
        self.blocking(&followed, Follower::write_to_disk).await;
    }

    /// A store that cannot be read will say that it failed, once somebody writes to it.
    async fn until_store_fails(self) {
        let mut condition = self.store.quota().health();
        let has_failed = condition.wait_for(|is| matches!(is, StoreHealth::Failed(_)));
        // If it does not, the end of this task comes as a surprise, as it should.
        let _ = tokio::time::timeout(STORE_FAILS, has_failed).await;
    }

    async fn blocking(
        self,
        followed: &watch::Sender<Followed>,
        work: impl FnOnce(&mut Follower) + Send + 'static,
    ) -> Follower {
        let mut follower = self;
        followed.send_modify(|followed| followed.busy_since = Some(Instant::now()));
        let done = tokio::task::spawn_blocking(move || {
            work(&mut follower);
            follower
        });
        let follower = done.await.expect("work on the index does not panic: it reports errors");
        followed.send_modify(|followed| followed.busy_since = None);
        follower
    }

    async fn take_over(
        self,
        followed: &watch::Sender<Followed>,
        after: u64,
        end: u64,
    ) -> (Follower, Result<u64, StoreError>) {
        let (result, taken) = oneshot::channel();
        let take = move |it: &mut Follower| {
            // Whoever waits for it has not gone.
            let _ = result.send(it.take_entries(after, end));
        };
        let follower = self.blocking(followed, take).await;
        (follower, taken.await.expect("it was sent before that ended"))
    }

    fn relieve_when_full(&self, backlog: Backlog, position: Position) {
        if backlog.is_full() {
            self.relieve(position);
        }
    }

    /// They were told everything up to `position`.
    fn relieve(&self, position: Position) {
        if let Err(error) = self.indexes.commit() {
            tracing::warn!(%error, "the search index cannot be written to disk");
        }
        self.keep_within_limit(position);
        allocator::trim();
    }

    fn keep_within_limit(&self, position: Position) {
        self.room.keep(self.store.as_ref(), &self.indexes, position);
    }

    fn write_and_keep_within_limit(&mut self, reached: u64) {
        self.write_to_disk();
        self.keep_within_limit(Position(reached));
    }

    fn write_to_disk(&mut self) {
        match self.indexes.commit() {
            Ok(position) => {
                fault::point("index: committed");
                drop(self.store.write(vec![Write::OutboxConsumed(position.0)]));
                fault::point("index: taken queued");
            }
            Err(error) => tracing::warn!(%error, "the search index cannot be written to disk"),
        }
        allocator::trim();
    }

    fn rest(&mut self) {
        if let Err(error) = self.indexes.rest() {
            tracing::warn!(%error, "the search index cannot come to rest");
        }
        allocator::trim();
    }
}
