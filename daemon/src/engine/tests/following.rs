//! Tests the content of the search index after the daemon died while the follower worked.

use std::sync::Arc;

use tokio::{sync::watch, task::JoinHandle};

use super::Machine;
use crate::{
    engine::{
        follow::{self, FollowerProgress, OutboxPositions},
        indexes::Indexes,
        quota::{DiskLimits, IndexQuota},
    },
    model::{Message, SessionKey},
    store::{SourceKey, Store, Write, contract},
};

const FILE: SourceKey = SourceKey { session: SessionKey(1), number: 0 };

/// A follower that runs.
struct Following {
    indexes: Indexes,
    task: JoinHandle<()>,
    reached: watch::Receiver<FollowerProgress>,
    stop: watch::Sender<bool>,
}

impl Following {
    fn start(machine: &Machine, store: &Arc<dyn Store>) -> Following {
        let home = machine.folder.path();
        let positions = OutboxPositions::new(store.clone());
        let limits = DiskLimits {
            database_bytes: u64::MAX,
            index_bytes: u64::MAX,
            spool_bytes: 0,
            log_bytes: 0,
        };
        let quota = IndexQuota::new(watch::channel(limits).1);
        let folder = home.join("index");
        let follower = follow::open(&folder, store.clone(), quota, &positions).unwrap();
        let indexes = follower.target().indexes().clone();
        let (followed, reached) = watch::channel(FollowerProgress::default());
        let (stop, stopping) = watch::channel(false);
        let task = tokio::spawn(follower.run(followed, stopping));
        Following { indexes, task, reached, stop }
    }

    /// Waits until the follower has applied all changes up to `position`.
    async fn until(&mut self, position: u64) {
        self.reached.wait_for(|reached| reached.position >= position).await.unwrap();
    }

    /// Returns the number of passages in the index.
    fn passages(&self) -> usize {
        self.indexes.sessions.passages_of(FILE.session).unwrap()
    }

    /// Stops the follower, which then writes all applied changes to disk.
    async fn stop(self) {
        self.stop.send_replace(true);
        self.task.await.unwrap();
    }

    /// Aborts the follower, so that it writes nothing more to disk.
    async fn die(self) {
        self.task.abort();
        assert!(self.task.await.unwrap_err().is_cancelled());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_that_are_read_twice_are_found_once() {
    let machine = Machine::new();
    let store: Arc<dyn Store> = Arc::new(machine.store());
    let mut following = Following::start(&machine, &store);
    let session = Box::new(contract::session(FILE.session, "a"));
    write(&store, Write::Session(session)).await;
    write(&store, messages(0..1)).await;
    following.until(write(&store, messages(1..2)).await).await;
    following.stop().await;
    // After a crash, reading continues from an earlier position.
    write(&store, messages(1..2)).await;
    let end = write(&store, messages(2..3)).await;
    let mut following = Following::start(&machine, &store);
    following.until(end).await;
    assert_eq!(following.passages(), 3);
    following.until(write(&store, messages(3..5)).await).await;
    assert_eq!(following.passages(), 5);
    following.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_are_found_once_if_only_one_of_the_indexes_was_committed() {
    let machine = Machine::new();
    let store: Arc<dyn Store> = Arc::new(machine.store());
    let mut following = Following::start(&machine, &store);
    let session = Box::new(contract::session(FILE.session, "a"));
    following.until(write(&store, Write::Session(session)).await).await;
    following.indexes.commit().unwrap();
    for seq in 0..4 {
        following.until(write(&store, messages(seq..seq + 1)).await).await;
    }
    following.indexes.sessions.commit().unwrap();
    following.die().await;
    let mut following = Following::start(&machine, &store);
    following.until(store.outbox_end()).await;
    assert_eq!(following.passages(), 4);
    following.stop().await;
}

/// Stores `write`. Returns the outbox position after it.
async fn write(store: &Arc<dyn Store>, write: Write) -> u64 {
    store.write(vec![write]).done().await.unwrap()
}

fn messages(seqs: std::ops::Range<u32>) -> Write {
    let message = |seq| Message {
        text: format!("word{seq}"),
        files: Vec::new(),
        tool: None,
        ..contract::message(seq, 0)
    };
    Write::Messages { source: FILE, messages: seqs.map(message).collect() }
}
