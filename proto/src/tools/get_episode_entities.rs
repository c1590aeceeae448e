//! `get_episode_entities`: what episodes mention and state.

use serde::{Deserialize, Serialize};

use super::graph::{FactRow, NodeRow};

/// The name of the tool.
pub const NAME: &str = "get_episode_entities";

/// The arguments of the tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// For people: episodes that are not there.
    pub message: String,
    /// The things that they mention.
    pub nodes: Vec<NodeRow>,
    /// The facts that they state, the earliest first; ended ones too.
    pub facts: Vec<FactRow>,
}
