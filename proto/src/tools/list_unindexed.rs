//! `session_tracking_list_unindexed`: lists sessions that have not been indexed yet.

use serde::{Deserialize, Serialize};

use super::SessionRow;

/// The name of the tool.
pub const NAME: &str = "session_tracking_list_unindexed";

/// The arguments of the tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ListUnindexedArguments {
    /// Only this project: a namespace or a directory.
    pub project_namespace: Option<String>,
    /// Whether to include inactive sessions.
    pub include_inactive: bool,
}

impl Default for ListUnindexedArguments {
    fn default() -> ListUnindexedArguments {
        ListUnindexedArguments { project_namespace: None, include_inactive: true }
    }
}

/// The answer of the tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ListUnindexedAnswer {
    /// Always `success` in an answer.
    pub status: String,
    /// Number of sessions, including the sessions that do not fit into the answer.
    pub count: usize,
    /// The sessions, the latest first.
    pub sessions: Vec<SessionRow>,
}
