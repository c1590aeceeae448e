//! The identity of a project, by which other machines recognise it.

use super::remote;
use crate::model::Project;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectIdentity {
    /// The remote of the project's repository, normalised.
    pub remote: Option<String>,
    /// The root of the repository or, without a repository, the directory; normalised by
    /// [`Project::spelling`]. Empty if only the remote is known.
    pub folder: String,
    pub name: String,
    /// The paths of the project's directories.
    pub folders: Vec<String>,
}

impl ProjectIdentity {
    /// Whether `given` is the remote or a folder of this project, in any spelling.
    pub fn has_remote_or_folder(&self, given: &str) -> bool {
        let remote = remote::normalized(given);
        let is_remote = self.remote.is_some() && self.remote == remote;
        let spelling = Project::new(given).spelling();
        is_remote || self.folders.iter().any(|folder| Project::new(folder).spelling() == spelling)
    }
}
