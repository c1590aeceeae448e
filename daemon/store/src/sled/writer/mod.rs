//! The one thread that writes to the database.
//!
//! Several lists may share one flush and one sync. Their number is bounded ([`GROUP`]), so that sled
//! does not reuse a segment that is not synced yet.

mod episodes;
mod messages;
mod sessions;
mod sources;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    io,
    panic::{self, AssertUnwindSafe},
    sync::{
        Arc,
        atomic::Ordering,
        mpsc::{self, Receiver, SyncSender},
    },
    thread::{self, JoinHandle},
};

use sled::{Db, Tree};
use tokio::sync::{oneshot, watch};

use super::{
    agent_totals::{CountedChanges, StoredAgentTotals},
    batch::Batch,
    counters::Counters,
    envelope,
    high_water_mark::HighWaterMark,
    keys::{self, Key},
    pieces,
    prepared::Prepared,
    quota::Quota,
    records::OutboxRecord,
    unwritten::{Unwritten, WrittenKey},
    waker::Waker,
};
use crate::{
    OutboxChange, PendingWrite, SourceKey, StoreError, Write, fault,
    model::{SessionKey, graph::EntityOrFact, session::Session, vector::Owner},
};

/// Lists in the queue. A caller blocks when it is full; the engine, which writes small lists only, does
/// not fill it even while a sync takes seconds.
const QUEUE: usize = 1_024;
/// Lists with text in the queue. A caller with more text blocks, so that memory is bounded.
const TEXT_QUEUE: usize = 8;
/// The most lists that share a flush and a sync. With twenty, no loss was measured.
const GROUP: usize = 16;
/// Entities and facts in one entry of the outbox. Each takes sixteen bytes, which keeps the entry far
/// below the largest value.
const THINGS: usize = 128;

/// Queues lists of writes for the writing thread. Dropping it lets the thread finish the queue.
pub(super) struct Writer {
    unwritten: Arc<Unwritten>,
    outbox_ends: watch::Receiver<u64>,
    queue: Option<SyncSender<Job>>,
    /// Has an entry for each list with text in the queue.
    texts: SyncSender<()>,
    thread: Option<JoinHandle<()>>,
}

struct Job {
    number: u64,
    writes: Vec<Prepared>,
    resolve: oneshot::Sender<Result<u64, StoreError>>,
}

impl Job {
    fn has_text(&self) -> bool {
        self.writes.iter().any(Prepared::is_large)
    }
}

impl Writer {
    pub(super) fn start(
        db: Db,
        high_water_mark: HighWaterMark,
        waker: Waker,
        quota: Arc<Quota>,
        counters: Arc<Counters>,
    ) -> Result<Writer, StoreError> {
        let folder = quota.folder();
        // sled's flush leaves the data to the kernel; this handle is for the sync that it omits,
        // which Windows allows only for files that are open for writing.
        let data = File::options()
            .write(true)
            .open(folder.join("db"))
            .map_err(|error| StoreError::Backend(format!("{}: {error}", folder.display())))?;
        let (queue, jobs) = mpsc::sync_channel(QUEUE);
        let (texts, taken_texts) = mpsc::sync_channel(TEXT_QUEUE);
        let (outbox, outbox_ends) = watch::channel(counters.outbox.load(Ordering::Relaxed));
        let unwritten = Arc::new(Unwritten::default());
        let mut thread = Thread {
            tree: (*db).clone(),
            waker,
            _db: db,
            data,
            high_water_mark,
            counters,
            outbox,
            unwritten: unwritten.clone(),
            quota: quota.clone(),
            failed: None,
            unreported: None,
            taken_texts,
        };
        // sled panics where some systems' errors reach it.
        let run = move || {
            let ended = panic::catch_unwind(AssertUnwindSafe(|| thread.run(&jobs)));
            if ended.is_err() {
                quota.fail("the database failed; it is reopened");
            }
        };
        let thread = thread::Builder::new()
            .name("store".to_owned())
            .spawn(run)
            .map_err(|error| StoreError::Backend(error.to_string()))?;
        Ok(Writer { unwritten, outbox_ends, queue: Some(queue), texts, thread: Some(thread) })
    }

    /// Writes that are queued and not written yet.
    pub(super) fn unwritten(&self) -> &Unwritten {
        &self.unwritten
    }

    /// The outbox's end as it moves on.
    pub(super) fn outbox_ends(&self) -> watch::Receiver<u64> {
        self.outbox_ends.clone()
    }

    /// Encodes on the caller's thread, so that the one writer only writes.
    pub(super) fn queue(&self, writes: Vec<Write>) -> PendingWrite {
        let number = self.unwritten.add(&writes);
        self.send(number, writes.into_iter().map(Prepared::from).collect())
    }

    /// Queues rows that are encoded already.
    pub(super) fn queue_rows(&self, rows: Vec<(Key, Option<Vec<u8>>)>) -> PendingWrite {
        self.send(self.unwritten.add(&[]), vec![Prepared::Rows(rows)])
    }

    fn send(&self, number: u64, writes: Vec<Prepared>) -> PendingWrite {
        let (resolve, ticket) = PendingWrite::new();
        let job = Job { number, writes, resolve };
        if job.has_text() {
            // The thread has ended when this fails; then the queue reports it.
            let _ = self.texts.send(());
        }
        if let Some(queue) = &self.queue {
            // A job that cannot be sent is dropped with its `resolve`: the ticket says `Closed`.
            let _ = queue.send(job);
        }
        ticket
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was caught and reported there.
            let _ = thread.join();
        }
    }
}

/// The effects of one list of writes, before they are applied.
#[derive(Default)]
struct Transaction {
    ops: Batch,
    /// Sessions that this same list adds: the tree does not show them yet.
    new_sessions: BTreeSet<SessionKey>,
    /// Paths that this same list registers.
    new_paths: BTreeMap<String, SourceKey>,
    /// Files that this same list removes: the tree still shows them.
    dropped: Vec<SourceKey>,
    /// Files whose messages this same list removes: the tree still shows them.
    cleared: Vec<SourceKey>,
    /// Entities and facts whose statements this list changes.
    things: BTreeSet<EntityOrFact>,
    /// The sessions and files whose totals this list changes.
    counted: CountedChanges,
}

struct Thread {
    tree: Tree,
    waker: Waker,
    /// Kept so that the database stays open, and locked, as long as this thread lives.
    _db: Db,
    data: File,
    high_water_mark: HighWaterMark,
    counters: Arc<Counters>,
    outbox: watch::Sender<u64>,
    unwritten: Arc<Unwritten>,
    quota: Arc<Quota>,
    /// The first error of the database itself. After it nothing is written: it is unknown which of the
    /// earlier lists reached the disk.
    failed: Option<StoreError>,
    /// The error of a list since the last empty one. An empty list reports it: its caller must know
    /// whether all earlier lists are safe, even if their callers did not wait.
    unreported: Option<StoreError>,
    /// See [`Writer::texts`].
    taken_texts: Receiver<()>,
}

impl Thread {
    fn run(&mut self, jobs: &Receiver<Job>) {
        while let Ok(first) = jobs.recv() {
            let watched = self.waker.watch();
            let mut waiting = Vec::with_capacity(GROUP);
            let mut next = Some(first);
            while let Some(job) = next.take() {
                if job.has_text() {
                    // Its entry was added before the list was queued.
                    let _ = self.taken_texts.try_recv();
                }
                let written: Vec<WrittenKey> =
                    job.writes.iter().filter_map(Prepared::written_key).collect();
                let applied = self.take(job.writes);
                self.unwritten.remove(job.number, &written);
                waiting.push((job.resolve, applied));
                if waiting.len() < GROUP {
                    next = jobs.try_recv().ok();
                }
            }
            fault::point("store: applied");
            let synced = self.sync();
            drop(watched);
            fault::point("store: synced");
            let end = self.counters.outbox.load(Ordering::Relaxed);
            if synced.is_ok() {
                // Without the mark a later loss goes unnoticed, but nothing is lost now.
                let _ = self.high_water_mark.set(end);
            }
            fault::point("store: marked");
            self.quota.check();
            self.outbox.send_replace(end);
            for (resolve, applied) in waiting {
                // The caller need not wait for the result.
                let _ =
                    resolve.send(applied.and_then(|position| synced.clone().map(|()| position)));
            }
        }
    }

    /// Syncs everything that was applied. An error is permanent: the system may have dropped the pages
    /// that it could not write, and report success for the next sync.
    fn sync(&mut self) -> Result<(), StoreError> {
        if let Some(failed) = &self.failed {
            return Err(failed.clone());
        }
        let flushed = self.tree.flush().map(drop).map_err(StoreError::from);
        let synced = flushed.and_then(|()| {
            self.data.sync_data().map_err(|error: io::Error| StoreError::Backend(error.to_string()))
        });
        synced.inspect_err(|error| self.fail(error))
    }

    fn fail(&mut self, error: &StoreError) {
        tracing::error!(%error, "nothing more can be written to the database");
        self.failed = Some(error.clone());
        self.quota.fail(&format!(
            "{error}; nothing more is written until the database is reopened, which is retried regularly and at `graphiti reload`; acknowledged data are safe"
        ));
    }

    /// Applies one list unless an earlier error or the quota forbids it.
    fn take(&mut self, writes: Vec<Prepared>) -> Result<u64, StoreError> {
        if let Some(failed) = &self.failed {
            return Err(failed.clone());
        }
        if writes.is_empty()
            && let Some(error) = self.unreported.take()
        {
            return Err(error);
        }
        // After a write to a full disk sled cannot even be read any more.
        if let Err(error) = self.quota.admit_any() {
            self.failed = Some(error.clone());
            return Err(error);
        }
        if writes.iter().any(Prepared::is_large) {
            self.quota.admit_text()?;
        }
        let applied = self.apply(writes);
        if let Err(error) = &applied {
            match error {
                StoreError::Backend(_) | StoreError::Unreadable(_) => self.fail(error),
                _ => self.unreported = Some(error.clone()),
            }
        }
        applied
    }

    /// Applies one list, whole or not at all.
    fn apply(&self, writes: Vec<Prepared>) -> Result<u64, StoreError> {
        let mut batch = Transaction::default();
        for write in writes {
            self.add(&mut batch, write)?;
        }
        let things: Vec<EntityOrFact> = std::mem::take(&mut batch.things).into_iter().collect();
        for thing in &things {
            self.drop_vectors(&mut batch, Owner::Thing(*thing))?;
        }
        for things in things.chunks(THINGS) {
            self.out(&mut batch, OutboxChange::Things(things.to_vec()));
        }
        let agents = self.counters.agents.after(&self.tree, &batch.counted)?;
        StoredAgentTotals::save(&self.tree, &mut batch.ops, &agents)?;
        self.counters.save(&mut batch.ops);
        batch.ops.apply(&self.tree)?;
        self.counters.agents.set(agents);
        Ok(self.counters.outbox.load(Ordering::Relaxed))
    }

    fn add(&self, transaction: &mut Transaction, write: Prepared) -> Result<(), StoreError> {
        match write {
            Prepared::Session { session, record } => {
                self.put_session(transaction, &session, record)
            }
            Prepared::Source { source, record, checkpoint } => {
                self.put_source(transaction, &source, record, checkpoint)
            }
            Prepared::Messages(messages) => self.put_messages(transaction, &messages),
            Prepared::ForkKeys { session, records } => {
                for key in records.iter().flat_map(|record| keys::fork_key(session, *record)) {
                    transaction.ops.insert(key, &[]);
                }
                Ok(())
            }
            Prepared::Reword { source, words } => self.reword(transaction, source, words),
            Prepared::ClearSource(source) => {
                pieces::remove(&self.tree, &mut transaction.ops, &keys::checkpoint(source))?;
                self.drop_text(transaction, source)
            }
            Prepared::DropSource(source) => self.drop_source(transaction, source),
            Prepared::DropText(source) => self.drop_text(transaction, source),
            Prepared::Episode { episode, record } => {
                self.put_episode(transaction, &episode, &record)
            }
            Prepared::Statements { episode, rows, things } => {
                self.put_statements(transaction, episode, rows, things)
            }
            Prepared::DropEpisode(id) => self.drop_episode(transaction, id),
            Prepared::DropSession(session) => self.drop_session(transaction, session),
            Prepared::Note { key, record } => {
                pieces::remove(&self.tree, &mut transaction.ops, &key)?;
                if let Some(record) = record {
                    pieces::put(&mut transaction.ops, &key, &record);
                }
                Ok(())
            }
            Prepared::Vectors { owner, episode, record } => {
                self.put_vectors(transaction, owner, episode, &record)
            }
            Prepared::Rows(rows) => {
                for (key, value) in rows {
                    match value {
                        Some(value) => transaction.ops.insert(key, value),
                        None => transaction.ops.remove(key),
                    }
                }
                Ok(())
            }
            Prepared::OutboxConsumed(position) => {
                let range = keys::outbox(0)..=keys::outbox(position);
                for key in self.tree.range(range).keys() {
                    transaction.ops.remove(key?);
                }
                Ok(())
            }
        }
    }

    fn session(&self, key: SessionKey) -> Result<Option<Session>, StoreError> {
        super::reading::session(&self.tree, key)
    }

    fn out(&self, transaction: &mut Transaction, what: OutboxChange) {
        let position = self.counters.outbox.fetch_add(1, Ordering::Relaxed) + 1;
        transaction.ops.insert(keys::outbox(position), envelope::seal(&OutboxRecord::from(what)));
    }
}
