//! Finds the project of a request. The request may give a directory in any spelling, a remote, a
//! name or a namespace. Determines which projects a client may search according to the settings.

use std::cmp::Reverse;

use graphiti_proto::{
    rpc::{Error, code},
    tools::search_sessions::SearchSessionsArguments,
};

use super::{DaemonState, client_context::ClientContext};
use crate::{
    engine::projects::NamedProject,
    model::{Episode, EpisodeId, Namespace, Project, session::Session},
    search::rank::Scope,
    store::{Store, StoreError},
};

/// Maximum number of directories in the message about an ambiguous name.
const MAX_DIRECTORIES: usize = 5;
/// Maximum number of known projects in the message about an unknown name.
const MAX_NAMES: usize = 10;

/// Returns the directories of the given project, as namespaces; `None` if none is given.
///
/// # Errors
///
/// When no project or several projects have the given name or remote.
pub(crate) fn project_argument(
    daemon: &DaemonState,
    given: Option<&str>,
) -> Result<Option<Vec<Namespace>>, Error> {
    argument_among(daemon, None, given)
}

/// Same as [`project_argument`]. If several projects have the given name, only the projects that
/// the settings do not hide from the client count.
///
/// # Errors
///
/// Also when all projects with the given name are hidden.
pub(super) fn client_argument(
    daemon: &DaemonState,
    client: &ClientContext,
    given: Option<&str>,
) -> Result<Option<Vec<Namespace>>, Error> {
    argument_among(daemon, visible_to_agent(daemon, client).as_deref(), given)
}

fn argument_among(
    daemon: &DaemonState,
    visible: Option<&[Namespace]>,
    given: Option<&str>,
) -> Result<Option<Vec<Namespace>>, Error> {
    let Some(given) = given.map(str::trim).filter(|given| !given.is_empty()) else {
        return Ok(None);
    };
    let projects = daemon.engine.projects();
    if is_path(given) {
        return Ok(Some(of_directory(daemon, given)));
    }
    Ok(Some(match projects.named(given) {
        NamedProject::Known(members) => members,
        NamedProject::Unknown => match Namespace::parse(given) {
            // A namespace may be that of a project without sessions.
            Some(namespace) => vec![namespace],
            None => return Err(unknown(daemon, given)),
        },
        NamedProject::Ambiguous(mut paths) => {
            let namespace = |path: &str| Project::new(path).namespace();
            paths.retain(|path| visible.is_none_or(|visible| visible.contains(&namespace(path))));
            let Some(first) = paths.first() else { return Err(hidden()) };
            let members = projects.of_namespace(namespace(first));
            if !paths.iter().all(|path| members.contains(&namespace(path))) {
                let what = ambiguous(given, &paths);
                let data = serde_json::json!({ "projects": paths });
                return Err(Error { code: code::AMBIGUOUS, message: what, data: Some(data) });
            }
            members
        }
    }))
}

/// Returns the error message for a name that several projects have. Lists the directories of these
/// projects.
fn ambiguous(given: &str, paths: &[String]) -> String {
    let (count, shown) = (paths.len(), first_of(paths, MAX_DIRECTORIES));
    format!("{count} projects have the name `{given}`: give the directory of one: {shown}")
}

fn unknown(daemon: &DaemonState, given: &str) -> Error {
    let mut what =
        format!("no project has the name or remote `{given}`: give the directory of the project");
    let names = daemon.engine.projects().all_names();
    let answers = &daemon.config().answers;
    // Agents may not learn the names of projects that the settings hide.
    if answers.cross_project_search && answers.trusted_namespaces.is_none() && !names.is_empty() {
        what.push_str(&format!("; known projects: {}", first_of(&names, MAX_NAMES)));
    }
    Error::new(code::NOT_FOUND, what)
}

/// Returns the first `most` names, separated by commas, and the number of the others.
fn first_of(names: &[String], most: usize) -> String {
    let shown = names[..names.len().min(most)].join(", ");
    match names.len().saturating_sub(most) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Returns the directories whose sessions a client searches: the directories of the given project,
/// or the directories that the settings include; `None` for all.
///
/// # Errors
///
/// When an agent requests a project that the settings exclude. People may search any project.
pub(super) fn searched_projects(
    daemon: &DaemonState,
    client: &ClientContext,
    given: Option<&str>,
) -> Result<Option<Vec<Namespace>>, Error> {
    let requested = client_argument(daemon, client, given)?;
    restrict_to_visible(visible_projects(daemon, client), requested, client)
}

/// Returns the scope of a search in the requested project. The sessions of one project rank higher:
/// the project of the directory `near`, or by default of the client's directory.
pub(super) fn search_scope(
    daemon: &DaemonState,
    client: &ClientContext,
    arguments: &SearchSessionsArguments,
) -> Result<Scope, Error> {
    let namespaces = searched_projects(daemon, client, arguments.project.as_deref())?;
    let directory = arguments.near.as_deref().or(client.directory.as_deref());
    let near = directory.map_or_else(Vec::new, |directory| of_directory(daemon, directory));
    Ok(Scope { namespaces, near, ..Scope::default() })
}

/// Returns the directories that a client requests. If the client requests no directory, returns
/// `visible`. `None` means all directories.
///
/// # Errors
///
/// When an agent requests a directory that is not visible.
pub(super) fn restrict_to_visible(
    visible: Option<Vec<Namespace>>,
    requested: Option<Vec<Namespace>>,
    client: &ClientContext,
) -> Result<Option<Vec<Namespace>>, Error> {
    let Some(visible) = visible else { return Ok(requested) };
    match requested {
        None => Ok(Some(visible)),
        Some(requested)
            if client.runs_in_agent() && requested.iter().any(|one| !visible.contains(one)) =>
        {
            Err(hidden())
        }
        Some(requested) => Ok(Some(requested)),
    }
}

/// Returns the directories that a search includes according to the settings; `None` for all.
pub(super) fn visible_projects(
    daemon: &DaemonState,
    client: &ClientContext,
) -> Option<Vec<Namespace>> {
    let answers = daemon.config().answers.clone();
    // The viewer has no directory. It shows all projects to its user.
    let is_owner = client.directory.is_none() && !client.runs_in_agent();
    if is_owner || answers.cross_project_search && answers.trusted_namespaces.is_none() {
        return None;
    }
    let own = client.directory.as_deref();
    let mut visible = own.map_or_else(Vec::new, |directory| of_directory(daemon, directory));
    // The default namespace has the user's preferences for all projects.
    visible.push(Namespace::default());
    let trusted = answers.trusted_namespaces.filter(|_| answers.cross_project_search);
    let projects = daemon.engine.projects();
    for namespace in trusted.into_iter().flatten() {
        visible.push(namespace);
        visible.extend(projects.of_namespace(namespace));
    }
    Some(visible)
}

/// Returns the directories that the settings do not hide from an agent; `None` for all. A person
/// may see all directories.
pub(super) fn visible_to_agent(
    daemon: &DaemonState,
    client: &ClientContext,
) -> Option<Vec<Namespace>> {
    client.runs_in_agent().then(|| visible_projects(daemon, client)).flatten()
}

/// For an agent, same as [`searched_projects`]. For a person, same as [`project_argument`]: without
/// a given project, the list includes all projects.
pub(super) fn listed_projects(
    daemon: &DaemonState,
    client: &ClientContext,
    given: Option<&str>,
) -> Result<Option<Vec<Namespace>>, Error> {
    if client.runs_in_agent() {
        searched_projects(daemon, client, given)
    } else {
        project_argument(daemon, given)
    }
}

/// Whether the settings hide a session from the agent that requests it.
pub(super) fn is_hidden(daemon: &DaemonState, client: &ClientContext, session: &Session) -> bool {
    let project = session.project.as_ref();
    project.is_some_and(|project| is_project_hidden(daemon, client, project.namespace()))
}

/// Whether the settings hide a project from the agent that requests data of the project by an id.
pub(super) fn is_project_hidden(
    daemon: &DaemonState,
    client: &ClientContext,
    project: Namespace,
) -> bool {
    visible_to_agent(daemon, client).is_some_and(|visible| !visible.contains(&project))
}

/// Returns the error for an agent that requests a project that the settings exclude.
pub(super) fn hidden() -> Error {
    let what = "agents may not search this project: `session_tracking.cross_project_search` \
                is false, or `session_tracking.trusted_namespaces` does not include it";
    Error::new(code::NOT_FOUND, what)
}

/// Returns the directories of the project that `directory` belongs to. Reads files of Git.
pub(super) fn of_directory(daemon: &DaemonState, directory: &str) -> Vec<Namespace> {
    daemon.engine.projects().of_directory(directory)
}

/// Same as [`project_argument`], but for a directory or a namespace, returns only this directory,
/// not the whole project.
pub(super) fn directory_argument(
    daemon: &DaemonState,
    given: Option<&str>,
) -> Result<Option<Vec<Namespace>>, Error> {
    match given.map(str::trim) {
        Some(given) if is_path(given) => Ok(Some(daemon.engine.projects().spellings_of(given))),
        given => match given.and_then(Namespace::parse) {
            Some(namespace) => Ok(Some(vec![namespace])),
            None => project_argument(daemon, given),
        },
    }
}

/// Whether a session belongs to one of the directories; true if no directories are given.
pub(crate) fn is_of_project(session: &Session, wanted: Option<&[Namespace]>) -> bool {
    let project = session.project.as_ref().map(Project::namespace);
    wanted.is_none_or(|wanted| is_in(project, wanted))
}

/// Whether a directory is given and is one of `wanted`.
pub(crate) fn is_in(project: Option<Namespace>, wanted: &[Namespace]) -> bool {
    project.is_some_and(|project| wanted.contains(&project))
}

/// Returns at most `limit` episodes of these directories (`None` for all), the latest first. With
/// `before`, returns only older episodes.
pub(super) fn newest_episodes(
    store: &dyn Store,
    projects: Option<&[Namespace]>,
    before: Option<EpisodeId>,
    limit: usize,
) -> Result<Vec<Episode>, StoreError> {
    let Some(projects) = projects else { return store.newest_episodes(None, before, limit) };
    let mut episodes = Vec::new();
    for project in projects {
        episodes.extend(store.newest_episodes(Some(*project), before, limit)?);
    }
    episodes.sort_unstable_by_key(|episode| Reverse(episode.id));
    // `projects` may contain a directory several times.
    episodes.dedup_by_key(|episode| episode.id);
    episodes.truncate(limit);
    Ok(episodes)
}

/// Returns the directory that represents the project of `directory`.
pub(super) fn project_of(daemon: &DaemonState, directory: &str) -> Project {
    let projects = daemon.engine.projects();
    let known = of_directory(daemon, directory).into_iter().find_map(|one| projects.path(one));
    Project::new(&known.unwrap_or_else(|| directory.to_owned()))
}

/// Returns the directory that represents the given project.
///
/// # Errors
///
/// When `given` is a relative path, or no project or several projects have this name or remote.
pub(super) fn given_project(
    daemon: &DaemonState,
    client: &ClientContext,
    given: &str,
) -> Result<Project, Error> {
    if given.starts_with(['.', '~']) && is_path(given) {
        let what = format!("the directory of the project must be an absolute path, not `{given}`");
        return Err(Error::new(code::INVALID_PARAMS, what));
    }
    if is_path(given) {
        return Ok(project_of(daemon, given));
    }
    let members = client_argument(daemon, client, Some(given))?.unwrap_or_default();
    let projects = daemon.engine.projects();
    let path = members.into_iter().find_map(|member| projects.path(member));
    path.map(|path| Project::new(&path)).ok_or_else(|| unknown(daemon, given))
}

/// Whether the text begins like a path of any operating system, and not like a name.
fn is_path(given: &str) -> bool {
    let has_drive = matches!(given.as_bytes(), [drive, b':', ..] if drive.is_ascii_alphabetic());
    // A name may begin with a dot: `.dotfiles`.
    let is_relative = given.starts_with('.') && given.contains(['/', '\\']);
    has_drive || given.starts_with(['/', '\\', '~']) || is_relative || matches!(given, "." | "..")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::SessionKey,
        store::{Write, contract, sled::SledStore},
    };

    #[test]
    fn each_episode_of_repeated_directories_is_returned_once() {
        let folder = tempfile::tempdir().unwrap();
        let store = SledStore::open(folder.path()).unwrap();
        let session = contract::session(SessionKey(1), "aaaa-1");
        let project = session.project.as_ref().unwrap().namespace();
        let episodes = [1_000, 2_000, 3_000].map(|ended| contract::episode(&session, ended));
        let mut writes = vec![Write::Session(Box::new(session))];
        writes.extend(episodes.iter().map(|episode| Write::Episode(Box::new(episode.clone()))));
        store.write(writes).wait().unwrap();
        let newest = |projects: &[Namespace], limit| -> Vec<EpisodeId> {
            let found = newest_episodes(&store, Some(projects), None, limit).unwrap();
            found.into_iter().map(|episode| episode.id).collect()
        };
        let [first, second, third] = episodes.map(|episode| episode.id);
        assert_eq!(newest(&[project, project], 10), [third, second, first]);
        assert_eq!(newest(&[project, Namespace::default(), project], 2), [third, second]);
    }

    #[test]
    fn the_message_about_an_ambiguous_name_counts_the_directories_that_are_not_shown() {
        let paths: Vec<String> = (1..=7).map(|number| format!("/{number}/cli")).collect();
        assert_eq!(
            ambiguous("cli", &paths),
            "7 projects have the name `cli`: give the directory of one: /1/cli, /2/cli, /3/cli, \
             /4/cli, /5/cli and 2 more"
        );
        assert!(ambiguous("cli", &paths[..5]).ends_with("/4/cli, /5/cli"));
    }

    #[test]
    fn paths_are_distinguished_from_names() {
        for path in ["/srv/app", "C:\\app", ".", "..", "./app", "..\\app", ".config/app", "~/app"] {
            assert!(is_path(path), "{path}");
        }
        for name in ["app", ".dotfiles", ".github", "github.com/ann/app", "..."] {
            assert!(!is_path(name), "{name}");
        }
    }
}
