//! Finds the records of the errors that a text contains, for example a pasted output.

use graphiti_proto::{
    rpc::Error,
    tools::errors::{ErrorRow, ErrorSession},
};

use super::{graph, store_error};
use crate::{
    api::{DaemonState, convert},
    engine::entities::ErrorRecord,
    model::Namespace,
    store::StoreError,
};

/// Maximum number of sessions that are listed.
const MAX_SESSIONS: usize = 5;

/// Returns the record that matches a query best. The query may be the pasted text of an error.
pub(super) fn pasted(
    daemon: &DaemonState,
    query: &str,
    projects: Option<&[Namespace]>,
) -> Result<Option<ErrorRow>, Error> {
    let found = records(daemon, query, projects)?.into_iter().next();
    found.map(|record| row(daemon, record)).transpose().map_err(store_error)
}

/// Returns the records of the errors that a text contains, the error with the most words first. If
/// the text contains no known error, returns the records of errors with a similar message.
pub(super) fn records(
    daemon: &DaemonState,
    text: &str,
    projects: Option<&[Namespace]>,
) -> Result<Vec<ErrorRecord>, Error> {
    let projects = match projects {
        Some(projects) => projects.to_vec(),
        None => daemon.engine.store().projects().map_err(store_error)?,
    };
    graph::graph(daemon).error_records(text, &projects).map_err(store_error)
}

pub(super) fn row(daemon: &DaemonState, record: ErrorRecord) -> Result<ErrorRow, StoreError> {
    let store = daemon.engine.store().as_ref();
    let mut sessions = Vec::new();
    for id in record.episodes.iter().rev().take(MAX_SESSIONS) {
        let Some(episode) = store.episode(*id)? else { continue };
        sessions.push(ErrorSession {
            short_id: convert::short_id(store, &episode.session_id.id)?,
            session_id: episode.session_id.id,
            title: episode.name,
        });
    }
    let state = match (record.is_fixed, record.fix_fact) {
        (true, _) => "fixed",
        (false, Some(_)) => "came back",
        (false, None) => "open",
    };
    Ok(ErrorRow {
        fact: record.fix_fact.map(|fact| fact.to_string()),
        error: record.message,
        project_namespace: record.namespace.to_string(),
        cause: record.cause,
        fix: record.fix,
        verified_by: record.verification,
        state: state.to_owned(),
        certainty: record.certainty.as_str().to_owned(),
        standing: record.certainty.as_str().to_owned(),
        returns: record.returns,
        first_at: record.first_at.to_string(),
        last_at: record.last_at.to_string(),
        sessions,
    })
}
