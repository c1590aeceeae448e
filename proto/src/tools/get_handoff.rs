//! `get_handoff`: what the next agent in a project needs to know of the last sessions.

use serde::{Deserialize, Serialize};

use super::SessionRow;

/// The name of the tool.
pub const NAME: &str = "get_handoff";

/// The arguments of the tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct GetHandoffArguments {
    /// The project: its namespace or a directory in it; the caller's directory when missing.
    pub project: Option<String>,
    /// Maximum number of last sessions.
    pub sessions: usize,
    /// Characters of the text at most.
    pub max_chars: usize,
}

impl Default for GetHandoffArguments {
    fn default() -> GetHandoffArguments {
        GetHandoffArguments { project: None, sessions: 5, max_chars: 4_000 }
    }
}

/// What it answers. Every list begins with what is newest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct GetHandoffAnswer {
    /// For people: what was done before, what is missing.
    pub message: String,
    /// The project's directory; empty when nothing is known of it.
    pub project: String,
    /// The project's short stable name.
    pub project_namespace: String,
    /// Everything below as Markdown, the most needed first; empty when there is nothing.
    pub text: String,
    /// The sessions that the handoff is about.
    pub sessions: Vec<HandoffSession>,
    /// What is left to do, and nobody is known to have done since.
    pub open_ends: Vec<HandoffItem>,
    /// Test suites whose last run failed.
    pub failing_tests: Vec<FailingSuite>,
    /// What was decided, with the reason where one is known.
    pub decisions: Vec<HandoffItem>,
    /// Errors that were met and fixed.
    pub errors: Vec<HandoffItem>,
    /// Settings as they were left.
    pub settings: Vec<HandoffItem>,
    /// Files that were changed.
    pub files: Vec<String>,
    /// Sessions of others that are going on in the project at this moment.
    pub ongoing: Vec<SessionRow>,
    /// Sessions whose episodes are still being made.
    pub pending: usize,
}

/// An earlier session in a handoff.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct HandoffSession {
    /// The agent's id of it.
    pub session_id: String,
    /// The title of the session.
    pub name: String,
    /// What it was for.
    pub objective: String,
    /// `completed`, `blocked`, `in_progress` or `abandoned`.
    pub outcome: String,
    /// When it ended, RFC 3339.
    pub ended_at: String,
    /// The Git branches worked on.
    pub branches: Vec<String>,
    /// What was done in it.
    pub done: Vec<String>,
}

/// An item of a handoff and the session it comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct HandoffItem {
    /// The text of the item.
    pub text: String,
    /// The id of the session.
    pub session_id: String,
}

/// A test suite whose last run failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct FailingSuite {
    /// The test framework, such as "pytest".
    pub framework: String,
    /// Number of tests that failed.
    pub failed: u32,
    /// Number of tests that ran.
    pub total: u32,
    /// Names of some that failed.
    pub names: Vec<String>,
    /// The id of the session.
    pub session_id: String,
}
