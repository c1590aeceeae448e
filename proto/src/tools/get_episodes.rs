//! `get_episodes`: lists the latest episodes.

use serde::{Deserialize, Serialize};

/// The name of the tool.
pub const NAME: &str = "get_episodes";

/// The arguments of the tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct GetEpisodesArguments {
    /// Only these projects, by namespace or directory. If a name is neither, the list is ignored.
    pub group_ids: Option<Vec<String>>,
    /// Maximum number of episodes; by default 10.
    pub max_episodes: Option<usize>,
    /// The older name of `group_ids`, for one project.
    pub group_id: Option<String>,
    /// The older name of `max_episodes`.
    pub last_n: Option<usize>,
    /// An episode, for example `next` of the previous page: only episodes of earlier sessions are
    /// returned.
    pub before: Option<String>,
}

/// The answer of the tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct GetEpisodesAnswer {
    /// A message for people, for example about sessions that were indexed for this request or are
    /// pending.
    pub message: String,
    /// The episodes, the latest session first.
    pub episodes: Vec<EpisodeNode>,
    /// The value of `before` for the next page; null on the last page.
    pub next: Option<String>,
    /// Number of sessions that are still being indexed, or whose summaries a model still writes.
    pub pending: usize,
}

/// An episode in the format of Graphiti (github.com/getzep/graphiti).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct EpisodeNode {
    /// The id, as a UUID.
    pub uuid: String,
    /// A short title for lists.
    pub name: String,
    /// The summary as Markdown with its origin, or the text of an added memory.
    pub content: String,
    /// When the episode was created, RFC 3339.
    pub created_at: String,
    /// `text`, `json` or `message`.
    pub source: String,
    /// The agent and its session, or the source of an added memory.
    pub source_description: String,
    /// The namespace of the project, or the setting `group_id`.
    pub group_id: String,
}
