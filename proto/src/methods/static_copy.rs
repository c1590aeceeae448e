//! `graphiti/static_copy`: pages of the viewer as files that a browser opens without a server.
//!
//! The client requests pages and writes their files to a folder, because the daemon may have no
//! access to the folder. Then the client requests the pages in `links`, until it has all pages.

use serde::{Deserialize, Serialize};

/// The name of the method. The answer is [`StaticCopyPart`].
pub const STATIC_COPY: &str = "graphiti/static_copy";

/// The parameters of [`STATIC_COPY`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StaticCopyRequest {
    /// The wanted pages, from `links` of earlier answers. If the list is empty, the answer contains
    /// the files that all pages use, and `links` contains the start page.
    pub pages: Vec<String>,
    /// Only sessions and facts of this project, given as a namespace or a directory.
    pub project: Option<String>,
    /// Only sessions with activity, and facts that became true, on or after this day.
    pub since: Option<String>,
}

/// Some files of a copy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StaticCopyPart {
    /// The files of the rendered pages, or the files that all pages use.
    pub files: Vec<StaticCopyFile>,
    /// Number of pages that were rendered, from the start of the wanted pages. The other pages did
    /// not fit into the answer.
    pub rendered: usize,
    /// The pages that the rendered pages link to.
    pub links: Vec<String>,
    /// Number of sessions in the whole copy.
    pub sessions: usize,
}

/// A file of a copy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StaticCopyFile {
    /// The name of the file in the folder: lower-case letters, digits, `-`, `_` and `.`.
    pub name: String,
    /// The content.
    pub text: String,
}
