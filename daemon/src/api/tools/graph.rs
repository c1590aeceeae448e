//! Shared code of the tools about entities and facts.

use std::{cell::RefCell, sync::Arc};

use graphiti_proto::{
    rpc::{Error, code},
    tools::graph::{FactRow, NodeRow, SourceLine},
};

use super::{is_project_id, store_error};
use crate::{
    api::{
        DaemonState, blocking,
        client_context::ClientContext,
        convert,
        projects::{self, client_argument},
    },
    clock,
    engine::{embedding::VectorSet, entities::Graph},
    model::{
        Entity, EntityId, EpisodeId, Fact, Namespace, SessionEnding, SessionKey, Timestamp,
        graph::Relation, transcript::Origin, vector::Packed,
    },
    search::{
        query::{Query, dates},
        rank::{Explanation, RankRequest, Results, Scope, SecondRanker, Weights},
    },
    store::{SourceKey, Store, StoreError},
};

/// Maximum number of rows in an answer.
pub(super) const MAX_ROWS: usize = 100;
/// Initial number of candidates per requested row, because some candidates are filtered out.
const CANDIDATES_PER_ROW: usize = 6;

pub(super) fn graph(daemon: &DaemonState) -> Graph<'_> {
    Graph::of(daemon.engine.store().as_ref())
}

pub(super) struct GraphSearch<'d> {
    daemon: &'d DaemonState,
    query: Query,
    scope: Scope,
    query_vector: Option<Arc<Packed>>,
}

impl<'d> GraphSearch<'d> {
    pub(super) async fn new(
        daemon: &'d DaemonState,
        text: &str,
        projects: Option<Vec<Namespace>>,
    ) -> GraphSearch<'d> {
        let query = Query::parse(text, &clock::zoned());
        let scope = Scope { namespaces: projects, ..Scope::default() };
        let query_vector = daemon.embedding.query_vector(query.text_for_embedding()).await;
        GraphSearch { daemon, query, scope, query_vector }
    }

    /// Returns the same search in other projects, with the same vector.
    pub(super) fn in_projects(&self, projects: Option<Vec<Namespace>>) -> GraphSearch<'d> {
        let scope = Scope { namespaces: projects, ..Scope::default() };
        let (query, query_vector) = (self.query.clone(), self.query_vector.clone());
        GraphSearch { daemon: self.daemon, query, scope, query_vector }
    }

    /// Returns the vector of the query, if there is one.
    pub(super) fn vector(&self) -> Option<Arc<Packed>> {
        self.query_vector.clone()
    }

    /// Whether the search also compares vectors.
    pub(super) fn has_vector(&self) -> bool {
        self.query_vector.is_some()
    }

    /// Calls `look` for the matching entities or facts, best first, until there are at least
    /// `limit` results or no more candidates. Returns each result with the explanation of its rank.
    pub(super) fn find<T>(
        &self,
        kind: VectorSet,
        limit: usize,
        look: &dyn Fn(u64) -> Result<Vec<T>, Error>,
    ) -> Result<Vec<(T, Explanation)>, Error> {
        let candidates = limit.saturating_mul(CANDIDATES_PER_ROW);
        let best = self.search(kind, candidates, None)?;
        // The total does not count candidates that are found only by their vectors.
        let has_more = best.sessions.len() >= candidates || best.total > best.sessions.len();
        let found = first_results(best, limit, look)?;
        if found.len() >= limit || !has_more {
            return Ok(found);
        }
        // There were not enough results among the best candidates, so all candidates are inspected.
        let failed = RefCell::new(None);
        let only = |key: SessionKey| {
            let looked = look(key.0).map_err(|error| failed.replace(Some(error)));
            looked.is_ok_and(|made| !made.is_empty())
        };
        let wanted = self.search(kind, limit, Some(&only))?;
        match failed.into_inner() {
            Some(error) => Err(error),
            None => first_results(wanted, limit, look),
        }
    }

    fn search(
        &self,
        kind: VectorSet,
        limit: usize,
        session_filter: Option<&dyn Fn(SessionKey) -> bool>,
    ) -> Result<Results, Error> {
        let index = match kind {
            VectorSet::Sessions => &self.daemon.indexes.sessions,
            VectorSet::Entities => &self.daemon.indexes.entities,
            VectorSet::Facts => &self.daemon.indexes.facts,
        };
        let weights = Weights::default();
        let search = |second: Option<&dyn SecondRanker>| {
            let (query, scope, now, weights) = (&self.query, &self.scope, clock::now(), &weights);
            index.search(&RankRequest { query, scope, now, limit, weights, second, session_filter })
        };
        let results = blocking::read(|| {
            self.daemon.embedding.with_ranker(kind, self.query_vector.as_deref(), search)
        });
        results.map_err(|error| Error::new(code::INTERNAL, error.to_string()))
    }
}

/// Calls `look` for the first hits, until there are at least `limit` results.
fn first_results<T>(
    results: Results,
    limit: usize,
    look: &dyn Fn(u64) -> Result<Vec<T>, Error>,
) -> Result<Vec<(T, Explanation)>, Error> {
    let mut first_results = Vec::new();
    for hit in results.sessions {
        if first_results.len() >= limit {
            break;
        }
        let made = look(hit.session.0)?.into_iter();
        first_results.extend(made.map(|one| (one, hit.explanation.clone())));
    }
    Ok(first_results)
}

/// Returns the given projects, or the projects that the client may search; `None` for all. Ignores
/// the group ids if `project` is given, or if one of the group ids is not a project.
pub(super) fn projects(
    daemon: &DaemonState,
    client: &ClientContext,
    project: Option<&str>,
    group_ids: &[String],
) -> Result<Option<Vec<Namespace>>, Error> {
    let groups: Vec<&str> =
        group_ids.iter().map(|group| group.trim()).filter(|group| !group.is_empty()).collect();
    let mut requested = client_argument(daemon, client, project)?;
    if requested.is_none() && !groups.is_empty() && groups.iter().all(|group| is_project_id(group))
    {
        let mut of_groups = Vec::new();
        for group in groups {
            of_groups.extend(client_argument(daemon, client, Some(group))?.unwrap_or_default());
        }
        requested = Some(of_groups);
    }
    projects::restrict_to_visible(projects::visible_projects(daemon, client), requested, client)
}

/// Returns the group id for the data of a project.
pub(super) fn group_id(daemon: &DaemonState, namespace: Namespace) -> String {
    match &daemon.config().answers.group_id {
        Some(group) => group.as_str().to_owned(),
        None => namespace.to_string(),
    }
}

/// Parses a date or an instant into a period.
pub(in crate::api) fn date(
    name: &str,
    text: Option<&str>,
) -> Result<Option<dates::TimeRange>, Error> {
    let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else { return Ok(None) };
    if let Some(at) = Timestamp::parse(text) {
        let to = Timestamp::from_micros(at.micros() + 1);
        return Ok(Some(dates::TimeRange { from: at, to }));
    }
    let range = dates::value(text, &clock::zoned());
    range.map(Some).ok_or_else(|| {
        let what = format!(
            "`{name}` must be a date from 1990 to next year, such as 2026-03-01 or \"last week\", or \
             an RFC 3339 time, not `{text}`"
        );
        Error::new(code::INVALID_PARAMS, what)
    })
}

/// Parses the id of an entity.
pub(super) fn entity_argument(text: Option<&str>) -> Result<Option<EntityId>, Error> {
    let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else { return Ok(None) };
    let wrong = || Error::new(code::INVALID_PARAMS, format!("`{text}` is not the id of a node"));
    EntityId::parse(text).map(Some).ok_or_else(wrong)
}

pub(super) fn node_row(daemon: &DaemonState, entity: &Entity) -> Result<NodeRow, Error> {
    let mut attributes = vec![
        ("first_at", entity.first_at.to_string()),
        ("last_at", entity.last_at.to_string()),
        ("episodes", entity.episodes.to_string()),
    ];
    if !entity.aliases.is_empty() {
        attributes.push(("aliases", entity.aliases.join(", ")));
    }
    Ok(NodeRow {
        uuid: entity.id.to_string(),
        name: entity.name.clone(),
        labels: vec!["Entity".to_owned(), entity.kind.as_str().to_owned()],
        created_at: entity.created_at.to_string(),
        summary: graph(daemon).description(entity.id).map_err(store_error)?,
        group_id: group_id(daemon, entity.namespace),
        attributes: attributes.into_iter().map(|(name, text)| (name.to_owned(), text)).collect(),
        explanation: None,
    })
}

pub(super) fn fact_row(daemon: &DaemonState, fact: &Fact) -> Result<FactRow, Error> {
    let (graph, store) = (graph(daemon), daemon.engine.store().as_ref());
    let name = |id| -> Result<String, Error> {
        let entity = graph.entity(id).map_err(store_error)?;
        Ok(entity.map(|entity| entity.name).unwrap_or_default())
    };
    let sources = fact.origins.iter().map(|(id, origin)| source_line(store, *id, *origin));
    // Handoffs report how a session ended, so the row of a fact does not.
    let is_ending =
        |name: &str| fact.relation == Relation::TaskState && SessionEnding::has_field(name);
    let attributes = fact.details.iter().filter(|(name, _)| !is_ending(name));
    Ok(FactRow {
        uuid: fact.id.to_string(),
        group_id: group_id(daemon, fact.namespace),
        project: project_of(daemon, fact),
        source_node_uuid: fact.source.to_string(),
        target_node_uuid: fact.target.to_string(),
        source_name: name(fact.source)?,
        target_name: name(fact.target)?,
        name: fact.relation.as_str().to_owned(),
        fact: fact.sentence.clone(),
        certainty: fact.certainty.as_str().to_owned(),
        standing: fact.certainty.as_str().to_owned(),
        episodes: fact.episodes.iter().map(ToString::to_string).collect(),
        created_at: fact.created_at.to_string(),
        valid_at: fact.valid_at.to_string(),
        invalid_at: fact.invalid_at.map(|at| at.to_string()),
        expired_at: fact.expired_at.map(|at| at.to_string()),
        sources: sources.collect::<Result<_, _>>().map_err(store_error)?,
        attributes: attributes.cloned().collect(),
        team: None,
        explanation: None,
    })
}

/// Returns the directory of the project of a fact; empty if the fact concerns all projects.
fn project_of(daemon: &DaemonState, fact: &Fact) -> String {
    if fact.namespace == Namespace::default() {
        return String::new();
    }
    let known = daemon.engine.projects().path(fact.namespace);
    let of_episode = || {
        let unread = |error| tracing::warn!(%error, "failed to read the episode of a fact");
        let episode = daemon.engine.store().episode(*fact.episodes.first()?).map_err(unread);
        let episode = episode.unwrap_or_default()?;
        Some(episode.project.root().path().to_owned())
    };
    known.or_else(of_episode).unwrap_or_default()
}

fn source_line(store: &dyn Store, id: EpisodeId, origin: Origin) -> Result<SourceLine, StoreError> {
    let mut line = SourceLine {
        episode: id.to_string(),
        source: origin.source,
        line: origin.line,
        ..SourceLine::default()
    };
    if let Some(episode) = store.episode(id)? {
        let key = SourceKey { session: episode.session, number: origin.source };
        line.short_id = convert::short_id(store, &episode.session_id.id)?;
        line.session_id = episode.session_id.id;
        line.message = message_at(store, key, origin.line)?;
    }
    Ok(line)
}

/// Returns the number of the last message of a file at or before `line`. Messages are numbered in
/// the order of their lines.
pub(in crate::api) fn message_at(
    store: &dyn Store,
    key: SourceKey,
    line: u64,
) -> Result<Option<u32>, StoreError> {
    let is_behind = |number: u32| -> Result<bool, StoreError> {
        let message = store.messages(key, number, 1)?.pop();
        Ok(message.is_none_or(|message| message.origin.line > line))
    };
    if is_behind(0)? {
        return Ok(None);
    }
    // The bounds of the binary search: message `at` is at or before the line, and message `beyond`
    // is after it.
    let (mut at, mut beyond) = (0, 1);
    while !is_behind(beyond)? {
        at = beyond;
        beyond = beyond.saturating_mul(2);
    }
    while at + 1 < beyond {
        let middle = at + (beyond - at) / 2;
        match is_behind(middle)? {
            true => beyond = middle,
            false => at = middle,
        }
    }
    Ok(Some(at))
}
