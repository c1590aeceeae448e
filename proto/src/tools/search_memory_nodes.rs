//! `search_memory_nodes`: the older name of [`search_nodes`](super::search_nodes).

use serde::{Deserialize, Serialize};

/// The name of the tool.
pub const NAME: &str = "search_memory_nodes";

/// The arguments of the tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SearchMemoryNodesArguments {
    /// Words, "phrases", prefix*, -not, or a question; the latest nodes when empty.
    pub query: String,
    /// Only these projects, by namespace or directory. If a name is neither, the list is ignored.
    pub group_ids: Option<Vec<String>>,
    /// Maximum number of results.
    pub max_nodes: usize,
    /// Nodes that share a fact with this node come first.
    pub center_node_uuid: Option<String>,
    /// Only this kind: `File`, `Symbol`, `Setting`, `Decision`, …; all when empty.
    pub entity: String,
}

impl Default for SearchMemoryNodesArguments {
    fn default() -> SearchMemoryNodesArguments {
        SearchMemoryNodesArguments {
            query: String::new(),
            group_ids: None,
            max_nodes: 10,
            center_node_uuid: None,
            entity: String::new(),
        }
    }
}
