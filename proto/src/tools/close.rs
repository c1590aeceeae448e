//! `session_tracking_close`: closes a session and creates its episode.

use serde::{Deserialize, Serialize};

/// The name of the tool.
pub const NAME: &str = "session_tracking_close";

/// The arguments of the tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct CloseArguments {
    /// A session id or its start; by default your session.
    pub session_id: Option<String>,
    /// The reason, in free words; `hook_…` is for hooks.
    pub reason: Option<String>,
    /// Whether to create the summary again even if the session did not change, for example after a
    /// change of the settings.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
}

/// The answer of the tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct CloseAnswer {
    /// Always `success` in an answer.
    pub status: String,
    /// The id of the session.
    pub session_id: String,
    /// The id of the session's episode; null if the session has no episode, for example because it
    /// has no messages yet.
    pub episode_uuid: Option<String>,
    /// `indexed`, `replaced`, `unchanged` or `empty`.
    pub action: String,
    /// The result as a sentence for people.
    pub message: String,
}
