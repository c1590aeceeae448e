//! `find_fix`: returns how an error was solved before.

use serde::{Deserialize, Serialize};

use super::{errors::ErrorRow, graph::FactRow};

/// The name of the tool.
pub const NAME: &str = "find_fix";
/// The heading of [`FixAnswer::similar`], for people and agents.
pub const SIMILAR_HEADING: &str = "What is known about this error or similar errors:";

/// The arguments of the tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct FixArguments {
    /// The error, or the output that contains it. Paths, numbers and ids in it do not matter.
    pub error: String,
    /// Only this project: a namespace or a directory.
    pub project: Option<String>,
    /// Maximum number of results of each kind.
    pub limit: usize,
}

impl Default for FixArguments {
    fn default() -> FixArguments {
        FixArguments { error: String::new(), project: None, limit: 5 }
    }
}

/// The answer of the tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct FixAnswer {
    /// A message for people, for example about sessions that were indexed for this request or are
    /// pending.
    pub message: String,
    /// The records of this error, or of errors with a similar message: fixed errors first, then
    /// errors of the caller's project, then the errors that match best.
    pub errors: Vec<ErrorRow>,
    /// Fixes of similar errors, findings that quote the error, and commands that failed and then
    /// worked in another form; the most similar first.
    pub similar: Vec<FactRow>,
}
