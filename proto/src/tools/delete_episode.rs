//! `delete_episode`: removes an episode permanently. If no transcript of the session is on this
//! machine, for example because the episode was imported, also removes the session.

use serde::{Deserialize, Serialize};

/// The name of the tool.
pub const NAME: &str = "delete_episode";

/// The arguments of the tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["uuid"])))]
#[serde(default)]
pub struct DeleteEpisodeArguments {
    /// The id of the episode.
    pub uuid: String,
}

/// The answer of the tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct DeleteEpisodeAnswer {
    /// The result as a sentence for people.
    pub message: String,
}
