//! Things and facts as tools answer them: the shapes of Graphiti's own tools, with more beside.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// An entity of the graph.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct NodeRow {
    /// The id, as a UUID.
    pub uuid: String,
    /// What the latest session calls it.
    pub name: String,
    /// `Entity`, and its kind: `File`, `Setting`, `Decision`, ….
    pub labels: Vec<String>,
    /// When it was first known here, RFC 3339.
    pub created_at: String,
    /// What is true of it, in a few sentences.
    pub summary: String,
    /// Its project's namespace; `00000000` for what is the same in all projects.
    pub group_id: String,
    /// More of it by name: `aliases`, `first_at`, `last_at`, `episodes`.
    pub attributes: BTreeMap<String, String>,
    /// Why it ranks where it does, when asked.
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
    /// The namespace of the project.
    pub group_id: String,
    /// What it is about.
    pub source_node_uuid: String,
    /// What that stands in relation to.
    pub target_node_uuid: String,
    /// The same in names.
    pub source_name: String,
    /// The same in names.
    pub target_name: String,
    /// What kind of fact it is: `DECIDED`, `RESOLVED`, `SET_TO`, ….
    pub name: String,
    /// The fact as a sentence.
    pub fact: String,
    /// `hypothesis`, `verified` or `refuted`.
    pub standing: String,
    /// The episodes that state it, the earliest session first.
    pub episodes: Vec<String>,
    /// When it was first known here, RFC 3339.
    pub created_at: String,
    /// Since when it is true, RFC 3339.
    pub valid_at: String,
    /// When it ceased to be true, RFC 3339.
    pub invalid_at: Option<String>,
    /// When that was known here, RFC 3339.
    pub expired_at: Option<String>,
    /// The transcript lines that it was read from.
    pub sources: Vec<SourceLine>,
    /// More of it by name: an error's cause, a setting's value.
    pub attributes: BTreeMap<String, String>,
    /// Why it ranks where it does, when asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
}

/// A line of a transcript.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SourceLine {
    /// The episode of the session.
    pub episode: String,
    /// The session that is meant.
    pub session_id: String,
    /// The file, 0 for the session's own.
    pub source: u32,
    /// The line, from 1.
    pub line: u64,
    /// The message that was kept of it, or the last one before it: `get_session` shows it even when
    /// the transcript is gone.
    pub message: Option<u32>,
}
