//! Builds the statements that read the graph, and parses the rows of the results. Other programs
//! may have written the rows, so the rows may contain anything.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::{
    model::Timestamp,
    share::{Dialect, Row, Statement},
};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundEpisode {
    pub id: String,
    pub name: String,
    pub description: String,
    pub content: String,
    pub at: Timestamp,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundFact {
    pub id: String,
    pub relation: String,
    pub sentence: String,
    pub source: FoundEntity,
    pub target: FoundEntity,
    /// The episodes that state the fact; the first of these episodes created the fact.
    pub episodes: Vec<String>,
    pub created_at: Timestamp,
    pub valid_at: Timestamp,
    pub invalid_at: Option<Timestamp>,
    pub expired_at: Option<Timestamp>,
}

/// The source or target of a fact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundEntity {
    pub id: String,
    pub name: String,
}

/// Maximum number of words of a query.
const MAX_WORDS: usize = 24;
/// Words that do not help a search: the stop words of Graphiti's indexes, and words of questions.
const STOP_WORDS: &str = " a is the an and are as at be but by for if in into it no not of on or such \
    that their then there these they this to was will with what why how when where who which did do \
    does we i you my our your have has had can should would could about from ";

/// Returns the words of a question for the full-text index, without stop words if there are other
/// words. The returned words contain no operators of the query language of the index.
pub fn words(question: &str) -> Vec<String> {
    let lower = question.to_lowercase();
    let all = lower.split(|c: char| !c.is_alphanumeric() && c != '_');
    let all: Vec<&str> =
        all.filter(|word| word.chars().any(char::is_alphanumeric) && word.len() < 64).collect();
    let is_full = |word: &&str| !STOP_WORDS.contains(&format!(" {word} ")) && word.len() > 1;
    let full: Vec<&str> = all.iter().copied().filter(|word| is_full(word)).collect();
    let mut known = BTreeSet::new();
    let chosen = if full.is_empty() { all } else { full };
    let chosen = chosen.into_iter().filter(|word| known.insert(word.to_string()));
    chosen.take(MAX_WORDS).map(str::to_owned).collect()
}

/// Finds the episodes of a group that contain some of the words, best first, without their
/// contents. The episodes of this machine, whose description ends with `own`, come last, so that
/// they do not displace the episodes of others.
pub fn episodes(
    dialect: Dialect,
    group: &str,
    words: &[String],
    own: &str,
    limit: usize,
) -> Statement {
    let call = match dialect {
        Dialect::FalkorDb => "CALL db.idx.fulltext.queryNodes('Episodic', $query)",
        Dialect::Neo4j => "CALL db.index.fulltext.queryNodes('episode_content', $query)",
    };
    let text = format!(
        "{call} YIELD node AS e, score WITH e, score WHERE e.group_id = $group \
         WITH e, score, e.source_description ENDS WITH $own AS is_own \
         ORDER BY is_own, score DESC LIMIT {limit} RETURN {EPISODE}, score"
    );
    full_text_statement(dialect, group, words, text).and("own", json!(own))
}

/// Finds the facts of a group that contain some of the words, best first.
pub fn facts(dialect: Dialect, group: &str, words: &[String], limit: usize) -> Statement {
    let text = facts_text(dialect, "WITH r, score ", "score DESC", limit);
    full_text_statement(dialect, group, words, text)
}

/// Same as [`facts`], but the facts of this machine come last: those whose first episode has a
/// description that ends with `own`. This takes longer, because the first episode of each matching
/// fact is looked up.
pub fn facts_of_others_first(
    dialect: Dialect,
    group: &str,
    words: &[String],
    own: &str,
    limit: usize,
) -> Statement {
    let of_others = "WITH r, score, r.episodes[0] AS first MATCH (e:Episodic {uuid: first}) \
                     WITH r, score, e.source_description ENDS WITH $own AS is_own ";
    let text = facts_text(dialect, of_others, "is_own, score DESC", limit);
    full_text_statement(dialect, group, words, text).and("own", json!(own))
}

fn facts_text(dialect: Dialect, columns: &str, order: &str, limit: usize) -> String {
    let call = match dialect {
        Dialect::FalkorDb => "CALL db.idx.fulltext.queryRelationships('RELATES_TO', $query)",
        Dialect::Neo4j => "CALL db.index.fulltext.queryRelationships('edge_name_and_fact', $query)",
    };
    // `startNode` and `endNode` are used, because a pattern with the id of the edge would scan all
    // entities.
    format!(
        "{call} YIELD relationship AS r, score WITH r, score WHERE r.group_id = $group \
         {columns}ORDER BY {order} LIMIT {limit} \
         WITH r, score, startNode(r) AS a, endNode(r) AS b \
         RETURN r.uuid AS uuid, r.name AS name, r.fact AS fact, r.episodes AS episodes, \
         a.uuid AS source, a.name AS source_name, b.uuid AS target, b.name AS target_name, \
         toString(r.created_at) AS created_at, toString(r.valid_at) AS valid_at, \
         toString(r.invalid_at) AS invalid_at, toString(r.expired_at) AS expired_at, score"
    )
}

/// Finds the latest episodes of a group since a time, without their contents. Episodes whose
/// description ends with `own` come last.
pub fn latest(
    dialect: Dialect,
    group: &str,
    since: Timestamp,
    own: &str,
    limit: usize,
) -> Statement {
    let text = format!(
        "MATCH (e:Episodic) WHERE e.valid_at >= {} AND e.group_id = $group \
         WITH e, e.source_description ENDS WITH $own AS is_own \
         ORDER BY is_own, e.valid_at DESC LIMIT {limit} RETURN {EPISODE}",
        dialect.time("$since")
    );
    let parameters = [("group", json!(group)), ("own", json!(own))];
    with(text, parameters).and("since", json!(super::node::time(since)))
}

/// Reads episodes with their contents.
pub fn contents(ids: &[String]) -> Statement {
    let text = format!(
        "UNWIND $ids AS id MATCH (e:Episodic {{uuid: id}}) RETURN {EPISODE}, e.content AS content"
    );
    with(text, [("ids", json!(ids))])
}

/// Reads episodes without their contents.
pub fn episodes_without_contents(ids: &[String]) -> Statement {
    let text = format!("UNWIND $ids AS id MATCH (e:Episodic {{uuid: id}}) RETURN {EPISODE}");
    with(text, [("ids", json!(ids))])
}

/// Lists the indexes. The column `entity` is the label or relation, and `kinds` the type of index.
pub fn indexes(dialect: Dialect) -> Statement {
    Statement::plain(match dialect {
        Dialect::FalkorDb => {
            "CALL db.indexes() YIELD label, types RETURN label AS entity, types AS kinds"
        }
        Dialect::Neo4j => {
            "SHOW INDEXES YIELD labelsOrTypes, type RETURN labelsOrTypes AS entity, type AS kinds"
        }
    })
}

/// The columns of an episode.
const EPISODE: &str = "e.uuid AS uuid, e.name AS name, e.source_description AS description, \
                       toString(e.valid_at) AS valid_at";

fn full_text_statement(dialect: Dialect, group: &str, words: &[String], text: String) -> Statement {
    let query = match dialect {
        Dialect::FalkorDb => words.join("|"),
        // All groups are in one index.
        Dialect::Neo4j => format!("group_id:\"{group}\" AND ({})", words.join(" OR ")),
    };
    with(text, [("group", json!(group)), ("query", json!(query))])
}

fn with<const N: usize>(text: String, parameters: [(&str, Value); N]) -> Statement {
    let parameters = parameters.into_iter().map(|(name, value)| (name.to_owned(), value));
    Statement { text, parameters: Map::from_iter(parameters) }
}

impl FoundEpisode {
    /// Reads a row. Returns `None` if the row has no id.
    pub fn of(row: &Row) -> Option<FoundEpisode> {
        Some(FoundEpisode {
            id: id(row, "uuid")?,
            name: text(row, "name"),
            description: text(row, "description"),
            content: text(row, "content"),
            at: time(row, "valid_at").unwrap_or_default(),
        })
    }
}

impl FoundFact {
    /// Reads a row. Returns `None` if the row has no id.
    pub fn of(row: &Row) -> Option<FoundFact> {
        let end = |id: &str, name: &str| FoundEntity { id: text(row, id), name: text(row, name) };
        Some(FoundFact {
            id: id(row, "uuid")?,
            relation: text(row, "name"),
            sentence: text(row, "fact"),
            source: end("source", "source_name"),
            target: end("target", "target_name"),
            episodes: ids(row, "episodes"),
            created_at: time(row, "created_at").unwrap_or_default(),
            valid_at: time(row, "valid_at").unwrap_or_default(),
            invalid_at: time(row, "invalid_at"),
            expired_at: time(row, "expired_at"),
        })
    }
}

fn id(row: &Row, column: &str) -> Option<String> {
    Some(text(row, column)).filter(|id| !id.is_empty())
}

/// Reads a list of ids. FalkorDB returns a list as the text `[a, b]`.
fn ids(row: &Row, column: &str) -> Vec<String> {
    match row.get(column) {
        Some(Value::Array(ids)) => {
            ids.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        Some(Value::String(text)) => {
            let ids = text.trim_matches(['[', ']']).split(',').map(str::trim);
            ids.filter(|id| !id.is_empty()).map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}

fn text(row: &Row, column: &str) -> String {
    row.get(column).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn time(row: &Row, column: &str) -> Option<Timestamp> {
    row.get(column).and_then(Value::as_str).and_then(Timestamp::parse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_question_contain_no_operators() {
        assert_eq!(words("Why did the pool_size change (@x:{y})?"), ["pool_size", "change"]);
        assert_eq!(words("how is it"), ["how", "is", "it"]);
        assert_eq!(words("größe größe, Größe"), ["größe"]);
        assert_eq!(words(" -\"*%~ __ "), [""; 0]);
        assert_eq!(words(&"a1 b2 c3 d4 e5 ".repeat(9)).len(), 5);
    }

    #[test]
    fn a_query_covers_one_group_in_each_dialect() {
        let words = ["pool".to_owned(), "size".to_owned()];
        let falkordb = episodes(Dialect::FalkorDb, "app_1", &words, ", by Ann on desk", 7);
        assert_eq!(falkordb.parameters["query"], "pool|size");
        assert!(
            falkordb.text.contains("WHERE e.group_id = $group")
                && falkordb.text.contains("ORDER BY is_own, score DESC LIMIT 7")
        );
        assert_eq!(falkordb.parameters["own"], ", by Ann on desk");
        let neo4j = facts(Dialect::Neo4j, "app_1", &words, 7);
        assert_eq!(neo4j.parameters["query"], "group_id:\"app_1\" AND (pool OR size)");
        assert!(neo4j.text.contains("'edge_name_and_fact'"), "{}", neo4j.text);
    }

    #[test]
    fn rows_of_any_content_are_read() {
        let row = |value: Value| value.as_object().cloned().unwrap();
        let fact = FoundFact::of(&row(json!({
            "uuid": "f", "name": "SET_TO", "fact": "x", "episodes": ["e", 7], "source": null,
            "valid_at": "2026-03-01T10:00:00.000000+00:00", "invalid_at": null,
        })));
        let fact = fact.unwrap();
        assert_eq!((fact.episodes, fact.invalid_at), (vec!["e".to_owned()], None));
        assert_eq!(fact.valid_at, Timestamp::parse("2026-03-01T10:00:00Z").unwrap());
        let of_falkordb = FoundFact::of(&row(json!({ "uuid": "f", "episodes": "[e, d]" })));
        assert_eq!(of_falkordb.unwrap().episodes, ["e", "d"]);
        assert_eq!(FoundEpisode::of(&row(json!({ "uuid": 7 }))), None);
        assert_eq!(FoundEpisode::of(&row(json!({ "uuid": "e", "name": [] }))).unwrap().name, "");
    }
}
