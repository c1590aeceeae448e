//! Opens the database of a home, and waits until it is closed.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Weak},
    time::Duration,
};

use anyhow::Context;

use super::{STOP_LIMIT, quarantine};
use crate::store::{Store, StoreError, sled::SledStore};

/// Interval of the checks whether the database is still in use.
const CHECK_INTERVAL: Duration = Duration::from_millis(10);

pub(super) struct OpenedDatabase {
    pub(super) store: Arc<dyn Store>,
    /// A message for the user if the database was damaged.
    pub(super) problem: Option<String>,
}

/// Opens the database. If the database is damaged and cannot be opened, moves it to another folder
/// and creates a new database.
pub(super) fn open(home: &Path, limit: u64) -> anyhow::Result<OpenedDatabase> {
    let folder = folder(home);
    let open = || SledStore::open_within(&folder, limit);
    let (store, problem) = match open() {
        Err(StoreError::Unreadable(what)) => {
            let moved = quarantine::quarantine(&folder)?;
            quarantine::remove_old(&folder, &mut |message| tracing::warn!("{message}"));
            let problem = format!(
                "{what}; the database was moved to {}, and a new one is created from the transcripts that still exist; `graphiti repair` recovers the readable records",
                moved.display()
            );
            (open(), Some(problem))
        }
        opened => (opened, None),
    };
    let store = store.with_context(|| format!("open {}", folder.display()))?;
    let lost = match store.lost() {
        0 => None,
        lost => Some(lost_changes(&folder, lost)),
    };
    Ok(OpenedDatabase { store: Arc::new(store), problem: problem.or(lost) })
}

/// Describes the loss of the last changes of a database for the user.
pub(super) fn lost_changes(folder: &Path, lost: u64) -> String {
    format!(
        "{} was damaged: its last {lost} changes are lost; transcripts that still exist are read again",
        folder.display()
    )
}

/// Waits until the store is no longer used, up to a time limit.
pub(super) async fn wait_until_closed(store: &Weak<dyn Store>) {
    let is_closed = async {
        while store.strong_count() > 0 {
            tokio::time::sleep(CHECK_INTERVAL).await;
        }
    };
    if tokio::time::timeout(STOP_LIMIT, is_closed).await.is_err() {
        tracing::warn!("the database is still in use");
    }
}

pub(super) fn folder(home: &Path) -> PathBuf {
    home.join("db")
}
