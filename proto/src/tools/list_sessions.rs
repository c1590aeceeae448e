//! `list_sessions`: lists sessions, the latest first.

use serde::{Deserialize, Serialize};

use super::SessionRow;

/// The name of the tool.
pub const NAME: &str = "list_sessions";

/// The arguments of the tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ListSessionsArguments {
    /// Only this project: a namespace or a directory.
    pub project: Option<String>,
    /// Only sessions in this state.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = STATES)))]
    pub state: Option<String>,
    /// Only sessions of this agent: `claude`, `codex`, ….
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Whether to include sessions without messages.
    pub empty: bool,
    /// Maximum number of results; 0 returns no results.
    pub limit: usize,
    /// Number of sessions to skip.
    pub offset: usize,
}

impl Default for ListSessionsArguments {
    fn default() -> ListSessionsArguments {
        ListSessionsArguments {
            project: None,
            state: None,
            agent: None,
            empty: false,
            limit: 20,
            offset: 0,
        }
    }
}

/// The states of sessions; `None` means any state.
#[cfg(feature = "schema")]
const STATES: [Option<&str>; 7] = [
    Some("active"),
    Some("inactive"),
    Some("indexing"),
    Some("indexed"),
    Some("failed"),
    Some("unindexed"),
    None,
];

/// The answer of the tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ListSessionsAnswer {
    /// Number of all matching sessions.
    pub total: usize,
    /// The sessions of this page.
    pub sessions: Vec<SessionRow>,
    /// The `offset` of the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<usize>,
    /// Why no session matches, and how to change the arguments.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
}
