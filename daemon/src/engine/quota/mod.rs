//! Keeps the database and the search index within their quotas.
//!
//! A database near its limit is compacted. Before that, content is evicted if a compacted copy
//! would be too large for the limit, or if the database is almost full and the disk has no free
//! space for the copy. The text of the oldest sessions is evicted first. Their episodes and facts
//! are kept, and searches find them. If this does not suffice for the database, the oldest episodes
//! are evicted with their facts. Sessions without an episode and added memories are never evicted.
//! An evicted session stays registered, so that its transcript is not read again unless it grows.

mod evict;
mod index;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

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
    store::{EvictionProgress, NoteNamespace, SpaceStep, Store, StoreError, StoreHealth, Write},
};

/// The limits on disk space, in bytes. Near the limit of the database or the index, the oldest data
/// is evicted. At the other limits, further hook events are refused and the oldest log files are
/// deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskLimits {
    /// The database of sessions and episodes.
    pub database_bytes: u64,
    pub index_bytes: u64,
    /// The hook events that wait for the daemon.
    pub spool_bytes: u64,
    /// All log files together.
    pub log_bytes: u64,
}

impl Default for DiskLimits {
    fn default() -> DiskLimits {
        DiskLimits {
            database_bytes: 4 << 30,
            index_bytes: 2 << 30,
            spool_bytes: 64 << 20,
            log_bytes: 32 << 20,
        }
    }
}

/// The evictions so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EvictionStats {
    version: u32,
    /// The number of sessions whose text was evicted.
    pub sessions: u64,
    /// The size of the evicted text, in bytes.
    pub bytes: u64,
    /// The number of episodes that were evicted with their facts.
    pub episodes: u64,
    /// The time of the last eviction, in microseconds since the epoch.
    at: i64,
}

const VERSION: u32 = 1;
/// The name of the note with the statistics.
const NOTE: &[u8] = b"let go";
/// The pause between two attempts to evict while data are written to the store.
const PAUSE: Duration = Duration::from_millis(500);
/// The pause between two attempts while nothing changes; also the longest pause while data are
/// written.
const RETRY: Duration = Duration::from_secs(30);
/// The pause after an attempt that did not suffice, as a multiple of the duration of the attempt.
/// Each attempt reads the whole database and writes the evictions. Without a pause, these writes
/// would make the file grow beyond its limit.
const PAUSE_PER_ATTEMPT: u32 = 20;

pub struct QuotaKeeper {
    store: Arc<dyn Store>,
    engine: Engine,
    indexes: Indexes,
    limits: watch::Sender<DiskLimits>,
    recheck_requested: Notify,
    /// Whether reopening may make the database smaller.
    can_shrink: bool,
}

impl QuotaKeeper {
    /// Creates a keeper. `can_shrink` is false if the database was just reopened but is still near
    /// its limit. The follower enforces the quota of the indexes ([`IndexQuota`]); the keeper only
    /// checks it.
    pub fn new(
        engine: Engine,
        indexes: Indexes,
        limits: watch::Sender<DiskLimits>,
        can_shrink: bool,
    ) -> QuotaKeeper {
        let (store, recheck_requested) = (engine.store().clone(), Notify::new());
        QuotaKeeper { store, engine, indexes, limits, recheck_requested, can_shrink }
    }

    pub fn limits(&self) -> DiskLimits {
        *self.limits.borrow()
    }

    /// Applies new quotas and checks them at once.
    pub fn set_limits(&self, limits: DiskLimits) {
        self.limits.send_replace(limits);
        self.store.quota().set_limit(limits.database_bytes);
        self.recheck_requested.notify_one();
    }

    pub fn evicted(&self) -> EvictionStats {
        EvictionStats::load(self.store.as_ref()).unwrap_or_else(|error| {
            tracing::warn!(%error, "failed to read the statistics of evictions");
            EvictionStats::default()
        })
    }

    /// Returns the size of the search index on disk.
    pub fn index_bytes(&self) -> u64 {
        self.indexes.disk_bytes()
    }

    /// Enforces the limits. Returns when the store has to be reopened.
    pub async fn run(self: Arc<Self>) {
        let mut condition = self.store.quota().health();
        let mut ends = self.store.outbox_ends();
        let mut can_shrink = self.can_shrink;
        loop {
            fault::point("keeper: turn");
            let is = condition.borrow_and_update().clone();
            match is {
                StoreHealth::Normal => {
                    tokio::select! {
                        _ = condition.changed() => {}
                        () = self.recheck_requested.notified() => {}
                    }
                }
                StoreHealth::NearLimit => {
                    ends.mark_unchanged();
                    let start = Instant::now();
                    if self.clone().make_space().await && can_shrink {
                        return;
                    }
                    // If reopening did not help the last time, it may help by now.
                    can_shrink = true;
                    let pause = (start.elapsed() * PAUSE_PER_ATTEMPT).clamp(PAUSE, RETRY);
                    tokio::select! {
                        _ = condition.changed() => {}
                        () = wait_for_more(&self.recheck_requested, pause, &mut ends) => {}
                    }
                }
                StoreHealth::TextRefused(why) => {
                    self.engine.note_problem(why).await;
                    return self.evict_until_writable(ends, can_shrink).await;
                }
                StoreHealth::Failed(why) => {
                    self.engine.note_problem(why).await;
                    return self.wait_until_repaired().await;
                }
            }
        }
    }

    async fn evict_until_writable(
        self: Arc<Self>,
        mut ends: watch::Receiver<u64>,
        mut can_shrink: bool,
    ) {
        loop {
            // Eviction does not help if other programs fill the disk.
            let is_tight = self.store.quota().is_near_limit();
            if is_tight && self.clone().make_space().await && can_shrink {
                return;
            }
            if self.shortage().is_none() {
                return;
            }
            // Meanwhile, sessions may be indexed, so that their text can be evicted.
            tokio::select! {
                _ = ends.changed() => tokio::time::sleep(PAUSE).await,
                () = self.wait(RETRY) => {}
            }
            // If reopening did not help the last time, it may help by now.
            can_shrink = true;
        }
    }

    async fn wait_until_repaired(&self) {
        self.wait(RETRY).await;
        while self.store.quota().shortage().is_some() {
            self.wait(RETRY).await;
        }
    }

    async fn wait(&self, pause: Duration) {
        // The caller checks again in both cases: after a request and after the timeout.
        let _ = tokio::time::timeout(pause, self.recheck_requested.notified()).await;
    }

    /// Returns why the store or the index accepts no more text; `None` if both accept text.
    fn shortage(&self) -> Option<String> {
        self.store
            .quota()
            .shortage()
            .or_else(|| index::over_quota_message(&self.indexes, self.limits().index_bytes))
    }

    /// Calls [`prepare_compaction`]. Logs its errors, and returns false for them.
    async fn make_space(self: Arc<Self>) -> bool {
        let prepare = move || prepare_compaction(self.store.as_ref());
        let prepared = tokio::task::spawn_blocking(prepare).await;
        prepared.unwrap_or_else(|error| Err(broken(&error))).unwrap_or_else(|error| {
            tracing::warn!(%error, "failed to make the database smaller");
            false
        })
    }
}

/// If compacting the database would not suffice, evicts until the content has its target size, or
/// nothing more can be evicted. Returns whether the database should be reopened, which compacts it.
fn prepare_compaction(store: &dyn Store) -> Result<bool, StoreError> {
    let quota = store.quota();
    if !quota.is_near_limit() {
        return Ok(false);
    }
    let mut content = quota.content_bytes()?;
    let mut step = quota.next_step(content, EvictionProgress::NotTried);
    if step == SpaceStep::Evict {
        let mut evictor = Evictor::new(store)?;
        content = evictor.evict_until(quota.content_target())?;
        let evicted = evictor.evicted();
        log_evicted(evicted, "database");
        let progress = match evicted.sessions + evicted.episodes {
            0 => EvictionProgress::NothingEvicted,
            _ => EvictionProgress::Evicted,
        };
        step = quota.next_step(content, progress);
    }
    if step == SpaceStep::Wait {
        tracing::warn!(
            content,
            "the database cannot become smaller now: too much content cannot be evicted, the disk has no free space for a compacted copy, or a copy would hardly be smaller"
        );
    }
    Ok(step == SpaceStep::Compact)
}

/// Waits for `pause` and then for the next write, because more text may be indexed by then, and
/// indexed text can be evicted. A request to check again (for example, because of new limits) ends
/// the wait at once.
async fn wait_for_more(
    recheck_requested: &Notify,
    pause: Duration,
    ends: &mut watch::Receiver<u64>,
) {
    let more_written = async {
        tokio::time::sleep(pause).await;
        // The sender is in the store, so the channel cannot close meanwhile.
        let _ = ends.changed().await;
    };
    tokio::select! {
        () = recheck_requested.notified() => {}
        () = more_written => {}
    }
}

fn broken(error: &JoinError) -> StoreError {
    StoreError::Backend(defect::describe(error).to_owned())
}

/// Logs the evictions for `what`: the database or the search index.
fn log_evicted(evicted: EvictionStats, what: &str) {
    if evicted.sessions + evicted.episodes > 0 {
        tracing::warn!(
            sessions = evicted.sessions,
            bytes = evicted.bytes,
            episodes = evicted.episodes,
            "the {what} approaches its limit: evicted the oldest content"
        );
    }
}

impl EvictionStats {
    /// Loads the saved statistics. If they cannot be parsed, they start at zero, because they are
    /// only displayed.
    fn load(store: &dyn Store) -> Result<EvictionStats, StoreError> {
        let note = store.note(NoteNamespace::Evictions, NOTE)?;
        Ok(note.and_then(|note| serde_json::from_slice(&note).ok()).unwrap_or_default())
    }

    fn plus(self, more: EvictionStats) -> EvictionStats {
        EvictionStats {
            version: VERSION,
            sessions: self.sessions + more.sessions,
            bytes: self.bytes + more.bytes,
            episodes: self.episodes + more.episodes,
            at: clock::now().micros(),
        }
    }

    fn to_note(self) -> Write {
        Write::note(NoteNamespace::Evictions, NOTE, &self)
    }

    /// Returns the time of the last eviction; `None` if there was none.
    pub fn at(&self) -> Option<Timestamp> {
        (self.version > 0).then(|| Timestamp::from_micros(self.at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn new_limits_are_checked_at_once_and_further_writes_after_the_pause() {
        let hour = Duration::from_secs(3_600);
        let recheck_requested = Notify::new();
        let (ends, mut seen) = watch::channel(0);
        recheck_requested.notify_one();
        let start = tokio::time::Instant::now();
        wait_for_more(&recheck_requested, hour, &mut seen).await;
        assert_eq!(start.elapsed(), Duration::ZERO);
        ends.send_replace(1);
        wait_for_more(&recheck_requested, hour, &mut seen).await;
        assert_eq!(start.elapsed().as_secs(), hour.as_secs());
    }
}
