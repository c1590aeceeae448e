//! Scans folders and detects files that changed since the last scan.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use crate::{
    database::{DatabaseScanner, Extent, database_of},
    open::file_stamp,
    store::FileStamp,
    watch::PathFilter,
};

/// Maximum depth of nested folders.
const MAX_DEPTH: usize = 16;

fn is_database(path: &Path) -> bool {
    database_of(path).is_some_and(|(_, database)| database == path) && path.is_file()
}

/// A scanner that stores the state of each file and database at the last scan.
pub struct FolderScanner {
    wanted: PathFilter,
    seen: HashMap<PathBuf, SeenFile>,
    round: u64,
    databases: DatabaseScanner,
}

struct SeenFile {
    stamp: FileStamp,
    round: u64,
}

impl FolderScanner {
    /// Creates a scanner without known files, for files that are `wanted`.
    pub fn new(wanted: PathFilter) -> FolderScanner {
        FolderScanner {
            wanted,
            seen: HashMap::new(),
            round: 0,
            databases: DatabaseScanner::default(),
        }
    }

    /// Adds the changed sessions of databases under `folder` to `changed`, and then the new and
    /// changed files, newest first.
    ///
    /// Links are not followed, because they may lead out of the folder.
    pub fn scan(&mut self, folder: &Path, changed: &mut Vec<PathBuf>) {
        if is_database(folder) {
            changed.extend(self.sessions(folder, Extent::All));
            return;
        }
        let mut found: Vec<(i64, PathBuf)> = Vec::new();
        let mut folders = vec![(folder.to_owned(), 0)];
        while let Some((folder, depth)) = folders.pop() {
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            for entry in entries.flatten() {
                let Ok(kind) = entry.file_type() else { continue };
                let path = entry.path();
                if kind.is_dir() && depth < MAX_DEPTH {
                    folders.push((path, depth + 1));
                } else if kind.is_file() && is_database(&path) {
                    changed.extend(self.sessions(&path, Extent::All));
                } else if kind.is_file() && (self.wanted)(&path) {
                    let Ok(metadata) = entry.metadata() else { continue };
                    let stamp = file_stamp(&metadata);
                    if self.record(&path, stamp) {
                        found.push((stamp.modified, path));
                    }
                }
            }
        }
        found.sort_unstable_by(|a, b| b.cmp(a));
        changed.extend(found.into_iter().map(|(_, path)| path));
    }

    /// Records the current state of one file, so that a later scan does not report it.
    pub fn note(&mut self, path: &Path) {
        if let Ok(metadata) = fs::symlink_metadata(path) {
            self.record(path, file_stamp(&metadata));
        }
    }

    /// Returns the known files that were not found since the last call, and the sessions of deleted
    /// databases. Must be called after scanning all folders.
    pub fn gone(&mut self) -> Vec<PathBuf> {
        let round = self.round;
        self.round += 1;
        let files = self.seen.extract_if(|_, seen| seen.round < round).map(|(path, _)| path);
        files.chain(self.databases.gone()).collect()
    }

    /// Returns the changed sessions of a database.
    pub(super) fn sessions(&mut self, database: &Path, extent: Extent) -> Vec<PathBuf> {
        self.databases.changed(database, extent, Instant::now())
    }

    /// Returns the databases that changed and were not read again, because the last read was a
    /// short time ago.
    pub(super) fn pending_databases(&self) -> Vec<PathBuf> {
        self.databases.pending()
    }

    /// Returns the time until a pending database may be read.
    pub(super) fn until_pending(&self) -> Option<Duration> {
        self.databases.until_next(Instant::now())
    }

    /// Records `stamp`; returns whether the file is new or changed.
    fn record(&mut self, path: &Path, stamp: FileStamp) -> bool {
        let seen = SeenFile { stamp, round: self.round };
        let before = self.seen.insert(path.to_owned(), seen);
        before.is_none_or(|before| before.stamp != stamp)
    }
}
