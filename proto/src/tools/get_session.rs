//! `get_session`: one session, its summary or its messages.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::SessionRow;

/// The name of the tool.
pub const NAME: &str = "get_session";

/// The arguments of the tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct GetSessionArguments {
    /// The session's id or a unique beginning of it, or its episode's id; the caller's current
    /// session when missing.
    pub session_id: Option<String>,
    /// `summary`, `messages`, or `conversation` for overview, topics, decisions, code references and
    /// key points.
    pub view: String,
    /// For messages: the file, 0 for the session's own, others for sub-agents.
    pub source: u32,
    /// For messages: the first one, by number.
    pub from: u32,
    /// For messages: number of characters of the first one to skip.
    pub at: usize,
    /// For messages: maximum number of messages; 0 for none.
    pub limit: usize,
}

impl Default for GetSessionArguments {
    fn default() -> GetSessionArguments {
        let view = "summary".to_owned();
        GetSessionArguments { session_id: None, view, source: 0, from: 0, at: 0, limit: 40 }
    }
}

/// The answer of the tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct GetSessionAnswer {
    /// The session that this one is a fork or copy of. Its first records are listed there. Empty when
    /// that session was forgotten.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<String>,
    /// Records that they share.
    pub shared_records: u64,
    /// The session that is meant.
    pub session: SessionRow,
    /// The summary as Markdown, or as plain text for a conversation, once there is an episode.
    pub markdown: Option<String>,
    /// The summary by its fields.
    pub summary: Option<Value>,
    /// What became of the transcript's records.
    pub files: Vec<FileRow>,
    /// The messages asked for.
    pub messages: Vec<MessageRow>,
    /// Where the next page begins, for `from`; none when this was the last.
    pub next: Option<u32>,
    /// The same for `at`: characters of that message that stand on this page.
    pub next_at: usize,
}

/// A file of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct FileRow {
    /// The path of the file.
    pub path: String,
    /// For a sub-agent's file, the sub-agent's id.
    pub sub_agent: Option<String>,
    /// Whether it is still there.
    pub exists: bool,
    /// Records that were read.
    pub read: u64,
    /// Records that hold nothing anyone needs, by type.
    pub skipped: std::collections::BTreeMap<String, u64>,
    /// Broken records of which something could be read.
    pub repaired: u64,
    /// Broken pieces that were given up.
    pub broken: u64,
    /// Number of bytes in these pieces.
    pub broken_bytes: u64,
    /// Times the file was cut or replaced.
    pub restarts: u64,
}

/// A message of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct MessageRow {
    /// Its number in its file.
    pub seq: u32,
    /// The line of the transcript, from 1.
    pub line: u64,
    /// `user`, `assistant`, `tool` or `recap`.
    pub role: String,
    /// When, RFC 3339; empty while unknown.
    pub at: String,
    /// The tool, for a call or a result.
    pub tool: Option<String>,
    /// The text of the message.
    pub text: String,
}
