//! `search_nodes`.

use std::collections::HashSet;

use graphiti_proto::{
    rpc::{Error, code},
    tools::{
        graph::NodeRow,
        search_nodes::{Answer, Arguments, NAME},
    },
};

use super::{Effect, Tool, graph, graph::Found, input, output, store_error, typed};
use crate::{
    api::{Daemon, caller::Caller, convert, due},
    engine::{
        embedding::Kind,
        things::{Graph, Wanted},
    },
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
    let place = (projects, candidates);
    let hits = graph::find(daemon, Kind::Entities, &arguments.query, place).await?;
    let things = graph::graph(daemon);
    let mut found = entities(&things, daemon, &hits)?;
    found.retain(|(entity, _)| kinds.is_empty() || kinds.contains(&entity.kind));
    if let Some(center) = center {
        let near = near(&things, center)?;
        found.sort_by_key(|(entity, _)| !near.contains(&entity.id));
    }
    let nodes = found.iter().take(limit).map(|(entity, hit)| {
        let explanation = arguments.explain.then(|| convert::explained(&hit.why));
        Ok(NodeRow { explanation, ..graph::node_row(&things, entity)? })
    });
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

fn entities<'h>(
    things: &Graph<'_>,
    daemon: &Daemon,
    hits: &'h [Found],
) -> Result<Vec<(Entity, &'h Found)>, Error> {
    let mut found: Vec<(Entity, &Found)> = Vec::new();
    for hit in hits {
        let id = daemon.engine.store().entity_numbered(hit.number).map_err(store_error)?;
        let Some(id) = id else { continue };
        let Some(entity) = things.entity(id).map_err(store_error)? else { continue };
        if !found.iter().any(|(known, _)| known.id == entity.id) {
            found.push((entity, hit));
        }
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
