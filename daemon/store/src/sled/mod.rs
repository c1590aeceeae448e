//! The store in a sled database.
//!
//! Tests with thousands of kills and power cuts showed that the following rules are needed. There
//! is one writer. The writer flushes and syncs every group of lists before the next group begins.
//! Values that may be long are divided into pieces of at most four kilobytes. Encoded values are in
//! checksummed envelopes.

mod agent_totals;
mod batch;
mod clean;
mod compact;
mod counters;
#[cfg(any(test, feature = "testing"))]
mod damage;
mod envelope;
#[doc(hidden)]
pub mod fuzzing;
mod graph;
mod high_water_mark;
mod keys;
mod notes;
mod pieces;
mod prepared;
mod quota;
mod reading;
mod records;
mod salvage;
mod session_heads;
mod slack;
mod space;
mod statements;
mod unwritten;
mod vectors;
mod waker;
mod writer;

use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom},
    panic,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::Duration,
};

use sled::{Db, Tree};

use self::{
    counters::Counters, high_water_mark::HighWaterMark, quota::Quota, slack::with_slack,
    space::CompactedSizes, waker::Waker, writer::Writer,
};
pub use self::{
    quota::free_bytes,
    salvage::{Salvaged, open_damaged},
};
use crate::{DiskQuota as _, EvictionProgress, PendingWrite, SpaceStep, StoreError, Write};

/// A store in a sled database, which has a separate folder.
pub struct SledStore {
    folder: PathBuf,
    tree: Tree,
    counters: Arc<Counters>,
    writer: Writer,
    quota: Arc<Quota>,
    lost: u64,
    /// The sizes after the compaction with which the store was opened.
    compacted: Option<CompactedSizes>,
}

/// The size, in bytes, of sled's page cache.
const CACHE: u64 = 24 << 20;
/// The size, in bytes, of sled's unit of disk space. It is larger than the default, so that pages
/// full of long values fit.
const SEGMENT: usize = 2 << 20;
/// Number of bytes that [`try_reading`] reads of each segment. A disk reads at least this many.
const BLOCK: usize = 4_096;
/// Maximum number of retries when the database is locked.
const LOCK_ATTEMPTS: u32 = 50;
/// The pause before each of these retries.
const LOCK_PAUSE: Duration = Duration::from_millis(10);

impl SledStore {
    /// Opens the store in `folder`, which is created if it is missing.
    ///
    /// Takes a lock on the folder, which is released when the store is closed or the process ends.
    pub fn open(folder: &Path) -> Result<SledStore, StoreError> {
        compact::finish_interrupted(folder).map_err(|error| in_folder(folder, &error))?;
        try_reading(folder)?;
        let db = open_unlocked(folder).map_err(|error| quota::or_no_space(folder, error))?;
        let tree: Tree = (*db).clone();
        check_version(&tree)?;
        let counters = Arc::new(Counters::load(&tree)?);
        let (high_water_mark, marked) =
            HighWaterMark::open(folder).map_err(|error| in_folder(folder, &error))?;
        let lost = marked.saturating_sub(counters.get().outbox);
        let quota = Arc::new(Quota::new(folder).map_err(|error| in_folder(folder, &error))?);
        let (writer_quota, counted) = (quota.clone(), counters.clone());
        let waker = Waker::of(&tree).map_err(|error| in_folder(folder, &error))?;
        let writer =
            with_slack(|| Writer::start(db, high_water_mark, waker, writer_quota, counted))?;
        Ok(SledStore {
            folder: folder.to_owned(),
            tree,
            counters,
            writer,
            quota,
            lost,
            compacted: None,
        })
    }

    /// Opens the store with a limit of `limit` bytes on disk. Compacts a database near its limit
    /// first if that helps (see `space::next_step`).
    pub fn open_within(folder: &Path, limit: u64) -> Result<SledStore, StoreError> {
        let store = SledStore::open(folder)?;
        store.set_limit(limit);
        if !store.is_near_limit() {
            return Ok(store);
        }
        let before = store.disk_bytes();
        let content = store.content_bytes()?;
        if store.next_step(content, EvictionProgress::NothingEvicted) != SpaceStep::Compact {
            // Content has to be evicted first, a copy would hardly be smaller, or there is no free
            // space for a copy.
            return Ok(store);
        }
        let lost = store.lost;
        let made = compact::make(folder, store, content);
        let mut store = SledStore::open(folder)?;
        store.lost = lost;
        store.set_limit(limit);
        match made {
            Ok(_) => {
                let bytes = store.disk_bytes();
                store.compacted = Some(CompactedSizes { files: bytes, content });
                tracing::info!(before, bytes, "compacted the database");
            }
            Err(error) => tracing::warn!(%error, "cannot compact the database"),
        }
        Ok(store)
    }

    /// Returns the number of acknowledged outbox entries that were lost because the database's file
    /// was damaged.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Waits until everything queued is on disk, and unlocks the folder.
    pub fn close(self) {
        drop(self);
    }

    fn queue(&self, writes: Vec<Write>) -> PendingWrite {
        self.writer.queue(writes)
    }

    /// Registers a file as an older version did, even if its path is registered already.
    #[cfg(any(test, feature = "testing"))]
    #[allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
    pub fn register_unchecked(&self, source: &crate::Source) {
        let record = envelope::seal(&records::SourceRecord::from(source));
        self.tree.insert(keys::source(source.key), record).unwrap();
        self.tree.insert(keys::path(&source.path), keys::of_path(source.key)).unwrap();
    }
}

fn in_folder(folder: &Path, error: &io::Error) -> StoreError {
    StoreError::Backend(format!("{}: {error}", folder.display()))
}

/// Returns an error if the database file cannot be read. If sled cannot read a part of the file, it
/// assumes that the file ends there, and overwrites the rest. Without this check, a disk that fails
/// for a moment could destroy most of the data.
fn try_reading(folder: &Path) -> Result<(), StoreError> {
    let path = folder.join("db");
    let read = || -> io::Result<()> {
        let mut file = File::open(&path)?;
        let mut block = [0; BLOCK];
        let mut at = 0;
        while file.read(&mut block)? > 0 {
            // sled first reads the start of each segment.
            at += SEGMENT as u64;
            file.seek(SeekFrom::Start(at))?;
        }
        Ok(())
    };
    // On Windows, the lock of another process prevents reading. `open_unlocked` waits for the lock.
    let is_locked = |error: &io::Error| cfg!(windows) && error.raw_os_error() == Some(33);
    match read() {
        Err(error) if error.kind() != io::ErrorKind::NotFound && !is_locked(&error) => {
            Err(StoreError::Backend(format!(
                "read {}: {error}; nothing was changed: check that the disk works, and start graphitid again",
                path.display()
            )))
        }
        _ => Ok(()),
    }
}

/// Opens the database. Retries while it is locked, because threads of sled may keep a database open
/// for a moment after it was closed.
fn open_unlocked(folder: &Path) -> Result<Db, StoreError> {
    let mut attempts = 0;
    loop {
        match open_database(folder) {
            Err(sled::Error::Io(error))
                if error.to_string().contains("could not acquire lock")
                    && attempts < LOCK_ATTEMPTS =>
            {
                attempts += 1;
                thread::sleep(LOCK_PAUSE);
            }
            opened => return Ok(opened?),
        }
    }
}

fn open_database(folder: &Path) -> sled::Result<Db> {
    remove_unfinished(folder)?;
    let path = folder.to_owned();
    // In most cases, sled panics if it cannot open a database.
    let opened = panic::catch_unwind(|| {
        with_slack(|| {
            sled::Config::default()
                .path(path)
                .cache_capacity(CACHE)
                .segment_size(SEGMENT)
                .flush_every_ms(None)
                .open()
        })
    });
    opened.unwrap_or(Err(sled::Error::Corruption { at: None, bt: () }))
}

/// Removes a snapshot that was not written completely. sled 0.34.7 would use it as the newest
/// snapshot and report the database as damaged, because `write_snapshot` gives it another name than
/// the name that `get_snapshot_files` ignores. The database can be opened without a snapshot.
fn remove_unfinished(folder: &Path) -> io::Result<()> {
    let entries = match folder.read_dir() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        if name.to_string_lossy().starts_with("snap.")
            && name.to_string_lossy().ends_with(".generating")
        {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Writes the current version into a store that is new or has an older version, because the records
/// of this program have the current version. Refuses a store of a newer program.
fn check_version(tree: &Tree) -> Result<(), StoreError> {
    let known = u32::from(envelope::VERSION);
    let key = keys::meta("version");
    let stored = tree.get(&key)?;
    let found = stored.and_then(|bytes| Some(u32::from_be_bytes(*bytes.first_chunk()?)));
    match found {
        Some(found) if found > known => {
            Err(StoreError::TooNew(format!("version {found}, known is {known}")))
        }
        Some(found) if found == known => Ok(()),
        _ => {
            tree.insert(key, &known.to_be_bytes())?;
            Ok(())
        }
    }
}

impl From<sled::Error> for StoreError {
    fn from(error: sled::Error) -> StoreError {
        match error {
            sled::Error::Corruption { .. } => {
                StoreError::Unreadable("the content differs from the written data".to_owned())
            }
            sled::Error::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                StoreError::Unreadable("the file ends too early".to_owned())
            }
            sled::Error::Io(error) => StoreError::Backend(error.to_string()),
            other => StoreError::Backend(other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests;
