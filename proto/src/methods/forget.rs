//! `graphiti/forget`: removes sessions from the memory, restores sessions, or lists the removed
//! sessions.
//!
//! This is not a tool, because transcripts could instruct an agent to forget sessions.

use serde::{Deserialize, Serialize};

/// The name of the method. The answer is [`Forgotten`].
pub const FORGET: &str = "graphiti/forget";

/// The sessions to forget: the sessions in `sessions` that match all filters. If `sessions` is
/// empty, all sessions that match all filters. Without sessions and filters, nothing is forgotten,
/// and the sessions that were forgotten earlier are listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Forget {
    /// Session ids, their prefixes, or episode ids.
    pub sessions: Vec<String>,
    /// Only sessions of this project, given as a namespace or a directory. A wish for all projects
    /// that was remembered in this project is forgotten only if `sessions` contains it.
    pub project: Option<String>,
    /// Only sessions with messages on or after this day, such as 2026-03-01.
    pub after: Option<String>,
    /// Only sessions with messages before this day.
    pub before: Option<String>,
    /// Whether to only report what would be removed.
    pub dry_run: bool,
    /// Whether to restore `sessions` instead of removing them.
    pub undo: bool,
}

impl Default for Forget {
    fn default() -> Forget {
        Forget {
            sessions: Vec::new(),
            project: None,
            after: None,
            before: None,
            dry_run: true,
            undo: false,
        }
    }
}

/// The sessions that were or would be forgotten. With `undo`, the sessions that were restored. For
/// a request without sessions and filters, the sessions that were forgotten earlier. Restored and
/// listed sessions have only `session_id`, `agent`, `at` and (if restored) `exists`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Forgotten {
    /// The sessions. In a list of sessions that were or would be forgotten, the latest is first.
    pub sessions: Vec<ForgottenRow>,
    /// Number of messages of the sessions.
    pub messages: u64,
    /// Number of episodes of the sessions.
    pub episodes: u64,
    /// Sum of the numbers of nodes and facts that each of these episodes mentions. Nodes and facts
    /// that other episodes mention, too, are counted, but are not removed.
    pub things: u64,
    /// Number of events of the sessions in the spool.
    pub events: u64,
    /// Other sessions that share text with these sessions and are kept.
    pub relatives: Vec<ForgottenRow>,
    /// The agent's ids of the sessions with damaged messages. These messages are not recognised in
    /// copies of the transcripts, so they may be read again from a copy.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<String>,
}

/// A session that was or would be forgotten, or was restored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ForgottenRow {
    /// The agent's id of the session.
    pub session_id: String,
    /// A prefix of the id that is unique among all sessions; empty for restored and listed
    /// sessions.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub short_id: String,
    /// The name of the agent.
    pub agent: String,
    /// The title; empty when the session was never read, or when its text was removed.
    pub title: String,
    /// The project's directory; empty while unknown.
    pub project: String,
    /// Time of the last activity or of the removal, RFC 3339.
    pub at: String,
    /// Number of stored messages.
    pub messages: u32,
    /// The path of the transcript, which is not removed.
    pub file_path: String,
    /// Whether the transcript exists, so that the session can be restored; false in a list of
    /// sessions that were forgotten earlier.
    pub exists: bool,
    /// The source of the text: `transcript`, `memory` (a remembered text) or `import` (another
    /// machine). Only the text of a transcript can be restored. Empty for listed sessions.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub origin: String,
}
