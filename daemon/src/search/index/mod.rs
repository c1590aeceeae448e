//! The index: passages on disk, and those too new for it in memory, searched as one.
//!
//! It is derived. The caller feeds it the changes of its outbox in order ([`SearchIndex::apply`]), each
//! findable at once, and has them written when it suits ([`SearchIndex::commit`]); the outbox position is
//! written with them, in one step. After a restart the caller goes on from [`SearchIndex::applied`]. An
//! index that is missing, damaged or of another version is reported by [`SearchIndex::open`]; the caller
//! then makes a new one and feeds it everything.
//!
//! No text is kept here but what is not written yet: a hit names its place, the caller has the text.
//!
//! How it lies in memory and on disk: a stack of layers ([`tail`]) over segments ([`disk`]); both look
//! alike to the ranking ([`shard`]). A commit freezes the layers, writes them without holding anyone
//! up, and takes them away when their segment can be read. An index at rest holds neither a writer
//! nor mapped files.

pub(crate) mod attributes;
pub(crate) mod change;
pub(crate) mod cursor;
mod disk;
pub(crate) mod memory;
mod open;
pub(crate) mod passages;
mod schema;
pub(crate) mod shard;
mod tail;
pub(crate) mod terms;
pub(crate) mod view;

use std::{io, path::Path, sync::PoisonError};

use tantivy::{
    IndexReader, IndexWriter, ReloadPolicy, SegmentMeta, TantivyDocument,
    index::SegmentId,
    indexer::{IndexWriterOptions, UserOperation},
};

pub use self::{
    change::{Card, EpisodeField, IndexChange, Position},
    open::OpenError,
};
use self::{disk::DiskShard, tail::Tail, view::View};
use crate::sync::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The index of everything that was said. Searches and changes may come from any thread.
pub struct SearchIndex {
    tantivy: tantivy::Index,
    state: RwLock<IndexState>,
    /// Held while writing, so that there is one commit at a time. Kept from one commit to the next,
    /// for its merging goes on behind them.
    writer: Mutex<Option<IndexWriter<TantivyDocument>>>,
}

struct IndexState {
    /// `None` while the index rests.
    disk: Option<Vec<DiskShard>>,
    /// The last one takes the changes; the others are being written.
    layers: Vec<Tail>,
    /// What is on disk.
    committed: Position,
}

/// The index could not be read or written; what is in memory stays findable.
#[derive(Debug, thiserror::Error)]
#[error("use the search index: {0}")]
pub struct IndexError(#[from] pub(crate) tantivy::TantivyError);

/// How much waits to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Backlog {
    /// Bytes of memory that it takes, roughly.
    pub bytes: usize,
}

impl Backlog {
    /// From here on a caller should commit before it applies more.
    pub const FULL: usize = 4 * 1024 * 1024;

    /// Whether it is time to commit, however young the changes are.
    pub fn is_full(self) -> bool {
        self.bytes >= Backlog::FULL
    }
}

impl SearchIndex {
    /// Opens the index in `folder`, and checks that it is whole.
    pub fn open(folder: &Path) -> Result<SearchIndex, OpenError> {
        open::open(folder)
    }

    /// Makes an empty index in `folder`, in the place of what is there.
    pub fn create(folder: &Path) -> Result<SearchIndex, OpenError> {
        open::create(folder)
    }

    /// The outbox position up to which changes are on disk.
    pub fn applied(&self) -> Position {
        self.read().committed
    }

    /// Takes in a change, findable from now on. The outbox is told whole up to `position`.
    pub fn apply(&self, change: IndexChange, position: Position) -> Backlog {
        let mut state = self.write();
        state.fresh().apply(change, position);
        state.backlog()
    }

    /// Notes that the outbox is told whole up to `position`.
    pub fn pass(&self, position: Position) {
        self.write().fresh().pass(position);
    }

    /// Writes what was applied to disk, and returns the position that it reaches.
    ///
    /// Takes a few tens of milliseconds; searches and changes go on meanwhile. After an error
    /// everything is still there, and the next commit tries again. Without changes it does nothing.
    pub fn commit(&self) -> Result<Position, IndexError> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((frozen, position)) = self.write().freeze(&self.tantivy)? else {
            return Ok(self.applied());
        };
        // A writer that failed may hold half of what it was given.
        let mut busy = match writer.take() {
            Some(writer) => writer,
            None => self.new_writer()?,
        };
        self.write_layers(&mut busy, frozen, position)?;
        let disk = open_shards(&self.tantivy)?;
        let mut state = self.write();
        state.disk = Some(disk);
        state.layers.drain(..frozen);
        state.committed = position;
        drop(state);
        let busy = writer.insert(busy);
        sweep(busy);
        Ok(position)
    }

    /// Writes what was applied to disk, and rids the disk of what was deleted: a deletion only marks
    /// it, until its segment is merged.
    pub fn purge(&self) -> Result<(), IndexError> {
        self.commit()?;
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let mut busy = match writer.take() {
            Some(writer) => writer,
            None => self.new_writer()?,
        };
        for segment in self.marked()? {
            // One that is being merged by itself is rid of it by that.
            if let Err(error) = busy.merge(&[segment]).wait() {
                tracing::debug!(%error, "a segment of the search index is being merged");
            }
            // One after the other, so that no more than one of them is there twice.
            self.renew(&busy)?;
        }
        busy.wait_merging_threads()?;
        self.renew(&self.new_writer()?)
    }

    /// The segments in which something was deleted. As long as their metas are held their files stay.
    fn marked(&self) -> Result<Vec<SegmentId>, IndexError> {
        let segments = self.tantivy.searchable_segment_metas()?;
        let marked = segments.iter().filter(|segment| segment.num_deleted_docs() > 0);
        Ok(marked.map(SegmentMeta::id).collect())
    }

    /// Reads what is on disk now, and removes what only those read who looked before.
    fn renew(&self, writer: &IndexWriter<TantivyDocument>) -> Result<(), IndexError> {
        let disk = open_shards(&self.tantivy)?;
        self.write().disk = Some(disk);
        sweep(writer);
        Ok(())
    }

    /// Lets go of memory that only a busy index needs; the next search or commit takes it again in a
    /// few milliseconds. Waits for merges under way.
    pub fn rest(&self) -> Result<(), IndexError> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let was_busy = writer.take().map(IndexWriter::wait_merging_threads).transpose()?.is_some();
        self.write().disk = None;
        if was_busy {
            // What was merged at last is there twice.
            sweep(&self.new_writer()?);
        }
        Ok(())
    }

    #[cfg(test)]
    pub(crate) fn is_at_rest(&self) -> bool {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        writer.is_none() && self.read().disk.is_none()
    }

    /// Bytes of what is on disk and searched. The folder holds more while something is merged.
    pub fn bytes(&self) -> Result<u64, IndexError> {
        let sum = |disk: &[DiskShard]| disk.iter().map(DiskShard::bytes).sum::<io::Result<u64>>();
        let bytes = match &self.read().disk {
            Some(disk) => sum(disk),
            None => sum(&open_shards(&self.tantivy)?),
        };
        bytes.map_err(|error| IndexError(error.into()))
    }

    /// How much waits to be written.
    pub fn backlog(&self) -> Backlog {
        self.read().backlog()
    }

    /// Lets `look` see everything, the newest changes among it.
    pub(crate) fn with_view<T>(
        &self,
        look: impl FnOnce(&View<'_>) -> tantivy::Result<T>,
    ) -> tantivy::Result<T> {
        loop {
            let state = self.read();
            if let Some(disk) = state.ready() {
                return look(&View::new(disk, &state.layers));
            }
            drop(state);
            let mut state = self.write();
            state.layers.iter_mut().for_each(Tail::catch_up);
            if state.disk.is_none() {
                state.disk = Some(open_shards(&self.tantivy)?);
            }
        }
    }

    /// Writes the first `frozen` layers in one commit.
    fn write_layers(
        &self,
        writer: &mut IndexWriter<TantivyDocument>,
        frozen: usize,
        position: Position,
    ) -> Result<(), IndexError> {
        let operations: Vec<UserOperation> =
            self.read().layers[..frozen].iter().flat_map(Tail::operations).collect();
        for operation in operations {
            match operation {
                UserOperation::Add(document) => writer.add_document(document)?,
                UserOperation::Delete(term) => writer.delete_term(term),
            };
        }
        let mut commit = writer.prepare_commit()?;
        commit.set_payload(&position.0.to_string());
        commit.commit()?;
        Ok(())
    }

    fn new_writer(&self) -> Result<IndexWriter<TantivyDocument>, IndexError> {
        let options = IndexWriterOptions::builder()
            .num_worker_threads(1)
            .num_merge_threads(1)
            .memory_budget_per_thread(WRITER_BYTES);
        Ok(self.tantivy.writer_with_options(options.build())?)
    }

    fn read(&self) -> RwLockReadGuard<'_, IndexState> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, IndexState> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl IndexState {
    /// The segments, when everything can be searched as it is.
    fn ready(&self) -> Option<&[DiskShard]> {
        let is_caught_up = self.layers.iter().all(Tail::is_caught_up);
        self.disk.as_deref().filter(|_| is_caught_up)
    }

    fn fresh(&mut self) -> &mut Tail {
        if self.layers.is_empty() {
            self.layers.push(Tail::default());
        }
        self.layers.last_mut().expect("one was pushed when there was none")
    }

    /// Puts a new layer on top, unless nothing came into the last one; says how many are below it
    /// and which position they reach. `None` when there is nothing to write.
    fn freeze(&mut self, index: &tantivy::Index) -> tantivy::Result<Option<(usize, Position)>> {
        let Some(position) = self.layers.iter().rev().find_map(Tail::position) else {
            return Ok(None);
        };
        // Opened later, they would hold what is still in the layers too.
        if self.disk.is_none() {
            self.disk = Some(open_shards(index)?);
        }
        if self.fresh().position().is_some() {
            self.layers.push(Tail::default());
        }
        Ok(Some((self.layers.len() - 1, position)))
    }

    fn backlog(&self) -> Backlog {
        Backlog { bytes: self.layers.iter().map(Tail::bytes).sum() }
    }
}

/// Removes files of segments that were merged into others. They stay as long as anyone reads them, so
/// this comes after the new ones were opened.
fn sweep(writer: &IndexWriter<TantivyDocument>) {
    if let Err(error) = writer.garbage_collect_files().wait() {
        tracing::debug!(%error, "old files of the search index stay for now");
    }
}

/// The least that a writer takes; it needs it only between the first change and the commit.
const WRITER_BYTES: usize = 15_000_000;

fn open_shards(index: &tantivy::Index) -> tantivy::Result<Vec<DiskShard>> {
    let reader: IndexReader =
        index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
    reader.searcher().segment_readers().iter().map(DiskShard::open).collect()
}

#[cfg(all(test, feature = "shuttle"))]
mod shuttled;
#[cfg(test)]
mod tests;
