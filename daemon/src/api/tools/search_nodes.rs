//! `search_nodes`: searches the entities of the graph.

use std::collections::HashSet;

use graphiti_proto::{
    rpc::{Error, code},
    tools::{
        graph::NodeRow,
        search_nodes::{NAME, SearchNodesAnswer, SearchNodesArguments},
    },
};

use super::{Effect, Tool, capped, graph, input, output, store_error, typed};
use crate::{
    api::{DaemonState, catch_up, client_context::ClientContext, convert},
    engine::{
        embedding::VectorSet,
        entities::{FactFilter, Graph},
    },
    model::{Entity, EntityId, graph::EntityKind},
};

/// Number of inspected nodes per requested node, if nodes near a center are ranked first.
const CANDIDATES_PER_ROW: usize = 4;
/// Maximum number of inspected facts of the center. The other entities of these facts count as
/// near.
const MAX_NEAR_FACTS: usize = 200;

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    title: "Search what sessions were about",
    description: "Search the things that earlier sessions were about (files, symbols, settings, errors, tests, decisions, \
        tickets, tasks). Each result contains what is true of it.",
    effect: Effect::Reads,
    input: schema,
    output: output::<SearchNodesAnswer>,
    call: |daemon, client, arguments| {
        Box::pin(typed(arguments, |given| run(daemon, client, given)))
    },
};

fn schema() -> schemars::Schema {
    let mut schema = input::<SearchNodesArguments>();
    if let Some(items) = schema.pointer_mut("/properties/entity_types/items") {
        items["enum"] = kind_names().collect();
    }
    schema
}

pub(super) fn kind_names() -> impl Iterator<Item = &'static str> {
    EntityKind::ALL.iter().map(|kind| kind.as_str())
}

pub(super) async fn run(
    daemon: &DaemonState,
    client: &ClientContext,
    arguments: SearchNodesArguments,
) -> Result<SearchNodesAnswer, Error> {
    let projects = graph::projects(
        daemon,
        client,
        arguments.project.as_deref(),
        arguments.group_ids.as_deref().unwrap_or_default(),
    )?;
    let kinds = kinds(arguments.entity_types.as_deref())?;
    let center = graph::entity_argument(arguments.center_node_uuid.as_deref())?;
    let indexed =
        catch_up::index_pending(daemon, client, projects.clone().unwrap_or_default()).await?;
    let question = graph::GraphSearch::new(daemon, &arguments.query, projects).await;
    let limit = arguments.max_nodes.min(graph::MAX_ROWS);
    let graph = graph::graph(daemon);
    let entity = |number: u64| {
        let entity = entity(&graph, daemon, number)?;
        let is_wanted = |entity: &Entity| kinds.is_empty() || kinds.contains(&entity.kind);
        Ok(entity.filter(is_wanted).into_iter().collect())
    };
    let candidates = if center.is_some() { limit * CANDIDATES_PER_ROW } else { limit };
    let mut found = question.find(VectorSet::Entities, candidates, &entity)?;
    let mut seen = HashSet::new();
    found.retain(|(entity, _)| seen.insert(entity.id));
    if let Some(center) = center {
        let near = near(&graph, center)?;
        found.sort_by_key(|(entity, _)| !near.contains(&entity.id));
    }
    let nodes = found.iter().take(limit).map(|(entity, why)| {
        let explanation = arguments.explain.then(|| convert::format_explanation(why));
        Ok(NodeRow { explanation, ..graph::node_row(daemon, entity)? })
    });
    let nodes: Vec<NodeRow> = nodes.collect::<Result<_, _>>()?;
    let message =
        capped::explain(indexed.message(), arguments.max_nodes, nodes.len(), graph::MAX_ROWS);
    Ok(SearchNodesAnswer { message, nodes })
}

fn kinds(names: Option<&[String]>) -> Result<Vec<EntityKind>, Error> {
    let read = |name: &String| {
        EntityKind::parse(name).ok_or_else(|| {
            let known: Vec<&str> = kind_names().collect();
            let what =
                format!("`{name}` is not a kind of node; the kinds are {}", known.join(", "));
            Error::new(code::INVALID_PARAMS, what)
        })
    };
    let named = names.into_iter().flatten().filter(|name| !name.eq_ignore_ascii_case("Entity"));
    named.map(read).collect()
}

fn entity(graph: &Graph<'_>, daemon: &DaemonState, number: u64) -> Result<Option<Entity>, Error> {
    let id = daemon.engine.store().entity_numbered(number).map_err(store_error)?;
    id.map_or(Ok(None), |id| graph.entity(id)).map_err(store_error)
}

fn near(graph: &Graph<'_>, center: EntityId) -> Result<HashSet<EntityId>, Error> {
    let wanted = FactFilter { relations: Vec::new(), at: None, limit: MAX_NEAR_FACTS };
    let facts = graph.around(center, &wanted).map_err(store_error)?;
    let ends = facts.into_iter().flat_map(|fact| {
        let mut ends = fact.others;
        ends.extend([fact.source, fact.target]);
        ends
    });
    Ok(ends.collect())
}
