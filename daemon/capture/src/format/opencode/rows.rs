//! Converts the rows of a session in the database into records.

use std::borrow::Cow;

use rusqlite::{Connection, Row as TableRow, params};

use super::{
    line::{AnchorRow, Progress, Records, StoredSession},
    version1::{Message, Stored},
    version2,
};
use crate::{database::DatabaseError, records::RecordText};

/// The version of opencode that stores a session.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Version {
    One,
    Two,
}

/// Adds the records of `session` to `text`. Starts at the anchor of `text`, if [`resumed`] returns
/// its row.
pub(super) fn write(
    connection: &Connection,
    version: Version,
    session: &StoredSession,
    text: &mut RecordText,
) -> Result<(), DatabaseError> {
    let anchor = resumed(connection, version, session, text)?;
    let mut records = match &anchor {
        Some(anchor) => Records::resume(session, anchor, text),
        None => Records::begin(session, text)?,
    };
    let start = anchor.unwrap_or_else(|| AnchorRow {
        session: session.checksum(),
        version: version as u8,
        at: i64::MIN,
        ..AnchorRow::default()
    });
    match version {
        Version::One => write_messages(connection, session, start, &mut records),
        Version::Two => write_rows(connection, session, start, &mut records),
    }
}

/// Returns the row of the anchor of `text`, if this row still exists, and if the session's own row
/// and the number of rows before the anchor are unchanged.
fn resumed(
    connection: &Connection,
    version: Version,
    session: &StoredSession,
    text: &RecordText,
) -> Result<Option<AnchorRow>, DatabaseError> {
    let row = text.anchor().and_then(|anchor| serde_json::from_str::<AnchorRow>(&anchor.row).ok());
    let is_of_session =
        |row: &AnchorRow| row.session == session.checksum() && row.version == version as u8;
    let Some(row) = row.filter(is_of_session) else { return Ok(None) };
    const MESSAGES: &str = "SELECT \
         (SELECT count(*) FROM message WHERE session_id = ?1 AND (time_created, id) < (?2, ?3)), \
         EXISTS (SELECT 1 FROM message WHERE session_id = ?1 AND (time_created, id) = (?2, ?3))";
    const ROWS: &str = "SELECT \
         (SELECT count(*) FROM session_message WHERE session_id = ?1 AND seq < ?2), \
         EXISTS (SELECT 1 FROM session_message WHERE session_id = ?1 AND seq = ?2 AND id = ?3)";
    let query = match version {
        Version::One => MESSAGES,
        Version::Two => ROWS,
    };
    let mut statement = connection.prepare_cached(query)?;
    let params = params![session.id, row.at, row.id];
    let (before, exists): (i64, bool) =
        statement.query_row(params, |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(Some(row).filter(|row| exists && u64::try_from(before) == Ok(row.before)))
}

fn write_messages(
    connection: &Connection,
    session: &StoredSession,
    mut anchor: AnchorRow,
    records: &mut Records<'_>,
) -> Result<(), DatabaseError> {
    // The data are read message by message, so that sorting does not load the data of all messages.
    let query = "SELECT id, time_created FROM message \
         WHERE session_id = ?1 AND (time_created, id) >= (?2, ?3) ORDER BY time_created, id";
    let mut statement = connection.prepare_cached(query)?;
    let found = statement.query_map(params![session.id, anchor.at, anchor.id], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?))
    })?;
    let messages = found.collect::<Result<Vec<(String, i64)>, _>>()?;
    let mut message_data = connection.prepare_cached("SELECT data FROM message WHERE id = ?1")?;
    let parts = "SELECT id, data FROM part WHERE message_id = ?1 ORDER BY id";
    let mut parts = connection.prepare_cached(parts)?;
    for (id, at) in &messages {
        anchor.at = *at;
        anchor.id.clone_from(id);
        records.mark(&anchor);
        anchor.before += 1;
        let mut rows = message_data.query([id])?;
        let Some(row) = rows.next()? else { continue };
        let data = text(row, 0)?;
        let Some(mut message) = Message::parse(&Stored { id, data: &data }) else {
            records.write_damaged(&data)?;
            continue;
        };
        if !message.is_over() && has_later_answer(connection, session, id)? {
            message.finish();
        }
        message.write_start(records)?;
        let mut rows = parts.query([id])?;
        while let Some(row) = rows.next()? {
            let (id, data) = (text(row, 0)?, text(row, 1)?);
            let part = Stored { id: &id, data: &data };
            if message.write_part(&part, records)? == Progress::Waits {
                return Ok(());
            }
        }
        if message.write_end(records)? == Progress::Waits {
            return Ok(());
        }
    }
    Ok(())
}

/// Whether a later answer exists. If it exists, the message is finished, because opencode writes
/// one answer at a time.
fn has_later_answer(
    connection: &Connection,
    session: &StoredSession,
    message: &str,
) -> Result<bool, DatabaseError> {
    let query = "SELECT EXISTS (SELECT 1 FROM message AS later, message AS this \
         WHERE this.id = ?2 AND later.session_id = ?1 \
         AND (later.time_created, later.id) > (this.time_created, this.id) \
         AND json_valid(later.data) AND json_extract(later.data, '$.role') = 'assistant')";
    Ok(connection
        .prepare_cached(query)?
        .query_row(params![session.id, message], |row| row.get(0))?)
}

fn write_rows(
    connection: &Connection,
    session: &StoredSession,
    mut anchor: AnchorRow,
    records: &mut Records<'_>,
) -> Result<(), DatabaseError> {
    let last = "SELECT coalesce(max(seq), 0) FROM session_message \
         WHERE session_id = ?1 AND type = 'assistant'";
    let last_answer: i64 = connection.query_row(last, [&session.id], |row| row.get(0))?;
    let query = "SELECT id, type, seq, data FROM session_message WHERE session_id = ?1 AND seq >= ?2 ORDER BY seq";
    let mut statement = connection.prepare_cached(query)?;
    let mut rows = statement.query(params![session.id, anchor.at])?;
    while let Some(row) = rows.next()? {
        let (id, kind, data) = (text(row, 0)?, text(row, 1)?, text(row, 3)?);
        anchor.at = row.get(2)?;
        anchor.id = id.clone().into_owned();
        records.mark(&anchor);
        anchor.before += 1;
        let is_followed = anchor.at < last_answer;
        let row = version2::Row { id: &id, kind: &kind, data: &data, is_followed };
        if row.write(records)? == Progress::Waits {
            break;
        }
    }
    Ok(())
}

/// Returns a text, without copying it if it is valid UTF-8.
fn text<'r>(row: &'r TableRow<'_>, column: usize) -> Result<Cow<'r, str>, DatabaseError> {
    let value = row.get_ref(column)?;
    Ok(String::from_utf8_lossy(
        value.as_bytes_or_null().map_err(rusqlite::Error::from)?.unwrap_or_default(),
    ))
}
