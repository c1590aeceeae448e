//! Records the repositories of imported sessions, and returns where a directory is in its
//! repository.

use std::path::Path;

use super::{Identity, KnownProject, MAX_PROJECTS, Projects};
use crate::{
    lang::paths,
    model::{Namespace, Project},
};

impl Projects {
    /// Records the directory of an imported session or of an added memory. `repository` contains
    /// the repository and the remote of the directory on the other machine. Git's files on this
    /// machine take precedence. Blocks, because this function reads files.
    pub(in crate::engine) fn note_imported(&self, project: &Project, repository: Identity) {
        let before = self.read().get(&project.namespace()).cloned();
        if before.is_none() && self.read().len() >= MAX_PROJECTS {
            return;
        }
        let found = self.identity(project);
        let is_here = found != Identity::default() || Path::new(project.path()).is_dir();
        let identity = if is_here { found } else { self.without_clash(project, repository) };
        let checked_at = before.as_ref().and_then(|before| before.checked_at);
        self.put(project, identity, before.as_ref(), checked_at);
    }

    /// Returns an imported identity. The path of its repository is a path on another machine, so it
    /// is left out in two cases: the path belongs to another repository on this machine, or the
    /// identity has no remote and the directory is not in this path.
    fn without_clash(&self, project: &Project, mut imported: Identity) -> Identity {
        let is_connected = imported.remote.is_some() || imported.folder_of(project).is_some();
        let (repository, remote) = (imported.repository.take(), imported.remote.clone());
        let is_another = |known: &KnownProject, root: &String| {
            known.project.namespace() != project.namespace()
                && known.identity.remote != remote
                && (known.identity.repository.as_ref() == Some(root)
                    || known.project.spelling() == *root)
        };
        let clashes = |root: &String| self.read().values().any(|known| is_another(known, root));
        imported.repository = repository.filter(|root| is_connected && !clashes(root));
        imported
    }

    /// Returns the root of the repository that contains a known directory. Returns the directory
    /// itself if it is in no repository, or in a worktree outside of the repository's folder.
    pub fn root(&self, project: &Project) -> Project {
        match self.repository_of(project.namespace()).folder_of(project) {
            Some(folder) => {
                let depth = folder.split('/').filter(|part| !part.is_empty()).count();
                let up = |path: &str| path.rsplit_once('/').map_or("", |(up, _)| up).to_owned();
                let path = (0..depth).fold(project.path().to_owned(), |path, _| up(&path));
                Project::new(&path)
            }
            None => project.clone(),
        }
    }

    /// Returns the path of a directory in its repository, without the worktree of an agent; `None`
    /// if the directory is in no repository, or in a worktree outside of the repository's folder.
    pub fn folder_in_repository(&self, directory: &Project) -> Option<String> {
        let folder = self.identity(directory).folder_of(directory)?;
        // The pattern of worktrees ends with a separator.
        let inside = format!("{folder}/");
        Some(paths::inside_worktree(&inside).trim_end_matches('/').to_owned())
    }

    /// Returns the last known repository and remote of a directory.
    pub fn repository_of(&self, namespace: Namespace) -> Identity {
        self.read().get(&namespace).map(|known| known.identity.clone()).unwrap_or_default()
    }
}
