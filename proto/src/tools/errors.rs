//! The record of an error, for `find_fix` and `search_sessions`.

use serde::{Deserialize, Serialize};

/// Everything that is known about an error in one project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ErrorRow {
    /// The message in the latest session.
    pub error: String,
    /// The project's namespace.
    pub project_namespace: String,
    /// Why the error occurs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// The last fix of the error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// The evidence that the error was gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified_by: Option<String>,
    /// `fixed`, `came back` or `open`.
    pub state: String,
    /// The certainty of the fix: `verified`, `hypothesis` or `refuted`; `hypothesis` without a fix.
    pub certainty: String,
    /// The older name of `certainty`, until 1.0.
    pub standing: String,
    /// How often the error was seen again after a fix.
    pub returns: usize,
    /// The time when the error was seen first, RFC 3339.
    pub first_at: String,
    /// The time when the error was seen last, RFC 3339.
    pub last_at: String,
    /// The latest sessions in which the error was seen, at most five, the latest first.
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
    /// A prefix of the id that is unique among all sessions.
    pub short_id: String,
    /// The title of the session.
    pub title: String,
}
