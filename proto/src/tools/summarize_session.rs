//! `summarize_session`: close a session and tell what it was about.

use serde::{Deserialize, Serialize};

/// The tool's name.
pub const NAME: &str = "summarize_session";

/// What it is given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SummarizeSessionArguments {
    /// The session's id or a unique beginning of it; the caller's current session when missing.
    pub session: Option<String>,
    /// The project that the session must be of: its namespace or its directory.
    pub project: Option<String>,
}

/// What it answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SummarizeSessionAnswer {
    /// `success`.
    pub status: String,
    /// The session's id.
    pub session_id: String,
    /// Its episode; null when the session says nothing yet.
    pub episode_uuid: Option<String>,
    /// Two or three sentences on the whole.
    pub overview: String,
    /// What it was about.
    pub topics: Vec<String>,
    /// What was decided.
    pub decisions: Vec<String>,
    /// Files and functions that came up.
    #[serde(rename = "codeReferences")]
    pub code_references: Vec<String>,
    /// What else matters.
    #[serde(rename = "keyPoints")]
    pub key_points: Vec<String>,
}
