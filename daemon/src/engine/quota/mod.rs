//! Keeps the database and the search index within their limits.
//!
//! What goes first is what is missed least: the text of the oldest sessions, whose episodes and
//! facts stay and are found; when that does not suffice, the oldest episodes with their facts. What
//! has no episode yet never goes, nor what someone asked to be remembered. A session stays known,
//! so that its transcript is not read again for nothing; when it goes on, it is read again.

mod evict;
mod index;

use std::{sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use tokio::{
    sync::{Notify, watch},
    task::JoinError,
};

use self::evict::Evictor;
pub use self::index::IndexQuota;
use crate::{
    clock,
    engine::{Engine, defect, indexes::Indexes},
    fault,
    model::Timestamp,
    store::{Note, NoteNamespace, Store, StoreError, StoreHealth, Write},
};

/// How much may be taken on disk, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskLimits {
    /// By the database.
    pub database: u64,
    /// By the search index.
    pub index: u64,
    /// By events that wait for the daemon.
    pub spool: u64,
    /// By all log files together.
    pub log: u64,
}

/// What was let go so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EvictionStats {
    version: u32,
    /// Sessions whose text went.
    pub sessions: u64,
    /// Bytes of it.
    pub bytes: u64,
    /// Episodes that went, with their facts.
    pub episodes: u64,
    /// When something went last, in microseconds since the epoch.
    at: i64,
}

const VERSION: u32 = 1;
/// The note that says what was let go.
const NOTE: &[u8] = b"let go";
/// Between two looks while something is written.
const PAUSE: Duration = Duration::from_millis(500);
/// Between two looks whether there is room again.
const RETRY: Duration = Duration::from_secs(30);

/// What keeps the limits.
pub struct QuotaKeeper {
    store: Arc<dyn Store>,
    engine: Engine,
    indexes: Indexes,
    limits: watch::Sender<DiskLimits>,
    nudged: Notify,
    /// Whether the database would be smaller if it were opened anew.
    can_shrink: bool,
}

impl QuotaKeeper {
    /// Who feeds the indexes keeps these limits for them ([`IndexQuota`]); here it is only asked whether
    /// they do. `can_shrink` says whether the database may be made smaller by opening it anew, which was
    /// not tried in vain a moment ago.
    pub fn new(
        engine: Engine,
        indexes: Indexes,
        limits: watch::Sender<DiskLimits>,
        can_shrink: bool,
    ) -> QuotaKeeper {
        let (store, nudged) = (engine.store().clone(), Notify::new());
        QuotaKeeper { store, engine, indexes, limits, nudged, can_shrink }
    }

    /// The limits in force.
    pub fn limits(&self) -> DiskLimits {
        *self.limits.borrow()
    }

    /// Puts other limits in force, and has a look at once whether there is room.
    pub fn set_limits(&self, limits: DiskLimits) {
        self.limits.send_replace(limits);
        self.store.quota().set_limit(limits.database);
        self.nudged.notify_one();
    }

    /// What was let go so far.
    pub fn evicted(&self) -> EvictionStats {
        EvictionStats::noted(self.store.as_ref())
    }

    /// Bytes that the index takes on disk.
    pub fn index_bytes(&self) -> u64 {
        self.indexes.disk_bytes()
    }

    /// Keeps the limits until the store is to be opened anew.
    pub async fn run(self: Arc<Self>) {
        let mut condition = self.store.quota().health();
        let mut ends = self.store.outbox_ends();
        let mut can_shrink = self.can_shrink;
        loop {
            fault::point("keeper: turn");
            let is = condition.borrow_and_update().clone();
            match is {
                StoreHealth::Normal => {}
                StoreHealth::NearLimit => {
                    ends.mark_unchanged();
                    if self.clone().make_room().await && can_shrink {
                        return;
                    }
                    // Text that waits to be indexed may go when more was written, and what was in vain
                    // when the database was opened need not be then.
                    can_shrink = true;
                    let later = async {
                        self.wait().await;
                        ends.changed().await
                    };
                    tokio::select! {
                        _ = condition.changed() => {}
                        _ = later => {}
                    }
                    continue;
                }
                StoreHealth::TextRefused(why) => {
                    self.engine.note_problem(why).await;
                    loop {
                        // Letting go does not help where others fill the disk.
                        let is_tight = self.store.quota().is_near_limit();
                        if is_tight && self.clone().make_room().await && can_shrink {
                            return;
                        }
                        if self.lack().is_none() {
                            return;
                        }
                        // What waited may be indexed then, and its text can go.
                        tokio::select! {
                            _ = ends.changed() => tokio::time::sleep(PAUSE).await,
                            () = self.wait() => {}
                        }
                        // What was in vain when it was opened need not be now.
                        can_shrink = true;
                    }
                }
                StoreHealth::Failed(why) => {
                    self.engine.note_problem(why).await;
                    self.wait().await;
                    while self.store.quota().shortage().is_some() {
                        self.wait().await;
                    }
                    return;
                }
            }
            tokio::select! {
                _ = condition.changed() => {}
                () = self.nudged.notified() => {}
            }
        }
    }

    async fn wait(&self) {
        drop(tokio::time::timeout(RETRY, self.nudged.notified()).await);
    }

    fn lack(&self) -> Option<String> {
        self.store.quota().shortage().or_else(|| index::lack(&self.indexes, self.limits().index))
    }

    /// Lets go of what is too much for the database; says whether its file is much smaller when it is
    /// opened anew.
    async fn make_room(self: Arc<Self>) -> bool {
        let keeper = self.clone();
        let made = tokio::task::spawn_blocking(move || keeper.make_room_now()).await;
        made.unwrap_or_else(|error| Err(broken(&error))).unwrap_or_else(|error| {
            tracing::warn!(%error, "no room can be made in the database");
            false
        })
    }

    fn make_room_now(&self) -> Result<bool, StoreError> {
        let goal = self.store.quota().content_target();
        let mut going = Evictor::of(self.store.as_ref());
        let content = going.down_to(goal)?;
        tell(going.gone(), "database");
        // With text that waits a new database may be twice as large as is meant, and the two of them
        // take more than the limit while one is copied; standing still for ever would be worse.
        let would_shrink = self.store.quota().would_shrink(content);
        if !would_shrink {
            tracing::warn!(content, "nothing more can be let go of the database");
        }
        Ok(would_shrink)
    }
}

fn broken(error: &JoinError) -> StoreError {
    StoreError::Backend(defect::told(error).to_owned())
}

/// Says in the log what went for the sake of `what`.
fn tell(gone: EvictionStats, what: &str) {
    if gone.sessions + gone.episodes > 0 {
        tracing::warn!(
            sessions = gone.sessions,
            bytes = gone.bytes,
            episodes = gone.episodes,
            "the {what} comes near its limit: text of the oldest sessions went, and then the oldest episodes"
        );
    }
}

impl EvictionStats {
    /// What the store says was let go so far.
    fn noted(store: &dyn Store) -> EvictionStats {
        let note = store.note(NoteNamespace::Room, NOTE).ok().flatten();
        note.and_then(|note| serde_json::from_slice(&note).ok()).unwrap_or_default()
    }

    /// This, and then `more`, just now.
    fn and(self, more: EvictionStats) -> EvictionStats {
        EvictionStats {
            version: VERSION,
            sessions: self.sessions + more.sessions,
            bytes: self.bytes + more.bytes,
            episodes: self.episodes + more.episodes,
            at: clock::now().micros(),
        }
    }

    fn to_note(self) -> Write {
        let content = Some(serde_json::to_vec(&self).expect("numbers have a form in JSON"));
        Write::Note(Note { namespace: NoteNamespace::Room, name: NOTE.to_owned(), content })
    }

    /// When something went last; `None` when nothing ever did.
    pub fn at(&self) -> Option<Timestamp> {
        (self.version > 0).then(|| Timestamp::from_micros(self.at))
    }
}
