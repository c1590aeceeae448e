//! Evidence of the user's choices and corrections, and the agent's own summaries.

use serde::{Deserialize, Serialize};

use crate::model::{
    time::Timestamp,
    transcript::{Origin, RecapKind},
};

/// A choice of the user.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// The question or proposal.
    pub question: String,
    /// The choice. For a plan: `accepted` or `refused`.
    pub answer: String,
    /// The other options.
    pub alternatives: Vec<String>,
    /// The label that the agent's dialogue shows above the question: `Auth method`.
    #[serde(default)]
    pub header: Option<String>,
    /// The explanation of the chosen option in the agent's dialogue.
    #[serde(default)]
    pub explanation: Option<String>,
    /// The whole prompt with which the user chose an option, if the prompt contains more than the
    /// choice.
    #[serde(default)]
    pub words: Option<String>,
    /// For a plan: the approach.
    #[serde(default)]
    pub approach: Option<String>,
    /// For a plan without a stated approach: the reason or context.
    #[serde(default)]
    pub background: Option<String>,
    /// For a plan: the steps, in a few words each.
    #[serde(default)]
    pub steps: Vec<String>,
    /// For a plan: the files that the plan changes.
    #[serde(default)]
    pub files: Vec<String>,
    /// Whether the user typed the answer instead of choosing an option.
    #[serde(default)]
    pub typed: bool,
    /// The position in the transcript.
    pub origin: Origin,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
}

/// A prompt that follows a refused call or an interruption.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Correction {
    /// The position of the prompt.
    pub origin: Origin,
    /// The call that the user refused with this prompt.
    #[serde(default)]
    pub refused: Option<String>,
    /// The call that the user refused without words before this prompt.
    #[serde(default)]
    pub stopped: Option<String>,
}

/// A summary of the session by the agent itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recap {
    /// The occasion on which the recap was written.
    pub kind: RecapKind,
    /// The text, shortened when very long.
    pub text: String,
    /// The position in the transcript.
    pub origin: Origin,
    pub at: Option<Timestamp>,
}
