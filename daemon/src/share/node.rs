//! Nodes and edges in Graphiti's schema.
//!
//! No property may be null except `invalid_at` and `expired_at` of a fact. Each time is written
//! exactly as Graphiti writes it, because FalkorDB compares times as text.

use std::fmt::Write as _;

use serde_json::{Value, json};
use uuid::Uuid;

use crate::{model::Timestamp, share::id};

/// The nodes and edges of one session.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedSession {
    pub group: String,
    pub episode: EpisodicNode,
    pub entities: Vec<EntityNode>,
    pub facts: Vec<FactEdge>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct EpisodicNode {
    pub uuid: Uuid,
    pub name: String,
    /// `text`, `json` or `message`.
    pub source: String,
    pub source_description: String,
    pub content: String,
    pub created_at: Timestamp,
    pub valid_at: Timestamp,
}

#[derive(Clone, Debug, PartialEq)]
pub struct EntityNode {
    pub uuid: Uuid,
    /// The label in addition to `Entity`. It has only letters.
    pub label: &'static str,
    pub name: String,
    pub summary: String,
    pub created_at: Timestamp,
}

/// An edge `RELATES_TO`.
#[derive(Clone, Debug, PartialEq)]
pub struct FactEdge {
    pub uuid: Uuid,
    pub source: Uuid,
    pub target: Uuid,
    pub name: String,
    pub fact: String,
    /// The episodes that state the fact; the first of these episodes created the fact.
    pub episodes: Vec<Uuid>,
    pub created_at: Timestamp,
    pub valid_at: Timestamp,
    pub invalid_at: Option<Timestamp>,
    pub expired_at: Option<Timestamp>,
}

impl SharedSession {
    /// Returns the episode as a row of parameters.
    pub fn episode_row(&self) -> Value {
        let episode = &self.episode;
        let edges: Vec<String> = self.facts.iter().map(|fact| fact.uuid.to_string()).collect();
        json!({
            "uuid": episode.uuid.to_string(),
            "name": episode.name,
            "group_id": self.group,
            "source": episode.source,
            "source_description": episode.source_description,
            "content": episode.content,
            "entity_edges": edges,
            "created_at": time(episode.created_at),
            "valid_at": time(episode.valid_at),
        })
    }

    /// Returns an entity and the edge from the episode to it as a row of parameters.
    pub fn entity_row(&self, entity: &EntityNode) -> Value {
        json!({
            "uuid": entity.uuid.to_string(),
            "name": entity.name,
            "group_id": self.group,
            "summary": entity.summary,
            "created_at": time(entity.created_at),
            "episode": self.episode.uuid.to_string(),
            "mention": id::mention(self.episode.uuid, entity.uuid).to_string(),
            "mentioned_at": time(self.episode.created_at),
        })
    }

    pub fn fact_row(&self, fact: &FactEdge) -> Value {
        let episodes: Vec<String> = fact.episodes.iter().map(Uuid::to_string).collect();
        json!({
            "uuid": fact.uuid.to_string(),
            "source": fact.source.to_string(),
            "target": fact.target.to_string(),
            "name": fact.name,
            "fact": fact.fact,
            "group_id": self.group,
            "episodes": episodes,
            "created_at": time(fact.created_at),
            "valid_at": time(fact.valid_at),
            "invalid_at": fact.invalid_at.map(time),
            "expired_at": fact.expired_at.map(time),
        })
    }
}

/// Writes a time as Graphiti does: `YYYY-MM-DDTHH:MM:SS.ffffff+00:00`.
pub fn time(at: Timestamp) -> String {
    let text = at.to_string();
    let text = text.trim_end_matches('Z');
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut written = format!("{seconds}.");
    // Writing to a string cannot fail.
    let _ = write!(written, "{fraction:0<6.6}+00:00");
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_always_have_the_same_length() {
        for (given, wanted) in [
            ("2026-03-01T10:00:00Z", "2026-03-01T10:00:00.000000+00:00"),
            ("2026-03-01T10:00:00.5Z", "2026-03-01T10:00:00.500000+00:00"),
            ("2026-03-01T10:00:00.123456Z", "2026-03-01T10:00:00.123456+00:00"),
        ] {
            assert_eq!(time(Timestamp::parse(given).unwrap()), wanted);
        }
    }
}
