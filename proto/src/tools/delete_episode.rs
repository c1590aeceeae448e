//! `delete_episode`: take an episode out for good.

use serde::{Deserialize, Serialize};

/// The tool's name.
pub const NAME: &str = "delete_episode";

/// What it is given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct DeleteEpisodeArguments {
    /// The episode's id.
    pub uuid: String,
}

/// What it answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct DeleteEpisodeAnswer {
    /// What was done, for people.
    pub message: String,
}
