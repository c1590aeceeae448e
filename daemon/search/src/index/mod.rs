//! The search index: passages on disk and newer passages in memory, which are searched together.
//!
//! The index is derived data. The caller applies the changes of its outbox in order
//! ([`SearchIndex::apply`]), and searches find each change at once. [`SearchIndex::commit`] writes
//! the changes and the outbox position atomically. After a restart, the caller continues from
//! [`SearchIndex::applied`]. [`SearchIndex::open`] reports an index that is missing, damaged, empty
//! or of another version. The caller then creates a new index and applies all data again.
//!
//! The index stores no text except text that is not committed yet. A hit contains the location of a
//! text, and the caller reads the text there.
//!
//! The index is a stack of layers in memory ([`tail`]) over segments on disk ([`disk`]); the
//! ranking accesses both through a [`shard`]. A commit freezes the layers, writes them without
//! blocking searches or changes, and removes them once their segment is readable. An idle index has
//! no writer and no memory-mapped files.

pub(crate) mod attributes;
pub(crate) mod change;
pub(crate) mod cursor;
mod disk;
pub(crate) mod facts;
pub(crate) mod memory;
mod open;
pub(crate) mod passages;
mod schema;
pub(crate) mod shard;
mod tail;
pub(crate) mod terms;
pub(crate) mod view;
pub(crate) mod work;

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
#[cfg(any(test, feature = "testing"))]
use crate::model::SessionKey;
use crate::sync::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The full-text index of all sessions. It may be searched and changed from any thread.
pub struct SearchIndex {
    tantivy: tantivy::Index,
    state: RwLock<IndexState>,
    /// Locked while writing, so that only one commit runs at a time. The writer is kept between
    /// commits, because it continues to merge segments.
    writer: Mutex<Option<IndexWriter<TantivyDocument>>>,
}

struct IndexState {
    /// `None` while the index is idle.
    disk: Option<Vec<DiskShard>>,
    /// The last layer receives the changes. The running or the next commit writes the other layers.
    layers: Vec<Tail>,
    /// The outbox position up to which changes are on disk.
    committed: Position,
}

/// The index could not be read or written. The changes in memory stay findable.
#[derive(Debug, thiserror::Error)]
#[error("the search index cannot be used: {0}")]
pub struct IndexError(#[from] pub(crate) tantivy::TantivyError);

/// The amount of uncommitted changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Backlog {
    /// Approximate bytes of memory.
    pub bytes: usize,
}

impl Backlog {
    /// At this number of bytes, the caller should commit before it applies more changes.
    pub const FULL: usize = 4 * 1024 * 1024;

    /// Whether the caller should commit now, regardless of the age of the changes.
    pub fn is_full(self) -> bool {
        self.bytes >= Backlog::FULL
    }
}

impl SearchIndex {
    /// Opens the index in `folder` and checks its integrity.
    pub fn open(folder: &Path) -> Result<SearchIndex, OpenError> {
        open::open(folder)
    }

    /// Creates an empty index in `folder`. Files that are in the folder are deleted.
    pub fn create(folder: &Path) -> Result<SearchIndex, OpenError> {
        open::create(folder)
    }

    /// Returns the outbox position up to which changes are on disk.
    pub fn applied(&self) -> Position {
        self.read().committed
    }

    /// Applies a change; searches find it at once. `position` is the outbox position that the index
    /// reaches with this change.
    pub fn apply(&self, change: IndexChange, position: Position) -> Backlog {
        let mut state = self.write();
        state.newest_layer().apply(change, position);
        state.backlog()
    }

    /// Records that all outbox entries up to `position` have been applied.
    pub fn pass(&self, position: Position) {
        self.write().newest_layer().pass(position);
    }

    /// Writes the applied changes to disk, and returns their outbox position.
    ///
    /// Takes a few tens of milliseconds and does not block searches or changes. After an error, no
    /// change is lost, and the next commit tries again. Without changes, does nothing.
    pub fn commit(&self) -> Result<Position, IndexError> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((frozen, position)) = self.write().freeze(&self.tantivy)? else {
            return Ok(self.applied());
        };
        // The writer is put back only after a success. After an error, it may contain only a part
        // of the changes.
        let mut busy = match writer.take() {
            Some(writer) => writer,
            None => self.new_writer()?,
        };
        self.write_layers(&mut busy, frozen, position)?;
        self.note_written(open_shards(&self.tantivy), frozen, position)?;
        let busy = writer.insert(busy);
        remove_old_files(busy);
        Ok(position)
    }

    /// Commits, and removes deleted data from the disk. A commit only marks data as deleted; the
    /// data stay on disk until their segment is merged.
    pub fn purge(&self) -> Result<(), IndexError> {
        self.commit()?;
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let mut busy = match writer.take() {
            Some(writer) => writer,
            None => self.new_writer()?,
        };
        for segment in self.segments_with_deletions()? {
            // If an automatic merge of the segment is running, that merge removes the data.
            if let Err(error) = busy.merge(&[segment]).wait() {
                tracing::debug!(%error, "a segment of the search index is being merged");
            }
            // Segments are merged one by one, so that at most one of them is on disk twice.
            self.reopen(&busy)?;
        }
        busy.wait_merging_threads()?;
        self.reopen(&self.new_writer()?)
    }

    /// Returns the ids of the segments with deletions. Their metadata are not kept, because a
    /// segment stays on disk as long as its metadata are in memory.
    fn segments_with_deletions(&self) -> Result<Vec<SegmentId>, IndexError> {
        let segments = self.tantivy.searchable_segment_metas()?;
        let marked = segments.iter().filter(|segment| segment.num_deleted_docs() > 0);
        Ok(marked.map(SegmentMeta::id).collect())
    }

    /// Opens the current segments and removes the files of segments that were merged.
    fn reopen(&self, writer: &IndexWriter<TantivyDocument>) -> Result<(), IndexError> {
        let disk = open_shards(&self.tantivy)?;
        self.write().disk = Some(disk);
        remove_old_files(writer);
        Ok(())
    }

    /// Releases memory that an idle index does not need; the next search or commit allocates it
    /// again within a few milliseconds. Waits for running merges.
    pub fn release_memory(&self) -> Result<(), IndexError> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let was_busy = writer.take().map(IndexWriter::wait_merging_threads).transpose()?.is_some();
        self.write().disk = None;
        if was_busy {
            // Removes the segments that the last merge replaced.
            remove_old_files(&self.new_writer()?);
        }
        Ok(())
    }

    #[cfg(any(test, feature = "testing"))]
    pub fn is_idle(&self) -> bool {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        writer.is_none() && self.read().disk.is_none()
    }

    /// Returns how many passages of a session can be found.
    #[cfg(any(test, feature = "testing"))]
    pub fn passages_of(&self, session: SessionKey) -> tantivy::Result<usize> {
        self.with_view(|view| {
            let mut count = 0;
            for shard in &view.shards {
                let passages = shard.documents_of(session.0)?;
                count += passages.iter().filter(|one| shard.kind(**one).is_some()).count();
            }
            Ok(count)
        })
    }

    /// Returns the size of the searchable segments in bytes. During a merge, the folder is larger.
    pub fn bytes(&self) -> Result<u64, IndexError> {
        let sum = |disk: &[DiskShard]| disk.iter().map(DiskShard::bytes).sum::<io::Result<u64>>();
        let bytes = match &self.read().disk {
            Some(disk) => sum(disk),
            None => sum(&open_shards(&self.tantivy)?),
        };
        bytes.map_err(|error| IndexError(error.into()))
    }

    pub fn backlog(&self) -> Backlog {
        self.read().backlog()
    }

    /// Calls `look` with a view of all data, including the newest changes.
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

    /// Removes the layers that were written, also if the segments could not be opened: the next
    /// commit must not write the layers again. The next search then opens the segments.
    fn note_written(
        &self,
        disk: tantivy::Result<Vec<DiskShard>>,
        frozen: usize,
        position: Position,
    ) -> Result<(), IndexError> {
        let mut state = self.write();
        state.layers.drain(..frozen);
        state.committed = position;
        let (disk, error) =
            disk.map_or_else(|error| (None, Some(error)), |disk| (Some(disk), None));
        state.disk = disk;
        error.map_or(Ok(()), |error| Err(error.into()))
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
    /// Returns the segments if they are open and all passages in the layers are indexed.
    fn ready(&self) -> Option<&[DiskShard]> {
        let is_caught_up = self.layers.iter().all(Tail::is_caught_up);
        self.disk.as_deref().filter(|_| is_caught_up)
    }

    fn newest_layer(&mut self) -> &mut Tail {
        if self.layers.is_empty() {
            self.layers.push(Tail::default());
        }
        self.layers.last_mut().expect("there is at least one layer")
    }

    /// Adds a new layer unless the last layer is empty. Returns the number of layers below the last
    /// layer, and the outbox position of their changes; `None` when there is nothing to write.
    fn freeze(&mut self, index: &tantivy::Index) -> tantivy::Result<Option<(usize, Position)>> {
        let Some(position) = self.layers.iter().rev().find_map(Tail::position) else {
            return Ok(None);
        };
        // The segments are opened before the commit. After the commit, they would contain the data
        // of the frozen layers a second time.
        if self.disk.is_none() {
            self.disk = Some(open_shards(index)?);
        }
        if self.newest_layer().position().is_some() {
            self.layers.push(Tail::default());
        }
        Ok(Some((self.layers.len() - 1, position)))
    }

    fn backlog(&self) -> Backlog {
        Backlog { bytes: self.layers.iter().map(Tail::bytes).sum() }
    }
}

/// Removes files of merged segments. Open readers keep their files, so this runs after the new
/// segments were opened.
fn remove_old_files(writer: &IndexWriter<TantivyDocument>) {
    if let Err(error) = writer.garbage_collect_files().wait() {
        tracing::debug!(%error, "cannot remove old files of the search index yet");
    }
}

/// The memory limit of the writer, in bytes: the lowest limit that tantivy accepts. The memory is
/// used only from the first change to the commit.
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
