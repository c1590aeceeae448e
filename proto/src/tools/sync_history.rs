//! `session_tracking_sync_history`: indexes earlier sessions.

use serde::{Deserialize, Serialize};

/// The name of the tool.
pub const NAME: &str = "session_tracking_sync_history";

/// The arguments of the tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SyncHistoryArguments {
    /// Only this project: a namespace or a directory.
    pub project: Option<String>,
    /// Only sessions of the last `days` days; 0 for all days.
    pub days: u32,
    /// Maximum number of sessions, latest first.
    pub max_sessions: usize,
    /// Whether to only report what would be done.
    pub dry_run: bool,
    /// Instead of indexing past sessions, request the summaries again that the model did not write
    /// because its requests failed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
}

impl Default for SyncHistoryArguments {
    fn default() -> SyncHistoryArguments {
        SyncHistoryArguments {
            project: None,
            days: 7,
            max_sessions: 100,
            dry_run: true,
            again: false,
        }
    }
}

/// The answer of the tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SyncHistoryAnswer {
    /// Always `success` in an answer.
    pub status: String,
    /// Whether only a report was requested.
    pub dry_run: bool,
    /// Number of sessions that were not indexed yet, or with `again`, whose summaries the model did
    /// not write; at most `max_sessions`.
    pub sessions_found: usize,
    /// The estimated cost of the model in US dollars; 0 if no model writes summaries, or if the
    /// price of the model is unknown.
    pub estimated_cost: f64,
    /// The model that would write the summaries, if one is configured.
    pub model: Option<String>,
    /// Whether the price of the model is known.
    pub price_known: bool,
    /// Estimated number of tokens that the model would read.
    pub estimated_tokens: u64,
    /// The first ten sessions that were found.
    pub sessions: Vec<PastSession>,
    /// Number of sessions that were indexed, or with `again`, whose summaries the model wrote.
    pub sessions_indexed: usize,
    /// Number of sessions that got no episode: they have no messages, or the setting
    /// `store_in_graph` is false.
    pub sessions_empty: usize,
    /// Number of sessions that failed.
    pub sessions_failed: usize,
    /// The cost of the model in US dollars, without requests whose price is unknown.
    pub actual_cost: f64,
    /// The result as a sentence for people.
    pub message: String,
}

/// An earlier session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct PastSession {
    /// The path of the transcript.
    pub path: String,
    /// When the transcript was last written, RFC 3339; for a known session, its last activity.
    pub modified: String,
    /// Number of messages; 0 when it has not been read yet.
    pub messages: u32,
}
