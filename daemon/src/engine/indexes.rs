//! What is searched, as one: three indexes that follow the same outbox.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    search::index::{IndexError, OpenError, Position, SearchIndex},
    store::Store,
};

/// What is searched: an index of sessions, one of things and one of facts.
#[derive(Clone)]
pub struct Indexes {
    /// What was said in sessions, and their episodes.
    pub sessions: Arc<SearchIndex>,
    /// Entities.
    pub entities: Arc<SearchIndex>,
    /// Facts.
    pub facts: Arc<SearchIndex>,
    folders: Arc<[PathBuf; 3]>,
}

impl Indexes {
    /// Opens them, or makes new ones; says whether they are new, and have to be filled.
    ///
    /// They are made anew together, so that they are never at two places of the outbox.
    pub(super) fn open(folder: &Path, store: &dyn Store) -> Result<(Indexes, bool), OpenError> {
        let folders = folders(folder);
        let mut indexes = Vec::with_capacity(folders.len());
        for folder in &folders {
            match SearchIndex::open(folder) {
                // The database lost what the index has already.
                Ok(index) if index.applied().0 > store.outbox_end() => {
                    tracing::warn!("making the search index anew: it is ahead of the database");
                }
                Ok(index) => indexes.push(index),
                Err(error @ OpenError::Folder(_)) => return Err(error),
                Err(error) => {
                    if store.totals().sessions > 0 {
                        tracing::warn!(%error, "making the search index anew from the database");
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

    /// The outbox position up to which changes are on disk in all of them.
    pub(super) fn applied(&self) -> Position {
        self.each().map(SearchIndex::applied).into_iter().min().unwrap_or_default()
    }

    /// The latest outbox position up to which changes are on disk in one of them: they are written
    /// one after the other.
    pub(super) fn furthest(&self) -> Position {
        self.each().map(SearchIndex::applied).into_iter().max().unwrap_or_default()
    }

    pub(super) fn is_full(&self) -> bool {
        self.each().iter().any(|index| index.backlog().is_full())
    }

    pub(super) fn pass(&self, position: Position) {
        self.each().iter().for_each(|index| index.pass(position));
    }

    /// Writes all of them to disk, and returns the position that every one of them reaches.
    pub(super) fn commit(&self) -> Result<Position, IndexError> {
        let mut reached = Position(u64::MAX);
        for index in self.each() {
            reached = reached.min(index.commit()?);
        }
        Ok(reached)
    }

    /// Bytes of what is searched on disk.
    pub(super) fn bytes(&self) -> Result<u64, IndexError> {
        self.each().into_iter().map(SearchIndex::bytes).sum()
    }

    /// Bytes of all that lies on disk, among it what is being merged.
    pub fn disk_bytes(&self) -> u64 {
        let entries = self.folders.iter().filter_map(|folder| folder.read_dir().ok());
        let sizes = entries.flatten().flatten().filter_map(|entry| entry.metadata().ok());
        sizes.map(|file| file.len()).sum()
    }

    /// Writes what was applied to disk, and rids the disk of what was deleted. Reads and writes as
    /// much as was deleted from.
    pub fn purge(&self) -> Result<(), IndexError> {
        self.each().into_iter().try_for_each(SearchIndex::purge)
    }

    /// Lets go of memory that only busy indexes need.
    pub(super) fn rest(&self) -> Result<(), IndexError> {
        self.each().into_iter().try_for_each(SearchIndex::rest)
    }

    fn each(&self) -> [&SearchIndex; 3] {
        [&self.sessions, &self.entities, &self.facts]
    }
}

/// The folders of the indexes of sessions, of entities, and of facts.
pub fn folders(folder: &Path) -> [PathBuf; 3] {
    let beside = |name: &str| {
        let mut path = folder.as_os_str().to_owned();
        path.push(name);
        PathBuf::from(path)
    };
    [folder.to_owned(), beside("-entities"), beside("-facts")]
}
