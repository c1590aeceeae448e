//! Arguments and results of the tools that the command line uses, too.
//!
//! Each tool has a file with its `NAME`, its `Arguments` and its `Answer`.

pub mod add_memory;
pub mod close;
pub mod delete_episode;
pub mod failed_episodes;
pub mod get_episode_entities;
pub mod get_episodes;
pub mod get_handoff;
pub mod get_session;
pub mod graph;
pub mod health;
pub mod list_sessions;
pub mod list_unindexed;
pub mod search_memory_facts;
pub mod search_memory_nodes;
pub mod search_nodes;
pub mod search_sessions;
pub mod status;
pub mod summarize_session;
pub mod sync_history;

use serde::{Deserialize, Serialize};

/// A session in a list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// What it is about in a few words: the name of its episode, or its first prompt; empty when it has
    /// no messages.
    pub title: String,
    /// `active`, `inactive`, `indexing`, `indexed`, `failed` or `unindexed`.
    pub state: String,
    /// The path of the transcript.
    pub file_path: String,
    /// When it began, RFC 3339; empty while unknown.
    pub started_at: String,
    /// When something last happened, RFC 3339.
    pub last_activity: String,
    /// Number of messages in it.
    pub message_count: u32,
    /// SHA-256 over what its episode was made from, in hex; empty before it has one.
    pub content_hash: String,
    /// What went wrong, for a failed session.
    pub error: Option<String>,
    /// When its episode was made, RFC 3339.
    pub indexed_at: Option<String>,
    /// Its episode, once it has one.
    pub episode: Option<EpisodeRow>,
}

/// An episode in a list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct EpisodeRow {
    /// The id, as a UUID.
    pub uuid: String,
    /// A short title for lists.
    pub name: String,
    /// `completed`, `blocked`, `in_progress` or `abandoned`.
    pub outcome: String,
    /// The strongest activity, or `mixed`.
    pub primary_activity: String,
    /// Activities at 0.3 and above with their intensities, strongest first.
    pub activities: Vec<(String, f64)>,
    /// The Git branches worked on.
    pub branches: Vec<String>,
    /// When it was made, RFC 3339.
    pub created_at: String,
    /// Why the session was closed: `explicit`, `hook_clear`, ….
    pub close_reason: String,
    /// The model that wrote its summary; none when it was made from evidence.
    pub model: Option<String>,
    /// The machine that it was imported from, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub imported_from: Option<String>,
}
