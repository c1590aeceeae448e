//! Opens a database for reading while its agent may write to it.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use rusqlite::{Connection, OpenFlags, config::DbConfig};

use super::DatabaseError;
use crate::{open::file_stamp, store::FileStamp};

/// Maximum time to wait for a lock. A database with a write-ahead log is never locked for readers,
/// except for a moment while it is recovered.
const LOCK_TIMEOUT: Duration = Duration::from_millis(250);
/// Maximum number of attempts to read a database that changes while it is read.
const ATTEMPTS: usize = 3;

/// Calls `read` with the open database at `path`.
///
/// `read` is called again, up to [`ATTEMPTS`] times in total, if the database was read without
/// locks and changed in the meantime.
///
/// # Errors
///
/// Fails with `NotFound` if `path` is not a regular file, and with the errors of opening and of
/// `read`.
pub(crate) fn read<T>(
    path: &Path,
    mut read: impl FnMut(&Connection) -> io::Result<T>,
) -> io::Result<T> {
    // When a process closes a file, it loses all its locks on the file, even the locks of another
    // connection. The process therefore has at most one connection.
    static ONE_CONNECTION: Mutex<()> = Mutex::new(());
    let _one = ONE_CONNECTION.lock().unwrap_or_else(PoisonError::into_inner);
    let mut attempts = 0;
    loop {
        let before = Files::of(path)?;
        let is_unused = before.log.is_none() && has_log_mode(path)?;
        let connection = open(path, is_unused)?;
        // All queries see the same state.
        let begun = connection.execute_batch("BEGIN").map_err(DatabaseError::from);
        let result = begun.map_err(io::Error::from).and_then(|()| read(&connection));
        // If closing fails, the connection is returned, and is closed when it is dropped.
        let _ = connection.close();
        attempts += 1;
        if !is_unused || attempts == ATTEMPTS || Files::of(path)? == before {
            return result;
        }
    }
}

/// The states of the files of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Files {
    database: FileStamp,
    log: Option<FileStamp>,
}

impl Files {
    /// # Errors
    ///
    /// `NotFound` when the database is not a regular file.
    pub(super) fn of(path: &Path) -> io::Result<Files> {
        let metadata = fs::symlink_metadata(path)?;
        if !metadata.is_file() {
            return Err(io::Error::new(
                io::ErrorKind::NotFound,
                "the database is not a regular file",
            ));
        }
        let log = fs::symlink_metadata(log_of(path)).ok();
        Ok(Files { database: file_stamp(&metadata), log: log.as_ref().map(file_stamp) })
    }
}

/// Returns the path of a database's write-ahead log.
fn log_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    PathBuf::from(name)
}

/// Whether the database uses a write-ahead log, according to its header.
fn has_log_mode(path: &Path) -> io::Result<bool> {
    let mut header = [0; 20];
    match File::open(path)?.read_exact(&mut header) {
        Ok(()) => Ok(header[18] == 2 && header[19] == 2),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// Opens the database. If `is_unused`, no process has the database open. Then the database is read
/// without locks, because taking a lock would create a write-ahead log.
fn open(path: &Path, is_unused: bool) -> io::Result<Connection> {
    let address = format!(
        "file:{}?mode=ro{}",
        percent_encoded(path),
        if is_unused { "&immutable=1" } else { "" }
    );
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let configured = || -> rusqlite::Result<Connection> {
        let connection = Connection::open_with_flags(&address, flags)?;
        connection.busy_timeout(LOCK_TIMEOUT)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        // The process would crash if a mapped file were truncated.
        connection.pragma_update(None, "mmap_size", 0)?;
        Ok(connection)
    };
    configured().map_err(|error| DatabaseError::from(error).into())
}

/// Encodes a path for a URI of SQLite.
fn percent_encoded(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\\', "/");
    let mut encoded = String::with_capacity(text.len() + 8);
    // A path with a drive letter needs a leading slash.
    if !text.starts_with('/') {
        encoded.push('/');
    }
    for byte in text.bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b':' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => {
                encoded.push(char::from(byte));
            }
            other => encoded.push_str(&format!("%{other:02X}")),
        }
    }
    encoded
}
