//! The one thread that writes.
//!
//! Several lists may share one flush and one sync, but never so many that sled could reuse a
//! segment that was not synced yet.

mod sources;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    io,
    panic::{self, AssertUnwindSafe},
    path::Path,
    sync::{
        Arc,
        atomic::Ordering,
        mpsc::{self, Receiver, SyncSender},
    },
    thread::{self, JoinHandle},
};

use sled::{Batch, Db, Tree};
use tokio::sync::{oneshot, watch};

use super::{
    counters::Counters,
    envelope,
    high_water_mark::HighWaterMark,
    keys::{self, Key},
    pieces,
    prepared::Prepared,
    quota::Quota,
    reading::damaged,
    records::{MessageRecord, OutboxRecord},
    statements,
    unwritten::{Unwritten, WrittenKey},
    waker::Waker,
};
use crate::{
    fault,
    model::{
        Episode, EpisodeId, Message, SessionId, SessionKey,
        episode::MEMORY,
        graph::EntityOrFact,
        session::{Session, State},
        vector::Owner,
    },
    store::{NoteNamespace, OutboxChange, PendingWrite, Reworded, SourceKey, StoreError, Write},
};

/// Lists that may wait; the next caller waits with its own.
const QUEUE: usize = 16;
/// Lists that share a flush and a sync at most. Twenty were measured to lose nothing.
const GROUP: usize = 16;
/// Things in one entry of the outbox: of sixteen bytes each, far below what a value may have.
const THINGS: usize = 128;

/// The way to the writing thread; dropping it lets the thread finish what is queued.
pub(super) struct Writer {
    unwritten: Arc<Unwritten>,
    outbox_ends: watch::Receiver<u64>,
    queue: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<()>>,
}

struct Job {
    number: u64,
    writes: Vec<Prepared>,
    resolve: oneshot::Sender<Result<u64, StoreError>>,
}

impl Writer {
    pub(super) fn start(
        db: Db,
        high_water_mark: HighWaterMark,
        waker: Waker,
        (folder, quota): (&Path, Arc<Quota>),
        counters: Arc<Counters>,
    ) -> Result<Writer, StoreError> {
        // sled's flush leaves the data to the kernel; this handle is for the sync that it omits, which
        // Windows allows only to those who may write.
        let data = File::options()
            .write(true)
            .open(folder.join("db"))
            .map_err(|error| StoreError::Backend(format!("{}: {error}", folder.display())))?;
        let (queue, jobs) = mpsc::sync_channel(QUEUE);
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
        };
        // sled panics where some systems' errors reach it.
        let run = move || {
            let ended = panic::catch_unwind(AssertUnwindSafe(|| thread.run(&jobs)));
            if ended.is_err() {
                quota.fail("the database failed; it is opened anew");
            }
        };
        let thread = thread::Builder::new()
            .name("store".to_owned())
            .spawn(run)
            .map_err(|error| StoreError::Backend(error.to_string()))?;
        Ok(Writer { unwritten, outbox_ends, queue: Some(queue), thread: Some(thread) })
    }

    /// What is queued and not written yet.
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
        if let Some(queue) = &self.queue {
            // A job that cannot be sent is dropped with its `resolve`: the ticket says `Closed`.
            drop(queue.send(job));
        }
        ticket
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// What one list does, before any of it is done.
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
    /// Of these something else is said now.
    things: BTreeSet<EntityOrFact>,
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
    /// The first error of the database itself. After it nothing is written any more: nobody knows
    /// what of the lists before reached the disk.
    failed: Option<StoreError>,
    /// Why a list was not written since the last empty one. Whoever waits for an empty list wants to
    /// know that all lists before it are safe, whether somebody waited for these or not.
    unreported: Option<StoreError>,
}

impl Thread {
    fn run(&mut self, jobs: &Receiver<Job>) {
        while let Ok(first) = jobs.recv() {
            let watched = self.waker.watch();
            let mut waiting = Vec::with_capacity(GROUP);
            let mut next = Some(first);
            while let Some(job) = next.take() {
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
                // Without it a later loss goes unnoticed, which is no reason to lose anything now.
                drop(self.high_water_mark.set(end));
            }
            fault::point("store: marked");
            self.quota.check();
            self.outbox.send_replace(end);
            for (resolve, applied) in waiting {
                // Nobody may be waiting, which is fine.
                drop(resolve.send(applied.and_then(|position| synced.clone().map(|()| position))));
            }
        }
    }

    /// Has everything applied on disk. What failed once stays failed: the system may have dropped
    /// what it could not write, and say of the rest that it is safe.
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
            "{error}; nothing more is written until the database is opened anew, which is tried every now and then and at `graphiti reload`; what was acknowledged is safe"
        ));
    }

    /// Applies one list if that may be.
    fn take(&mut self, writes: Vec<Prepared>) -> Result<u64, StoreError> {
        if let Some(failed) = &self.failed {
            return Err(failed.clone());
        }
        if writes.is_empty()
            && let Some(error) = self.unreported.take()
        {
            return Err(error);
        }
        // sled cannot even be read any more after it met a full disk.
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
        self.counters.save(&mut batch.ops);
        self.tree.apply_batch(batch.ops)?;
        Ok(self.counters.outbox.load(Ordering::Relaxed))
    }

    fn add(&self, transaction: &mut Transaction, write: Prepared) -> Result<(), StoreError> {
        match write {
            Prepared::Session { session, record } => {
                self.put_session(transaction, &session, record)
            }
            Prepared::Source { source, record, checkpoint } => {
                self.put_source(transaction, &source, (record, checkpoint))
            }
            Prepared::Messages { source, from, count, blocks } => {
                self.put_messages(transaction, source, (from, count), &blocks)
            }
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
                self.put_statements(transaction, episode, (rows, things))
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
                self.put_vectors(transaction, (owner, episode), &record)
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

    fn put_session(
        &self,
        transaction: &mut Transaction,
        session: &Session,
        record: Vec<u8>,
    ) -> Result<(), StoreError> {
        let key = keys::session(session.key);
        let before = self.session(session.key)?;
        if before.is_none() && transaction.new_sessions.insert(session.key) {
            self.counters.sessions.fetch_add(counted(&session.id), Ordering::Relaxed);
            transaction.ops.insert(keys::id(&session.id), &session.key.0.to_be_bytes());
        }
        if before.is_none_or(|before| before.project != session.project) {
            self.out(transaction, OutboxChange::Session(session.key));
        }
        self.counters.next_session.fetch_max(session.key.0 + 1, Ordering::Relaxed);
        transaction.ops.insert(key, record);
        match session.state {
            State::Indexed => transaction.ops.remove(keys::live(session.key)),
            State::Active
            | State::Inactive
            | State::Indexing(_)
            | State::Failed(_)
            | State::Unindexed(_) => transaction.ops.insert(keys::live(session.key), &[]),
        }
        Ok(())
    }

    fn put_messages(
        &self,
        transaction: &mut Transaction,
        source: SourceKey,
        (from, count): (u32, u32),
        blocks: &[(u32, Vec<u8>)],
    ) -> Result<(), StoreError> {
        if count == 0 {
            return Ok(());
        }
        let gone = if transaction.cleared.contains(&source) {
            Vec::new()
        } else {
            self.messages_from(source, from)?
        };
        self.remove_blocks(transaction, &gone)?;
        for (first, block) in blocks {
            pieces::put(&mut transaction.ops, &keys::messages(source, *first), block);
        }
        self.counters.messages.fetch_add(u64::from(count), Ordering::Relaxed);
        self.out(
            transaction,
            OutboxChange::Messages { source, from, count, overwrites: !gone.is_empty() },
        );
        Ok(())
    }

    fn reword(
        &self,
        transaction: &mut Transaction,
        source: SourceKey,
        words: Vec<Reworded>,
    ) -> Result<(), StoreError> {
        let mut blocks: BTreeMap<u32, Vec<Message>> = BTreeMap::new();
        let mut reworded: BTreeMap<u32, u32> = BTreeMap::new();
        for Reworded { seq, was, is } in words {
            let first = super::reading::block_with(&self.tree, source, seq)?;
            let Some(first) = first.filter(|_| !transaction.cleared.contains(&source)) else {
                continue;
            };
            if let std::collections::btree_map::Entry::Vacant(vacant) = blocks.entry(first) {
                vacant.insert(self.block(source, first)?);
            }
            let said = blocks.get_mut(&first).into_iter().flatten();
            for message in said.filter(|message| message.seq == seq && message.text == was) {
                message.text.clone_from(&is);
                reworded.insert(seq, first);
            }
        }
        for first in reworded.values().copied().collect::<BTreeSet<u32>>() {
            let records: Vec<MessageRecord> = blocks[&first].iter().map(Into::into).collect();
            let key = keys::messages(source, first);
            pieces::remove(&self.tree, &mut transaction.ops, &key)?;
            pieces::put(&mut transaction.ops, &key, &envelope::seal(&records));
        }
        if let (Some((from, _)), Some((to, _))) =
            (reworded.first_key_value(), reworded.last_key_value())
        {
            let (from, count) = (*from, to - from + 1);
            self.out(transaction, OutboxChange::Messages { source, from, count, overwrites: true });
        }
        Ok(())
    }

    fn block(&self, source: SourceKey, first: u32) -> Result<Vec<Message>, StoreError> {
        let key = keys::messages(source, first);
        let Some(block) = pieces::get(&self.tree, &key)? else { return Ok(Vec::new()) };
        let records: Vec<MessageRecord> =
            envelope::open(&block).map_err(|what| damaged(&key, what))?;
        let read = |record| Message::try_from(record).map_err(|what| damaged(&key, what));
        records.into_iter().map(read).collect()
    }

    /// The keys of the blocks of `source` that begin at message `from` or later.
    fn messages_from(&self, source: SourceKey, from: u32) -> Result<Vec<Vec<u8>>, StoreError> {
        let prefix = keys::messages_of(source);
        let mut found = Vec::new();
        for key in self.tree.range(keys::messages(source, from)..).keys() {
            let key = key?;
            if !key.starts_with(&prefix) {
                break;
            }
            found.push(key.to_vec());
        }
        Ok(found)
    }

    fn remove_blocks(
        &self,
        transaction: &mut Transaction,
        gone: &[Vec<u8>],
    ) -> Result<(), StoreError> {
        let mut joiner = pieces::Joiner::default();
        let mut messages = 0;
        for key in gone {
            if let Some(stored) = self.tree.get(key)?
                && let Some(block) = joiner.take(key, &stored)
            {
                let records: Result<Vec<MessageRecord>, String> = envelope::open(&block);
                messages += records.map_or(0, |records| records.len() as u64);
            }
            transaction.ops.remove(key.as_slice());
        }
        let total = &self.counters.messages;
        total.store(total.load(Ordering::Relaxed).saturating_sub(messages), Ordering::Relaxed);
        Ok(())
    }

    /// Puts the new episode and takes out the one that its session had before.
    fn put_episode(
        &self,
        transaction: &mut Transaction,
        episode: &Episode,
        record: &[u8],
    ) -> Result<(), StoreError> {
        let old = self.session(episode.session)?.and_then(|session| session.indexed);
        match old {
            Some(old) if old.episode == episode.id => {
                self.clear_episode(transaction, old.episode)?
            }
            Some(old) => self.drop_episode(transaction, old.episode)?,
            None => {}
        }
        self.drop_vectors(transaction, Owner::Session(episode.session))?;
        pieces::put(&mut transaction.ops, &keys::episode(episode.id), record);
        transaction.ops.insert(keys::episode_of(episode.project.namespace(), episode.id), &[]);
        self.counters.episodes.fetch_add(1, Ordering::Relaxed);
        self.out(transaction, OutboxChange::Episode(episode.id));
        Ok(())
    }

    /// Takes an episode out that is about to be put again.
    fn clear_episode(
        &self,
        transaction: &mut Transaction,
        id: EpisodeId,
    ) -> Result<(), StoreError> {
        let Some(episode) = super::reading::episode(&self.tree, id)? else { return Ok(()) };
        pieces::remove(&self.tree, &mut transaction.ops, &keys::episode(id))?;
        self.drop_statements(transaction, id)?;
        transaction.ops.remove(keys::episode_of(episode.project.namespace(), id));
        self.counters.episodes.fetch_sub(1, Ordering::Relaxed);
        Ok(())
    }

    fn drop_episode(&self, transaction: &mut Transaction, id: EpisodeId) -> Result<(), StoreError> {
        let Some(episode) = super::reading::episode(&self.tree, id)? else { return Ok(()) };
        self.clear_episode(transaction, id)?;
        self.drop_vectors(transaction, Owner::Session(episode.session))?;
        self.out(transaction, OutboxChange::EpisodeDropped { id, session: episode.session });
        Ok(())
    }

    fn put_statements(
        &self,
        transaction: &mut Transaction,
        episode: EpisodeId,
        (rows, things): (Vec<(Key, Vec<u8>)>, Vec<EntityOrFact>),
    ) -> Result<(), StoreError> {
        self.drop_statements(transaction, episode)?;
        for (key, value) in rows {
            transaction.ops.insert(key, value);
        }
        transaction.things.extend(things);
        Ok(())
    }

    fn drop_statements(
        &self,
        transaction: &mut Transaction,
        episode: EpisodeId,
    ) -> Result<(), StoreError> {
        let said = statements::read(&self.tree, episode)?;
        transaction.things.extend(statements::things(&said));
        for (key, _) in statements::rows(episode, &said) {
            transaction.ops.remove(key);
        }
        Ok(())
    }

    /// Vectors that come late, when what they were made of is gone, would never go.
    fn put_vectors(
        &self,
        transaction: &mut Transaction,
        (owner, episode): (Owner, Option<EpisodeId>),
        record: &[u8],
    ) -> Result<(), StoreError> {
        let is_there = match owner {
            Owner::Session(key) => {
                let indexed = self.session(key)?.and_then(|session| session.indexed);
                match indexed.map(|indexed| indexed.episode) {
                    Some(id) => Some(id) == episode && self.is_any(&keys::episode(id))?,
                    None => false,
                }
            }
            Owner::Thing(EntityOrFact::Entity(id)) => self.is_any(&keys::mentions_of(id))?,
            Owner::Thing(EntityOrFact::Fact(fact)) => self.is_any(&keys::claims_of(fact))?,
        };
        self.drop_vectors(transaction, owner)?;
        if is_there {
            pieces::put(&mut transaction.ops, &keys::vectors(owner), record);
        }
        Ok(())
    }

    fn drop_vectors(&self, transaction: &mut Transaction, owner: Owner) -> Result<(), StoreError> {
        Ok(pieces::remove(&self.tree, &mut transaction.ops, &keys::vectors(owner))?)
    }

    fn is_any(&self, prefix: &Key) -> Result<bool, StoreError> {
        Ok(self.tree.scan_prefix(prefix).keys().next().transpose()?.is_some())
    }

    fn drop_session(
        &self,
        transaction: &mut Transaction,
        key: SessionKey,
    ) -> Result<(), StoreError> {
        let Some(session) = self.session(key)? else { return Ok(()) };
        if let Some(indexed) = &session.indexed {
            self.drop_episode(transaction, indexed.episode)?;
        }
        for source in super::reading::sources_of(&self.tree, key)? {
            transaction.ops.remove(keys::source(source.key));
            transaction.ops.remove(keys::path(&source.path));
            pieces::remove(&self.tree, &mut transaction.ops, &keys::checkpoint(source.key))?;
            let gone = self.messages_from(source.key, 0)?;
            self.remove_blocks(transaction, &gone)?;
        }
        for namespace in [NoteNamespace::Awaiting, NoteNamespace::Forks] {
            let note = keys::note(namespace, &key.0.to_be_bytes());
            pieces::remove(&self.tree, &mut transaction.ops, &note)?;
        }
        for record in super::reading::fork_keys_of(&self.tree, key)? {
            keys::fork_key(key, record).into_iter().for_each(|key| transaction.ops.remove(key));
        }
        transaction.ops.remove(keys::session(key));
        transaction.ops.remove(keys::live(key));
        transaction.ops.remove(keys::id(&session.id));
        self.counters.sessions.fetch_sub(counted(&session.id), Ordering::Relaxed);
        self.out(transaction, OutboxChange::SessionDropped(key));
        Ok(())
    }

    fn session(&self, key: SessionKey) -> Result<Option<Session>, StoreError> {
        super::reading::session(&self.tree, key)
    }

    fn out(&self, transaction: &mut Transaction, what: OutboxChange) {
        let position = self.counters.outbox.fetch_add(1, Ordering::Relaxed) + 1;
        transaction.ops.insert(keys::outbox(position), envelope::seal(&OutboxRecord::from(what)));
    }
}

/// What someone added is no session.
fn counted(id: &SessionId) -> u64 {
    u64::from(id.agent != MEMORY)
}
