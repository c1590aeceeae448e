//! `search_memory_facts`: searches facts, with the periods in which they were true and their
//! sources.

use serde::{Deserialize, Serialize};

use super::graph::FactRow;

/// The name of the tool.
pub const NAME: &str = "search_memory_facts";

/// The arguments of the tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SearchFactsArguments {
    /// Words, "phrases", prefix*, -not, or a question; the latest facts when empty.
    pub query: String,
    /// Only this project: a namespace or directory.
    pub project: Option<String>,
    /// Only these projects, by namespace or directory. If a name is neither, the list is ignored.
    pub group_ids: Option<Vec<String>>,
    /// Maximum number of results.
    pub max_facts: usize,
    /// Only facts about this node.
    pub center_node_uuid: Option<String>,
    /// Only these kinds: `DECIDED`, `RESOLVED`, `SET_TO`, ….
    pub edge_types: Option<Vec<String>>,
    /// Only facts true at the end of this day or at this time; by default now.
    pub as_of: Option<String>,
    /// Also facts that ended.
    pub include_ended: bool,
    /// Only facts that became true after this time.
    pub valid_at_after: Option<String>,
    /// Only facts that became true before this time.
    pub valid_at_before: Option<String>,
    /// Only facts that ended after this time.
    pub invalid_at_after: Option<String>,
    /// Only facts that ended before this time.
    pub invalid_at_before: Option<String>,
    /// `team` adds what colleagues shared.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<String>", extend("enum" = super::SCOPES))
    )]
    pub scope: Option<String>,
    /// Whether to explain the rank of each result.
    pub explain: bool,
    /// For a list without words: only the facts that are listed after the fact with this id. For
    /// the viewer; agents are not shown this argument.
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub after: Option<String>,
}

impl Default for SearchFactsArguments {
    fn default() -> SearchFactsArguments {
        SearchFactsArguments {
            query: String::new(),
            project: None,
            group_ids: None,
            max_facts: 10,
            center_node_uuid: None,
            edge_types: None,
            as_of: None,
            include_ended: false,
            valid_at_after: None,
            valid_at_before: None,
            invalid_at_after: None,
            invalid_at_before: None,
            scope: None,
            explain: false,
            after: None,
        }
    }
}

/// The answer of the tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SearchFactsAnswer {
    /// A message for people, for example about sessions that were indexed for this request or are
    /// pending.
    pub message: String,
    /// The facts, best first.
    pub facts: Vec<FactRow>,
    /// Changed searches that find facts; only for a model, and only if the search finds no fact.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub broader: Vec<BroaderFactSearch>,
    /// Number of sessions that `search_sessions` finds with the same words, if the search finds no
    /// facts and the answer is for a model.
    #[serde(skip_serializing_if = "is_zero")]
    pub sessions: usize,
}

/// A change to a search that found no fact.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct BroaderFactSearch {
    /// The change, such as "without `project`".
    pub change: String,
    /// Number of facts that the changed search finds.
    pub facts: usize,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}
