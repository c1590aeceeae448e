//! Methods that transfer episodes to another machine.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::tools::{SessionRow, get_episodes::EpisodeNode};

/// `graphiti/export`: returns episodes in a format that another machine can import.
pub const EXPORT: &str = "graphiti/export";
/// `graphiti/import`: imports episodes of another machine. The answer is [`ImportReport`].
pub const IMPORT: &str = "graphiti/import";

/// Maximum number of episodes in one import request, and on one page of an export.
pub const MAX_EPISODES: usize = 100;

/// `graphiti/sessions`: returns all sessions, page by page. The answer is [`SessionPage`]. Only the
/// request for the first page reads all sessions; `list_sessions` reads all sessions for each page.
pub const SESSIONS: &str = "graphiti/sessions";

/// The parameters of [`SESSIONS`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionPageRequest {
    /// Only this project: a namespace or a directory.
    pub project: Option<String>,
    /// The member `next` of the previous page.
    pub cursor: Option<String>,
}

/// The answer to [`SESSIONS`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionPage {
    /// The sessions, in the order in which they became known. A page may be empty even if another
    /// page follows.
    pub sessions: Vec<SessionRow>,
    /// The value of `cursor` for the next page; null on the last page.
    pub next: Option<String>,
}

/// The parameters of [`EXPORT`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExportRequest {
    /// Only this project: a namespace or a directory.
    pub project: Option<String>,
    /// The id of an episode, for example `next` of the previous page. Only episodes of sessions
    /// before the session of this episode are returned.
    pub before: Option<String>,
}

/// The answer to [`EXPORT`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExportPage {
    /// The episodes, the latest session first.
    pub episodes: Vec<PortableEpisode>,
    /// The value of `before` for the next page; null on the last page.
    pub next: Option<String>,
}

/// An episode that another machine can import.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PortableEpisode {
    /// The episode in the format of the original Graphiti. Its content includes the origin, and is
    /// sufficient for an import.
    #[serde(flatten)]
    pub episode: EpisodeNode,
    /// The fields of the summary. If it is null, an import stores the Markdown as a text, and reads
    /// only the outcome from it.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub summary: Value,
    /// The entities and facts that the session states, with their times. If they are null, an
    /// import derives them from the summary.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub statements: Value,
    /// The machine from which the episode was imported, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub imported_from: Option<String>,
}

/// The parameters of [`IMPORT`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ImportRequest {
    /// The episodes, at most [`MAX_EPISODES`].
    pub episodes: Vec<PortableEpisode>,
    /// Whether to only report what would be done.
    pub dry_run: bool,
}

/// The answer to [`IMPORT`]. If there is any problem, nothing was imported.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ImportReport {
    /// Number of episodes that are new, or newer than the episodes of an earlier import.
    pub taken: usize,
    /// Number of episodes that exist already, or whose transcripts are on this machine.
    pub known: usize,
    /// Number of episodes of sessions that were forgotten on this machine.
    pub forgotten: usize,
    /// The episodes that cannot be read.
    pub problems: Vec<ImportProblem>,
}

/// An episode that cannot be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ImportProblem {
    /// The index of the episode in the request, from 0.
    pub episode: usize,
    /// The line in the episode's content, from 1.
    pub line: usize,
    /// The error as a sentence.
    pub what: String,
}
