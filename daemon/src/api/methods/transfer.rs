//! `graphiti/export` and `graphiti/import`: episodes on their way to another machine.

use std::fs;

use graphiti_proto::{
    methods::transfer::{AT_ONCE, Export, Exported, Import, Imported, Portable, Problem},
    rpc::{Error, code},
};
use serde_json::Value;

use super::write;
use crate::{
    api::{
        Daemon,
        tools::{engine_error, get_episodes, project_argument, store_error},
    },
    engine::{
        document,
        imported::{self, ImportDecision},
    },
    model::{Episode, EpisodeId, SessionKey},
};

/// Answers `graphiti/export`.
pub(super) fn export(daemon: &Daemon, export: &Export) -> Result<Value, Error> {
    let before = match export.before.as_deref() {
        None => None,
        Some(id) => Some(EpisodeId::parse(id).ok_or_else(|| {
            Error::new(code::INVALID_PARAMS, format!("`before` is an episode's id, not `{id}`"))
        })?),
    };
    let project = project_argument(export.project.as_deref());
    let store = daemon.engine.store();
    let found = store.newest_episodes(project, before, AT_ONCE + 1).map_err(store_error)?;
    let host = host();
    let episodes: Vec<Portable> =
        found.iter().take(AT_ONCE).map(|episode| portable(episode, &host)).collect();
    let last = episodes.last().filter(|_| found.len() > AT_ONCE);
    let next = last.map(|last| last.episode.uuid.clone());
    Ok(write(&Exported { episodes, next }))
}

/// Answers `graphiti/import`.
pub(super) async fn import(daemon: &Daemon, import: Import) -> Result<Value, Error> {
    if import.episodes.len() > AT_ONCE {
        let what = format!("at most {AT_ONCE} episodes are taken in by one request");
        return Err(Error::new(code::INVALID_PARAMS, what));
    }
    let mut imported = Imported::default();
    let mut new: Vec<(Episode, Option<SessionKey>)> = Vec::new();
    for (number, portable) in import.episodes.iter().enumerate() {
        let episode = match document::read(&portable.episode.content, &portable.summary) {
            Ok(episode) => episode,
            Err(document::Wrong { line, what }) => {
                imported.problems.push(Problem { episode: number, line, what });
                continue;
            }
        };
        let is_twice = new.iter().any(|(known, _)| known.session_id == episode.session_id);
        match daemon.engine.import_decision(&episode).map_err(store_error)? {
            ImportDecision::New { .. } | ImportDecision::Known if is_twice => imported.known += 1,
            ImportDecision::New { session } => new.push((episode, session)),
            ImportDecision::Known => imported.known += 1,
            ImportDecision::Forgotten => imported.forgotten += 1,
        }
    }
    imported.taken = new.len();
    if !imported.problems.is_empty() {
        imported.taken = 0;
    } else if !import.dry_run && !new.is_empty() {
        daemon.engine.import_episodes(new).await.map_err(engine_error)?;
    }
    Ok(write(&imported))
}

fn portable(episode: &Episode, host: &str) -> Portable {
    let mut node = get_episodes::node(episode);
    node.content = imported::document_of(episode, host);
    Portable { episode: node, summary: imported::summary_of(episode) }
}

/// What this machine is called; empty when that is not known.
fn host() -> String {
    let told = fs::read_to_string("/proc/sys/kernel/hostname");
    let told = told.or_else(|_| fs::read_to_string("/etc/hostname"));
    told.map_or_else(
        |_| std::env::var("HOSTNAME").unwrap_or_default(),
        |name| name.trim().to_owned(),
    )
}
