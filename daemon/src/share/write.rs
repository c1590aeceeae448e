//! Builds the statements that add sessions to the graph and remove them.
//!
//! The statements are idempotent. When an episode is replaced, the new episode is complete before
//! the old episode is removed.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use uuid::Uuid;

use crate::share::{Dialect, Statement, node::SharedSession};

/// The parts of the graph that an episode added and no longer contains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removal {
    pub episode: Uuid,
    /// Whether the episode itself is removed.
    pub removes_episode: bool,
    /// Whether the session is removed from the group. Then, none of its text may remain.
    pub is_forgotten: bool,
    pub entities: Vec<Uuid>,
    pub facts: Vec<Uuid>,
}

/// Returns the statements that add or update sessions of one group.
pub fn put(dialect: Dialect, sessions: &[SharedSession]) -> Vec<Statement> {
    if sessions.is_empty() {
        return Vec::new();
    }
    let mut statements = vec![Statement::with_rows(
        sessions.iter().map(SharedSession::episode_row).collect(),
        format!(
            "UNWIND $rows AS row MERGE (e:Episodic {{uuid: row.uuid}}) \
             SET e.name = row.name, e.group_id = row.group_id, e.source = row.source, \
             e.source_description = row.source_description, e.content = row.content, \
             e.entity_edges = row.entity_edges, e.created_at = {}, e.valid_at = {}",
            dialect.time("row.created_at"),
            dialect.time("row.valid_at")
        ),
    )];
    let mut by_label: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for session in sessions {
        for entity in &session.entities {
            by_label.entry(entity.label).or_default().push(session.entity_row(entity));
        }
    }
    // One statement creates the entity and the edge to it, because other machines delete entities
    // that no episode mentions.
    statements.extend(by_label.into_iter().map(|(label, rows)| {
        let text = format!(
            "UNWIND $rows AS row MATCH (e:Episodic {{uuid: row.episode}}) \
             MERGE (n:Entity {{uuid: row.uuid}}) ON CREATE SET n.created_at = {} \
             SET n:{label}, n.name = row.name, n.group_id = row.group_id, n.summary = row.summary \
             MERGE (e)-[m:MENTIONS {{uuid: row.mention}}]->(n) \
             SET m.group_id = row.group_id, m.created_at = {}",
            dialect.time("row.created_at"),
            dialect.time("row.mentioned_at")
        );
        Statement::with_rows(rows, text)
    }));
    let facts: Vec<Value> = sessions
        .iter()
        .flat_map(|session| session.facts.iter().map(|fact| session.fact_row(fact)))
        .collect();
    if !facts.is_empty() {
        let time = |name: &str| dialect.time(&format!("row.{name}"));
        let text = format!(
            "UNWIND $rows AS row MATCH (a:Entity {{uuid: row.source}}) MATCH (b:Entity {{uuid: row.target}}) \
             MERGE (a)-[r:RELATES_TO {{uuid: row.uuid}}]->(b) \
             SET r.name = row.name, r.fact = row.fact, r.group_id = row.group_id, \
             r.episodes = row.episodes, r.source_node_uuid = row.source, \
             r.target_node_uuid = row.target, r.created_at = {}, r.valid_at = {}, \
             r.reference_time = {}, r.invalid_at = {}, r.expired_at = {}",
            time("created_at"),
            time("valid_at"),
            time("valid_at"),
            time("invalid_at"),
            time("expired_at")
        );
        statements.push(Statement::with_rows(facts, text));
    }
    statements
}

/// Returns a statement that clears the summary of each entity of a forgotten session, because the
/// summary may quote this session. The statement must run before the statements of [`put`], because
/// [`put`] writes the summaries again.
pub fn clear_summaries(removals: &[Removal]) -> Option<Statement> {
    let forgotten = removals.iter().filter(|removal| removal.is_forgotten);
    let ids: Vec<Value> =
        forgotten.flat_map(|removal| &removal.entities).map(|id| json!(id.to_string())).collect();
    let text = "UNWIND $rows AS id MATCH (n:Entity {uuid: id}) SET n.summary = ''";
    (!ids.is_empty()).then(|| Statement::with_rows(ids, text))
}

/// Returns statements that work like Graphiti's `remove_episode`: they remove the references
/// between the episodes and the parts, delete the parts that no other episode contains, and delete
/// whole episodes.
pub fn remove(removals: &[Removal]) -> Vec<Statement> {
    let pairs = |ids_of: fn(&Removal) -> &Vec<Uuid>| -> Vec<Value> {
        let rows = removals.iter().flat_map(|removal| {
            let episode = removal.episode.to_string();
            ids_of(removal)
                .iter()
                .map(move |id| json!({ "uuid": id.to_string(), "episode": episode }))
        });
        rows.collect()
    };
    let mut statements = Vec::new();
    let facts = pairs(|removal| &removal.facts);
    if !facts.is_empty() {
        statements.push(Statement::with_rows(
            facts,
            // FalkorDB uses its index of edges only for a pattern whose end nodes have no labels.
            "UNWIND $rows AS row MATCH ()-[r:RELATES_TO {uuid: row.uuid}]->() \
             SET r.episodes = [x IN r.episodes WHERE x <> row.episode] \
             WITH DISTINCT r WHERE size(r.episodes) = 0 DELETE r",
        ));
    }
    let entities = pairs(|removal| &removal.entities);
    if !entities.is_empty() {
        statements.push(Statement::with_rows(
            entities.clone(),
            "UNWIND $rows AS row MATCH (:Episodic {uuid: row.episode})-[m:MENTIONS]->(:Entity {uuid: row.uuid}) \
             DELETE m",
        ));
        statements.push(Statement::with_rows(
            entities,
            "UNWIND $rows AS row MATCH (n:Entity {uuid: row.uuid}) WITH DISTINCT n \
             WHERE NOT (:Episodic)-[:MENTIONS]->(n) AND NOT (n)-[:RELATES_TO]-(:Entity) DELETE n",
        ));
    }
    let whole: Vec<Value> = removals
        .iter()
        .filter(|removal| removal.removes_episode)
        .map(|removal| json!(removal.episode.to_string()))
        .collect();
    if !whole.is_empty() {
        let text = "UNWIND $rows AS id MATCH (e:Episodic {uuid: id}) DETACH DELETE e";
        statements.push(Statement::with_rows(whole, text));
    }
    statements
}
