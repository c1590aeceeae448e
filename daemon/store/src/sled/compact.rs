//! Compaction: copies the rows of a database into a new one, whose file has no unused space.
//!
//! The new database is created in a folder next to the old one, and replaces it when it is complete
//! and synced. After a crash, the next opening calls [`finish_interrupted`], which leaves either
//! the old database or the new one.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    thread,
};

use sled::{Batch, Tree};

use super::{
    LOCK_ATTEMPTS, LOCK_PAUSE, SledStore, high_water_mark, in_folder, open_database, quota, space,
    waker::Waker,
};
use crate::{StoreError, fault, files::sync_folder};

/// Number of bytes of rows after which a batch is applied. sled frees no memory of replaced pages
/// while it applies a batch.
const BATCH: usize = 64 << 10;
/// Number of batches after which the new database is flushed. Without these flushes, everything
/// that a slow disk has not written yet stays in memory, and the file is larger, because sled
/// reuses only segments that are written. `tests/README.md` has measurements.
const FLUSH: usize = 16;

/// The folders that a compaction uses, next to the database's folder.
struct CompactionPaths {
    /// The new database, while it is written.
    copying: PathBuf,
    /// The new database, when it is complete.
    complete: PathBuf,
    /// The old database, while the new one replaces it.
    old: PathBuf,
}

impl CompactionPaths {
    fn of(folder: &Path) -> CompactionPaths {
        let beside = |name: &str| {
            let mut path = folder.as_os_str().to_owned();
            path.push(name);
            PathBuf::from(path)
        };
        CompactionPaths {
            copying: beside(".copying"),
            complete: beside(".complete"),
            old: beside(".old"),
        }
    }
}

/// Finishes or undoes a compaction that a crash interrupted.
pub(super) fn finish_interrupted(folder: &Path) -> io::Result<()> {
    let paths = CompactionPaths::of(folder);
    if !folder.exists() {
        if paths.complete.exists() {
            fs::rename(&paths.complete, folder)?;
        } else if paths.old.exists() {
            fs::rename(&paths.old, folder)?;
        }
    }
    for left in [paths.copying, paths.complete, paths.old] {
        if left.exists() {
            fs::remove_dir_all(left)?;
        }
    }
    Ok(())
}

impl SledStore {
    /// Rewrites the database in `folder`, without the bytes of deleted records.
    ///
    /// # Errors
    ///
    /// When there is no space for both databases, or one of them cannot be read or written; the old
    /// one stays.
    pub fn compact(self, folder: &Path) -> Result<SledStore, StoreError> {
        let content = quota::content_bytes(&self.tree)?;
        make(folder, self, content)?;
        SledStore::open(folder)
    }
}

/// Closes `store`, the database in `folder` with `content` bytes of content, and replaces it by a
/// copy.
///
/// # Errors
///
/// When there is no space for both databases, or one of them cannot be read or written. The old
/// database stays.
pub(super) fn make(folder: &Path, store: SledStore, content: u64) -> Result<(), StoreError> {
    let failed = |error: io::Error| in_folder(folder, &error);
    let paths = CompactionPaths::of(folder);
    let copied = check_free_space(folder, content)
        .and_then(|()| copy_beside(folder, &store.tree, &paths.copying));
    store.close();
    copied?;
    // A thread of sled that still has the old database open would write into the folder of the new
    // database.
    wait_until_closed(folder).map_err(failed)?;
    fault::point("smaller: copied");
    swap(folder, &paths).map_err(failed)
}

fn swap(folder: &Path, paths: &CompactionPaths) -> io::Result<()> {
    fs::rename(&paths.copying, &paths.complete)?;
    fault::point("smaller: complete");
    fs::rename(folder, &paths.old)?;
    fault::point("smaller: moved aside");
    fs::rename(&paths.complete, folder)?;
    if let Some(parent) = folder.parent() {
        sync_folder(parent)?;
    }
    fault::point("smaller: in place");
    fs::remove_dir_all(&paths.old)
}

fn check_free_space(folder: &Path, content: u64) -> Result<(), StoreError> {
    let needed = space::largest_copy(content);
    if let Some(free) = quota::free_bytes(folder)
        && free < needed
    {
        return Err(StoreError::Full(format!(
            "compacting the database needs {} MB on the disk of {}, but only {} MB are free; free space there",
            needed / 1_000_000,
            folder.display(),
            free / 1_000_000
        )));
    }
    Ok(())
}

fn copy_beside(folder: &Path, tree: &Tree, to: &Path) -> Result<(), StoreError> {
    copy(tree, to)?;
    high_water_mark::copy(folder, to)
        .and_then(|()| sync_all(to))
        .map_err(|error| in_folder(to, &error))
}

fn copy(tree: &Tree, to: &Path) -> Result<(), StoreError> {
    let new = open_database(to)?;
    let waker = Waker::of(&new).map_err(|error| in_folder(to, &error))?;
    let mut watched = waker.watch();
    let (mut batch, mut bytes, mut batches) = (Batch::default(), 0, 0);
    for row in tree {
        let (key, value) = row?;
        bytes += key.len() + value.len();
        batch.insert(key, value);
        if bytes >= BATCH {
            new.apply_batch(std::mem::take(&mut batch))?;
            bytes = 0;
            batches += 1;
            if batches % FLUSH == 0 {
                new.flush()?;
                // The waker's pause has grown. A new watch makes it short again.
                drop(watched);
                watched = waker.watch();
            }
        }
    }
    new.apply_batch(batch)?;
    new.flush()?;
    drop(watched);
    drop(waker);
    drop(new);
    wait_until_closed(to).map_err(|error| in_folder(to, &error))
}

/// Waits until no thread of sled has the database in `folder` open.
fn wait_until_closed(folder: &Path) -> io::Result<()> {
    let data = File::open(folder.join("db"))?;
    for _ in 0..LOCK_ATTEMPTS {
        if data.try_lock().is_ok() {
            return data.unlock();
        }
        thread::sleep(LOCK_PAUSE);
    }
    Err(io::Error::new(io::ErrorKind::ResourceBusy, "the database is still open"))
}

/// Syncs every file in a folder, and the folder itself.
fn sync_all(folder: &Path) -> io::Result<()> {
    for entry in folder.read_dir()? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            // Windows syncs only files that are open for writing.
            File::options().write(true).open(entry.path())?.sync_all()?;
        }
    }
    sync_folder(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EvictionProgress, SpaceStep, Store, Write, contract};

    /// Creates a database in which all sessions but the last were deleted. Returns the size of its
    /// content, in bytes, and the end of its outbox.
    fn mostly_deleted(folder: &Path) -> (u64, u64) {
        let store = SledStore::open(folder).unwrap();
        let mut keys = Vec::new();
        for number in 0..12 {
            let key = store.next_session_key().unwrap();
            let session = contract::session(key, &format!("session-{number}"));
            let source = contract::source_of(&session, 0);
            let messages = (0..300).map(|seq| contract::noise(seq, 4_000)).collect();
            let writes = vec![
                Write::Session(Box::new(session)),
                Write::Messages { source: source.key, messages },
                Write::Source { source, checkpoint: Some(vec![7; 9_000]) },
            ];
            store.write(writes).wait().unwrap();
            keys.push(key);
        }
        for key in &keys[..11] {
            store.write(vec![Write::DropSession(*key)]).wait().unwrap();
        }
        let (content, end) = (store.quota().content_bytes().unwrap(), store.outbox_end());
        store.close();
        (content, end)
    }

    #[test]
    fn compaction_preserves_the_content() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("db");
        let (content, end) = mostly_deleted(&folder);
        let store = SledStore::open(&folder).unwrap();
        let before: Vec<_> = store.tree.iter().map(Result::unwrap).collect();
        let large = store.quota().disk_bytes();
        store.close();

        // With this limit, the file is too large, but the content is small enough.
        let store = SledStore::open_within(&folder, large).unwrap();
        let after: Vec<_> = store.tree.iter().map(Result::unwrap).collect();
        assert!(before == after, "the rows differ");
        assert_eq!(store.outbox_end(), end);
        assert_eq!(store.lost(), 0);
        let small = store.quota().disk_bytes();
        assert!(
            small < large * 5 / 8,
            "{large} bytes before, {small} bytes after, {content} bytes of content"
        );
        assert_eq!(home.path().read_dir().unwrap().count(), 1);
    }

    #[test]
    fn an_unchanged_database_is_not_compacted_again() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("db");
        let (content, _) = mostly_deleted(&folder);
        let step = |store: &SledStore| {
            let content = store.quota().content_bytes().unwrap();
            // The compacted database is near this limit.
            store.quota().set_limit(store.quota().disk_bytes());
            store.quota().next_step(content, EvictionProgress::NothingEvicted)
        };
        let store = SledStore::open_within(&folder, content * 6).unwrap();
        assert_eq!(step(&store), SpaceStep::Wait);
        store.close();
        let store = SledStore::open(&folder).unwrap();
        assert_eq!(step(&store), SpaceStep::Compact);
    }

    #[test]
    fn after_a_crash_there_is_one_complete_database() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("db");
        let paths = CompactionPaths::of(&folder);
        let make = |folder: &Path, text: &str| {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join("db"), text).unwrap();
        };
        type Left<'a> = &'a [(&'a Path, &'a str)];
        let (copying, complete, old) = (&*paths.copying, &*paths.complete, &*paths.old);
        let rows: [(Left<'_>, &str); 5] = [
            (&[(&folder, "old"), (copying, "half")], "old"),
            (&[(&folder, "old"), (complete, "new")], "old"),
            (&[(old, "old"), (complete, "new")], "new"),
            (&[(&folder, "new"), (old, "old")], "new"),
            (&[(old, "old")], "old"),
        ];
        for (left, stays) in rows {
            left.iter().for_each(|(folder, text)| make(folder, text));
            finish_interrupted(&folder).unwrap();
            assert_eq!(fs::read_to_string(folder.join("db")).unwrap(), stays, "{left:?}");
            assert_eq!(home.path().read_dir().unwrap().count(), 1, "{left:?}");
            fs::remove_dir_all(&folder).unwrap();
        }
        finish_interrupted(&folder).unwrap();
        assert!(!folder.exists());
    }
}
