//! `graphiti/share`: reports the state of the graph that is shared with others, fills the graph,
//! checks its engine (the graph database), and previews the data that a project would share.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The name of the method. The answer is [`ShareAnswer`].
pub const SHARE: &str = "graphiti/share";

/// The parameters of [`SHARE`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ShareRequest {
    /// What to do in addition to the report.
    pub action: ShareAction,
    /// The project to preview or to identify, given as a directory, namespace, remote or name.
    pub project: Option<String>,
    /// The id of an episode, for example `next` of the previous page of a preview. Only episodes of
    /// sessions before the session of this episode are returned.
    pub before: Option<String>,
}

/// The actions of [`SHARE`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShareAction {
    /// Only report the state.
    #[default]
    Status,
    /// Show the data of one project that would leave the machine.
    Preview,
    /// Identify a project.
    Project,
    /// Write all shared sessions again, in the background.
    Fill,
    /// Check the engine: its version, its indexes and the rights of the user.
    Check,
}

/// The answer to [`SHARE`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ShareAnswer {
    /// The state of the shared graph.
    pub status: ShareReport,
    /// The given project, for a preview or to identify the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<SharedProjectRow>,
    /// The nodes and edges of each session, for a preview.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<PreviewSession>,
    /// The results of a check.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<ShareCheck>,
    /// The value of `before` for the next page of a preview; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// One result of the check of the engine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ShareCheck {
    /// Whether the engine passed the check.
    pub is_good: bool,
    /// What was found.
    pub what: String,
    /// How to solve the problem; empty when there is no problem.
    pub remedy: String,
}

/// The state of the shared graph.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ShareReport {
    /// `falkordb` or `neo4j`; empty when nothing is shared.
    pub engine: String,
    /// The address of the engine.
    pub url: String,
    /// Name and version of the engine, once it has answered.
    pub version: String,
    /// The name of the user, as colleagues see it.
    pub name: String,
    /// The name of the machine, as colleagues see it.
    pub machine: String,
    /// The projects whose sessions are written to the graph.
    pub projects: Vec<SharedProjectRow>,
    /// Number of sessions that wait to be compared with the graph, including the rejected sessions.
    /// Only their differences are written.
    pub backlog: usize,
    /// Number of sessions that the engine rejected, or that cannot be removed from the graph
    /// because of a damaged record. Such a session is not sent again until it changes, a fill is
    /// requested or the daemon starts again.
    pub rejected: usize,
    /// Number of sessions that were written since the start of the daemon or the last change of the
    /// settings.
    pub written: u64,
    /// Number of sessions that the current fill has compared; null without a fill.
    pub fill_done: Option<usize>,
    /// Number of sessions of the current fill; null without a fill.
    pub fill_total: Option<usize>,
    /// Why the graph is not up to date at present.
    pub error: Option<String>,
    /// When the engine last accepted changes, RFC 3339.
    pub last_success: Option<String>,
}

/// A shared project, or the project that the request named.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SharedProjectRow {
    /// The entry in the settings: a remote or a folder. For an identified project, its remote, or
    /// its folder if the project has no remote.
    pub named: String,
    /// The group in the graph; empty when no session of the project is known.
    pub group: String,
    /// The name of the project.
    pub name: String,
    /// For an identified project: the entries of the settings that match it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub entries: Vec<String>,
}

/// The nodes and edges of one session, as they would be written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PreviewSession {
    /// The node `Episodic`.
    pub episode: Value,
    /// The nodes `Entity`, with the edges `MENTIONS` to them.
    pub entities: Vec<Value>,
    /// The edges `RELATES_TO`.
    pub facts: Vec<Value>,
}
