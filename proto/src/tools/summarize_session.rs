//! `summarize_session`: closes a session and returns its summary.

use serde::{Deserialize, Serialize};

/// The name of the tool.
pub const NAME: &str = "summarize_session";

/// The arguments of the tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SummarizeSessionArguments {
    /// A session id or its start; by default the caller's current session.
    pub session: Option<String>,
    /// The session's project: a namespace or a directory. Another project is an error.
    pub project: Option<String>,
}

/// The answer of the tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SummarizeSessionAnswer {
    /// Always `success` in an answer.
    pub status: String,
    /// The id of the session.
    pub session_id: String,
    /// The id of the session's episode; null if the session has no episode, for example because it
    /// has no messages yet.
    pub episode_uuid: Option<String>,
    /// Two or three sentences about the whole session.
    pub overview: String,
    /// The topics of the session.
    pub topics: Vec<String>,
    /// The decisions that were made.
    pub decisions: Vec<String>,
    /// Files and functions that the session mentions.
    #[serde(rename = "codeReferences")]
    pub code_references: Vec<String>,
    /// Other points that matter later.
    #[serde(rename = "keyPoints")]
    pub key_points: Vec<String>,
}
