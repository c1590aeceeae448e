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
    /// A line or a part of a line: only sessions whose edits contain this text.
    pub text: Option<String>,
    /// Only this project: a namespace or a directory.
    pub project: Option<String>,
    /// Maximum number of results, at most 100; 0 returns no results.
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
    /// A message for people, for example about sessions that were indexed for this request or are
    /// pending.
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
    /// When the file was changed, RFC 3339. If this is unknown: the end of the session, or empty
    /// when `text` was given.
    pub at: String,
    /// The change as a sentence; when `text` was given, the first line of the edit's message.
    pub change: String,
    /// The objective of the session, and the reasons for the change.
    pub why: Vec<String>,
    /// The lines of the edit that contain the text, with `+` or `-` before them.
    pub lines: Vec<String>,
    /// The number of the transcript file; 0 for the session's own file.
    pub source: u32,
    /// The number of the message with the change, if it is known.
    pub message: Option<u32>,
}
