//! Arguments and results of the tools that the command line uses, too.
//!
//! Each tool has a file with its `NAME`, its `Arguments` and its `Answer`.

pub mod close;
pub mod get_session;
pub mod health;
pub mod list_sessions;
pub mod list_unindexed;
pub mod search_sessions;

use serde::{Deserialize, Serialize};

/// A session in a list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionRow {
    /// The agent's id of it.
    pub session_id: String,
    /// The agent: `claude`, ….
    pub agent: String,
    /// The project's directory; empty while unknown.
    pub project: String,
    /// The project's short stable name: eight hex digits; empty while unknown.
    pub project_namespace: String,
    /// `active`, `inactive`, `indexing`, `indexed`, `failed` or `unindexed`.
    pub state: String,
    /// The transcript.
    pub file_path: String,
    /// When it began, RFC 3339; empty while unknown.
    pub started_at: String,
    /// When something last happened, RFC 3339.
    pub last_activity: String,
    /// Messages in it.
    pub message_count: u32,
    /// What went wrong, for a failed session.
    pub error: Option<String>,
    /// Its episode, once it has one.
    pub episode: Option<EpisodeRow>,
}

/// An episode in a list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EpisodeRow {
    /// Its id.
    pub uuid: String,
    /// A short title.
    pub name: String,
    /// `completed`, `blocked`, `in_progress` or `abandoned`.
    pub outcome: String,
    /// The strongest activity, or `mixed`.
    pub primary_activity: String,
    /// Activities at 0.3 and above with their intensities, strongest first.
    pub activities: Vec<(String, f64)>,
    /// Branches worked on.
    pub branches: Vec<String>,
    /// When it was made, RFC 3339.
    pub created_at: String,
    /// Why the session was closed: `explicit`, `hook_clear`, ….
    pub close_reason: String,
}
