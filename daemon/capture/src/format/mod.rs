//! The transcript formats of the agents. A new agent needs one folder here and one entry in
//! [`FORMATS`]. The state that a format keeps between records is a type in its folder.
//! [`Memory::own`] returns the state, so that `memory.rs` does not refer to any agent.
//!
//! A format defines where its agent stores transcripts, which session a file belongs to, and how a
//! record is read. It parses the members that are present, does not depend on a version, and
//! ignores unknown records, because no agent declares its format stable.

mod arguments;
pub mod claude;
pub mod codex;
pub mod copilot;
pub mod cursor;
mod emitter;
pub mod gemini;
mod genai;
pub(crate) mod json;
mod limits;
pub mod mapped;
mod memory;
mod notes;
pub mod opencode;
mod patch;
pub mod pi;
pub mod qwen;
mod registry;
pub(crate) mod repair;
mod seen;
mod tasks;

use std::path::{Path, PathBuf};

pub use self::{
    memory::Memory,
    registry::{FormatHandle, Formats},
};
use crate::{
    database::SessionDatabase,
    model::transcript::Entry,
    records::{RecordSource, Storage},
};

/// The built-in formats, in the order in which they are tried on a file. [`Formats`] adds the
/// formats of the configuration.
pub static FORMATS: &[&dyn Format] = &[
    &claude::Claude,
    &codex::Codex,
    &copilot::Copilot,
    &gemini::Gemini,
    &opencode::Opencode,
    &pi::Pi,
    &qwen::Qwen,
    &cursor::CursorCli,
];

/// The transcript format of one agent.
pub trait Format: Send + Sync {
    /// Returns the agent's name in filters, ids and on screen.
    fn agent(&self) -> &str;

    /// Returns the folders and the databases in which this agent stores transcripts, given the
    /// user's home and environment.
    fn roots(&self, surroundings: &Surroundings<'_>) -> Vec<PathBuf>;

    /// Returns the folder where the agent records its running sessions, if the agent records them.
    fn liveness_folder(&self, _surroundings: &Surroundings<'_>) -> Option<PathBuf> {
        None
    }

    /// Parses one file of the liveness folder.
    fn read_liveness(&self, _text: &str) -> Option<RunningSession> {
        None
    }

    /// Returns the session of a lock file in the liveness folder. The agent locks this file while
    /// the session runs. Only the file's name is examined.
    fn locked_session(&self, _path: &Path) -> Option<String> {
        None
    }

    /// Whether a file may belong to this agent, judged by its path alone.
    fn claims(&self, path: &Path) -> bool;

    /// Returns how a claimed file is stored.
    fn storage(&self, _path: &Path) -> Storage {
        Storage::Lines
    }

    /// Returns the records of a [`Storage::Document`] transcript, each as JSON without a newline,
    /// in the order of the conversation. `None` when the document is incomplete.
    fn records_of(&self, _document: &str) -> Option<Vec<String>> {
        None
    }

    /// Returns the source of the records of a [`Storage::Assembled`] transcript.
    fn record_source(&self) -> Option<&'static dyn RecordSource> {
        None
    }

    /// Returns how to find the sessions in the agent's database, if the agent has a database.
    fn database(&self) -> Option<&'static dyn SessionDatabase> {
        None
    }

    /// Returns the other paths to which this agent may move the transcript at `path`, such as an
    /// archive or a compressed copy. Only one of these files is read.
    fn other_paths(&self, _path: &Path) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Returns the session of a file, judged by its path and its first records, which `head`
    /// contains. `None` when the file is not a transcript of this agent, or when `head` does not
    /// suffice.
    fn identify(&self, path: &Path, head: &str) -> Option<Identity>;

    /// Returns the memory before the first record of the file at `path`. The memory is derived from
    /// the path and from files near the path.
    fn memory_of(&self, _path: &Path) -> Memory {
        Memory::default()
    }

    /// Reads one record and calls `emit` for each item in it, in order.
    ///
    /// `memory` is the state after the earlier records of the same file.
    fn read(
        &self,
        record: &str,
        memory: &mut Memory,
        emit: &mut dyn FnMut(Entry<'_>),
    ) -> Result<RecordVerdict, Unreadable>;

    /// Returns the version of the rules by which records are read. Raise the version when the
    /// format starts to read records that it skipped before, or reads records differently. Files
    /// with skipped records are then read again once.
    fn rules_version(&self) -> u64 {
        1
    }

    /// Whether these rules may read records of a type that older rules skipped.
    fn newly_reads(&self, _record_type: &str) -> bool {
        true
    }

    /// Returns the possible starts of records, to find the next record after a damaged one.
    fn record_starts(&self) -> &'static [&'static str];
}

/// A session that its agent reports as running.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningSession {
    /// The agent's id of the session.
    pub session: String,
    pub pid: u32,
    /// The start time of the process as the system reports it, to detect a reused process id. On
    /// Linux: field 22 of `/proc/<pid>/stat`.
    pub started: Option<u64>,
    pub cwd: Option<String>,
}

pub struct Surroundings<'a> {
    pub home: &'a Path,
    /// Looks up an environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}

/// The session of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The agent's id of the session.
    pub session: String,
    /// The id of the sub-agent, for a sub-agent's file.
    pub sub_agent: Option<String>,
    /// The directory in which the session was started, if the first records or files near the
    /// transcript contain it.
    pub directory: Option<String>,
}

/// The result of reading a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordVerdict {
    Read,
    /// The record has no useful content. Contains the type of the record, for the statistics.
    Skipped(String),
}

/// The text is not a record: invalid JSON or other text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable;

/// Returns the text between the first `open` and the next `close`.
pub(crate) fn between<'t>(text: &'t str, open: &str, close: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(open)?;
    rest.split_once(close).map(|(inside, _)| inside)
}

#[cfg(test)]
mod tests;
