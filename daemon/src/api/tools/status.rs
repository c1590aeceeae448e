//! `session_tracking_status`: reports whether sessions are tracked, and the state of one session.

use graphiti_proto::{
    rpc::Error,
    tools::status::{NAME, StatusAnswer, StatusArguments},
};

use super::{
    Effect, Tool, engine_error, health, input, list_sessions, output, resolve_error, store_error,
    typed,
};
use crate::api::{
    DaemonState,
    client_context::ClientContext,
    convert, current,
    projects::{hidden, is_hidden},
};

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    title: "Status of session tracking",
    description: "Show whether sessions are tracked, the number of sessions in each state, and the state of the caller's \
    or a given session.",
    effect: Effect::Reads,
    input: input::<StatusArguments>,
    output: output::<StatusAnswer>,
    call: |daemon, client, arguments| {
        Box::pin(typed(arguments, |given| run(daemon, client, given)))
    },
};

async fn run(
    daemon: &DaemonState,
    client: &ClientContext,
    arguments: StatusArguments,
) -> Result<StatusAnswer, Error> {
    let given = arguments.session_id.filter(|given| !given.trim().is_empty());
    let key = match given {
        Some(_) => {
            Some(current::resolve(daemon, given.as_deref(), client).await.map_err(resolve_error)?)
        }
        None => current::client_session(daemon, client).await.map_err(resolve_error)?,
    };
    let live = list_sessions::live_sessions(daemon).await?;
    let store = daemon.engine.store().as_ref();
    let session = match key {
        None => None,
        Some(key) => list_sessions::newest(store, &live, key).map_err(store_error)?,
    };
    if session.as_ref().is_some_and(|session| is_hidden(daemon, client, session)) {
        return Err(hidden());
    }
    let session = session.map(|session| convert::session_row(store, &session)).transpose();
    let session = session.map_err(store_error)?;
    let status = daemon.engine.status().await.map_err(engine_error)?;
    let totals = health::totals(store, &live, &[]).map_err(store_error)?;
    let sessions = health::sessions(&totals);
    let enabled = !daemon.watched().roots.is_empty();
    let message = match (&session, enabled) {
        (_, false) => "Session tracking is disabled.".to_owned(),
        (Some(session), _) => format!("Session {} is {}.", session.session_id, session.state),
        (None, _) => "Session tracking is enabled.".to_owned(),
    };
    Ok(StatusAnswer {
        status: "success".to_owned(),
        enabled,
        session,
        sessions,
        watched: convert::paths(&daemon.watched().roots),
        scanned: status.scanned,
        message,
    })
}
