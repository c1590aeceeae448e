//! The record of an error, for `find_fix` and `search_sessions`.

use serde::{Deserialize, Serialize};

/// Everything that is known about an error in one project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ErrorRow {
    /// The message as the latest session has it.
    pub error: String,
    /// The project's namespace.
    pub project_namespace: String,
    /// Why it occurs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// How it was fixed last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// What showed that the error was gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified_by: Option<String>,
    /// `fixed`, `came back` or `open`.
    pub state: String,
    /// `verified`, `hypothesis` or `refuted`, of the fix.
    pub certainty: String,
    /// The older name of `certainty`, until 1.0.
    pub standing: String,
    /// How often it was seen again after it had been fixed.
    pub returns: usize,
    /// The time when it was seen first, RFC 3339.
    pub first_at: String,
    /// The time when it was seen last, RFC 3339.
    pub last_at: String,
    /// The latest sessions in which it was seen, at most five, the latest first.
    pub sessions: Vec<ErrorSession>,
    /// The id of the fact about the fix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fact: Option<String>,
}

/// A session in which an error was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ErrorSession {
    /// The agent's id of the session.
    pub session_id: String,
    /// The first characters of the id that are unique.
    pub short_id: String,
    /// The title of the session.
    pub title: String,
}
