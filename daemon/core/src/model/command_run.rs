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
    /// The package that the command worked on. If the command named no package: the folder in which
    /// the command ran, relative to the session's first directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// How the command ended.
    pub outcome: Outcome,
    /// Whether the output shows a failure that the exit code hides, for example after `| tail`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shows_failure: bool,
    /// The position in the transcript.
    pub origin: Origin,
    pub at: Option<Timestamp>,
}

impl CommandRun {
    /// Whether the command succeeded, and its output shows no failure that the exit code hides.
    pub fn has_worked(&self) -> bool {
        self.outcome.succeeded() && !self.shows_failure
    }
}

/// A command that failed, and another form of the command that worked soon after. No file was
/// changed in between, so the difference shows how to use the tool or the environment.
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
