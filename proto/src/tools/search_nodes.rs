//! `search_nodes`: searches nodes: the entities that sessions mention.

use serde::{Deserialize, Serialize};

use super::graph::NodeRow;

/// The name of the tool.
pub const NAME: &str = "search_nodes";

/// The arguments of the tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SearchNodesArguments {
    /// Words, "phrases", prefix*, -not, or a question; the latest nodes when empty.
    pub query: String,
    /// Only this project: a namespace or a directory.
    pub project: Option<String>,
    /// Only these projects, by namespace or directory. If a name is neither, the list is ignored.
    pub group_ids: Option<Vec<String>>,
    /// Maximum number of results.
    pub max_nodes: usize,
    /// Only these kinds: `File`, `Symbol`, `Setting`, `Decision`, ….
    pub entity_types: Option<Vec<String>>,
    /// Nodes that share a fact with this node come first.
    pub center_node_uuid: Option<String>,
    /// Whether to explain the rank of each result.
    pub explain: bool,
}

impl Default for SearchNodesArguments {
    fn default() -> SearchNodesArguments {
        SearchNodesArguments {
            query: String::new(),
            project: None,
            group_ids: None,
            max_nodes: 10,
            entity_types: None,
            center_node_uuid: None,
            explain: false,
        }
    }
}

/// The answer of the tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SearchNodesAnswer {
    /// A message for people, for example about sessions that were indexed for this request or are
    /// pending.
    pub message: String,
    /// The nodes, best first.
    pub nodes: Vec<NodeRow>,
}
