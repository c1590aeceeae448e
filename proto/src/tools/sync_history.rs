//! `session_tracking_sync_history`: index sessions of the past.

use serde::{Deserialize, Serialize};

/// The tool's name.
pub const NAME: &str = "session_tracking_sync_history";

/// What it is given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SyncHistoryArguments {
    /// Only this project: its namespace or its directory.
    pub project: Option<String>,
    /// Only sessions of the last so many days; 0 for all.
    pub days: u32,
    /// At most so many sessions, the latest first.
    pub max_sessions: usize,
    /// Whether to tell only what would be done.
    pub dry_run: bool,
}

impl Default for SyncHistoryArguments {
    fn default() -> SyncHistoryArguments {
        SyncHistoryArguments { project: None, days: 7, max_sessions: 100, dry_run: true }
    }
}

/// What it answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SyncHistoryAnswer {
    /// `success`.
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
    /// The transcript.
    pub path: String,
    /// When it was last written, RFC 3339.
    pub modified: String,
    /// Messages in it; 0 when it has not been read yet.
    pub messages: u32,
}
