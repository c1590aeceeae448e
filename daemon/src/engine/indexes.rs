//! The three search indexes, which follow the same outbox together.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    search::index::{IndexError, OpenError, Position, SearchIndex},
    store::Store,
};

/// The index of sessions, the index of entities and the index of facts.
#[derive(Clone)]
pub struct Indexes {
    /// Messages of sessions, and their episodes.
    pub sessions: Arc<SearchIndex>,
    pub entities: Arc<SearchIndex>,
    pub facts: Arc<SearchIndex>,
    folders: Arc<[PathBuf; 3]>,
}

impl Indexes {
    /// Opens the indexes, or creates them. Returns whether the indexes are new and have to be
    /// filled.
    ///
    /// If one index cannot be opened or is ahead of the database, all indexes are created again, so
    /// that all indexes are at the same position of the outbox. A folder that cannot be used is an
    /// error.
    pub(super) fn open(folder: &Path, store: &dyn Store) -> Result<(Indexes, bool), OpenError> {
        let folders = folders(folder);
        let mut indexes = Vec::with_capacity(folders.len());
        for folder in &folders {
            match SearchIndex::open(folder) {
                // The database lost changes that the index contains.
                Ok(index) if index.applied().0 > store.outbox_end() => {
                    tracing::warn!("rebuilding the search index: it is ahead of the database");
                }
                Ok(index) => indexes.push(index),
                Err(error @ OpenError::Folder(_)) => return Err(error),
                Err(error) => {
                    if store.totals().sessions > 0 {
                        tracing::warn!(%error, "rebuilding the search index from the database");
                    }
                }
            }
        }
        let rebuild = indexes.len() < folders.len();
        if rebuild {
            indexes.clear();
            for folder in &folders {
                indexes.push(SearchIndex::create(folder)?);
            }
        }
        let mut indexes = indexes.into_iter().map(Arc::new);
        let mut next = || indexes.next().expect("there is an index for each of the three folders");
        let (sessions, entities, facts) = (next(), next(), next());
        Ok((Indexes { sessions, entities, facts, folders: Arc::new(folders) }, rebuild))
    }

    /// Returns the outbox position up to which every index has all changes on disk.
    pub(super) fn applied(&self) -> Position {
        self.each().map(SearchIndex::applied).into_iter().min().unwrap_or_default()
    }

    /// Returns the highest outbox position up to which one of the indexes has all changes on disk.
    /// The positions may differ, because the indexes are committed one after the other.
    pub(super) fn furthest(&self) -> Position {
        self.each().map(SearchIndex::applied).into_iter().max().unwrap_or_default()
    }

    pub(super) fn is_full(&self) -> bool {
        self.each().iter().any(|index| index.backlog().is_full())
    }

    pub(super) fn pass(&self, position: Position) {
        self.each().iter().for_each(|index| index.pass(position));
    }

    /// Writes all indexes to disk. Returns the position that every index has reached.
    pub(super) fn commit(&self) -> Result<Position, IndexError> {
        let mut reached = Position(u64::MAX);
        for index in self.each() {
            reached = reached.min(index.commit()?);
        }
        Ok(reached)
    }

    /// Returns the number of bytes of the index files that searches use.
    pub(super) fn bytes(&self) -> Result<u64, IndexError> {
        self.each().into_iter().map(SearchIndex::bytes).sum()
    }

    /// Returns the number of bytes of all index files, including the files of running merges.
    pub fn disk_bytes(&self) -> u64 {
        let entries = self.folders.iter().filter_map(|folder| folder.read_dir().ok());
        let sizes = entries.flatten().flatten().filter_map(|entry| entry.metadata().ok());
        sizes.map(|file| file.len()).sum()
    }

    /// Writes applied changes to disk, and removes deleted documents from the files. Rewrites every
    /// segment that has deleted documents.
    pub fn purge(&self) -> Result<(), IndexError> {
        self.each().into_iter().try_for_each(SearchIndex::purge)
    }

    /// Frees memory that only busy indexes need.
    pub(super) fn release_memory(&self) -> Result<(), IndexError> {
        self.each().into_iter().try_for_each(SearchIndex::release_memory)
    }

    fn each(&self) -> [&SearchIndex; 3] {
        [&self.sessions, &self.entities, &self.facts]
    }
}

/// Returns the folders of the indexes of sessions, of entities, and of facts.
pub fn folders(folder: &Path) -> [PathBuf; 3] {
    let beside = |name: &str| {
        let mut path = folder.as_os_str().to_owned();
        path.push(name);
        PathBuf::from(path)
    };
    [folder.to_owned(), beside("-entities"), beside("-facts")]
}
