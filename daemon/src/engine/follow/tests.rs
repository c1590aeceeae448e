use std::sync::{
    Mutex,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use tempfile::TempDir;
use tokio::task::JoinHandle;

use super::*;
use crate::{
    model::SessionKey,
    store::{Write, contract, sled::SledStore},
};

/// Records the positions of the entries that were applied.
#[derive(Clone, Default)]
struct FakeTarget {
    applied: Arc<Mutex<Vec<u64>>>,
    is_busy: Arc<AtomicBool>,
    is_off: bool,
    /// The number of commits that fail.
    failing_commits: Arc<AtomicUsize>,
}

impl Target for FakeTarget {
    const NAME: &'static str = "a target of a test";
    type Settings = ();

    fn durable(&self) -> u64 {
        0
    }

    fn settings(&self) -> watch::Receiver<()> {
        watch::channel(()).1
    }

    fn takes_entries(&self) -> bool {
        !self.is_off
    }

    fn apply(&mut self, entry: OutboxEntry, _: u64) -> Result<(), TargetError> {
        if self.is_busy.load(Ordering::Relaxed) {
            return Err(TargetError::Unavailable("the server is busy".to_owned()));
        }
        self.applied.lock().unwrap().push(entry.position);
        Ok(())
    }

    fn commit(&mut self, position: u64) -> Option<u64> {
        let failing = &self.failing_commits;
        let fails =
            failing.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        fails.is_err().then_some(position)
    }
}

struct Running {
    task: JoinHandle<()>,
    progress: watch::Receiver<FollowerProgress>,
    stop: watch::Sender<bool>,
}

impl Running {
    fn start(store: &Arc<dyn Store>, target: FakeTarget, positions: &OutboxPositions) -> Running {
        let follower = OutboxFollower::new(store.clone(), target, positions);
        let (sender, progress) = watch::channel(FollowerProgress::default());
        let (stop, stopping) = watch::channel(false);
        Running { task: tokio::spawn(follower.run(sender, stopping)), progress, stop }
    }

    async fn until(&mut self, reached: impl FnMut(&FollowerProgress) -> bool) {
        self.progress.wait_for(reached).await.unwrap();
    }

    async fn stop(self) {
        self.stop.send_replace(true);
        self.task.await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn entries_are_applied_in_order() {
    let (_folder, store) = store();
    let target = FakeTarget::default();
    let positions = OutboxPositions::new(store.clone());
    let mut running = Running::start(&store, target.clone(), &positions);
    let end = write(&store, 1).await;
    running.until(|progress| progress.position >= end).await;
    let end = write(&store, 2).await;
    running.until(|progress| progress.position >= end).await;
    running.stop().await;
    assert_eq!(*target.applied.lock().unwrap(), (1..=end).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn a_target_that_takes_no_entries_skips_them() {
    let (_folder, store) = store();
    let target = FakeTarget { is_off: true, ..FakeTarget::default() };
    let positions = OutboxPositions::new(store.clone());
    let mut running = Running::start(&store, target.clone(), &positions);
    let end = write(&store, 1).await;
    running.until(|progress| progress.position >= end).await;
    running.stop().await;
    assert_eq!(*target.applied.lock().unwrap(), [] as [u64; 0]);
}

#[tokio::test(start_paused = true)]
async fn an_entry_that_a_target_cannot_apply_is_retried_and_reported_as_stalled() {
    let (_folder, store) = store();
    let target = FakeTarget::default();
    target.is_busy.store(true, Ordering::Relaxed);
    let positions = OutboxPositions::new(store.clone());
    let mut running = Running::start(&store, target.clone(), &positions);
    let end = write(&store, 1).await;
    running.until(FollowerProgress::is_stalled).await;
    assert!(target.applied.lock().unwrap().is_empty());
    target.is_busy.store(false, Ordering::Relaxed);
    running.until(|progress| progress.position >= end && !progress.is_stalled()).await;
    running.stop().await;
    assert_eq!(*target.applied.lock().unwrap(), (1..=end).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn the_outbox_keeps_an_entry_until_the_slowest_follower_has_committed_it() {
    let (_folder, store) = store();
    let positions = OutboxPositions::new(store.clone());
    let slow = positions.register(0);
    let mut running = Running::start(&store, FakeTarget::default(), &positions);
    let end = write(&store, 1).await;
    running.until(|progress| progress.position >= end).await;
    running.stop().await;
    store.write(Vec::new()).done().await.unwrap();
    assert_eq!(store.outbox(0, 10).unwrap().len() as u64, end);
    slow.release(end);
    store.write(Vec::new()).done().await.unwrap();
    assert_eq!(store.outbox(0, 10).unwrap(), []);
}

#[tokio::test(start_paused = true)]
async fn a_failed_commit_is_retried_without_a_new_entry() {
    let (_folder, store) = store();
    let target = FakeTarget::default();
    target.failing_commits.store(3, Ordering::Relaxed);
    let positions = OutboxPositions::new(store.clone());
    let mut running = Running::start(&store, target.clone(), &positions);
    let end = write(&store, 1).await;
    running.until(|progress| progress.position >= end).await;
    // The paused clock advances while all tasks wait.
    tokio::time::sleep(15 * COMMIT_WHEN_QUIET - Duration::from_millis(1)).await;
    assert_eq!(target.failing_commits.load(Ordering::Relaxed), 0);
    assert_ne!(store.outbox(0, 10).unwrap(), [], "the pause doubles with each failure");
    tokio::time::sleep(Duration::from_secs(60)).await;
    store.write(Vec::new()).done().await.unwrap();
    assert_eq!(store.outbox(0, 10).unwrap(), []);
    running.stop().await;
}

fn store() -> (TempDir, Arc<dyn Store>) {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(SledStore::open(folder.path()).unwrap());
    (folder, store)
}

/// Adds a session. Returns the position of the last outbox entry.
async fn write(store: &Arc<dyn Store>, key: u64) -> u64 {
    let session = contract::session(SessionKey(key), &key.to_string());
    store.write(vec![Write::Session(Box::new(session))]).done().await.unwrap()
}
