//! Builds the records of a session.
//!
//! Neither the rows of the database nor the files of the older folder are append-only: opencode
//! changes a message and its parts in place while it works. A record contains only data that do not
//! change any more, so that later readings only add records.

use std::{borrow::Cow, fmt::Write, io};

use serde::{Deserialize, Serialize};

use crate::{format::json::Object, records::RecordText};

/// A record: a JSON object on one line.
pub(super) struct Line(String);

impl Line {
    pub(super) fn new(kind: &str) -> Line {
        Line("{".to_owned()).string("type", kind)
    }

    pub(super) fn string(self, key: &str, value: &str) -> Line {
        let encoded = serde_json::Value::from(value).to_string();
        self.raw(key, Some(&encoded))
    }

    /// Adds a member with the JSON text `raw`, unless `raw` is missing or `null`.
    pub(super) fn raw(mut self, key: &str, raw: Option<&str>) -> Line {
        let Some(raw) = raw.filter(|raw| *raw != "null") else { return self };
        let separator = if self.0.len() > 1 { "," } else { "" };
        // JSON has newlines only between its tokens, so spaces can replace them.
        let raw = match raw.contains(['\n', '\r']) {
            true => Cow::Owned(raw.replace(['\n', '\r'], " ")),
            false => Cow::Borrowed(raw),
        };
        write!(self.0, "{separator}\"{key}\":{raw}").expect("a string accepts any text");
        self
    }

    pub(super) fn flag(self, key: &str, is_set: bool) -> Line {
        self.raw(key, is_set.then_some("true"))
    }

    fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

/// The data of a session's first record.
#[derive(Debug, Default)]
pub(super) struct StoredSession {
    pub(super) id: String,
    /// The parent session, for a sub-agent's session.
    pub(super) parent: Option<String>,
    /// The first session of the chain of parents.
    pub(super) root: Option<String>,
    pub(super) directory: String,
    pub(super) title: String,
    pub(super) version: String,
    pub(super) created: i64,
}

impl StoredSession {
    pub(super) fn checksum(&self) -> u32 {
        crc32fast::hash(format!("{self:?}").as_bytes())
    }
}

/// Writes the records of one session.
pub(super) struct Records<'w> {
    text: &'w mut RecordText,
    pub(super) is_sub_agent: bool,
    /// The title until it is written.
    title: Option<String>,
}

impl<'w> Records<'w> {
    /// Writes the first record.
    pub(super) fn begin(
        session: &StoredSession,
        text: &'w mut RecordText,
    ) -> io::Result<Records<'w>> {
        let mut line = Line::new("session").string("agent", "opencode").string("id", &session.id);
        if let Some(root) = session.root.as_ref().or(session.parent.as_ref()) {
            line = line.string("root", root);
        }
        line = line
            .string("directory", &session.directory)
            .string("version", &session.version)
            .raw("at", Some(&session.created.to_string()));
        let mut records = Records::of(session, text);
        records.write(line)?;
        Ok(records)
    }

    /// Continues at the anchor of `text`.
    pub(super) fn resume(
        session: &StoredSession,
        row: &AnchorRow,
        text: &'w mut RecordText,
    ) -> Records<'w> {
        text.begin_at_anchor();
        let mut records = Records::of(session, text);
        records.title.take_if(|_| row.is_titled);
        records
    }

    fn of(session: &StoredSession, text: &'w mut RecordText) -> Records<'w> {
        let title = Some(session.title.trim()).filter(|title| !is_provisional_title(title));
        Records { text, is_sub_agent: session.parent.is_some(), title: title.map(str::to_owned) }
    }

    /// Notes that a later reading may begin with the next record, which is built from `row`.
    pub(super) fn mark(&mut self, row: &AnchorRow) {
        let row = AnchorRow { is_titled: self.title.is_none(), ..row.clone() };
        self.text.mark(serde_json::to_string(&row).expect("the row has only string keys"));
    }

    pub(super) fn write(&mut self, line: Line) -> io::Result<()> {
        self.text.add(&line.end())
    }

    /// Writes text that is not valid JSON, so that it is counted as damaged.
    pub(super) fn write_damaged(&mut self, text: &str) -> io::Result<()> {
        self.text.add(&text.replace(['\n', '\r'], " "))
    }

    /// Writes the title. Must be called after the first answer, because opencode has usually set
    /// the title by then.
    pub(super) fn write_title(&mut self) -> io::Result<()> {
        match self.title.take() {
            Some(title) => self.write(Line::new("title").string("text", &title)),
            None => Ok(()),
        }
    }
}

/// The row at which a later reading begins, with the data that show whether the rows before it are
/// unchanged.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct AnchorRow {
    /// Checksum of the session's own row.
    pub(super) session: u32,
    /// Version of the tables.
    pub(super) version: u8,
    /// The position of the message: in version 1 its time (messages with equal times are ordered by
    /// their ids), in version 2 its number.
    pub(super) at: i64,
    pub(super) id: String,
    /// Number of messages before the row.
    pub(super) before: u64,
    /// Whether the title was written.
    pub(super) is_titled: bool,
}

/// Whether opencode set the title before it knew the topic of the session.
fn is_provisional_title(title: &str) -> bool {
    title.is_empty() || title.starts_with("New session - ") || title.starts_with("Child session - ")
}

/// Whether the next records can be written, or must wait until the current message is finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    Finished,
    Waits,
}

/// Returns the raw member `inner` of the member `outer`, unless it is `null`.
pub(super) fn nested<'a>(object: &Object<'a>, outer: &str, inner: &str) -> Option<&'a str> {
    object.object(outer)?.raw(inner).filter(|raw| *raw != "null")
}
