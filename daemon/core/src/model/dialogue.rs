//! Evidence of what the user chose and corrected.

use serde::{Deserialize, Serialize};

use crate::model::transcript::Origin;

/// A choice made by the user's word.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// What was asked or proposed.
    pub question: String,
    /// What was chosen; for a plan `accepted` or `refused`.
    pub answer: String,
    /// What else could have been chosen.
    pub alternatives: Vec<String>,
    /// The label that the agent's dialogue shows above the question: `Auth method`.
    #[serde(default)]
    pub header: Option<String>,
    /// Of a plan: how it means to reach its goal.
    #[serde(default)]
    pub approach: Option<String>,
    /// Of a plan: its steps, in a few words each.
    #[serde(default)]
    pub steps: Vec<String>,
    /// Of a plan: the files that it means to change.
    #[serde(default)]
    pub files: Vec<String>,
    /// Whether the answer was typed in place of an option.
    #[serde(default)]
    pub typed: bool,
    /// Where.
    pub origin: Origin,
}

/// A prompt that came on a refused call or an interruption.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Correction {
    /// Where the prompt stands.
    pub origin: Origin,
    /// The call that the user refused with these words.
    #[serde(default)]
    pub refused: Option<String>,
}
