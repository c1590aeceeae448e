//! Determines the session that a request is about.
//!
//! If the request names a session (by its id, a unique prefix of its id, or the id of its episode),
//! only this value counts. Otherwise, the first known session in this list is used: the session
//! that the client reports as its own; the session of the nearest agent process among the client's
//! ancestors; the session that started the client, if this session is still live; the only active
//! session in the client's directory. If the client's agent is not followed, or the client reports
//! an unknown session, no session of this list is used. If the client's agent is known, a session
//! of another agent is never the client's own session, even if that agent started the client.

use std::{collections::BTreeSet, path::Path};

use crate::{
    api::{
        DaemonState,
        client_context::ClientContext,
        projects::{is_of_project, visible_to_agent},
    },
    engine::{EngineError, redaction},
    model::{
        EpisodeId, Namespace, SessionKey,
        session::{Session, State},
    },
    store::{Store, StoreError},
};

/// Minimum length, in bytes, of the id prefix of a sub-agent.
const MIN_SUB_AGENT_ID: usize = 6;
/// Maximum number of candidates in an error.
const MAX_CANDIDATES: usize = 10;

/// Why the session is unknown or ambiguous.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ResolveError {
    /// No session id begins with this text, and no episode has this id.
    Unknown(String),
    /// Several sessions match.
    Several {
        count: usize,
        /// What the candidates have in common, as a part of the message, for example
        /// `are active in /app`.
        what: String,
        /// At most [`MAX_CANDIDATES`] of these sessions.
        candidates: Vec<Session>,
    },
    /// No session was given, and the session of the client is not recorded.
    NotRecorded,
    /// No session was given. No session is active in the client's directory, or this directory is
    /// not known. Contains the live sessions that may be meant.
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

/// A session to read.
pub(super) struct ResolvedSession {
    pub(super) key: SessionKey,
    /// The number of the sub-agent's file, if the id is the id of a sub-agent.
    pub(super) sub_agent_file: Option<u32>,
}

/// Returns the session to read for `given`. If no session has this id, returns the session that has
/// a sub-agent with this id. For this, reads the sources of all sessions, so hooks use [`resolve`].
pub(super) async fn resolve_or_parent(
    daemon: &DaemonState,
    given: Option<&str>,
    client: &ClientContext,
) -> Result<ResolvedSession, ResolveError> {
    match resolve(daemon, given, client).await {
        Ok(key) => Ok(ResolvedSession { key, sub_agent_file: None }),
        Err(ResolveError::Unknown(id)) => of_sub_agent(daemon, &id),
        Err(error) => Err(error),
    }
}

/// Returns the session with the id `given`. Without an id, returns the client's own session, or
/// else the only active session in the client's directory.
pub(super) async fn resolve(
    daemon: &DaemonState,
    given: Option<&str>,
    client: &ClientContext,
) -> Result<SessionKey, ResolveError> {
    if let Some(given) = given.map(str::trim).filter(|given| !given.is_empty()) {
        return named(daemon, client, given);
    }
    if client.is_unfollowed(&daemon.engine) {
        return Err(ResolveError::NotRecorded);
    }
    match client_session(daemon, client).await? {
        Some(session) => Ok(session),
        None if client.session_id.is_some() => Err(ResolveError::NotRecorded),
        None => only_active_in_directory(daemon, client).await,
    }
}

/// Returns the client's own session, if it is known.
pub(super) async fn client_session(
    daemon: &DaemonState,
    client: &ClientContext,
) -> Result<Option<SessionKey>, ResolveError> {
    // For an unfollowed agent, the checks below could find the session of the followed agent that
    // started this agent.
    if client.is_unfollowed(&daemon.engine) {
        return Ok(None);
    }
    if let Some(id) = &client.session_id {
        return find_own(daemon, client, id);
    }
    if let Some(session) = session_of_process(daemon, client).await? {
        return Ok(Some(session));
    }
    // The session that started the client counts only while it is live, because its agent may have
    // started another session meanwhile.
    let Some(id) = &client.started_in else { return Ok(None) };
    let Some(key) = find_own(daemon, client, id)? else { return Ok(None) };
    let live = daemon.engine.live().await?;
    Ok(live.iter().any(|session| session.key == key).then_some(key))
}

/// Returns the session of the nearest agent process among the client's ancestors.
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
    find_own(daemon, client, &running.session)
}

/// Same as [`find`], but returns only a session of the client's agent, if the agent is known.
fn find_own(
    daemon: &DaemonState,
    client: &ClientContext,
    id: &str,
) -> Result<Option<SessionKey>, ResolveError> {
    let Some(key) = find(daemon, id)? else { return Ok(None) };
    let Some(agent) = client.own_agent() else { return Ok(Some(key)) };
    let session = daemon.engine.store().session(key)?;
    Ok(session.filter(|session| session.id.agent == agent).map(|_| key))
}

/// Same as [`named`], but returns `None` for an id that matches no session, or several sessions. An
/// unreadable store is an error.
pub(super) fn find(daemon: &DaemonState, id: &str) -> Result<Option<SessionKey>, ResolveError> {
    match named(daemon, &ClientContext::default(), id) {
        Ok(session) => Ok(Some(session)),
        Err(error @ ResolveError::Failed(_)) => Err(error),
        Err(_) => Ok(None),
    }
}

/// Returns the session with this id, id prefix or episode id. If several ids have this prefix, only
/// the sessions that the settings do not hide from the client count.
pub(super) fn named(
    daemon: &DaemonState,
    client: &ClientContext,
    id: &str,
) -> Result<SessionKey, ResolveError> {
    let store = daemon.engine.store();
    let id = &*redaction::id(id);
    if let Some(episode) = EpisodeId::parse(id)
        && let Some(episode) = store.episode(episode)?
    {
        return Ok(episode.session);
    }
    let keys = store.sessions_with_prefix(id, usize::MAX)?;
    let (first, rest) = keys.split_at(keys.len().min(MAX_CANDIDATES));
    let mut sessions = sessions_of(store.as_ref(), first)?;
    if let Some(exact) = sessions.iter().find(|session| session.id.id == id) {
        return Ok(exact.key);
    }
    let mut count = sessions.len() + rest.len();
    if count > 1
        && let Some(visible) = visible_to_agent(daemon, client)
    {
        sessions.extend(sessions_of(store.as_ref(), rest)?);
        sessions.retain(|session| is_visible(session, Some(&visible)));
        count = sessions.len();
    }
    match sessions.as_slice() {
        [] => Err(ResolveError::Unknown(id.to_owned())),
        [one] => Ok(one.key),
        _ => Err(several(format!("have ids that begin with `{id}`"), count, sessions)),
    }
}

fn sessions_of(store: &dyn Store, keys: &[SessionKey]) -> Result<Vec<Session>, StoreError> {
    keys.iter().filter_map(|key| store.session(*key).transpose()).collect()
}

/// Whether a session has no project, or its project is one of `visible`; `None` means all projects.
fn is_visible(session: &Session, visible: Option<&[Namespace]>) -> bool {
    session.project.is_none() || is_of_project(session, visible)
}

/// Returns the error about `count` sessions, with the first of them.
fn several(what: String, count: usize, mut sessions: Vec<Session>) -> ResolveError {
    sessions.truncate(MAX_CANDIDATES);
    ResolveError::Several { count, what, candidates: sessions }
}

/// Returns the only session that has a sub-agent with this id or id prefix. For example, a session
/// of Codex that another session started is a sub-agent of that session. If several sub-agents of
/// the session have the prefix, none of their files is selected.
fn of_sub_agent(daemon: &DaemonState, id: &str) -> Result<ResolvedSession, ResolveError> {
    let unknown = || ResolveError::Unknown(id.to_owned());
    if id.len() < MIN_SUB_AGENT_ID {
        return Err(unknown());
    }
    let mut files = Vec::new();
    daemon.engine.store().visit_sources(&mut |source| {
        if source.sub_agent.is_some_and(|sub_agent| sub_agent.starts_with(id)) {
            files.push(source.key);
        }
        true
    })?;
    let sessions: BTreeSet<SessionKey> = files.iter().map(|file| file.session).collect();
    let mut sessions = sessions.into_iter();
    match (sessions.next(), sessions.next()) {
        (Some(key), None) => {
            let sub_agent_file = if let [file] = &files[..] { Some(file.number) } else { None };
            Ok(ResolvedSession { key, sub_agent_file })
        }
        _ => Err(unknown()),
    }
}

async fn only_active_in_directory(
    daemon: &DaemonState,
    client: &ClientContext,
) -> Result<SessionKey, ResolveError> {
    let mut live = daemon.engine.live().await?;
    let visible = visible_to_agent(daemon, client);
    live.retain(|session| is_visible(session, visible.as_deref()));
    live.sort_by_key(|session| std::cmp::Reverse(session.last_activity));
    let Some(directory) = &client.directory else {
        live.truncate(MAX_CANDIDATES);
        return Err(ResolveError::NoneGiven(live));
    };
    let may_be_own = |session: &Session| {
        is_in(session, Path::new(directory))
            && client.own_agent().is_none_or(|agent| session.id.agent == agent)
    };
    live.retain(may_be_own);
    let is_active = |session: &&Session| matches!(session.state, State::Active);
    let active: Vec<Session> = live.iter().filter(is_active).cloned().collect();
    match active.as_slice() {
        [one] => Ok(one.key),
        [] => {
            live.truncate(MAX_CANDIDATES);
            Err(ResolveError::NoneGiven(live))
        }
        _ => Err(several(format!("are active in {directory}"), active.len(), active)),
    }
}

/// Whether the session's project is the directory or one of its parents.
fn is_in(session: &Session, directory: &Path) -> bool {
    session.project.as_ref().is_some_and(|project| directory.starts_with(project.path()))
}
