//! `graphiti/corrections`: stores or lists corrections of facts, for the command line, and for
//! exports and imports.

use serde::{Deserialize, Serialize};

use crate::tools::graph::FactRow;

/// The name of the method. The answer is [`CorrectionsAnswer`].
pub const CORRECTIONS: &str = "graphiti/corrections";

/// Maximum number of corrections in one request.
pub const MAX_CORRECTIONS: usize = 1_000;

/// Maximum number of episodes in one request.
pub const MAX_EPISODES: usize = 10_000;

/// The corrections to store. A request without corrections returns all stored corrections.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CorrectionsRequest {
    /// The corrections of facts.
    pub corrections: Vec<CorrectionRow>,
    /// Whether the corrections are from another machine. If so, a correction is stored only if an
    /// episode in `episodes`, or any episode of the same projects, states its fact. A stored
    /// correction is kept if it is later, or if it is by the user and the new one by an agent.
    pub imported: bool,
    /// The ids of the episodes with which the corrections were imported, at most [`MAX_EPISODES`].
    /// Episodes that are not stored on this machine are ignored.
    pub episodes: Vec<String>,
    /// Whether to only check the corrections. The answer has the corrections that would be stored.
    pub dry_run: bool,
}

/// A correction of a fact.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CorrectionRow {
    /// The id of the fact, or its first digits.
    pub fact: String,
    /// `wrong`, `done` or `keep`.
    pub verdict: String,
    /// `user` or `agent`; empty means `user`.
    pub by: String,
    /// The time, RFC 3339; empty means now.
    pub at: String,
}

/// The answer to [`CORRECTIONS`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CorrectionsAnswer {
    /// The corrections that this request stored; for a list, all stored corrections.
    pub corrections: Vec<CorrectionRow>,
    /// The corrected facts as they are now; empty for imported corrections, and for a list.
    pub facts: Vec<FactRow>,
    /// Number of imported corrections that were skipped, because their facts are unknown on this
    /// machine, or belong to projects without an imported episode.
    pub skipped: usize,
}
