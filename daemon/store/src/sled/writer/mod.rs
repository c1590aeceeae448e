//! The only thread that writes to the database.
//!
//! Several lists may share one flush and one sync. Their number is limited ([`GROUP`]), so that
//! sled does not reuse a segment that is not synced yet.

mod damaged;
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
        mpsc::{self, Receiver, SyncSender},
    },
    thread::{self, JoinHandle},
};

use sled::{Db, Tree};
use tokio::sync::{oneshot, watch};

use super::{
    agent_totals::{CountedChanges, StoredAgentTotals},
    batch::Batch,
    counters::{Counters, Counts},
    envelope,
    high_water_mark::HighWaterMark,
    keys::{self, Key},
    pieces,
    prepared::PreparedWrite,
    quota::Quota,
    records::OutboxRecord,
    unwritten::Unwritten,
    waker::Waker,
};
use crate::{
    OutboxChange, PendingWrite, SourceKey, StoreError, Write, fault,
    model::{SessionKey, graph::EntityOrFact, session::Session, vector::Owner},
};

/// Maximum number of lists in the queue. A caller blocks when the queue is full. The engine writes
/// only small lists, and does not fill the queue even while a sync takes seconds.
const QUEUE: usize = 1_024;
/// Maximum number of lists with text in the queue; here, checkpoints and vectors count as text. A
/// caller that queues more text is blocked, so that memory is bounded.
const TEXT_QUEUE: usize = 8;
/// Maximum number of lists that share a flush and a sync. In measurements, even twenty lists caused
/// no loss.
const GROUP: usize = 16;
/// Maximum number of entities and facts in one entry of the outbox. Each id takes sixteen bytes, so
/// that an entry is smaller than [`pieces::PIECE`].
const ENTITIES_AND_FACTS: usize = 128;

/// Queues lists of writes for the writing thread. Dropping the writer waits until the queue is
/// written.
pub(super) struct Writer {
    unwritten: Arc<Unwritten>,
    outbox_ends: watch::Receiver<u64>,
    queue: Option<SyncSender<WriteJob>>,
    /// Contains an entry for each list with text in the queue.
    texts: SyncSender<()>,
    thread: Option<JoinHandle<()>>,
}

struct WriteJob {
    number: u64,
    writes: Vec<PreparedWrite>,
    resolve: oneshot::Sender<Result<u64, StoreError>>,
}

impl WriteJob {
    fn has_text(&self) -> bool {
        self.writes.iter().any(PreparedWrite::is_large)
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
        // sled's flush does not sync, so the writer syncs with this handle. Windows syncs only
        // files that are open for writing.
        let data = File::options()
            .write(true)
            .open(folder.join("db"))
            .map_err(|error| StoreError::Backend(format!("{}: {error}", folder.display())))?;
        let (queue, jobs) = mpsc::sync_channel(QUEUE);
        let (texts, taken_texts) = mpsc::sync_channel(TEXT_QUEUE);
        let (outbox, outbox_ends) = watch::channel(counters.get().outbox);
        let unwritten = Arc::new(Unwritten::default());
        let mut thread = WriterThread {
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
        // Some errors of the operating system make sled panic.
        let run = move || {
            let ended = panic::catch_unwind(AssertUnwindSafe(|| thread.run(&jobs)));
            if ended.is_err() {
                quota.fail("the database failed and will be reopened");
            }
        };
        let thread = thread::Builder::new()
            .name("store".to_owned())
            .spawn(run)
            .map_err(|error| StoreError::Backend(error.to_string()))?;
        Ok(Writer { unwritten, outbox_ends, queue: Some(queue), texts, thread: Some(thread) })
    }

    /// Returns the sessions and episodes that are queued and not written yet.
    pub(super) fn unwritten(&self) -> &Unwritten {
        &self.unwritten
    }

    /// Returns a receiver of the end of the outbox, which is updated after each sync.
    pub(super) fn outbox_ends(&self) -> watch::Receiver<u64> {
        self.outbox_ends.clone()
    }

    /// Encodes the writes on the caller's thread, and queues them.
    pub(super) fn queue(&self, writes: Vec<Write>) -> PendingWrite {
        let number = self.unwritten.add(&writes);
        self.send(number, writes.into_iter().map(PreparedWrite::from).collect())
    }

    /// Queues rows that are encoded already.
    pub(super) fn queue_rows(&self, rows: Vec<(Key, Option<Vec<u8>>)>) -> PendingWrite {
        self.send(self.unwritten.add(&[]), vec![PreparedWrite::Rows(rows)])
    }

    fn send(&self, number: u64, writes: Vec<PreparedWrite>) -> PendingWrite {
        let (resolve, ticket) = PendingWrite::new();
        let job = WriteJob { number, writes, resolve };
        if job.has_text() {
            // This fails only when the thread has ended, which the queue reports.
            let _ = self.texts.send(());
        }
        if let Some(queue) = &self.queue {
            // A job that cannot be sent is dropped with its `resolve`, and the ticket returns
            // `Closed`.
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
    counts: Counts,
    /// Sessions that this list adds. They are not in the tree yet.
    new_sessions: BTreeSet<SessionKey>,
    /// Paths that this list registers. They are not in the tree yet.
    new_paths: BTreeMap<String, SourceKey>,
    /// Files of each [`Write::DropSource`] in this list. They are still in the tree.
    dropped: Vec<SourceKey>,
    /// Files that `drop_text` has cleared for this list. Their messages are still in the tree.
    cleared: Vec<SourceKey>,
    /// Entities and facts whose statements this list changes.
    entities_and_facts: BTreeSet<EntityOrFact>,
    /// The sessions and files whose totals this list changes.
    counted: CountedChanges,
}

struct WriterThread {
    tree: Tree,
    waker: Waker,
    /// Keeps the database open and locked as long as this thread runs.
    _db: Db,
    data: File,
    high_water_mark: HighWaterMark,
    counters: Arc<Counters>,
    outbox: watch::Sender<u64>,
    unwritten: Arc<Unwritten>,
    quota: Arc<Quota>,
    /// The first error of the database itself, or the error of a full disk. Nothing is written
    /// after it. After an error of the database, it is unknown which earlier lists are on disk.
    failed: Option<StoreError>,
    /// The last error of applying a list since the last empty list. An empty list reports this
    /// error, because its caller wants to know whether all earlier lists are on disk. A list that
    /// the quota refuses leaves no error here: callers that write text wait for their own lists,
    /// and vectors are computed again.
    unreported: Option<StoreError>,
    /// See [`Writer::texts`].
    taken_texts: Receiver<()>,
}

impl WriterThread {
    fn run(&mut self, jobs: &Receiver<WriteJob>) {
        while let Ok(first) = jobs.recv() {
            let watched = self.waker.watch();
            let mut waiting = Vec::with_capacity(GROUP);
            let mut next = Some(first);
            while let Some(job) = next.take() {
                if job.has_text() {
                    // `Writer::send` added the entry before it queued the list.
                    let _ = self.taken_texts.try_recv();
                }
                let applied = self.apply_if_allowed(job.writes);
                self.unwritten.remove(job.number);
                waiting.push((job.resolve, applied));
                if waiting.len() < GROUP {
                    next = jobs.try_recv().ok();
                }
            }
            fault::point("store: applied");
            let synced = self.sync();
            drop(watched);
            fault::point("store: synced");
            let end = self.counters.get().outbox;
            if synced.is_ok() {
                // If this fails, a later loss of data may not be detected.
                let _ = self.high_water_mark.set(end);
                fault::point("store: marked");
                self.outbox.send_replace(end);
            }
            self.quota.check();
            for (resolve, applied) in waiting {
                // This fails if the caller does not wait for the result.
                let _ =
                    resolve.send(applied.and_then(|position| synced.clone().map(|()| position)));
            }
        }
    }

    /// Syncs everything that was applied. An error is permanent: the system may drop the pages that
    /// it could not write, and then report success for the next sync.
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
        tracing::error!(%error, "the database cannot be written any more");
        self.failed = Some(error.clone());
        self.quota.fail(&format!(
            "{error}; nothing more is written until the database is reopened, which graphitid tries regularly and at `graphiti reload`; no stored data was lost"
        ));
    }

    /// Applies one list, unless an earlier error or the quota forbids it.
    fn apply_if_allowed(&mut self, writes: Vec<PreparedWrite>) -> Result<u64, StoreError> {
        if let Some(failed) = &self.failed {
            return Err(failed.clone());
        }
        if writes.is_empty()
            && let Some(error) = self.unreported.take()
        {
            return Err(error);
        }
        // After a write to a full disk, sled can no longer read the database.
        if let Err(error) = self.quota.admit_any() {
            self.failed = Some(error.clone());
            return Err(error);
        }
        if writes.iter().any(PreparedWrite::is_large) {
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

    /// Applies one list completely or not at all.
    fn apply(&self, writes: Vec<PreparedWrite>) -> Result<u64, StoreError> {
        let mut batch = Transaction { counts: self.counters.get(), ..Transaction::default() };
        for write in writes {
            self.add(&mut batch, write)?;
        }
        let entities_and_facts: Vec<EntityOrFact> =
            std::mem::take(&mut batch.entities_and_facts).into_iter().collect();
        for entity_or_fact in &entities_and_facts {
            self.drop_vectors(&mut batch, Owner::EntityOrFact(*entity_or_fact))?;
        }
        for changed in entities_and_facts.chunks(ENTITIES_AND_FACTS) {
            self.push_outbox(&mut batch, OutboxChange::EntitiesAndFacts(changed.to_vec()));
        }
        let agents = self.counters.agents.after(&self.tree, &batch.counted)?;
        StoredAgentTotals::save(&self.tree, &mut batch.ops, &agents)?;
        self.counters.save(batch.counts, &mut batch.ops);
        batch.ops.apply(&self.tree)?;
        self.counters.agents.set(agents);
        self.counters.set(batch.counts);
        self.counters.heads.update(&batch.counted);
        Ok(batch.counts.outbox)
    }

    fn add(&self, transaction: &mut Transaction, write: PreparedWrite) -> Result<(), StoreError> {
        match write {
            PreparedWrite::Session { session, record } => {
                self.put_session(transaction, &session, record)
            }
            PreparedWrite::Source { source, record, checkpoint } => {
                self.put_source(transaction, &source, record, checkpoint)
            }
            PreparedWrite::Messages(messages) => self.put_messages(transaction, &messages),
            PreparedWrite::ForkKeys { session, records } => {
                for key in records.iter().flat_map(|record| keys::fork_key(session, *record)) {
                    transaction.ops.insert(key, &[]);
                }
                Ok(())
            }
            PreparedWrite::Reword { source, words } => self.reword(transaction, source, words),
            PreparedWrite::ClearSource(source) => {
                pieces::remove(&self.tree, &mut transaction.ops, &keys::checkpoint(source))?;
                self.drop_text(transaction, source)
            }
            PreparedWrite::DropSource(source) => self.drop_source(transaction, source),
            PreparedWrite::DropText(source) => self.drop_text(transaction, source),
            PreparedWrite::Episode { episode, record } => {
                self.put_episode(transaction, &episode, &record)
            }
            PreparedWrite::Statements { episode, rows, entities_and_facts } => {
                self.put_statements(transaction, episode, rows, entities_and_facts)
            }
            PreparedWrite::DropEpisode(id) => self.drop_episode(transaction, id),
            PreparedWrite::DropSession(session) => self.drop_session(transaction, session),
            PreparedWrite::Note { key, record } => {
                pieces::remove(&self.tree, &mut transaction.ops, &key)?;
                if let Some(record) = record {
                    pieces::put(&mut transaction.ops, &key, &record);
                }
                Ok(())
            }
            PreparedWrite::Vectors { owner, episode, record } => {
                self.put_vectors(transaction, owner, episode, &record)
            }
            PreparedWrite::Rows(rows) => {
                transaction.counted.has_rows = true;
                for (key, value) in rows {
                    match value {
                        Some(value) => transaction.ops.insert(key, value),
                        None => transaction.ops.remove(key),
                    }
                }
                Ok(())
            }
            PreparedWrite::OutboxConsumed(position) => {
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

    fn push_outbox(&self, transaction: &mut Transaction, what: OutboxChange) {
        transaction.counts.outbox += 1;
        let key = keys::outbox(transaction.counts.outbox);
        transaction.ops.insert(key, envelope::seal(&OutboxRecord::from(what)));
    }
}
