use std::path::Path;

use tokio::sync::watch;

use super::{database::OpenedDatabase, *};
use crate::{
    engine::{
        follow,
        quota::{DiskLimits, IndexQuota},
    },
    model::SessionKey,
    store::{Store, Write, contract},
};

struct RunningFollower {
    indexes: crate::engine::indexes::Indexes,
    reached: watch::Receiver<follow::FollowerProgress>,
    stop: watch::Sender<bool>,
    task: tokio::task::JoinHandle<()>,
}

fn following(home: &Path, store: &Arc<dyn Store>) -> RunningFollower {
    let positions = follow::OutboxPositions::new(store.clone());
    let limits = DiskLimits {
        database_bytes: u64::MAX,
        index_bytes: u64::MAX,
        spool_bytes: 0,
        log_bytes: 0,
    };
    let quota = IndexQuota::new(watch::channel(limits).1);
    let follower = follow::open(&follow::folder(home), store.clone(), quota, &positions).unwrap();
    let indexes = follower.target().indexes().clone();
    let (followed, reached) = watch::channel(follow::FollowerProgress::default());
    let (stop, stopping) = watch::channel(false);
    RunningFollower { indexes, reached, stop, task: tokio::spawn(follower.run(followed, stopping)) }
}

fn session(key: SessionKey) -> Vec<Write> {
    vec![Write::Session(Box::new(contract::session(key, &key.0.to_string())))]
}

#[tokio::test(start_paused = true)]
async fn an_unused_index_is_released_and_opened_again_for_changes() {
    let home = tempfile::tempdir().unwrap();
    let OpenedDatabase { store, .. } = database::open(home.path(), u64::MAX).unwrap();
    let mut running = following(home.path(), &store);
    for key in [SessionKey(1), SessionKey(2)] {
        let position = store.write(session(key)).done().await.unwrap();
        running.reached.wait_for(|reached| reached.position >= position).await.unwrap();
        // The paused clock advances while all tasks wait.
        tokio::time::sleep(Duration::from_secs(600)).await;
        assert!(running.indexes.sessions.is_idle());
        assert!(store.outbox(0, 1).unwrap().is_empty(), "the change is not on disk");
    }
    running.stop.send_replace(true);
    running.task.await.unwrap();
}

#[tokio::test]
async fn later_changes_are_followed_after_an_unreadable_change() {
    let home = tempfile::tempdir().unwrap();
    let OpenedDatabase { store, .. } = database::open(home.path(), u64::MAX).unwrap();
    let mut end = 0;
    for key in 1..=3 {
        end = store.write(session(SessionKey(key))).done().await.unwrap();
    }
    drop(store);
    // Damages the record of the second change.
    let raw = sled::Config::default().path(database::folder(home.path())).segment_size(2 << 20);
    let raw = raw.flush_every_ms(None).open().unwrap();
    let (key, _) = raw.scan_prefix(b"o").nth(1).unwrap().unwrap();
    raw.insert(key, b"damaged").unwrap();
    raw.flush().unwrap();
    drop(raw);
    let OpenedDatabase { store, .. } = database::open(home.path(), u64::MAX).unwrap();
    let mut running = following(home.path(), &store);
    running.reached.wait_for(|reached| reached.position >= end).await.unwrap();
    running.stop.send_replace(true);
    running.task.await.unwrap();
}
