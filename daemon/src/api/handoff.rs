//! What the last sessions in a project leave to the next one.

use std::path::Path;

use crate::{
    engine::episode::handoff::{self, Handoff},
    model::{Episode, Namespace, Project, SessionKey},
    store::{Store, StoreError},
};

/// The handoff of a project from what is stored, without waiting for anything; empty when there is
/// nothing. The session that asks is left out: it knows.
pub(super) fn of_project(
    store: &dyn Store,
    project: Namespace,
    except: Option<SessionKey>,
    sessions: usize,
) -> Result<Handoff, StoreError> {
    let mut episodes: Vec<Episode> = Vec::new();
    // What someone added is no session, and says nothing by field.
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

/// The project that `directory` lies in: the nearest folder that has an episode, with its latest.
pub(super) fn project_of(
    store: &dyn Store,
    directory: &str,
) -> Result<Option<(Project, Episode)>, StoreError> {
    // What is left of a path of another system in the end is no folder.
    for folder in Path::new(directory).ancestors().filter(|folder| *folder != Path::new("")) {
        let project = Project::new(&folder.to_string_lossy());
        let newest = store.newest_episodes(Some(project.namespace()), None, 1)?;
        if let Some(episode) = newest.into_iter().next() {
            return Ok(Some((project, episode)));
        }
    }
    Ok(None)
}
