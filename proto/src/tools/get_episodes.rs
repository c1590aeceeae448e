//! `get_episodes`: the latest episodes.

use serde::{Deserialize, Serialize};

/// The name of the tool.
pub const NAME: &str = "get_episodes";

/// The arguments of the tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct GetEpisodesArguments {
    /// Only these projects, by namespace or directory; any other name means all, as when missing.
    pub group_ids: Option<Vec<String>>,
    /// Maximum number of episodes; 10 when missing.
    pub max_episodes: Option<usize>,
    /// The older name of `group_ids`, for one.
    pub group_id: Option<String>,
    /// The older name of `max_episodes`.
    pub last_n: Option<usize>,
    /// Only those of sessions before this episode's: `next` of the page before.
    pub before: Option<String>,
}

/// The answer of the tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct GetEpisodesAnswer {
    /// For people: what was done before, what is missing.
    pub message: String,
    /// The episodes, the latest session first.
    pub episodes: Vec<EpisodeNode>,
    /// Where the next page begins, for `before`; none when this was the last.
    pub next: Option<String>,
    /// Sessions whose episodes are still being made.
    pub pending: usize,
}

/// An episode in Graphiti's words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct EpisodeNode {
    /// The id, as a UUID.
    pub uuid: String,
    /// A short title for lists.
    pub name: String,
    /// Where it comes from, and the summary as Markdown.
    pub content: String,
    /// When it was made, RFC 3339.
    pub created_at: String,
    /// `text`, `json` or `message`.
    pub source: String,
    /// The agent and its session, or who added it.
    pub source_description: String,
    /// The namespace of the project.
    pub group_id: String,
}
