//! The check of the files: whether each of them is followed as it should be.

use serde::{Deserialize, Serialize};

/// `graphiti/files`: whether each file is registered once, and every complete line of those that
/// were not written to for a minute is remembered. Looks at every file.
pub const FILES: &str = "graphiti/files";

/// What the daemon answers to [`FILES`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileCheckReport {
    /// The number of files that are followed.
    pub files: u64,
    /// How many paths are registered more than once.
    pub twice: usize,
    /// How many files have lines that are not remembered.
    pub behind: usize,
    /// The first of both, for people.
    pub examples: Vec<String>,
}
