//! How each agent writes its transcripts. A new agent is one file here and one line in [`FORMATS`].
//!
//! A format knows three things: where its agent keeps transcripts, which session a file belongs
//! to, and what a record says. It parses by what is present, never by version, and leaves aside
//! what it does not know: no maker declares these formats stable.

pub mod claude;
pub(crate) mod json;
mod queue;
pub(crate) mod repair;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::model::transcript::Entry;

/// Every format, asked in this order whose a file is.
pub static FORMATS: &[&dyn Format] = &[&claude::Claude];

/// How one agent writes its transcripts.
pub trait Format: Sync {
    /// The agent's name in filters, ids and on screen.
    fn agent(&self) -> &'static str;

    /// The folders where this agent keeps transcripts, given the user's home and environment.
    fn roots(&self, surroundings: &Surroundings<'_>) -> Vec<PathBuf>;

    /// The folder where the agent notes which of its sessions run, if it does.
    fn liveness_folder(&self, surroundings: &Surroundings<'_>) -> Option<PathBuf> {
        let _ = surroundings;
        None
    }

    /// Reads one file of that folder.
    fn read_liveness(&self, text: &str) -> Option<RunningSession> {
        let _ = text;
        None
    }

    /// Whether a file may be one of this agent's, judged by its path alone.
    fn claims(&self, path: &Path) -> bool;

    /// Which session a file belongs to, judged by its path and its first records, of which `head`
    /// holds as many as are there (at most 64 KiB). `None` when it is no transcript of this agent.
    fn identify(&self, path: &Path, head: &str) -> Option<Identity>;

    /// Says what one record holds by calling `emit` for each thing in it, in order.
    ///
    /// `memory` is what the format noted on earlier records of the same file.
    fn read(
        &self,
        record: &str,
        memory: &mut Memory,
        emit: &mut dyn FnMut(Entry<'_>),
    ) -> Result<RecordVerdict, Unreadable>;

    /// How records may begin, for finding the next one after a broken one.
    fn record_starts(&self) -> &'static [&'static str];
}

/// A session that its agent says is running.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningSession {
    /// The agent's id of the session.
    pub session: String,
    /// The agent's process.
    pub pid: u32,
    /// What the system said of that process's start, to tell it from a later one of the same
    /// number: on Linux field 22 of its `stat`.
    pub started: Option<u64>,
    /// Its working directory.
    pub cwd: Option<String>,
}

/// The user's home folder and environment, as values.
pub struct Surroundings<'a> {
    /// The user's home folder.
    pub home: &'a Path,
    /// Looks an environment variable up.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}

/// Which session a file belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The agent's id of the session.
    pub session: String,
    /// For a sub-agent's file, the sub-agent's id.
    pub sub_agent: Option<String>,
    /// The directory that it was started in, if the first records say so.
    pub directory: Option<String>,
}

/// What became of a record that is a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordVerdict {
    /// It was read.
    Read,
    /// It holds nothing that anyone needs; its type, for the tally.
    Skipped(String),
}

/// The text is not a record: broken JSON, or something else altogether.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable;

/// What a format notes on the records of one file, saved with the file's cursor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// The working directory last seen.
    pub cwd: String,
    /// The branch last seen.
    pub branch: String,
    /// The agent's version last seen.
    pub version: String,
    /// The model last seen.
    pub model: String,
    /// Prompts that wait for the agent.
    pub(crate) queue: queue::PromptQueue,
}

impl Memory {
    /// Puts `seen` in the place of what was `noted`; says whether that is news.
    pub(crate) fn note(noted: &mut String, seen: &str) -> bool {
        if seen.is_empty() || noted == seen {
            return false;
        }
        seen.clone_into(noted);
        true
    }
}
