//! `get_failed_episodes`: lists sessions whose episodes could not be created.

use serde::{Deserialize, Serialize};

/// The name of the tool.
pub const NAME: &str = "get_failed_episodes";

/// The arguments of the tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct FailedEpisodesArguments {
    /// Whether to include sessions that are not retried automatically.
    pub include_permanent: bool,
    /// Maximum number of results.
    pub limit: usize,
}

impl Default for FailedEpisodesArguments {
    fn default() -> FailedEpisodesArguments {
        FailedEpisodesArguments { include_permanent: true, limit: 50 }
    }
}

/// The answer of the tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct FailedEpisodesAnswer {
    /// Always `success` in an answer.
    pub status: String,
    /// Number of failed sessions, including the sessions that `limit` leaves out.
    pub count: usize,
    /// The failed sessions, the latest first.
    pub failed: Vec<Failed>,
    /// The result as a sentence for people.
    pub message: String,
}

/// A session whose episode could not be created.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Failed {
    /// The agent's id of the session.
    pub session_id: String,
    /// The project's directory; empty while unknown.
    pub project: String,
    /// The path of the transcript.
    pub file_path: String,
    /// The error as a sentence.
    pub error: String,
    /// Number of attempts that failed.
    pub attempts: u32,
    /// When the session is retried automatically, RFC 3339; null if it is not retried.
    pub retry_at: Option<String>,
    /// Whether the session is never retried automatically.
    pub permanent: bool,
}
