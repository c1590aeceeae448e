//! `search_sessions`: full text over messages and episodes.

use serde::{Deserialize, Serialize};

use super::SessionRow;

/// The name of the tool.
pub const NAME: &str = "search_sessions";

/// The arguments of the tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SearchSessionsArguments {
    /// Words, "phrases", prefix*, `field:value`, -not, or a question.
    pub query: String,
    /// Only this project: its namespace or its directory.
    pub project: Option<String>,
    /// Only sessions of this agent.
    pub agent: Option<String>,
    /// Only sessions on this branch.
    pub branch: Option<String>,
    /// Only messages that touch this file: its path or an end of it.
    pub file: Option<String>,
    /// Only calls and results of this tool.
    pub tool: Option<String>,
    /// Only this role: `user`, `assistant`, `tool` or `recap`.
    pub role: Option<String>,
    /// Only from this day or instant on.
    pub after: Option<String>,
    /// Only before this day or instant.
    pub before: Option<String>,
    /// The directory the caller works in: its sessions come first among equals.
    pub near: Option<String>,
    /// Maximum number of sessions; 0 for none.
    pub limit: usize,
    /// Number of best results to skip.
    pub offset: usize,
    /// Whether to explain the rank of each result.
    pub explain: bool,
}

impl Default for SearchSessionsArguments {
    fn default() -> SearchSessionsArguments {
        SearchSessionsArguments {
            query: String::new(),
            project: None,
            agent: None,
            branch: None,
            file: None,
            tool: None,
            role: None,
            after: None,
            before: None,
            near: None,
            limit: 10,
            offset: 0,
            explain: false,
        }
    }
}

/// The answer of the tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SearchSessionsAnswer {
    /// For people: what was done before searching, what is missing.
    pub message: String,
    /// The sessions, best first.
    pub hits: Vec<Hit>,
    /// Sessions whose episodes are still being made.
    pub pending: usize,
}

/// A session that was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Hit {
    /// The session that is meant.
    pub session: SessionRow,
    /// How good it is; only comparable within one answer.
    pub score: f64,
    /// Where it was found, best first.
    pub passages: Vec<MatchedPassage>,
    /// Why it ranks where it does, when asked.
    pub explanation: Option<String>,
}

/// A place in a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct MatchedPassage {
    /// `user`, `assistant`, `tool`, `recap` or `summary`.
    pub role: String,
    /// When, RFC 3339; empty while unknown.
    pub at: String,
    /// The file, 0 for the session's own.
    pub source: u32,
    /// The message's number in it.
    pub seq: u32,
    /// Some words of it.
    pub text: String,
    /// Which parts of `text` matched: byte ranges.
    pub marks: Vec<(usize, usize)>,
}
