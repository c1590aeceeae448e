//! `get_log`: returns what happened, day by day.

use serde::{Deserialize, Serialize};

use super::SessionRow;

/// The name of the tool.
pub const NAME: &str = "get_log";

/// The arguments of the tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct LogArguments {
    /// Only this project: a namespace or a directory.
    pub project: Option<String>,
    /// Only from this day on, such as 2026-03-01 or "last week".
    pub since: Option<String>,
    /// An episode, for example `next` of the previous page: only earlier sessions are returned.
    pub before: Option<String>,
    /// Maximum number of sessions, at most 200; 0 returns no sessions.
    pub limit: usize,
}

impl Default for LogArguments {
    fn default() -> LogArguments {
        LogArguments { project: None, since: None, before: None, limit: 20 }
    }
}

/// The answer of the tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct LogAnswer {
    /// A message for people, for example about sessions that were indexed for this request or are
    /// pending.
    pub message: String,
    /// The sessions, the latest first.
    pub sessions: Vec<LogRow>,
    /// The value of `before` for the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// What happened in a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct LogRow {
    /// The session.
    pub session: SessionRow,
    /// When the work of this row ended, RFC 3339. The session may have been continued later. Empty
    /// in an answer of an older daemon.
    pub ended_at: String,
    /// What was done.
    pub done: Vec<String>,
    /// What was decided.
    pub decided: Vec<String>,
    /// The errors that were fixed.
    pub fixed: Vec<String>,
    /// What is left.
    pub left: Vec<String>,
    /// Number of files that were changed.
    pub files: usize,
    /// The state of the repository at the end; empty when unknown.
    pub repository: String,
}

impl LogRow {
    /// Returns when the work of this row ended, or the last activity of the session if that is not
    /// known, RFC 3339.
    pub fn ended_at(&self) -> &str {
        match self.ended_at.as_str() {
            "" => &self.session.last_activity,
            ended_at => ended_at,
        }
    }
}
