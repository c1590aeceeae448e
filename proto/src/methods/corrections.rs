//! `graphiti/corrections`: what the user says about facts, for the command line and for exports.

use serde::{Deserialize, Serialize};

use crate::tools::graph::FactRow;

/// The method; answered with [`CorrectionsAnswer`].
pub const CORRECTIONS: &str = "graphiti/corrections";

/// Maximum number of corrections in one request.
pub const MAX_CORRECTIONS: usize = 1_000;

/// The corrections to store; without any, all stored ones are returned.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CorrectionsRequest {
    /// What is said about facts.
    pub corrections: Vec<CorrectionRow>,
    /// Whether they come from another machine: then facts that are not known here are corrected,
    /// too, and a correction that is known here stays unless it is older.
    pub imported: bool,
}

/// What is said about a fact.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CorrectionRow {
    /// The id of the fact, or its first digits.
    pub fact: String,
    /// `wrong`, `done` or `keep`.
    pub verdict: String,
    /// `user` or `agent`; the user when empty.
    pub by: String,
    /// RFC 3339; now when empty.
    pub at: String,
}

/// The answer to [`CORRECTIONS`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CorrectionsAnswer {
    /// The corrections that were stored, or all of them.
    pub corrections: Vec<CorrectionRow>,
    /// The facts as they are now, unless they were imported.
    pub facts: Vec<FactRow>,
}
