//! `search_memory_nodes`: `search_nodes` under its older name, with its older argument.

use graphiti_proto::tools::{
    search_memory_nodes::{NAME, SearchMemoryNodesArguments},
    search_nodes,
};

use super::{Effect, Tool, input, output, search_nodes as search_nodes_tool, typed};

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    title: "Search what sessions were about",
    description: "The older name of search_nodes.",
    effect: Effect::Reads,
    input: schema,
    output: output::<search_nodes::SearchNodesAnswer>,
    call: |daemon, client, arguments| {
        Box::pin(typed(arguments, |given| search_nodes_tool::run(daemon, client, newer(given))))
    },
};

fn schema() -> schemars::Schema {
    let mut schema = input::<SearchMemoryNodesArguments>();
    if let Some(kind) = schema.pointer_mut("/properties/entity") {
        // An empty text requests all kinds.
        kind["enum"] = search_nodes_tool::kind_names().chain([""]).collect();
    }
    schema
}

fn newer(given: SearchMemoryNodesArguments) -> search_nodes::SearchNodesArguments {
    let SearchMemoryNodesArguments { query, group_ids, max_nodes, center_node_uuid, entity } =
        given;
    let entity_types = Some(entity).filter(|kind| !kind.trim().is_empty()).map(|kind| vec![kind]);
    search_nodes::SearchNodesArguments {
        query,
        project: None,
        group_ids,
        max_nodes,
        entity_types,
        center_node_uuid,
        explain: false,
    }
}
