//! The identity of a project, by which other machines recognise it.

use std::collections::BTreeSet;

use super::{KnownProject, Projects, remote};
use crate::model::Project;

/// The properties that the directories of one project share.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// The repository's root, as [`Project::spelling`] normalises it.
    pub repository: Option<String>,
    /// The remote, normalised.
    pub remote: Option<String>,
}

impl Identity {
    /// Returns the path of a directory relative to the root of the repository; empty for the root
    /// itself. `None` if the directory is not in the repository's folder.
    pub(super) fn folder_of(&self, directory: &Project) -> Option<String> {
        let spelling = directory.spelling();
        let rest = spelling.strip_prefix(self.repository.as_deref()?)?;
        let is_inside = rest.is_empty() || rest.starts_with('/');
        is_inside.then(|| rest.trim_start_matches('/').to_owned())
    }
}

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

impl Projects {
    /// Returns the names of the known projects, in alphabetical order.
    pub fn all_names(&self) -> Vec<String> {
        let names: BTreeSet<String> =
            self.read().values().filter_map(|known| known.names().last()).collect();
        names.into_iter().collect()
    }
}

impl KnownProject {
    /// Returns the names that people use for the project: the name of the repository's folder (or
    /// else of the root folder), and the name in the remote's address.
    pub(super) fn names(&self) -> impl Iterator<Item = String> {
        let Identity { repository, remote } = &self.identity;
        let root = self.project.root().path().to_owned();
        let paths = [repository.clone().or(Some(root)), remote.clone()];
        paths.into_iter().flatten().filter_map(|path| {
            path.rsplit('/').next().map(str::to_lowercase).filter(|name| !name.is_empty())
        })
    }
}
