//! Episodes on their way to another machine.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::tools::{SessionRow, get_episodes::EpisodeNode};

/// `graphiti/export`: episodes in a form that another machine can import.
pub const EXPORT: &str = "graphiti/export";
/// `graphiti/import`: imports episodes of another machine; answered with [`ImportReport`].
pub const IMPORT: &str = "graphiti/import";

/// Maximum number of episodes in one request.
pub const MAX_EPISODES: usize = 100;

/// `graphiti/sessions`: all sessions, page by page, each page read once; answered with
/// [`SessionPage`]. `list_sessions` sorts all sessions for every page.
pub const SESSIONS: &str = "graphiti/sessions";

/// What a client says with [`SESSIONS`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionPageRequest {
    /// Only this project: its namespace or its directory.
    pub project: Option<String>,
    /// `next` of the page before.
    pub cursor: Option<String>,
}

/// What the daemon answers to [`SESSIONS`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionPage {
    /// The sessions, in the order in which they became known.
    pub sessions: Vec<SessionRow>,
    /// Where the next page begins; none when this was the last.
    pub next: Option<String>,
}

/// What a client says with [`EXPORT`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExportRequest {
    /// Only this project: its namespace or its directory.
    pub project: Option<String>,
    /// Only those before this episode: `next` of the page before.
    pub before: Option<String>,
}

/// What the daemon answers to [`EXPORT`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExportPage {
    /// The episodes, the latest session first.
    pub episodes: Vec<PortableEpisode>,
    /// Where the next page begins; none when this was the last.
    pub next: Option<String>,
}

/// An episode that another machine can import.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PortableEpisode {
    /// The episode in Graphiti's words; its content says where it comes from, and is enough.
    #[serde(flatten)]
    pub episode: EpisodeNode,
    /// Its summary by field, in the words of the documents; what Markdown says of it otherwise.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub summary: Value,
}

/// What a client says with [`IMPORT`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ImportRequest {
    /// The episodes, at most [`MAX_EPISODES`].
    pub episodes: Vec<PortableEpisode>,
    /// Whether to only report what would be done.
    pub dry_run: bool,
}

/// What the daemon answers to [`IMPORT`]. If there is any problem, nothing was imported.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ImportReport {
    /// Episodes that are new here, or newer than an earlier import.
    pub taken: usize,
    /// Episodes that are here already, or whose transcripts are.
    pub known: usize,
    /// Episodes of sessions that were forgotten here.
    pub forgotten: usize,
    /// What cannot be read.
    pub problems: Vec<ImportProblem>,
}

/// An episode that cannot be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ImportProblem {
    /// Which of the request's, from 0.
    pub episode: usize,
    /// In which line of its content, from 1.
    pub line: usize,
    /// What is wrong there.
    pub what: String,
}
