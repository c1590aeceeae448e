//! The check of the transcript files that the daemon follows.

use serde::{Deserialize, Serialize};

/// `graphiti/files`: checks that each file is registered once, and that every complete line was
/// read if the file has not changed for a minute. Files of sessions that wait for their import or
/// are being indexed are left out of the second check.
pub const FILES: &str = "graphiti/files";

/// The answer to [`FILES`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileCheckReport {
    /// Number of registered files.
    pub files: u64,
    /// Number of paths that are registered more than once.
    pub twice: usize,
    /// Number of files with lines that were not read.
    pub behind: usize,
    /// Examples of both problems, for people.
    pub examples: Vec<String>,
}
