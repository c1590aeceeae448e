//! Reads databases in which agents store many sessions. Never writes to them.
//!
//! A session in a database has the path `<database file>/<id of the session>`, which does not exist
//! in the file system. The modules that use [`storage`](crate::storage) treat it as a file.

mod open;
mod scan;

use std::{
    io,
    path::{Path, PathBuf},
};

use rusqlite::Connection;

pub(crate) use self::open::read;
pub use self::scan::{DatabaseScanner, Extent, database_of};
use crate::{records::RecordText, store::FileStamp};

/// How one agent stores sessions in its database.
pub trait SessionDatabase: Sync {
    /// Returns the database that changes when the file at `path` changes: the file itself or, if
    /// the file is a write-ahead log, the database of this log.
    fn database_of(&self, path: &Path) -> Option<PathBuf>;

    /// Returns the number of sessions, and the number of the last row of each table.
    fn last_rows(&self, connection: &Connection) -> Result<LastRows, DatabaseError>;

    /// Returns the ids of the sessions with rows after `last`, without scanning whole tables.
    fn sessions_after(
        &self,
        connection: &Connection,
        last: &LastRows,
    ) -> Result<Vec<String>, DatabaseError>;

    /// Returns the ids of all sessions.
    fn sessions(&self, connection: &Connection) -> Result<Vec<String>, DatabaseError>;

    /// Returns the state of a session. The state changes when the session has more records. Returns
    /// `None` if the database does not contain the session.
    fn stamp(
        &self,
        connection: &Connection,
        session: &str,
    ) -> Result<Option<FileStamp>, DatabaseError>;

    /// Adds the records of a session to `text`, in the order of the conversation. Starts at the
    /// [anchor](crate::records::Anchor) of `text` if the rows before the anchor are unchanged.
    /// A later call must add the same records from this start on, followed by new records, unless
    /// the agent changed a record that the agent had marked as finished.
    fn records(
        &self,
        connection: &Connection,
        session: &str,
        text: &mut RecordText,
    ) -> Result<(), DatabaseError>;
}

/// The state of the tables, to find the sessions that got new rows later.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LastRows {
    /// Number of sessions.
    pub sessions: u64,
    /// The name of each table with the number of its last row.
    pub rows: Vec<(&'static str, i64)>,
}

/// Why a database cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    #[error("the database has no table that this version can read: {0}")]
    UnknownTables(String),
    #[error("the database does not contain this session")]
    NoSession,
    #[error(transparent)]
    Database(#[from] rusqlite::Error),
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<DatabaseError> for io::Error {
    fn from(error: DatabaseError) -> io::Error {
        use rusqlite::ErrorCode;
        let kind = match &error {
            DatabaseError::UnknownTables(_) => io::ErrorKind::InvalidData,
            DatabaseError::NoSession => io::ErrorKind::NotFound,
            DatabaseError::Io(_) => io::ErrorKind::Other,
            DatabaseError::Database(cause) => match cause.sqlite_error_code() {
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                    io::ErrorKind::WouldBlock
                }
                Some(ErrorCode::PermissionDenied | ErrorCode::AuthorizationForStatementDenied) => {
                    io::ErrorKind::PermissionDenied
                }
                _ => io::ErrorKind::InvalidData,
            },
        };
        match error {
            DatabaseError::Io(error) => error,
            error => io::Error::new(kind, error),
        }
    }
}
