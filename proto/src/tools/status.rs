//! `session_tracking_status`: reports the state of tracking, for one session or all.

use serde::{Deserialize, Serialize};

use super::{SessionRow, health::Sessions};

/// The name of the tool.
pub const NAME: &str = "session_tracking_status";

/// The arguments of the tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct StatusArguments {
    /// A session id or its start; by default the caller's session, if there is one.
    pub session_id: Option<String>,
}

/// The answer of the tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct StatusAnswer {
    /// Always `success` in an answer.
    pub status: String,
    /// Whether transcripts are followed.
    pub enabled: bool,
    /// The requested session, or the caller's session.
    pub session: Option<SessionRow>,
    /// Number of sessions in each state.
    pub sessions: Sessions,
    /// Folders that are watched.
    pub watched: Vec<String>,
    /// Whether all transcripts that existed at the start were found.
    pub scanned: bool,
    /// The result as a sentence for people.
    pub message: String,
}
