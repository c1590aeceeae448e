//! `search_nodes`.

use std::collections::HashSet;

use graphiti_proto::{
    rpc::{Error, code},
    tools::search_nodes::{Answer, Arguments, NAME},
};

use super::{Effect, Tool, graph, input, output, store_error, typed};
use crate::{
    api::{Daemon, caller::Caller, due},
    engine::things::{Graph, Wanted},
    model::{Entity, EntityId, graph::EntityKind},
};

/// Candidates for each wanted row: some are of another kind, some are gone in this moment.
const CANDIDATES: usize = 4;
/// Facts of the center whose other ends count as near.
const NEAR: usize = 200;

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    title: "Search what sessions were about",
    description: "Search the things that earlier sessions were about (files, symbols, settings, errors, tests, decisions, \
        tickets, tasks) with what is true of each.",
    effect: Effect::Reads,
    input: input::<Arguments>,
    output: output::<Answer>,
    call: |daemon, caller, arguments| {
        Box::pin(typed(arguments, |given| run(daemon, caller, given)))
    },
};

pub(super) async fn run(
    daemon: &Daemon,
    caller: &Caller,
    arguments: Arguments,
) -> Result<Answer, Error> {
    let projects = graph::projects(arguments.project.as_deref(), arguments.group_ids.as_deref());
    let kinds = kinds(arguments.entity_types.as_deref())?;
    let center = graph::entity_argument(arguments.center_node_uuid.as_deref())?;
    let indexed = due::index(daemon, caller, projects.clone().unwrap_or_default()).await;
    let limit = arguments.max_nodes.clamp(1, graph::ROWS);
    // Of one kind there may be few among many.
    let candidates = if kinds.is_empty() { limit * CANDIDATES } else { limit * CANDIDATES * 8 };
    let index = &daemon.indexes.entities;
    let numbers = graph::numbers(index, &arguments.query, projects, candidates)?;
    let things = graph::graph(daemon);
    let mut found = entities(&things, daemon, &numbers)?;
    found.retain(|entity| kinds.is_empty() || kinds.contains(&entity.kind));
    if let Some(center) = center {
        let near = near(&things, center)?;
        found.sort_by_key(|entity| !near.contains(&entity.id));
    }
    let nodes = found.iter().take(limit).map(|entity| graph::node_row(&things, entity));
    Ok(Answer { message: indexed.message(), nodes: nodes.collect::<Result<_, _>>()? })
}

fn kinds(names: Option<&[String]>) -> Result<Vec<EntityKind>, Error> {
    let read = |name: &String| {
        EntityKind::parse(name).ok_or_else(|| {
            let known: Vec<&str> = EntityKind::ALL.iter().map(|kind| kind.as_str()).collect();
            let what = format!("`{name}` is no kind of node; there are {}", known.join(", "));
            Error::new(code::INVALID_PARAMS, what)
        })
    };
    let named = names.into_iter().flatten().filter(|name| !name.eq_ignore_ascii_case("Entity"));
    named.map(read).collect()
}

fn entities(things: &Graph<'_>, daemon: &Daemon, numbers: &[u64]) -> Result<Vec<Entity>, Error> {
    let mut found: Vec<Entity> = Vec::new();
    for number in numbers {
        let id = daemon.engine.store().entity_numbered(*number).map_err(store_error)?;
        let Some(id) = id else { continue };
        let entity = things.entity(id).map_err(store_error)?;
        found.extend(entity.filter(|entity| !found.iter().any(|known| known.id == entity.id)));
    }
    Ok(found)
}

fn near(things: &Graph<'_>, center: EntityId) -> Result<HashSet<EntityId>, Error> {
    let wanted = Wanted { relations: Vec::new(), at: None, limit: NEAR };
    let facts = things.around(center, &wanted).map_err(store_error)?;
    let ends = facts.into_iter().flat_map(|fact| {
        let mut ends = fact.others;
        ends.extend([fact.source, fact.target]);
        ends
    });
    Ok(ends.collect())
}
