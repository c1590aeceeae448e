//! Creates the indexes that Graphiti uses, if they are missing.

use crate::share::{Dialect, EngineError, GraphEngine, Statement};

/// Graphiti's stop words of full-text indexes.
const STOP_WORDS: &str = "['a', 'is', 'the', 'an', 'and', 'are', 'as', 'at', 'be', 'but', 'by', \
    'for', 'if', 'in', 'into', 'it', 'no', 'not', 'of', 'on', 'or', 'such', 'that', 'their', \
    'then', 'there', 'these', 'they', 'this', 'to', 'was', 'will', 'with']";

/// The range indexes of nodes in FalkorDB: label, properties.
const FALKORDB_NODES: &[(&str, &[&str])] = &[
    ("Entity", &["uuid", "group_id", "name", "created_at"]),
    ("Episodic", &["uuid", "group_id", "created_at", "valid_at"]),
    ("Community", &["uuid"]),
    ("Saga", &["uuid", "group_id", "name"]),
];

/// The range indexes of edges in FalkorDB: name of the edge, properties.
const FALKORDB_EDGES: &[(&str, &[&str])] = &[
    (
        "RELATES_TO",
        &["uuid", "group_id", "name", "created_at", "expired_at", "valid_at", "invalid_at"],
    ),
    ("MENTIONS", &["uuid", "group_id"]),
    ("HAS_MEMBER", &["uuid"]),
    ("HAS_EPISODE", &["uuid", "group_id"]),
    ("NEXT_EPISODE", &["uuid", "group_id"]),
];

/// The full-text indexes of nodes: name (only in Neo4j), label, properties.
const TEXTS: &[(&str, &str, &[&str])] = &[
    ("episode_content", "Episodic", &["content", "source", "source_description", "group_id"]),
    ("node_name_and_summary", "Entity", &["name", "summary", "group_id"]),
    ("community_name", "Community", &["name", "group_id"]),
];

/// The range indexes of Neo4j: name, pattern, property.
const NEO4J: &[(&str, &str, &str)] = &[
    ("entity_uuid", "(n:Entity)", "uuid"),
    ("episode_uuid", "(n:Episodic)", "uuid"),
    ("community_uuid", "(n:Community)", "uuid"),
    ("saga_uuid", "(n:Saga)", "uuid"),
    ("relation_uuid", "()-[n:RELATES_TO]-()", "uuid"),
    ("mention_uuid", "()-[n:MENTIONS]-()", "uuid"),
    ("has_member_uuid", "()-[n:HAS_MEMBER]-()", "uuid"),
    ("has_episode_uuid", "()-[n:HAS_EPISODE]-()", "uuid"),
    ("next_episode_uuid", "()-[n:NEXT_EPISODE]-()", "uuid"),
    ("entity_group_id", "(n:Entity)", "group_id"),
    ("episode_group_id", "(n:Episodic)", "group_id"),
    ("community_group_id", "(n:Community)", "group_id"),
    ("saga_group_id", "(n:Saga)", "group_id"),
    ("relation_group_id", "()-[n:RELATES_TO]-()", "group_id"),
    ("mention_group_id", "()-[n:MENTIONS]-()", "group_id"),
    ("has_episode_group_id", "()-[n:HAS_EPISODE]-()", "group_id"),
    ("next_episode_group_id", "()-[n:NEXT_EPISODE]-()", "group_id"),
    ("name_entity_index", "(n:Entity)", "name"),
    ("saga_name", "(n:Saga)", "name"),
    ("created_at_entity_index", "(n:Entity)", "created_at"),
    ("created_at_episodic_index", "(n:Episodic)", "created_at"),
    ("valid_at_episodic_index", "(n:Episodic)", "valid_at"),
    ("name_edge_index", "()-[n:RELATES_TO]-()", "name"),
    ("created_at_edge_index", "()-[n:RELATES_TO]-()", "created_at"),
    ("expired_at_edge_index", "()-[n:RELATES_TO]-()", "expired_at"),
    ("valid_at_edge_index", "()-[n:RELATES_TO]-()", "valid_at"),
    ("invalid_at_edge_index", "()-[n:RELATES_TO]-()", "invalid_at"),
];

/// Creates the missing indexes of a group.
pub async fn prepare(engine: &dyn GraphEngine, group: &str) -> Result<(), EngineError> {
    for statement in statements(engine.dialect()) {
        match engine.run(group, &[statement]).await {
            // FalkorDB has no `IF NOT EXISTS`.
            Err(EngineError::Rejected(what)) if what.contains("already indexed") => {}
            done => {
                done?;
            }
        }
    }
    Ok(())
}

fn statements(dialect: Dialect) -> Vec<Statement> {
    match dialect {
        Dialect::FalkorDb => falkordb(),
        Dialect::Neo4j => neo4j(),
    }
}

fn falkordb() -> Vec<Statement> {
    let nodes = FALKORDB_NODES.iter().map(|(label, properties)| {
        format!("CREATE INDEX FOR (n:{label}) ON ({})", list(properties))
    });
    let edges = FALKORDB_EDGES.iter().map(|(name, properties)| {
        format!("CREATE INDEX FOR ()-[n:{name}]-() ON ({})", list(properties))
    });
    let texts = TEXTS.iter().map(|(_, label, properties)| {
        format!(
            "CREATE FULLTEXT INDEX FOR (n:{label}) ON ({}) OPTIONS {{stopwords: {STOP_WORDS}}}",
            list(properties)
        )
    });
    let facts =
        "CREATE FULLTEXT INDEX FOR ()-[n:RELATES_TO]-() ON (n.name, n.fact, n.group_id)".to_owned();
    nodes.chain(edges).chain(texts).chain([facts]).map(Statement::plain).collect()
}

fn neo4j() -> Vec<Statement> {
    let ranges = NEO4J.iter().map(|(name, pattern, property)| {
        format!("CREATE INDEX {name} IF NOT EXISTS FOR {pattern} ON (n.{property})")
    });
    let texts = TEXTS.iter().map(|(name, label, properties)| {
        format!(
            "CREATE FULLTEXT INDEX {name} IF NOT EXISTS FOR (n:{label}) ON EACH [{}]",
            list(properties)
        )
    });
    let facts = "CREATE FULLTEXT INDEX edge_name_and_fact IF NOT EXISTS FOR ()-[n:RELATES_TO]-() \
                 ON EACH [n.name, n.fact, n.group_id]"
        .to_owned();
    ranges.chain(texts).chain([facts]).map(Statement::plain).collect()
}

/// Formats the properties of `n` as a list.
fn list(properties: &[&str]) -> String {
    properties.iter().map(|name| format!("n.{name}")).collect::<Vec<_>>().join(", ")
}
