//! `search_sessions`: searches messages and episodes.

use serde::{Deserialize, Serialize};

use super::{Detail, SessionRow, TeamOrigin, errors::ErrorRow};

/// The name of the tool.
pub const NAME: &str = "search_sessions";

/// The arguments of the tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SearchSessionsArguments {
    /// A question, words, "phrases", prefix*, -not, or field:value (project, agent, branch, file,
    /// tool, role, in, date, before, after).
    pub query: String,
    /// Only this project: a namespace or directory.
    pub project: Option<String>,
    /// Only sessions of this agent.
    pub agent: Option<String>,
    /// Only passages of this branch.
    pub branch: Option<String>,
    /// Only sessions that touch this file: its path or an end of it.
    pub file: Option<String>,
    /// Only calls and results of this tool.
    pub tool: Option<String>,
    /// Only messages of this role.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ROLES)))]
    pub role: Option<String>,
    /// Only from this day or time on.
    pub after: Option<String>,
    /// Only before this day or time.
    pub before: Option<String>,
    /// The caller's directory. Sessions of its project rank slightly higher.
    pub near: Option<String>,
    // A structured answer has 10 sessions by default.
    /// Maximum number of sessions, at most 50.
    #[cfg_attr(feature = "schema", schemars(extend("default" = 5)))]
    pub limit: Option<usize>,
    /// `ids` is a line for each session, `full` has longer passages.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "String", extend("enum" = ["ids", "passages", "full"]))
    )]
    pub detail: Detail,
    /// Number of results to skip.
    pub offset: usize,
    /// `team` adds what colleagues shared.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<String>", extend("enum" = super::SCOPES))
    )]
    pub scope: Option<String>,
    /// Whether to explain the rank of each result.
    pub explain: bool,
}

impl Default for SearchSessionsArguments {
    fn default() -> SearchSessionsArguments {
        SearchSessionsArguments {
            query: String::new(),
            project: None,
            agent: None,
            branch: None,
            file: None,
            tool: None,
            role: None,
            after: None,
            before: None,
            near: None,
            limit: None,
            detail: Detail::Passages,
            offset: 0,
            scope: None,
            explain: false,
        }
    }
}

/// The roles of messages; `None` means any role.
#[cfg(feature = "schema")]
const ROLES: [Option<&str>; 5] =
    [Some("user"), Some("assistant"), Some("tool"), Some("recap"), None];

/// The answer of the tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SearchSessionsAnswer {
    /// A message for people, for example about sessions that were indexed for this request or are
    /// pending.
    pub message: String,
    /// The record of the error that the query contains, or of a similar error, if one is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorRow>,
    /// The sessions, best first.
    pub hits: Vec<Hit>,
    /// The `offset` of the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<usize>,
    /// Number of sessions that are still being indexed, or whose summaries a model still writes.
    pub pending: usize,
    /// Words that occur in no session, and the words that were searched instead.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub spelled: Vec<SpelledWord>,
    /// Changed queries that find sessions; only for a model, and only if the query finds no
    /// session.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub broader: Vec<BroaderQuery>,
}

/// A word that was searched in another spelling.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SpelledWord {
    /// The word of the query.
    pub asked: String,
    /// The words that occur in sessions and were searched instead.
    pub used: Vec<String>,
}

/// A change to a query that found nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct BroaderQuery {
    /// The change, such as "without `project`".
    pub change: String,
    /// Number of sessions that the changed query finds.
    pub sessions: usize,
}

/// A session that was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Hit {
    /// The session.
    pub session: SessionRow,
    /// The score, comparable only within one answer.
    pub score: f64,
    /// The matching passages, best first.
    pub passages: Vec<MatchedPassage>,
    /// Why the session has its rank, if requested.
    pub explanation: Option<String>,
    /// Who shared the session, if it is from another machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub team: Option<TeamOrigin>,
}

/// A passage in a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct MatchedPassage {
    /// The role of a message: `user`, `assistant`, `tool` or `recap`; or a part of a summary:
    /// `title`, `objective`, `decisions`, `errors`, `prompts`, `files` or `body`.
    pub role: String,
    /// The time, RFC 3339; empty when unknown.
    pub at: String,
    /// The number of the file; 0 for the session's own file.
    pub source: u32,
    /// The number of the message in the file; 0 for a part of a summary.
    pub seq: u32,
    /// An excerpt of the text.
    pub text: String,
    /// The matching parts of `text`, as byte ranges.
    pub marks: Vec<(usize, usize)>,
}
