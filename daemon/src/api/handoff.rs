//! Builds the handoff of a project for a new session.

use std::path::Path;

use crate::{
    engine::episode::handoff::{self, Handoff},
    model::{Episode, Namespace, Project, SessionKey},
    store::{Store, StoreError},
};

/// Builds the handoff from stored episodes, without waiting; empty when there are none. The
/// requesting session is excluded.
pub(super) fn of_project(
    store: &dyn Store,
    project: Namespace,
    except: Option<SessionKey>,
    sessions: usize,
) -> Result<Handoff, StoreError> {
    let mut episodes: Vec<Episode> = Vec::new();
    // Added memories are not sessions and have no summary fields.
    let is_told = |one: &Episode| Some(one.session) != except && one.text().is_none();
    let mut before = None;
    while episodes.len() < sessions {
        let page = store.newest_episodes(Some(project), before, sessions + 1)?;
        let Some(last) = page.last() else { break };
        before = Some(last.id);
        episodes.extend(page.into_iter().filter(is_told));
    }
    episodes.truncate(sessions);
    Ok(handoff::gather(&episodes))
}

/// Returns the project of `directory`: the nearest parent folder with an episode, and its latest
/// episode.
pub(super) fn project_of(
    store: &dyn Store,
    directory: &str,
) -> Result<Option<(Project, Episode)>, StoreError> {
    // The last ancestor of a path of another system is empty.
    for folder in Path::new(directory).ancestors().filter(|folder| *folder != Path::new("")) {
        let project = Project::new(&folder.to_string_lossy());
        let newest = store.newest_episodes(Some(project.namespace()), None, 1)?;
        if let Some(episode) = newest.into_iter().next() {
            return Ok(Some((project, episode)));
        }
    }
    Ok(None)
}
