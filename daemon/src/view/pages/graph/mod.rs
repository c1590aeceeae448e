//! The page of an entity, such as a file, an error or a decision, with a drawing of its neighbours
//! and a list of its facts.

mod drawing;

use std::collections::HashMap;

use axum::extract::{Query, State};
use graphiti_proto::{
    rpc::{Error, code},
    tools::{
        graph::FactRow,
        search_memory_facts::{NAME, SearchFactsAnswer, SearchFactsArguments},
    },
};
use maud::{Markup, html};
use serde::Deserialize;

use self::drawing::{Drawing, DrawnNode};
use super::{
    PageAnswer, PageResult,
    facts::fact_row,
    parts::{ago, text, visible},
};
use crate::{
    api::{DaemonState, in_process},
    engine::entities::{FactFilter, Graph},
    model::{Entity, EntityId, Fact},
    store::StoreError,
    view::{
        layout::{NavItem, ViewPage},
        pages::parts::address,
        state::SharedView,
        texts::{self, T},
    },
};

/// Maximum number of facts from which the drawing is made.
const MAX_FACTS: usize = 1_500;
/// Maximum number of nodes in the drawing.
const MAX_NODES: usize = 500;
/// Maximum number of facts in the list.
const MAX_LISTED_FACTS: usize = 100;

#[derive(Default, Deserialize)]
#[serde(default)]
pub(in crate::view) struct NodeQuery {
    id: String,
}

pub(in crate::view) async fn page(
    State(view): State<SharedView>,
    Query(query): Query<NodeQuery>,
) -> PageAnswer {
    let daemon = view.daemon()?;
    let wrong = || Error::new(code::INVALID_PARAMS, T.no_node);
    let id = EntityId::parse(&query.id).ok_or_else(wrong)?;
    let failed = |error: StoreError| Error::new(code::INTERNAL, error.to_string());
    let found = neighbourhood(&daemon, id).map_err(failed)?;
    let Neighbourhood { entity, nodes } =
        found.ok_or_else(|| Error::new(code::NOT_FOUND, T.no_node))?;
    let history = history(&daemon, entity.id).await?;
    let drawing = Drawing { center: &entity.name, nodes: &nodes };
    let here = address("node", &[("id", &entity.id.to_string())]);
    let body = html! {
        h1 { (text(&entity.name)) }
        p .meta {
            span .badge { (texts::entity(entity.kind.as_str())) } " "
            (texts::sessions(entity.episodes)) " " (ago(&entity.last_at.to_string()))
            @if let Some(path) = daemon.engine.projects().path(entity.namespace) { " " (text(&path)) }
        }
        @if !entity.aliases.is_empty() { p .detail { (T.also_named) " " (text(&entity.aliases.join(", "))) } }
        div .columns #node data-live="" {
            section .graph-section {
                h2 .section { (T.neighbours) " " span .count { (nodes.len()) } }
                (drawing.markup())
                (groups(&nodes))
            }
            section {
                h2 .section { (T.history) }
                @if history.is_empty() { p .empty { (T.none) } }
                ol .list .history { @for fact in &history { (fact_row(fact, &["wrong", "done", "keep"], &here)) (successor(fact, &history)) } }
            }
        }
    };
    Ok(ViewPage::new(visible(&entity.name), NavItem::Facts, body))
}

/// An entity, and the entities that share a fact with it.
struct Neighbourhood {
    entity: Entity,
    nodes: Vec<DrawnNode>,
}

fn neighbourhood(daemon: &DaemonState, id: EntityId) -> Result<Option<Neighbourhood>, StoreError> {
    let graph = Graph::of(daemon.engine.store().as_ref());
    let Some(entity) = graph.entity(id)? else { return Ok(None) };
    let nodes = neighbours(&graph, &entity)?;
    Ok(Some(Neighbourhood { entity, nodes }))
}

/// Returns the entities that share a fact with `center`, the entities with the most shared facts
/// first.
fn neighbours(graph: &Graph<'_>, center: &Entity) -> Result<Vec<DrawnNode>, StoreError> {
    let filter = FactFilter { relations: Vec::new(), at: None, limit: MAX_FACTS };
    let mut found: HashMap<EntityId, (usize, Vec<&'static str>)> = HashMap::new();
    for fact in graph.around(center.id, &filter)? {
        let Fact { source, target, others, relation, .. } = fact;
        for id in others.into_iter().chain([source, target]).filter(|id| *id != center.id) {
            let (count, relations) = found.entry(id).or_default();
            *count += 1;
            if !relations.contains(&relation.as_str()) {
                relations.push(relation.as_str());
            }
        }
    }
    let mut nodes = Vec::new();
    for (id, (facts, relations)) in found {
        let Some(entity) = graph.entity(id)? else { continue };
        nodes.push(DrawnNode {
            address: address("node", &[("id", &entity.id.to_string())]),
            name: entity.name,
            kind: entity.kind.as_str(),
            facts,
            relations: relations.into_iter().map(texts::relation).collect::<Vec<_>>().join(", "),
        });
    }
    nodes.sort_by(|one, other| other.facts.cmp(&one.facts).then_with(|| one.name.cmp(&other.name)));
    nodes.truncate(MAX_NODES);
    Ok(nodes)
}

async fn history(daemon: &DaemonState, id: EntityId) -> PageResult<Vec<FactRow>> {
    let arguments = SearchFactsArguments {
        max_facts: MAX_LISTED_FACTS,
        center_node_uuid: Some(id.to_string()),
        include_ended: true,
        ..SearchFactsArguments::default()
    };
    let answer: SearchFactsAnswer = in_process::tool(daemon, NAME, &arguments).await?;
    let mut facts = answer.facts;
    facts.sort_by(|one, other| other.valid_at.cmp(&one.valid_at));
    Ok(facts)
}

/// Renders the fact that replaced `fact`, if there is one: it has the same kind and the same source
/// node, and it began when `fact` ended.
fn successor(fact: &FactRow, history: &[FactRow]) -> Markup {
    let is_successor = |other: &&FactRow| {
        Some(&other.valid_at) == fact.invalid_at.as_ref()
            && other.name == fact.name
            && other.source_node_uuid == fact.source_node_uuid
            && other.uuid != fact.uuid
    };
    html! {
        @if let Some(other) = history.iter().find(is_successor) {
            li .ended-by { (T.ended_by) " " a href={ "#f-" (other.uuid) } { (text(&other.fact)) } }
        }
    }
}

/// Renders the nodes of the drawing as lists.
fn groups(nodes: &[DrawnNode]) -> Markup {
    let mut kinds: Vec<&str> = nodes.iter().map(|node| node.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    html! {
        @for kind in kinds {
            @let of_kind = || nodes.iter().filter(|node| node.kind == kind);
            details .group {
                summary { span class={ "dot kind-" (kind) } {} (texts::entity(kind)) " " span .count { (of_kind().count()) } }
                ul .plain { @for node in of_kind() { li { a href=(node.address) { (text(&node.name)) } " " span .meta { (node.relations) } } } }
            }
        }
    }
}
