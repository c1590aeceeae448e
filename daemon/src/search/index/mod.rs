//! The index: passages on disk, and those too new for it in memory, searched as one.
//!
//! It is derived. The caller feeds it the changes of its outbox in order ([`Index::apply`]), each
//! findable at once, and has them written when it suits ([`Index::commit`]); the outbox position is
//! written with them, in one step. After a restart the caller goes on from [`Index::applied`]. An
//! index that is missing, damaged or of another version is reported by [`Index::open`]; the caller
//! then makes a new one and feeds it everything.
//!
//! No text is kept here but what is not written yet: a hit names its place, the caller has the text.
//!
//! How it lies in memory and on disk: a stack of layers ([`tail`]) over segments ([`disk`]); both look
//! alike to the ranking ([`shard`]). A commit freezes the layers, writes them without holding anyone
//! up, and takes them away when their segment can be read.

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

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use tantivy::{
    IndexReader, IndexWriter, TantivyDocument,
    indexer::{IndexWriterOptions, UserOperation},
};

pub use self::{
    change::{Card, Change, EpisodeField, Position},
    open::OpenError,
};
use self::{disk::DiskShard, tail::Tail, view::View};

/// The index of everything that was said. Searches and changes may come from any thread.
pub struct Index {
    tantivy: tantivy::Index,
    reader: IndexReader,
    state: RwLock<State>,
    /// Held while writing, so that there is one commit at a time.
    committing: Mutex<()>,
}

struct State {
    disk: Vec<Arc<DiskShard>>,
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

impl Index {
    /// Opens the index in `folder`, and checks that it is whole.
    pub fn open(folder: &Path) -> Result<Index, OpenError> {
        open::open(folder)
    }

    /// Makes an empty index in `folder`, in the place of what is there.
    pub fn create(folder: &Path) -> Result<Index, OpenError> {
        open::create(folder)
    }

    /// The outbox position up to which changes are on disk.
    pub fn applied(&self) -> Position {
        self.read().committed
    }

    /// Takes in a change, findable from now on, that stands at `position` in the outbox.
    pub fn apply(&self, change: Change, position: Position) -> Backlog {
        let mut state = self.write();
        state.fresh().apply(change, position);
        state.backlog()
    }

    /// Notes that the outbox holds nothing else for the index up to `position`.
    pub fn pass(&self, position: Position) {
        self.write().fresh().pass(position);
    }

    /// Writes what was applied to disk, and returns the position that it reaches.
    ///
    /// Takes a few tens of milliseconds, longer when segments are merged on the way; searches and
    /// changes go on meanwhile. After an error everything is still there, and the next commit tries
    /// again. Without changes it does nothing.
    pub fn commit(&self) -> Result<Position, IndexError> {
        let _turn = self.committing.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((frozen, position)) = self.write().freeze() else { return Ok(self.applied()) };
        self.write_layers(frozen, position)?;
        self.reader.reload()?;
        let disk = open_shards(&self.reader)?;
        let mut state = self.write();
        state.disk = disk;
        state.layers.drain(..frozen);
        state.committed = position;
        Ok(position)
    }

    /// How much waits to be written.
    pub fn backlog(&self) -> Backlog {
        self.read().backlog()
    }

    /// Lets `look` see everything, the newest changes among it.
    pub(crate) fn with_view<T>(&self, look: impl FnOnce(&View<'_>) -> T) -> T {
        let state = self.read();
        let state = if state.layers.iter().all(Tail::is_caught_up) {
            state
        } else {
            drop(state);
            self.write().layers.iter_mut().for_each(Tail::catch_up);
            self.read()
        };
        look(&View::new(&state.disk, &state.layers))
    }

    /// Writes the first `frozen` layers in one commit.
    fn write_layers(&self, frozen: usize, position: Position) -> Result<(), IndexError> {
        let operations: Vec<UserOperation> =
            self.read().layers[..frozen].iter().flat_map(Tail::operations).collect();
        let mut writer = self.writer()?;
        for operation in operations {
            match operation {
                UserOperation::Add(document) => writer.add_document(document)?,
                UserOperation::Delete(term) => writer.delete_term(term),
            };
        }
        let mut commit = writer.prepare_commit()?;
        commit.set_payload(&position.0.to_string());
        commit.commit()?;
        writer.wait_merging_threads()?;
        Ok(())
    }

    /// A writer for one commit. It holds 15 MB, so none is kept.
    fn writer(&self) -> Result<IndexWriter<TantivyDocument>, IndexError> {
        let options = IndexWriterOptions::builder().num_worker_threads(1).num_merge_threads(1);
        Ok(self.tantivy.writer_with_options(options.build())?)
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn fresh(&mut self) -> &mut Tail {
        if self.layers.is_empty() {
            self.layers.push(Tail::default());
        }
        self.layers.last_mut().expect("one was pushed when there was none")
    }

    /// Puts a new layer on top, unless nothing came into the last one; says how many are below it
    /// and which position they reach. `None` when there is nothing to write.
    fn freeze(&mut self) -> Option<(usize, Position)> {
        let position = self.layers.iter().rev().find_map(Tail::position)?;
        if self.fresh().position().is_some() {
            self.layers.push(Tail::default());
        }
        Some((self.layers.len() - 1, position))
    }

    fn backlog(&self) -> Backlog {
        Backlog { bytes: self.layers.iter().map(Tail::bytes).sum() }
    }
}

fn open_shards(reader: &IndexReader) -> tantivy::Result<Vec<Arc<DiskShard>>> {
    let searcher = reader.searcher();
    searcher.segment_readers().iter().map(|reader| DiskShard::open(reader).map(Arc::new)).collect()
}
