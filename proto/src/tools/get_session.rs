//! `get_session`: returns one session with its summary or its messages.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Detail, SessionRow};

/// The name of the tool.
pub const NAME: &str = "get_session";

/// The arguments of the tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct GetSessionArguments {
    /// A session id, its start, or an episode id; by default your session.
    pub session_id: Option<String>,
    /// `conversation`: topics, decisions, code references.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["summary", "messages", "conversation"])))]
    pub view: String,
    /// For messages: 0 for the main file, others for sub-agents.
    pub source: u32,
    /// For messages: number of the first one.
    pub from: u32,
    /// Characters to skip in this message or the summary.
    pub at: usize,
    /// For messages: maximum number, at most 200.
    pub limit: usize,
    /// `ids`: one line. `passages`: a page of 4 kB. `full`: of 36 kB.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "String", extend("enum" = ["ids", "passages", "full"]))
    )]
    pub detail: Detail,
}

impl Default for GetSessionArguments {
    fn default() -> GetSessionArguments {
        let view = "summary".to_owned();
        let detail = Detail::Passages;
        GetSessionArguments { session_id: None, view, source: 0, from: 0, at: 0, limit: 40, detail }
    }
}

/// The answer of the tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct GetSessionAnswer {
    /// The id of the session from which this session was forked or copied. The shared records are
    /// listed in that session. Empty if that session was forgotten.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<String>,
    /// Number of records that the two sessions share.
    pub shared_records: u64,
    /// The requested session.
    pub session: SessionRow,
    /// The requested view; empty for the detail `ids`, which has no view.
    pub view: String,
    /// The summary as Markdown, or the conversation as plain text, if there is an episode.
    pub markdown: Option<String>,
    /// The summary by its fields.
    pub summary: Option<Value>,
    /// The transcript files and the number of their records.
    pub files: Vec<FileRow>,
    /// The sub-agent that the request named, if it named a sub-agent of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub_agent: Option<String>,
    /// The number of the file with the messages.
    pub source: u32,
    /// The requested messages.
    pub messages: Vec<MessageRow>,
    /// The value of `from` for the next page; null on the last page.
    pub next: Option<u32>,
    /// The value of `at` for the next page: the number of characters of the message at `next`, or
    /// of the summary, that were returned so far.
    pub next_at: usize,
}

/// A file of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct FileRow {
    /// The number of the file, which `source` selects: 0 for the session's own file.
    pub number: u32,
    /// The path of the file.
    pub path: String,
    /// For a sub-agent's file, the sub-agent's id.
    pub sub_agent: Option<String>,
    /// Whether the file still exists.
    pub exists: bool,
    /// Number of records with useful content that were read.
    pub read: u64,
    /// Number of records without useful content, by type.
    pub skipped: std::collections::BTreeMap<String, u64>,
    /// Number of damaged records that were partly readable.
    pub repaired: u64,
    /// Number of damaged parts of the file that were skipped.
    pub broken: u64,
    /// Number of bytes in the skipped parts.
    pub broken_bytes: u64,
    /// How often the file was truncated or replaced.
    pub restarts: u64,
}

/// A message of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct MessageRow {
    /// The number of the message in its file.
    pub seq: u32,
    /// The line of the transcript, from 1.
    pub line: u64,
    /// `user`, `assistant`, `tool` or `recap`.
    pub role: String,
    /// The time, RFC 3339; empty when unknown.
    pub at: String,
    /// The name of the tool, for a call or a result.
    pub tool: Option<String>,
    /// The text of the message.
    pub text: String,
}
