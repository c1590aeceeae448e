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
    let mut episodes = store.newest_episodes(Some(project), None, sessions + 1)?;
    episodes.retain(|episode| Some(episode.session) != except);
    episodes.truncate(sessions);
    Ok(handoff::gather(&episodes))
}

/// The project that `directory` lies in: the nearest folder that has an episode, with its latest.
pub(super) fn project_of(
    store: &dyn Store,
    directory: &str,
) -> Result<Option<(Project, Episode)>, StoreError> {
    for folder in Path::new(directory).ancestors() {
        let project = Project::new(&folder.to_string_lossy());
        let newest = store.newest_episodes(Some(project.namespace()), None, 1)?;
        if let Some(episode) = newest.into_iter().next() {
            return Ok(Some((project, episode)));
        }
    }
    Ok(None)
}
