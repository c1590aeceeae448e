//! `get_episode_entities`: returns the nodes and facts of episodes.

use serde::{Deserialize, Serialize};

use super::graph::{FactRow, NodeRow};

/// The name of the tool.
pub const NAME: &str = "get_episode_entities";

/// The arguments of the tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["episode_uuids"])))]
#[serde(default)]
pub struct EpisodeEntitiesArguments {
    /// The ids of the episodes.
    pub episode_uuids: Vec<String>,
}

/// The answer of the tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct EpisodeEntitiesAnswer {
    /// A message for people about missing episodes.
    pub message: String,
    /// The nodes that the episodes mention.
    pub nodes: Vec<NodeRow>,
    /// The facts that the episodes state, including those that have ended. For each episode, the
    /// earliest fact is first.
    pub facts: Vec<FactRow>,
}
