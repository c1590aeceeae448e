//! Resolves the path or the name of a file, as a caller gives it, to the names that the file has in
//! the known directories.

use std::iter;

use super::graph;
use crate::{
    api::{DaemonState, client_context::ClientContext, projects::of_directory},
    engine::entities::Graph,
    model::{Namespace, Project, graph::EntityKind},
    store::StoreError,
};

/// Maximum number of files whose names are compared, for each directory of the client's project:
/// the files that were changed last.
const MAX_NEAR_FILES: usize = 2_000;
/// Same as [`MAX_NEAR_FILES`], for each directory of other projects.
const MAX_FILES: usize = 300;
/// Maximum number of files with the same name.
const MAX_SAME: usize = 20;

/// The name of a file in one project directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileName {
    pub(super) namespace: Namespace,
    pub(super) key: String,
}

/// Returns the names that a file has in the known directories: its path relative to a directory, or
/// its whole path if the file is outside of the directory. A file of a repository has a name in
/// each known directory of a clone or worktree, if the directory contains the file. Names in
/// directories that contain the file are first.
pub(super) fn names(
    daemon: &DaemonState,
    client: &ClientContext,
    file: &str,
    wanted: Option<&[Namespace]>,
) -> Result<Vec<FileName>, StoreError> {
    let projects = daemon.engine.projects();
    let all = daemon.engine.store().projects()?;
    let directory = client.directory.as_deref();
    let path = directory.map_or_else(|| file.to_owned(), |directory| absolute(directory, file));
    let mut names: Vec<FileName> = Vec::new();
    let mut add = |namespace: Namespace, key: &str| {
        let is_wanted = wanted.is_none_or(|wanted| wanted.contains(&namespace));
        let name = FileName { namespace, key: key.to_owned() };
        if is_wanted && !names.contains(&name) {
            names.push(name);
        }
    };
    let named = all.iter().filter_map(|namespace| {
        let root = Project::new(&projects.path(*namespace)?);
        // The graph contains no files of temporary folders, but searches find the edits of such
        // files.
        let key = Graph::file_key(&root, &path)
            .unwrap_or_else(|| root.relative(&path).replace('\\', "/"));
        Some((*namespace, key))
    });
    let named: Vec<(Namespace, String)> = named.collect();
    let folder = |namespace: Namespace| {
        let path = projects.path(namespace)?;
        projects.folder_in_repository(&Project::new(&path))
    };
    // The folder is empty for a directory that is the root of its repository, or that is outside of
    // all repositories.
    let mut add_in_repository = |path: &str, members: Vec<Namespace>| {
        for member in members {
            if let Some(key) = inside(path, &folder(member).unwrap_or_default()) {
                add(member, key);
            }
        }
    };
    for (namespace, key) in named.iter().filter(|(_, key)| !is_whole(key)) {
        let path = joined(&folder(*namespace).unwrap_or_default(), key);
        let others = projects.of_namespace(*namespace).into_iter();
        add_in_repository(&path, iter::once(*namespace).chain(others).collect());
    }
    if let Some(directory) = directory.filter(|_| !is_whole(file)) {
        let project = Project::new(directory);
        let key = file.trim_start_matches("./");
        match projects.folder_in_repository(&project) {
            Some(folder) => {
                add_in_repository(&joined(&folder, key), of_directory(daemon, directory));
            }
            None => add_in_repository(key, vec![project.namespace()]),
        }
    }
    for (namespace, key) in named.iter().filter(|(_, key)| is_whole(key)) {
        add(*namespace, key);
    }
    Ok(names)
}

/// Returns the relative path `file` as a name in every known directory, because the path may be
/// relative to any of them. The directories of the client's project are first. Returns no names for
/// an absolute path.
pub(super) fn in_any_directory(
    daemon: &DaemonState,
    client: &ClientContext,
    file: &str,
    wanted: Option<&[Namespace]>,
) -> Result<Vec<FileName>, StoreError> {
    if is_whole(file) {
        return Ok(Vec::new());
    }
    let all = daemon.engine.store().projects()?;
    let directory = client.directory.as_deref();
    let mut namespaces = directory.map_or_else(Vec::new, |near| of_directory(daemon, near));
    namespaces.extend(all.into_iter().filter(|one| !namespaces.contains(one)).collect::<Vec<_>>());
    namespaces.retain(|namespace| wanted.is_none_or(|wanted| wanted.contains(namespace)));
    let key = file.trim_start_matches("./");
    let name = |namespace| FileName { namespace, key: key.to_owned() };
    Ok(namespaces.into_iter().map(name).collect())
}

fn is_whole(path: &str) -> bool {
    path.starts_with('/') || path.contains(':')
}

fn joined(folder: &str, path: &str) -> String {
    if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") }
}

/// Returns a path relative to `folder`, which may be empty; `None` if the path is outside of
/// `folder`.
fn inside<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    if folder.is_empty() {
        return Some(path);
    }
    path.strip_prefix(folder)?.strip_prefix('/')
}

/// Returns the files with this name in any folder. The files of each project directory are in the
/// order of their last changes, the latest first. Searches other projects only if the client's
/// project has no such file. Returns no files if `name` is a path.
pub(super) fn same_name(
    daemon: &DaemonState,
    client: &ClientContext,
    name: &str,
    wanted: Option<&[Namespace]>,
) -> Result<Vec<FileName>, StoreError> {
    if name.contains(['/', '\\']) {
        return Ok(Vec::new());
    }
    let directory = client.directory.as_deref();
    let mut near = directory.map_or_else(Vec::new, |directory| of_directory(daemon, directory));
    let mut others = match wanted {
        Some(wanted) => wanted.to_vec(),
        None => daemon.engine.store().projects()?,
    };
    near.retain(|namespace| others.contains(namespace));
    others.retain(|namespace| !near.contains(namespace));
    let graph = graph::graph(daemon);
    let mut names = Vec::new();
    for (projects, limit) in [(near, MAX_NEAR_FILES), (others, MAX_FILES)] {
        for namespace in projects {
            let files = graph.entities(&[namespace], &[EntityKind::File], limit)?;
            let same = files.into_iter().filter(|file| is_named(&file.name, name));
            names.extend(same.map(|file| FileName { namespace, key: file.name }));
        }
        if !names.is_empty() {
            break;
        }
    }
    names.truncate(MAX_SAME);
    Ok(names)
}

/// Whether `name` is the last segment of `path`.
fn is_named(path: &str, name: &str) -> bool {
    path.rsplit('/').next() == Some(name)
}

/// Returns the absolute path of `file`, which may be relative to `directory`.
fn absolute(directory: &str, file: &str) -> String {
    let is_whole = file.starts_with(['/', '\\']) || file.as_bytes().get(1) == Some(&b':');
    match is_whole {
        true => file.to_owned(),
        false => format!("{}/{}", directory.trim_end_matches('/'), file.trim_start_matches("./")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_without_folders_is_the_last_segment_of_a_path() {
        for (path, is_it) in [
            ("src/pool.py", true),
            ("pool.py", true),
            ("src/my_pool.py", false),
            ("pool.py/readme", false),
        ] {
            assert_eq!(is_named(path, "pool.py"), is_it, "{path}");
        }
    }

    #[test]
    fn a_path_is_relative_to_the_folder_that_contains_it() {
        for (path, folder, wanted) in [
            ("apps/web/index.ts", "apps/web", Some("index.ts")),
            ("apps/web/index.ts", "", Some("apps/web/index.ts")),
            ("apps/web/index.ts", "apps/we", None),
            ("apps/web/index.ts", "apps/api", None),
        ] {
            assert_eq!(inside(path, folder), wanted, "{folder}");
        }
    }

    #[test]
    fn a_relative_path_is_completed_with_the_directory() {
        for (directory, file, wanted) in [
            ("/w/app/", "./src/a.rs", "/w/app/src/a.rs"),
            ("/w/app", "/x/a.rs", "/x/a.rs"),
            ("C:/app", r"D:\a.rs", r"D:\a.rs"),
        ] {
            assert_eq!(absolute(directory, file), wanted);
        }
    }
}
