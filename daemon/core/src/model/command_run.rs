//! Commands that the session ran.

use serde::{Deserialize, Serialize};

use crate::model::{
    time::Timestamp,
    transcript::{Origin, Outcome},
};

/// A command that was run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommandRun {
    /// The command line, cut when long.
    pub command: String,
    /// The package that it worked on, or else its folder below the session's directory, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// How it ended.
    pub outcome: Outcome,
    /// Whether its output shows a failure that the exit code hides, as behind a pipe.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shows_failure: bool,
    /// The position in the transcript.
    pub origin: Origin,
    pub at: Option<Timestamp>,
}

/// A command that failed, and the form of it that worked soon after, without a change of a file in
/// between. The difference avoids a trap of the tool or of the environment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Retry {
    /// The command line that failed.
    pub failed: String,
    /// The error message; empty if the output has none.
    pub message: String,
    /// How the agent explained the failure.
    #[serde(default)]
    pub explanation: Option<String>,
    /// The command line that worked.
    pub worked: String,
    /// The position of the command that worked.
    #[serde(default)]
    pub origin: Origin,
}
