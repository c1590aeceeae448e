//! `session_tracking_sync_history`: index sessions of the past.

use serde::{Deserialize, Serialize};

/// The name of the tool.
pub const NAME: &str = "session_tracking_sync_history";

/// The arguments of the tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SyncHistoryArguments {
    /// Only this project: its namespace or its directory.
    pub project: Option<String>,
    /// Only sessions of this number of last days; 0 for all.
    pub days: u32,
    /// Maximum number of sessions, latest first.
    pub max_sessions: usize,
    /// Whether to only report what would be done.
    pub dry_run: bool,
}

impl Default for SyncHistoryArguments {
    fn default() -> SyncHistoryArguments {
        SyncHistoryArguments { project: None, days: 7, max_sessions: 100, dry_run: true }
    }
}

/// The answer of the tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SyncHistoryAnswer {
    /// Always `success` in an answer.
    pub status: String,
    /// Whether nothing was done.
    pub dry_run: bool,
    /// Sessions that are not indexed yet.
    pub sessions_found: usize,
    /// What a model would be paid for them, in dollars; 0 when none writes summaries, or when its
    /// price is not known.
    pub estimated_cost: f64,
    /// The model that would write their summaries, if one does.
    pub model: Option<String>,
    /// Whether its price is known.
    pub price_known: bool,
    /// Tokens of their transcripts that would be looked at, about.
    pub estimated_tokens: u64,
    /// The first of them.
    pub sessions: Vec<PastSession>,
    /// Sessions that were indexed.
    pub sessions_indexed: usize,
    /// Sessions that say nothing, or nothing that no other one says: copies.
    pub sessions_empty: usize,
    /// Sessions that could not be.
    pub sessions_failed: usize,
    /// What a model was paid, in dollars, as far as that is known.
    pub actual_cost: f64,
    /// The same for people.
    pub message: String,
}

/// A session of the past.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct PastSession {
    /// The path of the transcript.
    pub path: String,
    /// When it was last written, RFC 3339.
    pub modified: String,
    /// Messages in it; 0 when it has not been read yet.
    pub messages: u32,
}
