//! `get_failed_episodes`: sessions of which no episode could be made.

use serde::{Deserialize, Serialize};

/// The tool's name.
pub const NAME: &str = "get_failed_episodes";

/// What it is given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct FailedEpisodesArguments {
    /// Whether those count that are not tried again by themselves.
    pub include_permanent: bool,
    /// At most so many.
    pub limit: usize,
}

impl Default for FailedEpisodesArguments {
    fn default() -> FailedEpisodesArguments {
        FailedEpisodesArguments { include_permanent: true, limit: 50 }
    }
}

/// What it answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct FailedEpisodesAnswer {
    /// `success`.
    pub status: String,
    /// How many there are in all.
    pub count: usize,
    /// They, the latest first.
    pub failed: Vec<Failed>,
    /// The same for people.
    pub message: String,
}

/// A session of which no episode could be made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Failed {
    /// The agent's id of the session.
    pub session_id: String,
    /// The project's directory; empty while unknown.
    pub project: String,
    /// The transcript.
    pub file_path: String,
    /// What went wrong.
    pub error: String,
    /// Attempts that failed.
    pub attempts: u32,
    /// When it is tried again by itself, RFC 3339; none when never.
    pub retry_at: Option<String>,
    /// Whether it is not tried again by itself.
    pub permanent: bool,
}
