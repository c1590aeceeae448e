//! Arguments and answers of the daemon's tools.
//!
//! Each tool has a file with its `NAME`, its arguments and its answer. The answer of
//! `search_memory_nodes` is the answer of `search_nodes`. [`errors`] and [`graph`] contain rows of
//! several answers.

pub mod add_memory;
pub mod blame_file;
pub mod close;
pub mod delete_episode;
pub mod errors;
pub mod failed_episodes;
pub mod find_fix;
pub mod get_episode_entities;
pub mod get_episodes;
pub mod get_handoff;
pub mod get_log;
pub mod get_session;
pub mod graph;
pub mod health;
pub mod list_sessions;
pub mod list_unindexed;
pub mod mark_fact;
pub mod search_memory_facts;
pub mod search_memory_nodes;
pub mod search_nodes;
pub mod search_sessions;
pub mod status;
pub mod summarize_session;
pub mod sync_history;

use serde::{Deserialize, Serialize};

/// The member of a request's `_meta` that determines whether the answer has `structuredContent`:
/// `true` or `false`. Without this member, the answer to a request over the Model Context Protocol
/// has only text for a model, and the answer to any other request has `structuredContent`.
pub const STRUCTURED: &str = "graphiti/structured";

/// How much of each result an answer shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Detail {
    /// A line for each result, to choose from.
    Ids,
    /// Short texts: a few hundred bytes of each passage that matches, or a page of at most 4 kB.
    #[default]
    Passages,
    /// Long texts: up to 2,000 bytes of each passage, or a page of at most 36 kB.
    Full,
}

/// Who shared a result that is not from this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct TeamOrigin {
    /// The name of the person; empty when it is not known.
    pub name: String,
    /// The machine from which the result comes.
    pub machine: String,
    /// The group in the shared graph.
    pub group: String,
}

/// The memories that can be searched. Without a value, only the memory of this machine is searched.
#[cfg(feature = "schema")]
pub(crate) const SCOPES: [&str; 2] = ["mine", "team"];

/// A session in a list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SessionRow {
    /// The agent's id of the session.
    pub session_id: String,
    /// A prefix of the id that is unique among all sessions.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub short_id: String,
    /// The agent: `claude`, ….
    pub agent: String,
    /// The project's directory; empty while unknown.
    pub project: String,
    /// The project's namespace: eight hex digits; empty while unknown.
    pub project_namespace: String,
    /// The name of the session's episode. Without an episode: the beginning of the first prompt, or
    /// empty.
    pub title: String,
    /// `active`, `inactive`, `indexing`, `indexed`, `failed` or `unindexed`.
    pub state: String,
    /// The path of the transcript.
    pub file_path: String,
    /// When the session started, RFC 3339; empty while unknown.
    pub started_at: String,
    /// Time of the last activity, RFC 3339.
    pub last_activity: String,
    /// Number of messages.
    pub message_count: u32,
    /// SHA-256 over the content from which the session's episode was created, in hex; empty if no
    /// episode was created.
    pub content_hash: String,
    /// The error of a failed session.
    pub error: Option<String>,
    /// When the session's episode was created, RFC 3339.
    pub indexed_at: Option<String>,
    /// The session's episode, if it exists.
    pub episode: Option<EpisodeRow>,
}

impl SessionRow {
    /// Returns the prefix of the session's id that is unique among all sessions; the whole id if an
    /// older daemon sends no prefix.
    pub fn shown_id(&self) -> &str {
        if self.short_id.is_empty() { &self.session_id } else { &self.short_id }
    }

    /// Returns the name of the project: the last part of its path.
    pub fn project_name(&self) -> &str {
        self.project.rsplit('/').next().unwrap_or_default()
    }
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
    /// `completed`, `blocked`, `in_progress` or `abandoned`; `withdrawn` for a remembered wish that
    /// the user withdrew.
    pub outcome: String,
    /// The strongest activity, or `mixed`.
    pub primary_activity: String,
    /// Activities at 0.3 and above with their intensities, strongest first.
    pub activities: Vec<(String, f64)>,
    /// The Git branches of the session.
    pub branches: Vec<String>,
    /// When the episode was created, RFC 3339.
    pub created_at: String,
    /// Why the session was closed: `explicit`, `hook_clear`, ….
    pub close_reason: String,
    /// The model that wrote the summary; null if the summary was derived from evidence.
    pub model: Option<String>,
    /// The machine from which the episode was imported, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub imported_from: Option<String>,
}
