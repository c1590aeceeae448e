//! Which session is meant.
//!
//! In this order, and never by a guess: the id or unique beginning of one that is given; the
//! session that the caller says it is in; the session of the agent's process that the caller
//! descends from; the only active session in the caller's directory. Of an agent that is not followed
//! no session is its own.

use std::path::Path;

use crate::{
    api::{DaemonState, client_context::ClientContext, mcp::ClientKind},
    engine::{EngineError, redaction},
    model::{
        EpisodeId, SessionKey,
        session::{Session, State},
    },
    store::StoreError,
};

/// Candidates that an error lists.
const CANDIDATES: usize = 10;

/// Why it is not clear which session is meant.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ResolveError {
    /// Nothing has this id.
    Unknown(String),
    /// Several sessions could be meant.
    Several {
        /// What they have in common, for people.
        what: String,
        candidates: Vec<Session>,
    },
    /// No session was given, and the session of the client is not recorded.
    NotRecorded,
    /// No session was given, and several may be meant.
    NoneGiven(Vec<Session>),
    Failed(String),
}

impl From<StoreError> for ResolveError {
    fn from(error: StoreError) -> ResolveError {
        ResolveError::Failed(error.to_string())
    }
}

impl From<EngineError> for ResolveError {
    fn from(error: EngineError) -> ResolveError {
        ResolveError::Failed(error.to_string())
    }
}

/// The session that `given` names, or that `caller` is in.
pub(super) async fn resolve(
    daemon: &DaemonState,
    given: Option<&str>,
    client: &ClientContext,
) -> Result<SessionKey, ResolveError> {
    if let Some(given) = given.map(str::trim).filter(|given| !given.is_empty()) {
        return named(daemon, given);
    }
    if client.kind == ClientKind::Unfollowed {
        return Err(ResolveError::NotRecorded);
    }
    match client_session(daemon, client).await? {
        Some(session) => Ok(session),
        None => only_active_in_directory(daemon, client).await,
    }
}

/// The session that the caller is known to be in, if it is.
pub(super) async fn client_session(
    daemon: &DaemonState,
    client: &ClientContext,
) -> Result<Option<SessionKey>, ResolveError> {
    // It may have been started by an agent that is.
    if client.kind == ClientKind::Unfollowed {
        return Ok(None);
    }
    if let Some(id) = &client.session_id
        && let Some(session) = find(daemon, id)?
    {
        return Ok(Some(session));
    }
    if let Some(session) = session_of_process(daemon, client).await? {
        return Ok(Some(session));
    }
    // Only while it is live: the agent may have started another session since.
    let Some(id) = &client.started_in else { return Ok(None) };
    let Some(key) = find(daemon, id)? else { return Ok(None) };
    let live = daemon.engine.live().await?;
    Ok(live.iter().any(|session| session.key == key).then_some(key))
}

/// The session of the agent's process that the caller descends from.
async fn session_of_process(
    daemon: &DaemonState,
    client: &ClientContext,
) -> Result<Option<SessionKey>, ResolveError> {
    if client.processes.is_empty() {
        return Ok(None);
    }
    let running = daemon.engine.running().await?;
    let of_process = |process: &u32| running.iter().find(|running| running.pid == *process);
    let Some(running) = client.processes.iter().find_map(of_process) else { return Ok(None) };
    find(daemon, &running.session)
}

/// As [`named`], with `None` for an id that names no session, or more than one. A store that cannot be
/// read is an error.
fn find(daemon: &DaemonState, id: &str) -> Result<Option<SessionKey>, ResolveError> {
    match named(daemon, id) {
        Ok(session) => Ok(Some(session)),
        Err(error @ ResolveError::Failed(_)) => Err(error),
        Err(_) => Ok(None),
    }
}

/// The session that an id, the beginning of one, or an episode's id names.
pub(super) fn named(daemon: &DaemonState, id: &str) -> Result<SessionKey, ResolveError> {
    let store = daemon.engine.store();
    let id = &*redaction::id(id);
    if let Some(episode) = EpisodeId::parse(id)
        && let Some(episode) = store.episode(episode)?
    {
        return Ok(episode.session);
    }
    // More than one means that the prefix is not unique.
    let keys = store.sessions_with_prefix(id, CANDIDATES)?;
    let mut sessions = Vec::with_capacity(keys.len());
    for key in keys {
        sessions.extend(store.session(key)?);
    }
    if let Some(exact) = sessions.iter().find(|session| session.id.id == id) {
        return Ok(exact.key);
    }
    match sessions.as_slice() {
        [] => Err(ResolveError::Unknown(id.to_owned())),
        [one] => Ok(one.key),
        _ => {
            Err(ResolveError::Several { what: format!("begin with `{id}`"), candidates: sessions })
        }
    }
}

async fn only_active_in_directory(
    daemon: &DaemonState,
    client: &ClientContext,
) -> Result<SessionKey, ResolveError> {
    let mut live = daemon.engine.live().await?;
    live.sort_by_key(|session| std::cmp::Reverse(session.last_activity));
    let Some(directory) = &client.directory else {
        live.truncate(CANDIDATES);
        return Err(ResolveError::NoneGiven(live));
    };
    let here: Vec<Session> =
        live.into_iter().filter(|session| is_in(session, Path::new(directory))).collect();
    let active: Vec<&Session> =
        here.iter().filter(|session| matches!(session.state, State::Active)).collect();
    match active.as_slice() {
        [one] => Ok(one.key),
        [] => Err(ResolveError::NoneGiven(here.into_iter().take(CANDIDATES).collect())),
        several => Err(ResolveError::Several {
            what: format!("are active in {directory}"),
            candidates: several.iter().take(CANDIDATES).map(|session| (*session).clone()).collect(),
        }),
    }
}

/// Whether the session's project is the directory or one that it lies in.
fn is_in(session: &Session, directory: &Path) -> bool {
    session.project.as_ref().is_some_and(|project| directory.starts_with(project.path()))
}
