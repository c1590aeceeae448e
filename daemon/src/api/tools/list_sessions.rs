//! `list_sessions`: lists sessions, page by page.

use std::collections::HashMap;

use graphiti_proto::{
    rpc::Error,
    tools::list_sessions::{ListSessionsAnswer, ListSessionsArguments, NAME},
};

use super::{Effect, Tool, engine_error, input, output, store_error, typed};
use crate::{
    api::{
        DaemonState,
        client_context::ClientContext,
        convert,
        projects::{is_of_project, listed_projects},
    },
    model::{SessionKey, Timestamp, episode::MEMORY, session::Session},
    store::{Store, StoreError},
};

/// Maximum number of sessions in an answer, so that it fits into a line of the protocol.
const MAX_SESSIONS: usize = 1_000;

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    title: "List sessions",
    description: "List sessions of one project or of all, the latest first, with what they were about and how \
        they ended. Continue with `offset` = `next`.",
    effect: Effect::Reads,
    input: input::<ListSessionsArguments>,
    output: output::<ListSessionsAnswer>,
    call: |daemon, client, arguments| {
        Box::pin(typed(arguments, |given| run(daemon, client, given)))
    },
};

async fn run(
    daemon: &DaemonState,
    client: &ClientContext,
    arguments: ListSessionsArguments,
) -> Result<ListSessionsAnswer, Error> {
    let project = listed_projects(daemon, client, arguments.project.as_deref())?;
    let store = daemon.engine.store().as_ref();
    let live = live_sessions(daemon).await?;
    let mut found: Vec<(Timestamp, SessionKey)> = Vec::new();
    let visit = &mut |session: &Session| {
        let is_wanted = arguments.empty || session.is_listed();
        let wanted_state =
            arguments.state.as_deref().is_none_or(|state| session.state.as_str() == state);
        let wanted_agent = arguments.agent.as_deref().is_none_or(|agent| session.id.agent == agent);
        if is_wanted && wanted_state && wanted_agent && is_of_project(session, project.as_deref()) {
            found.push((session.last_activity, session.key));
        }
    };
    visit_tracked(store, &live, visit).map_err(store_error)?;
    found.sort_unstable_by(|a, b| b.cmp(a));
    let mut sessions = Vec::new();
    let limit = arguments.limit.min(MAX_SESSIONS);
    for (_, key) in found.iter().skip(arguments.offset).take(limit) {
        let session = match live.get(key) {
            Some(session) => Some(session.clone()),
            None => store.session(*key).map_err(store_error)?,
        };
        if let Some(session) = session {
            sessions.push(convert::session_row(store, &session).map_err(store_error)?);
        }
    }
    client.reply_budget.fit(&mut sessions);
    let next = arguments.offset + sessions.len();
    let next = (!sessions.is_empty() && next < found.len()).then_some(next);
    Ok(ListSessionsAnswer { total: found.len(), sessions, next })
}

/// Returns the live sessions, which change more often than they are saved.
pub(in crate::api) async fn live_sessions(
    daemon: &DaemonState,
) -> Result<HashMap<SessionKey, Session>, Error> {
    let live = daemon.engine.live().await.map_err(engine_error)?;
    Ok(live.into_iter().map(|session| (session.key, session)).collect())
}

/// Calls `visit` for every session, except added memories.
pub(in crate::api) fn visit_tracked(
    store: &dyn Store,
    live: &HashMap<SessionKey, Session>,
    visit: &mut dyn FnMut(&Session),
) -> Result<(), StoreError> {
    store.visit_sessions(&mut |stored| {
        let session = live.get(&stored.key).unwrap_or(&stored);
        if session.id.agent != MEMORY {
            visit(session);
        }
        true
    })
}
