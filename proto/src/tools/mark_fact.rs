//! `mark_fact`: records that a fact is wrong, done, or still holds.

use serde::{Deserialize, Serialize};

use super::graph::FactRow;

/// The name of the tool.
pub const NAME: &str = "mark_fact";

/// The arguments of the tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["uuid", "verdict"])))]
#[serde(default)]
pub struct MarkFactArguments {
    /// The id of the fact, or its first 8 digits.
    pub uuid: String,
    /// `wrong`: it was never true. `done`: it is over. `keep`: it still holds.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["wrong", "done", "keep"])))]
    pub verdict: String,
}

/// The answer of the tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct MarkFactAnswer {
    /// The result as a sentence for people.
    pub message: String,
    /// The fact as it is now: its periods, the latest first.
    pub facts: Vec<FactRow>,
}
