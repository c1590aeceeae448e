//! Converts rows of the database to records, without a database, for fuzzing.

use std::io::{self, Read};

use super::{
    line::{Progress, Records, StoredSession},
    version1::{Message, Stored},
    version2,
};
use crate::{format::json::Object, records::RecordText};

/// The version of opencode's database schema.
#[derive(Clone, Copy, Debug)]
pub enum TableVersion {
    One,
    Two,
}

pub const VERSIONS: [TableVersion; 2] = [TableVersion::One, TableVersion::Two];

/// Returns the records of a session whose rows contain these texts, in this order. In version 1 a
/// row with a role is a message, and any other row is a part of the message before it.
pub fn records(version: TableVersion, rows: &[&str]) -> Vec<String> {
    let mut text = RecordText::default();
    let session = StoredSession { id: "ses_1".to_owned(), ..StoredSession::default() };
    let written = Records::begin(&session, &mut text).and_then(|mut records| match version {
        TableVersion::One => write_messages(rows, &mut records),
        TableVersion::Two => write_rows(rows, &mut records),
    });
    written.expect("memory accepts any record");
    let mut lines = String::new();
    let mut text = text.finish().expect("a text in memory can be read back").text;
    text.read_to_string(&mut lines).expect("the records are text");
    lines.lines().map(str::to_owned).collect()
}

/// Returns the indexes of the rows that begin a message. The transcript may end before each of
/// these rows.
pub fn ends(version: TableVersion, rows: &[&str]) -> Vec<usize> {
    let starts = |at: &usize| match version {
        TableVersion::One => member(rows[*at], "role").is_some(),
        TableVersion::Two => true,
    };
    (0..rows.len()).filter(starts).collect()
}

fn write_messages(rows: &[&str], records: &mut Records<'_>) -> io::Result<Progress> {
    let starts = ends(TableVersion::One, rows);
    for (number, start) in starts.iter().enumerate() {
        let later = &starts[number + 1..];
        let stored = Stored { id: "msg_1", data: rows[*start] };
        let mut message = Message::parse(&stored).expect("the row has the member `role`");
        let is_answer = |row: &usize| member(rows[*row], "role") == Some("\"assistant\"");
        if !message.is_over() && later.iter().any(is_answer) {
            message.finish();
        }
        message.write_start(records)?;
        let end = later.first().copied().unwrap_or(rows.len());
        for data in &rows[start + 1..end] {
            let part = Stored { id: "prt_1", data };
            if message.write_part(&part, records)? == Progress::Waits {
                return Ok(Progress::Waits);
            }
        }
        if message.write_end(records)? == Progress::Waits {
            return Ok(Progress::Waits);
        }
    }
    Ok(Progress::Finished)
}

fn write_rows(rows: &[&str], records: &mut Records<'_>) -> io::Result<Progress> {
    let kinds: Vec<String> = rows.iter().map(|row| kind(row)).collect();
    let last_answer = kinds.iter().rposition(|kind| kind == "assistant");
    for (at, (kind, data)) in kinds.iter().zip(rows).enumerate() {
        let is_followed = last_answer.is_some_and(|last| at < last);
        let row = version2::Row { id: "msg_1", kind, data, is_followed };
        if row.write(records)? == Progress::Waits {
            return Ok(Progress::Waits);
        }
    }
    Ok(Progress::Finished)
}

fn member<'r>(row: &'r str, name: &str) -> Option<&'r str> {
    Object::parse(row)?.raw(name)
}

fn kind(row: &str) -> String {
    let kind = Object::parse(row).and_then(|row| Some(row.string("type")?.into_owned()));
    kind.unwrap_or_default()
}
