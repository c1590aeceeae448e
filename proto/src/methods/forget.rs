//! `graphiti/forget`: removes sessions from the memory, restores them, or lists those that were
//! removed.
//!
//! This is not a tool, because transcripts could instruct an agent to forget sessions.

use serde::{Deserialize, Serialize};

/// The method; answered with [`Forgotten`].
pub const FORGET: &str = "graphiti/forget";

/// The sessions to forget: those that match all given filters of project and time, and those in
/// `sessions`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Forget {
    /// Session ids, their prefixes, or episode ids.
    pub sessions: Vec<String>,
    /// All sessions of this project: its namespace or its directory.
    pub project: Option<String>,
    /// Sessions with messages on or after this day, such as 2026-03-01.
    pub after: Option<String>,
    /// Sessions with messages before this day.
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
    /// The sessions; those that were or would be forgotten begin with the latest.
    pub sessions: Vec<ForgottenRow>,
    /// Number of their messages.
    pub messages: u64,
    /// Number of their episodes.
    pub episodes: u64,
    /// The sum, over their episodes, of the nodes and facts that each one mentions. Nodes and facts
    /// that other episodes also mention count, but are not removed.
    pub things: u64,
    /// Number of their events in the spool.
    pub events: u64,
    /// Sessions that share text with them and are kept.
    pub relatives: Vec<ForgottenRow>,
}

/// A session that was or would be forgotten, or was restored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ForgottenRow {
    /// The agent's id of the session.
    pub session_id: String,
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
    /// Whether the transcript exists; false in a list of sessions that were forgotten earlier.
    pub exists: bool,
}
