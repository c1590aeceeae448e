//! `list_sessions`: sessions, the latest first.

use serde::{Deserialize, Serialize};

use super::SessionRow;

/// The tool's name.
pub const NAME: &str = "list_sessions";

/// What it is given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ListSessionsArguments {
    /// Only this project: its namespace or its directory.
    pub project: Option<String>,
    /// Only sessions in this state.
    pub state: Option<String>,
    /// Whether sessions count in which nothing was said.
    pub empty: bool,
    /// At most so many; 0 for none.
    pub limit: usize,
    /// After so many.
    pub offset: usize,
}

impl Default for ListSessionsArguments {
    fn default() -> ListSessionsArguments {
        ListSessionsArguments { project: None, state: None, empty: false, limit: 20, offset: 0 }
    }
}

/// What it answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ListSessionsAnswer {
    /// How many there are in all.
    pub total: usize,
    /// The sessions.
    pub sessions: Vec<SessionRow>,
}
