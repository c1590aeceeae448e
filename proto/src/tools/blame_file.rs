//! `blame_file`: returns the sessions that changed a file, and why.

use serde::{Deserialize, Serialize};

use super::SessionRow;

/// The name of the tool.
pub const NAME: &str = "blame_file";

/// The arguments of the tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct BlameArguments {
    /// The file: an absolute path, a path in the project, or only its name.
    pub file: String,
    /// The text of a line, or a part of it: only sessions whose edits contain it.
    pub text: Option<String>,
    /// Only this project: its namespace or its directory.
    pub project: Option<String>,
    /// Maximum number of results, at most 100; 0 for none.
    pub limit: usize,
}

impl Default for BlameArguments {
    fn default() -> BlameArguments {
        BlameArguments { file: String::new(), text: None, project: None, limit: 10 }
    }
}

/// The answer of the tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct BlameAnswer {
    /// A message for people: sessions that were indexed for this request, and pending ones.
    pub message: String,
    /// The file by its path in the project.
    pub file: String,
    /// The files that have the given name, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The changes, the latest first.
    pub changes: Vec<BlameRow>,
}

/// The change of a file by a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct BlameRow {
    /// The session.
    pub session: SessionRow,
    /// When it was changed, RFC 3339.
    pub at: String,
    /// The change as a sentence; when `text` was given, the first line of the edit's message.
    pub change: String,
    /// What the session wanted, and what it said about the file.
    pub why: Vec<String>,
    /// The lines of the edit that contain the text, with `+` or `-` before them.
    pub lines: Vec<String>,
    /// The transcript file, 0 for the session's own.
    pub source: u32,
    /// The message of the change, if it is known.
    pub message: Option<u32>,
}
