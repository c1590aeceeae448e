//! `graphiti/static_copy`: pages of the viewer as files that a browser opens without a server.
//!
//! The client requests pages and writes their files to a folder, because the daemon may have no
//! access to the folder. It then requests the pages that these pages link to, until it has all.

use serde::{Deserialize, Serialize};

/// The method; answered with [`StaticCopyPart`].
pub const STATIC_COPY: &str = "graphiti/static_copy";

/// The parameters of [`STATIC_COPY`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StaticCopyRequest {
    /// The wanted pages, as earlier answers name them. When empty, the answer has the files that
    /// all pages use, and names the start page.
    pub pages: Vec<String>,
    /// Only sessions and facts of this project: its namespace or its directory.
    pub project: Option<String>,
    /// Only sessions with activity on or after this day, and facts that became true since.
    pub since: Option<String>,
}

/// Some files of a copy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StaticCopyPart {
    /// The files.
    pub files: Vec<StaticCopyFile>,
    /// Number of pages that were rendered, from the start of the wanted pages. The others did not
    /// fit into the answer.
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
