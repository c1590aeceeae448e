//! `graphiti/export` and `graphiti/import`: transfer episodes from one machine to another.

use std::{collections::BTreeMap, fs};

use graphiti_proto::{
    methods::transfer::{
        ExportPage, ExportRequest, ImportProblem, ImportReport, ImportRequest, MAX_EPISODES,
        PortableEpisode,
    },
    rpc::{Error, code},
};
use serde_json::Value;

use super::write;
use crate::{
    api::{
        DaemonState,
        errors::{engine_error, store_error},
        parameters::episode_id,
        projects::{newest_episodes, project_argument},
        tools::get_episodes,
    },
    engine::{
        document,
        imported::{self, ImportDecision, ImportedEpisode},
        imported_statements::exported_statements,
        projects::Identity,
    },
    model::Episode,
    store::StoreError,
};

/// Maximum size, in bytes, of the episodes in one answer, because an answer must fit into a line of
/// the protocol. A single episode may be larger.
const PAGE_BYTES: usize = 2 << 20;

/// Maximum size, in bytes, of the exported statements of one episode, because a client rejects an
/// episode of more than 1 MB. Larger statements are not exported; the import derives them again.
const MAX_STATEMENT_BYTES: usize = 400 << 10;

pub(super) fn export(daemon: &DaemonState, export: &ExportRequest) -> Result<Value, Error> {
    let before = export.before.as_deref().map(|id| episode_id("before", id)).transpose()?;
    let project = project_argument(daemon, export.project.as_deref())?;
    let store = daemon.engine.store();
    let found = newest_episodes(store.as_ref(), project.as_deref(), before, MAX_EPISODES + 1)
        .map_err(store_error)?;
    let host = host();
    let mut episodes: Vec<PortableEpisode> = Vec::new();
    let mut bytes = 0;
    for episode in found.iter().take(MAX_EPISODES) {
        let episode = portable(daemon, episode, &host).map_err(store_error)?;
        bytes += episode.episode.content.len()
            + episode.summary.to_string().len()
            + episode.statements.to_string().len();
        if bytes > PAGE_BYTES && !episodes.is_empty() {
            break;
        }
        episodes.push(episode);
    }
    let last = episodes.last().filter(|_| found.len() > episodes.len());
    let next = last.map(|last| last.episode.uuid.clone());
    Ok(write(&ExportPage { episodes, next }))
}

pub(super) async fn import(daemon: &DaemonState, import: ImportRequest) -> Result<Value, Error> {
    if import.episodes.len() > MAX_EPISODES {
        let what = format!("one request can import at most {MAX_EPISODES} episodes");
        return Err(Error::new(code::INVALID_PARAMS, what));
    }
    let mut imported = ImportReport::default();
    let mut new: Vec<ImportedEpisode> = Vec::new();
    let mut directories = BTreeMap::new();
    for (number, portable) in import.episodes.iter().enumerate() {
        let content = &portable.episode.content;
        let (episode, repository) = match document::read_with_repository(content, &portable.summary)
        {
            Ok(read) => read,
            Err(document::DocumentError { line, what }) => {
                imported.problems.push(ImportProblem { episode: number, line, what });
                continue;
            }
        };
        let is_twice = new.iter().any(|known| known.episode.session_id == episode.session_id);
        match daemon.engine.import_decision(&episode).map_err(store_error)? {
            ImportDecision::New { .. } | ImportDecision::Known if is_twice => imported.known += 1,
            ImportDecision::New { session } => {
                let store = daemon.engine.store();
                let statements =
                    exported_statements(store.as_ref(), &episode, &portable.statements)
                        .map_err(store_error)?;
                new.push(ImportedEpisode { episode, session, repository, statements });
            }
            ImportDecision::Known => {
                imported.known += 1;
                // The other machine may know the repository only since the last import.
                if repository != Identity::default() {
                    directories.insert(episode.project, repository);
                }
            }
            ImportDecision::Forgotten => imported.forgotten += 1,
        }
    }
    imported.taken = new.len();
    if !imported.problems.is_empty() {
        imported.taken = 0;
    } else if !import.dry_run {
        daemon.engine.note_directories(directories).await;
        if !new.is_empty() {
            daemon.engine.import_episodes(new).await.map_err(engine_error)?;
        }
    }
    Ok(write(&imported))
}

fn portable(
    daemon: &DaemonState,
    episode: &Episode,
    host: &str,
) -> Result<PortableEpisode, StoreError> {
    let mut node = get_episodes::node(daemon, episode);
    let repository = || daemon.engine.projects().repository_of(episode.project.namespace());
    let repository = daemon.includes_paths().then(repository);
    node.content = imported::document_of(episode, host, repository.as_ref());
    let statements = imported::statements_of(daemon.engine.store().as_ref(), episode)?;
    // Without the path of the project, the statements belong to no directory.
    let statements = statements.filter(|statements| {
        repository.is_some() && statements.to_string().len() <= MAX_STATEMENT_BYTES
    });
    Ok(PortableEpisode {
        episode: node,
        summary: imported::summary_of(episode),
        imported_from: episode.from().map(str::to_owned),
        statements: statements.unwrap_or_default(),
    })
}

/// Returns the host name; empty when it is not known.
pub fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname");
    let name = name.or_else(|_| fs::read_to_string("/etc/hostname"));
    name.map_or_else(
        |_| std::env::var("HOSTNAME").unwrap_or_default(),
        |name| name.trim().to_owned(),
    )
}
