//! Nodes and facts in the format of the tools of Graphiti (github.com/getzep/graphiti), with
//! additional members.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::TeamOrigin;

/// An entity of the graph.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct NodeRow {
    /// The id, as a UUID.
    pub uuid: String,
    /// The name in the latest session.
    pub name: String,
    /// `Entity`, and the kind: `File`, `Setting`, `Decision`, ….
    pub labels: Vec<String>,
    /// When the node was stored first, RFC 3339.
    pub created_at: String,
    /// The current facts, in a few sentences.
    pub summary: String,
    /// The namespace of the project (`00000000` for nodes that all projects share), or the setting
    /// `group_id`.
    pub group_id: String,
    /// Further attributes: `aliases`, `first_at`, `last_at`, `episodes`.
    pub attributes: BTreeMap<String, String>,
    /// Why the result has its rank, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
}

/// A fact of the graph.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct FactRow {
    /// The id, as a UUID.
    pub uuid: String,
    /// The namespace of the project, or the setting `group_id`.
    pub group_id: String,
    /// The directory of the project; empty for a fact of all projects, or if the directory is not
    /// known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub project: String,
    /// The node that the fact is about.
    pub source_node_uuid: String,
    /// The node to which the source node is related.
    pub target_node_uuid: String,
    /// The name of the source node.
    pub source_name: String,
    /// The name of the target node.
    pub target_name: String,
    /// The relation: `DECIDED`, `RESOLVED`, `SET_TO`, ….
    pub name: String,
    /// The fact as a sentence.
    pub fact: String,
    /// `hypothesis`, `verified` or `refuted`.
    pub certainty: String,
    /// The older name of `certainty`, until 1.0.
    pub standing: String,
    /// The episodes that state the fact, the earliest session first.
    pub episodes: Vec<String>,
    /// When the fact was stored first, RFC 3339.
    pub created_at: String,
    /// When the fact became true, RFC 3339.
    pub valid_at: String,
    /// When the fact stopped being true, RFC 3339.
    pub invalid_at: Option<String>,
    /// When the end of the fact was stored, RFC 3339.
    pub expired_at: Option<String>,
    /// The transcript lines from which the fact was read.
    pub sources: Vec<SourceLine>,
    /// Further attributes: an error's cause, a setting's value.
    pub attributes: BTreeMap<String, String>,
    /// Who shared the fact, if it is from another machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub team: Option<TeamOrigin>,
    /// Why the result has its rank, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
}

impl FactRow {
    /// Returns the certainty, also if an older daemon sends only the older field.
    pub fn known_certainty(&self) -> &str {
        if self.certainty.is_empty() { &self.standing } else { &self.certainty }
    }
}

/// A line of a transcript.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SourceLine {
    /// The episode of the session.
    pub episode: String,
    /// The session's id.
    pub session_id: String,
    /// A prefix of the id that is unique among all sessions.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub short_id: String,
    /// The number of the file; 0 for the session's own file.
    pub source: u32,
    /// The line, from 1.
    pub line: u64,
    /// The number of the message of this line, or of the last message before it. `get_session`
    /// returns this message even when the transcript no longer exists.
    pub message: Option<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_daemon_sends_the_certainty_in_another_field() {
        let older: FactRow = serde_json::from_str(r#"{ "standing": "refuted" }"#).unwrap();
        assert_eq!(older.known_certainty(), "refuted");
        let current = r#"{ "certainty": "verified", "standing": "verified" }"#;
        let current: FactRow = serde_json::from_str(current).unwrap();
        assert_eq!(current.known_certainty(), "verified");
    }
}
