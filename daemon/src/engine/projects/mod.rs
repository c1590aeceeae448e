//! Determines which directories belong to the same project: a repository with its worktrees,
//! sub-folders and clones.
//!
//! Each session records the directory in which it was started. The database stores the episodes of
//! the session under the namespace of this directory. [`Projects`] reads the repository and the
//! remote of each such directory from Git's files, and saves them, so that they are still known
//! when the folder does not exist any more. [`Projects`] finds the directories that share a
//! repository or a remote.

mod git;
mod groups;
mod identity;
mod remote;
mod repository;

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    iter,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use self::groups::Groups;
pub use self::identity::{Identity, ProjectIdentity};
use crate::{
    engine::redaction,
    model::{Namespace, Project, Timestamp},
    store::{Note, NoteNamespace, Store, StoreError, Write},
};

/// The version of the form on disk.
const VERSION: u32 = 1;
/// Time after which Git's files of a directory are read again.
const RECHECK_AFTER: Duration = Duration::from_secs(600);
/// Maximum number of known directories; further directories are not recorded.
const MAX_PROJECTS: usize = 20_000;

/// The directories of sessions, with their repositories.
pub struct Projects {
    store: Arc<dyn Store>,
    known: RwLock<BTreeMap<Namespace, KnownProject>>,
    /// The groups of the directories in `known`. A new directory is added here before it is added
    /// to `known`. Other changes of `known` are applied here afterwards, by `group_again`.
    groups: RwLock<Groups>,
    /// The user's home folder. A repository whose root is this folder usually contains settings, so
    /// the folders in it do not count as one project.
    home: Option<PathBuf>,
}

/// The result of looking up a project by its name, remote or namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamedProject {
    /// The directories of the project.
    Known(Vec<Namespace>),
    /// Several projects have this name. Contains the paths of their directories.
    Ambiguous(Vec<String>),
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct KnownProject {
    project: Project,
    identity: Identity,
    /// When Git's files were read last in this run.
    checked_at: Option<Timestamp>,
}

/// The form on disk.
#[derive(Serialize, Deserialize)]
struct ProjectRecord {
    version: u32,
    path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    repository: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    remote: Option<String>,
}

impl Projects {
    /// Loads the known directories. A record that is damaged or cannot be parsed is skipped, and is
    /// created again later.
    pub(super) fn load(store: Arc<dyn Store>, home: Option<PathBuf>) -> Result<Self, StoreError> {
        let mut known = BTreeMap::new();
        for (_, content) in store.undamaged_notes(NoteNamespace::Projects)? {
            let Ok(record) = serde_json::from_slice::<ProjectRecord>(&content) else { continue };
            let project = Project::new(&record.path);
            let identity = Identity { repository: record.repository, remote: record.remote };
            let namespace = project.namespace();
            known.insert(namespace, KnownProject { project, identity, checked_at: None });
        }
        let groups = RwLock::new(Groups::of(known.values()));
        Ok(Projects { store, known: RwLock::new(known), groups, home })
    }

    /// Records the directory of a session, with its repository and remote. Blocks, because this
    /// function reads files.
    pub(super) fn note(&self, project: &Project, now: Timestamp) {
        let namespace = project.namespace();
        let before = self.read().get(&namespace).cloned();
        let is_fresh = |known: &KnownProject| {
            known.checked_at.is_some_and(|checked| now.since(checked) < RECHECK_AFTER)
        };
        let is_full = before.is_none() && self.read().len() >= MAX_PROJECTS;
        if is_full || before.as_ref().is_some_and(is_fresh) {
            return;
        }
        let identity = self.identity(project);
        self.put(project, identity, before.as_ref(), Some(now));
    }

    fn put(
        &self,
        project: &Project,
        identity: Identity,
        before: Option<&KnownProject>,
        checked_at: Option<Timestamp>,
    ) {
        let is_moved = before.is_some_and(|before| before.identity != identity);
        let is_new = before.is_none();
        if is_new || is_moved {
            self.save(project, &identity);
        }
        if is_new {
            let mut groups = self.groups.write().unwrap_or_else(PoisonError::into_inner);
            groups.add(project, &identity);
        }
        let known = KnownProject { project: project.clone(), identity, checked_at };
        self.write().insert(project.namespace(), known);
        if is_moved {
            self.group_again();
        }
    }

    /// Records the directories of all sessions, and drops the directories without a session. Stops
    /// when `go_on` returns false.
    pub(super) fn note_all(&self, now: Timestamp, go_on: &dyn Fn() -> bool) {
        // The visit does not find sessions that are imported meanwhile.
        let known_before: HashSet<Namespace> = self.read().keys().copied().collect();
        let mut projects = BTreeSet::new();
        let visited = self.store.visit_sessions(&mut |session| {
            projects.extend(session.project);
            go_on()
        });
        if let Err(error) = &visited {
            tracing::warn!(%error, "cannot list the directories of all sessions");
        }
        for project in projects.iter().take_while(|_| go_on()) {
            self.note(project, now);
        }
        // If the visit failed or was stopped, the list of projects is incomplete, so no directory
        // is dropped.
        if visited.is_err() || !go_on() {
            return;
        }
        let used: HashSet<Namespace> = projects.iter().map(Project::namespace).collect();
        // If a session was read in the meantime, its directory was checked after `now`.
        let unused = |namespace: &Namespace, known: &KnownProject| {
            let is_old = known.checked_at.is_none_or(|checked| checked <= now);
            is_old && known_before.contains(namespace) && !used.contains(namespace)
        };
        let mut dropped = Vec::new();
        self.write().retain(|namespace, known| {
            let keep = !unused(namespace, known);
            if !keep {
                dropped.push(Write::Note(note_of(*namespace, None)));
            }
            keep
        });
        if !dropped.is_empty() {
            self.group_again();
            // If the write fails, the notes are deleted at the next start.
            let _ = self.store.write(dropped);
        }
    }

    /// Returns the directories of the project that `directory` belongs to. A directory that is
    /// neither known nor in a repository belongs to the project of its nearest known parent.
    pub fn of_directory(&self, directory: &str) -> Vec<Namespace> {
        let project = Project::new(directory);
        let identity = self.identity(&project);
        let members = self.members(&project, &identity);
        let is_known = members.iter().any(|member| self.read().contains_key(member));
        if is_known || identity.repository.is_some() {
            return members;
        }
        let nearest = parents(&project.spelling()).find_map(|parent| {
            let known = self.read();
            let mut all = known.values();
            all.find(|known| known.project.spelling() == parent).cloned()
        });
        nearest.map_or(members, |known| self.members(&known.project, &known.identity))
    }

    /// Returns the directories of the project that a session's directory belongs to.
    pub fn of_namespace(&self, namespace: Namespace) -> Vec<Namespace> {
        let known = self.read().get(&namespace).cloned();
        known.map_or_else(|| vec![namespace], |known| self.members(&known.project, &known.identity))
    }

    /// Returns the identity of the project of a known directory.
    pub fn identity_of(&self, namespace: Namespace) -> Option<ProjectIdentity> {
        let members = self.of_namespace(namespace);
        let known = self.read();
        let mut members: Vec<&KnownProject> =
            members.iter().filter_map(|member| known.get(member)).collect();
        // The result must be the same for all directories of the project.
        members.sort_by_key(|member| (member.identity.repository.is_none(), member.project.path()));
        let first = members.first()?;
        let remote = members.iter().filter_map(|member| member.identity.remote.clone()).min();
        let repository = members.iter().find_map(|member| member.identity.repository.clone());
        let folder = repository.unwrap_or_else(|| first.project.root().spelling());
        let named = remote.as_ref().unwrap_or(&folder);
        let name = named.rsplit('/').find(|part| !part.is_empty()).unwrap_or("project").to_owned();
        let mut folders: Vec<String> = members
            .iter()
            .flat_map(|member| {
                let project = &member.project;
                [project.path().to_owned(), project.root().path().to_owned()]
            })
            .chain(members.iter().filter_map(|member| member.identity.repository.clone()))
            .collect();
        folders.sort_unstable();
        folders.dedup();
        Some(ProjectIdentity { remote, folder, name, folders })
    }

    /// Returns the project whose remote or folder is `given`.
    pub fn identity_named(&self, given: &str) -> Option<ProjectIdentity> {
        let namespaces: Vec<Namespace> = self.read().keys().copied().collect();
        let mut seen = HashSet::new();
        namespaces.into_iter().find_map(|namespace| {
            // All directories of a project have one identity.
            if !seen.insert(namespace) {
                return None;
            }
            seen.extend(self.of_namespace(namespace));
            self.identity_of(namespace).filter(|identity| identity.has_remote_or_folder(given))
        })
    }

    /// Returns an identity with the remote `given` and the name in this remote, for a project whose
    /// folders are not known.
    pub fn identity_of_remote(&self, given: &str) -> Option<ProjectIdentity> {
        let remote = remote::normalized(given)?;
        let name = remote.rsplit('/').find(|part| !part.is_empty())?.to_owned();
        Some(ProjectIdentity { remote: Some(remote), name, ..ProjectIdentity::default() })
    }

    /// Returns the namespaces of all known spellings of a directory, without the other directories
    /// of its project.
    pub fn spellings_of(&self, directory: &str) -> Vec<Namespace> {
        let project = Project::new(directory);
        let spelling = project.spelling();
        let own = project.namespace();
        let known = self.read();
        let same = known.values().filter(|known| known.project.spelling() == spelling);
        let others = same.map(|known| known.project.namespace()).filter(|other| *other != own);
        iter::once(own).chain(others).collect()
    }

    /// Returns the project with this namespace, remote or name. The host of a remote may be left
    /// out.
    pub fn named(&self, given: &str) -> NamedProject {
        if let Some(namespace) = Namespace::parse(given)
            && self.read().contains_key(&namespace)
        {
            return NamedProject::Known(self.of_namespace(namespace));
        }
        let remote = remote::normalized(given);
        let name = given.to_lowercase();
        let end = remote.as_ref().filter(|remote| remote.contains('/'));
        let end = end.map(|remote| format!("/{remote}"));
        let tests: [&dyn Fn(&KnownProject) -> bool; 4] = [
            &|known| remote.is_some() && known.identity.remote == remote,
            &|known| {
                let known = known.identity.remote.as_ref().zip(end.as_ref());
                known.is_some_and(|(known, end)| known.ends_with(end))
            },
            &|known| known.names().any(|one| one == name),
            &|known| known.project.name().to_lowercase() == name,
        ];
        for test in tests {
            let matches: Vec<KnownProject> =
                self.read().values().filter(|known| test(known)).cloned().collect();
            let Some(first) = matches.first() else { continue };
            let members = self.members(&first.project, &first.identity);
            let others = matches.iter().filter(|one| !members.contains(&one.project.namespace()));
            let mut others: Vec<String> = others.map(|one| one.project.path().to_owned()).collect();
            if others.is_empty() {
                return NamedProject::Known(members);
            }
            others.insert(0, first.project.path().to_owned());
            return NamedProject::Ambiguous(others);
        }
        NamedProject::Unknown
    }

    /// Returns the directories of the project with this name, remote or namespace. The list is
    /// empty if no project or several projects match.
    pub fn known_by(&self, name: &str) -> Vec<Namespace> {
        match self.named(name) {
            NamedProject::Known(members) => members,
            NamedProject::Ambiguous(_) | NamedProject::Unknown => Vec::new(),
        }
    }

    /// Returns the path of a directory that is known.
    pub fn path(&self, namespace: Namespace) -> Option<String> {
        self.read().get(&namespace).map(|known| known.project.path().to_owned())
    }

    /// Returns the repository and the remote of a directory, from Git's files. If the directory or
    /// its repository does not exist any more, returns the last known values of the directory, or
    /// the values of the known repository that contained the directory.
    fn identity(&self, project: &Project) -> Identity {
        let directory = Path::new(project.path());
        let found = git::repository_of(directory);
        // The folder of a worktree may still exist when its repository is gone.
        if found.is_some() || directory.is_dir() && !git::is_in_worktree_or_submodule(directory) {
            let found = found.filter(|found| !self.is_home(&found.root));
            return found.map_or_else(Identity::default, |found| Identity {
                repository: Some(Project::new(&found.root.to_string_lossy()).spelling()),
                remote: found.remote.map(|remote| redaction::text(&remote).into_owned()),
            });
        }
        let known = self.read();
        if let Some(known) = known.get(&project.namespace()) {
            return known.identity.clone();
        }
        let inside = parents(&project.spelling()).find_map(|parent| {
            let mut identities = known.values().map(|known| &known.identity);
            identities.find(|identity| identity.repository.as_ref() == Some(&parent)).cloned()
        });
        inside.unwrap_or_default()
    }

    fn is_home(&self, root: &Path) -> bool {
        let home = self.home.as_deref();
        home.is_some_and(|home| home == root || home.canonicalize().is_ok_and(|home| home == root))
    }

    /// Returns the namespace of a directory, and then the namespaces of the other directories of
    /// its project.
    fn members(&self, project: &Project, identity: &Identity) -> Vec<Namespace> {
        let groups = self.groups.read().unwrap_or_else(PoisonError::into_inner);
        groups.members(project, identity)
    }

    /// Groups all known directories again, after a directory has left its group.
    fn group_again(&self) {
        let known = self.read();
        let mut groups = self.groups.write().unwrap_or_else(PoisonError::into_inner);
        *groups = Groups::of(known.values());
    }

    fn save(&self, project: &Project, identity: &Identity) {
        let record = ProjectRecord {
            version: VERSION,
            path: project.path().to_owned(),
            repository: identity.repository.clone(),
            remote: identity.remote.clone(),
        };
        let content = serde_json::to_vec(&record).expect("strings become JSON");
        let note = note_of(project.namespace(), Some(content));
        // If the write fails, the next start reads the repository again and creates the note.
        let _ = self.store.write(vec![Write::Note(note)]);
    }

    fn read(&self) -> RwLockReadGuard<'_, BTreeMap<Namespace, KnownProject>> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, BTreeMap<Namespace, KnownProject>> {
        self.known.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the address of a remote in the form in which remotes are compared.
pub(super) fn normalized_remote(address: &str) -> Option<String> {
    remote::normalized(address)
}

/// Returns the parents of a normalised path, the nearest first.
fn parents(spelling: &str) -> impl Iterator<Item = String> {
    let parent = |path: &String| path.rsplit_once('/').map(|(parent, _)| parent.to_owned());
    let first = parent(&spelling.to_owned());
    std::iter::successors(first, parent).filter(|parent| !parent.is_empty())
}

fn note_of(namespace: Namespace, content: Option<Vec<u8>>) -> Note {
    let name = namespace.number().to_be_bytes().to_vec();
    Note { namespace: NoteNamespace::Projects, name, content }
}

#[cfg(test)]
mod tests;
