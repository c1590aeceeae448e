//! `graphiti/forget`: take sessions out of the memory, everywhere.
//!
//! No tool: what an agent reads may ask it to forget, so only a person does.

use serde::{Deserialize, Serialize};

/// The method; answered with [`Forgotten`].
pub const FORGET: &str = "graphiti/forget";

/// What is to be forgotten. Of project and times, a session has to meet all that are given; those
/// named by their ids come on top.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Forget {
    /// Sessions by their ids, or the beginnings of these, or the ids of their episodes.
    pub sessions: Vec<String>,
    /// All of this project: its namespace or its directory.
    pub project: Option<String>,
    /// With messages on or after this day, such as 2026-03-01.
    pub after: Option<String>,
    /// With messages before this day.
    pub before: Option<String>,
    /// Whether to only report what would be removed.
    pub dry_run: bool,
    /// Restore `sessions` instead of removing them.
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

/// What is forgotten, or would be; when nothing is asked for, what was forgotten before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Forgotten {
    /// The sessions, the latest first.
    pub sessions: Vec<ForgottenRow>,
    /// Number of their messages.
    pub messages: u64,
    /// Number of their episodes.
    pub episodes: u64,
    /// Nodes and facts that only their episodes mention.
    pub things: u64,
    /// Events of theirs that wait in the spool.
    pub events: u64,
    /// Other sessions that share text with them, and stay.
    pub relatives: Vec<ForgottenRow>,
}

/// A session that is forgotten, or comes back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ForgottenRow {
    /// The agent's id of it.
    pub session_id: String,
    /// The name of the agent.
    pub agent: String,
    /// What it was about; empty when it was never read, or is gone.
    pub title: String,
    /// The project's directory; empty while unknown.
    pub project: String,
    /// When something last happened, or when it was forgotten, RFC 3339.
    pub at: String,
    /// Messages kept of it.
    pub messages: u32,
    /// Its transcript, which stays where the agent keeps it.
    pub file_path: String,
    /// Whether its transcript is there, for one that comes back.
    pub exists: bool,
}
