//! Reads the database of opencode, `opencode.db`.
//!
//! opencode 1 uses the tables `session`, `message` and `part`. opencode 2 uses `session_v2` and
//! `session_message`, in the same file. opencode 2 does not change the tables of opencode 1, and
//! the tables of both versions may contain the same sessions. The sources for both formats are the
//! table definitions in opencode's code, and its code that writes the rows.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, Row as TableRow, types::ValueRef};

use super::{
    line::StoredSession,
    rows::{self, Version},
};
use crate::{
    database::{DatabaseError, LastRows, SessionDatabase},
    records::RecordText,
    store::FileStamp,
};

pub(super) struct Database;

/// Maximum number of parents that are followed to find the session that the user started.
const MAX_ANCESTORS: usize = 16;

impl SessionDatabase for Database {
    fn database_of(&self, path: &Path) -> Option<PathBuf> {
        let name = path.file_name()?.to_str()?;
        let name = name.strip_suffix("-wal").unwrap_or(name);
        is_database_name(name).then(|| path.with_file_name(name))
    }

    fn last_rows(&self, connection: &Connection) -> Result<LastRows, DatabaseError> {
        let tables = Tables::of(connection)?;
        let last = |table: &'static str| {
            let query = format!("SELECT coalesce(max(rowid), 0) FROM {table}");
            connection.query_row(&query, [], |row| Ok((table, row.get(0)?)))
        };
        let rows = tables.names().map(last).collect::<Result<_, _>>()?;
        Ok(LastRows { sessions: count(connection, tables.sessions())?, rows })
    }

    fn sessions_after(
        &self,
        connection: &Connection,
        last: &LastRows,
    ) -> Result<Vec<String>, DatabaseError> {
        let mut ids = Vec::new();
        for table in Tables::of(connection)?.names() {
            let known = last.rows.iter().find(|(name, _)| *name == table);
            let column = if table.starts_with("session_message") || !table.starts_with("session") {
                "session_id"
            } else {
                "id"
            };
            let query = format!("SELECT DISTINCT {column} FROM {table} WHERE rowid > ?1");
            ids.extend(texts(connection, &query, [known.map_or(0, |(_, row)| *row)])?);
        }
        Ok(ids)
    }

    fn sessions(&self, connection: &Connection) -> Result<Vec<String>, DatabaseError> {
        texts(connection, Tables::of(connection)?.sessions(), [])
    }

    fn stamp(
        &self,
        connection: &Connection,
        session: &str,
    ) -> Result<Option<FileStamp>, DatabaseError> {
        let tables = Tables::of(connection)?;
        let Some((version, row)) = find(connection, tables, session)? else { return Ok(None) };
        let mut state = State::new(&row);
        match version {
            Version::One => state_of_messages(connection, session, &mut state)?,
            Version::Two => state_of_rows(connection, session, &mut state)?,
        }
        Ok(Some(state.stamp()))
    }

    fn records(
        &self,
        connection: &Connection,
        session: &str,
        text: &mut RecordText,
    ) -> Result<(), DatabaseError> {
        let tables = Tables::of(connection)?;
        let (version, row) = find(connection, tables, session)?.ok_or(DatabaseError::NoSession)?;
        rows::write(connection, version, &row, text)
    }
}

/// Whether a file of this name is a database of opencode. Each release channel has its own
/// database.
pub(super) fn is_database_name(name: &str) -> bool {
    name.strip_prefix("opencode")
        .and_then(|rest| rest.strip_suffix(".db"))
        .is_some_and(|channel| channel.is_empty() || channel.starts_with('-'))
}

/// Whether the database contains a session.
pub(super) fn contains(connection: &Connection, session: &str) -> Result<bool, DatabaseError> {
    Ok(find(connection, Tables::of(connection)?, session)?.is_some())
}

/// The tables that a database has.
#[derive(Clone, Copy)]
struct Tables {
    has_1: bool,
    has_2: bool,
}

impl Tables {
    fn of(connection: &Connection) -> Result<Tables, DatabaseError> {
        let query = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name";
        let names = texts(connection, query, [])?;
        let has = |tables: &[&str]| tables.iter().all(|table| names.iter().any(|n| n == table));
        let tables = Tables {
            has_1: has(&["session", "message", "part"]),
            has_2: has(&["session_v2", "session_message"]),
        };
        if tables.has_1 || tables.has_2 {
            return Ok(tables);
        }
        Err(DatabaseError::UnknownTables(
            names.iter().take(20).cloned().collect::<Vec<_>>().join(", "),
        ))
    }

    fn names(self) -> impl Iterator<Item = &'static str> {
        let first = ["session", "message", "part"].into_iter().filter(move |_| self.has_1);
        first.chain(["session_v2", "session_message"].into_iter().filter(move |_| self.has_2))
    }

    /// Returns the query for the ids of all sessions.
    fn sessions(self) -> &'static str {
        match (self.has_1, self.has_2) {
            (true, true) => "SELECT id FROM session UNION SELECT id FROM session_v2",
            (false, true) => "SELECT id FROM session_v2",
            _ => "SELECT id FROM session",
        }
    }
}

/// Finds a session. If it is in the tables of both versions, the newer tables are used only if they
/// contain its messages.
fn find(
    connection: &Connection,
    tables: Tables,
    session: &str,
) -> Result<Option<(Version, StoredSession)>, DatabaseError> {
    let first = if tables.has_1 { session_row(connection, "session", session)? } else { None };
    if tables.has_2
        && let Some(row) = session_row(connection, "session_v2", session)?
    {
        let query = "SELECT EXISTS (SELECT 1 FROM session_message WHERE session_id = ?1)";
        let has_messages: bool =
            connection.prepare_cached(query)?.query_row([session], |row| row.get(0))?;
        if has_messages || first.is_none() {
            return Ok(Some((Version::Two, row)));
        }
    }
    Ok(first.map(|row| (Version::One, row)))
}

fn session_row(
    connection: &Connection,
    table: &str,
    session: &str,
) -> Result<Option<StoredSession>, DatabaseError> {
    let query = format!(
        "SELECT id, parent_id, directory, title, version, time_created FROM {table} WHERE id = ?1"
    );
    let mut statement = connection.prepare_cached(&query)?;
    let row = statement.query_row([session], |row| {
        Ok(StoredSession {
            id: row.get(0)?,
            parent: row.get(1)?,
            root: None,
            directory: lenient_text(row, 2)?,
            title: lenient_text(row, 3)?,
            version: lenient_text(row, 4)?,
            created: lenient_integer(row, 5)?,
        })
    });
    let Some(mut row) = row.optional()? else { return Ok(None) };
    row.root.clone_from(&row.parent);
    let query = format!("SELECT parent_id FROM {table} WHERE id = ?1");
    let mut parents = connection.prepare_cached(&query)?;
    for _ in 0..MAX_ANCESTORS {
        let parent: Option<Option<String>> =
            parents.query_row([&row.root], |row| row.get(0)).optional()?;
        let Some(Some(parent)) = parent else { break };
        row.root = Some(parent);
    }
    Ok(Some(row))
}

/// The data that identify the state of a session, without reading all of its messages.
struct State {
    text: String,
    modified: i64,
}

impl State {
    fn new(session: &StoredSession) -> State {
        State { text: format!("{}|{:?}", session.title, session.root), modified: session.created }
    }

    fn add(&mut self, row: &TableRow<'_>) -> rusqlite::Result<()> {
        for column in 0..4 {
            self.text.push('|');
            self.text.push_str(&lenient_text(row, column)?);
        }
        self.modified = self.modified.max(lenient_integer(row, 4)?);
        Ok(())
    }

    fn stamp(&self) -> FileStamp {
        let checksum = u64::from(crc32fast::hash(self.text.as_bytes()));
        FileStamp {
            file: checksum << 32 | self.text.len() as u64,
            length: 0,
            modified: self.modified.saturating_mul(1_000),
        }
    }
}

/// Returns a value of any type as a text: SQLite does not enforce the types of columns.
fn lenient_text(row: &TableRow<'_>, column: usize) -> rusqlite::Result<String> {
    Ok(match row.get_ref(column)? {
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Null | ValueRef::Blob(_) => String::new(),
    })
}

/// Returns a value of any type as an integer; 0 if it is not a number.
fn lenient_integer(row: &TableRow<'_>, column: usize) -> rusqlite::Result<i64> {
    Ok(match row.get_ref(column)? {
        ValueRef::Integer(number) => number,
        ValueRef::Real(number) => number as i64,
        ValueRef::Text(text) => {
            let text = String::from_utf8_lossy(text);
            text.trim().parse::<f64>().map_or(0, |number| number as i64)
        }
        ValueRef::Null | ValueRef::Blob(_) => 0,
    })
}

/// Adds the states of the last messages and their parts. opencode does not change older messages.
fn state_of_messages(
    connection: &Connection,
    session: &str,
    state: &mut State,
) -> Result<(), DatabaseError> {
    const MESSAGES: &str = "SELECT id, NULL, NULL, \
         CASE WHEN json_valid(data) THEN CAST(json_extract(data, '$.time.completed') AS TEXT) END, \
         max(time_created, CASE WHEN json_valid(data) \
             THEN coalesce(json_extract(data, '$.time.completed'), 0) ELSE 0 END) \
         FROM message WHERE session_id = ?1 ORDER BY time_created DESC, id DESC LIMIT 3";
    const PARTS: &str = "SELECT id, \
         CASE WHEN json_valid(data) THEN json_extract(data, '$.type') END, \
         CASE WHEN json_valid(data) THEN json_extract(data, '$.state.status') END, \
         CASE WHEN json_valid(data) THEN CAST(json_extract(data, '$.time.end') AS TEXT) END, \
         max(time_created, CASE WHEN json_valid(data) THEN coalesce( \
             json_extract(data, '$.time.end'), json_extract(data, '$.state.time.end'), 0) ELSE 0 END) \
         FROM part WHERE message_id = ?1 ORDER BY id";
    let mut messages = connection.prepare_cached(MESSAGES)?;
    let mut parts = connection.prepare_cached(PARTS)?;
    let mut rows = messages.query([session])?;
    while let Some(message) = rows.next()? {
        state.add(message)?;
        let mut rows =
            parts.query([message.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?])?;
        while let Some(part) = rows.next()? {
            state.add(part)?;
        }
    }
    Ok(())
}

/// Adds the states of the last rows. opencode does not change older rows.
fn state_of_rows(
    connection: &Connection,
    session: &str,
    state: &mut State,
) -> Result<(), DatabaseError> {
    const ROWS: &str = "SELECT id, type, \
         CASE WHEN json_valid(data) THEN coalesce(json_extract(data, '$.status'), '') || \
             coalesce(json_extract(data, '$.time.completed'), '') END, \
         CASE WHEN json_valid(data) THEN (SELECT group_concat(coalesce( \
             json_extract(value, '$.state.status'), json_extract(value, '$.type'))) \
             FROM json_each(data, '$.content')) END, \
         max(time_created, CASE WHEN json_valid(data) THEN coalesce( \
             json_extract(data, '$.time.completed'), \
             (SELECT max(json_extract(value, '$.time.completed')) FROM json_each(data, '$.content')), \
             0) ELSE 0 END) \
         FROM session_message WHERE session_id = ?1 ORDER BY seq DESC LIMIT 4";
    let mut statement = connection.prepare_cached(ROWS)?;
    let mut rows = statement.query([session])?;
    while let Some(row) = rows.next()? {
        state.add(row)?;
    }
    Ok(())
}

/// Returns the first column of a query.
fn texts(
    connection: &Connection,
    query: &str,
    params: impl rusqlite::Params,
) -> Result<Vec<String>, DatabaseError> {
    let mut statement = connection.prepare_cached(query)?;
    let rows = statement.query_map(params, |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns the number of rows of a query.
fn count(connection: &Connection, query: &str) -> Result<u64, DatabaseError> {
    let query = format!("SELECT count(*) FROM ({query})");
    let count: i64 = connection.prepare_cached(&query)?.query_row([], |row| row.get(0))?;
    Ok(u64::try_from(count).unwrap_or_default())
}
