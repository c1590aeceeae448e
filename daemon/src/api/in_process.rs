//! Answers requests of the viewer, which runs in this process. The requests are handled by the same
//! code as the requests on the socket, so that a page can do no more than the command line.

use std::future::Future;

use graphiti_proto::{
    rpc::{Error, Request},
    tools::SessionRow,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

pub(crate) use crate::api::{
    blocking::read as blocking,
    projects::{is_of_project, project_argument},
};
use crate::{
    api::{
        DaemonState,
        client_context::ClientContext,
        convert,
        errors::{resolve_error, store_error},
        methods,
        parameters::write,
        request_limits,
        tools::{self, list_sessions},
    },
    model::{SessionKey, Timestamp, session::Session},
    store::{SourceKey, StoreError},
};

pub async fn method<T: DeserializeOwned>(
    daemon: &DaemonState,
    name: &str,
    params: &impl Serialize,
) -> Result<T, Error> {
    let request = Request {
        jsonrpc: "2.0".to_owned(),
        id: None,
        method: name.to_owned(),
        params: write(params),
    };
    parsed(methods::answer(daemon, &ClientContext::default(), request).await?)
}

pub async fn tool<T: DeserializeOwned>(
    daemon: &DaemonState,
    name: &str,
    arguments: &impl Serialize,
) -> Result<T, Error> {
    let arguments = write(arguments);
    parsed(tools::structured(daemon, &ClientContext::default(), name, arguments).await?)
}

/// Runs `work`, which may block. A panic and a timeout become errors.
pub async fn guarded<T>(work: impl Future<Output = T>) -> Result<T, Error> {
    request_limits::with_deadline(async { Ok(work.await) }).await
}

/// Calls `visit` for every session that lists contain ([`Session::is_listed`]).
pub async fn visit_sessions(
    daemon: &DaemonState,
    visit: &mut (dyn FnMut(&Session) + Send),
) -> Result<(), Error> {
    let live = list_sessions::live_sessions(daemon).await?;
    let store = daemon.engine.store().as_ref();
    let listed = &mut |session: &Session| {
        if session.is_listed() {
            visit(session);
        }
    };
    blocking(|| list_sessions::visit_tracked(store, &live, listed)).map_err(store_error)
}

/// Returns the rows of these sessions. Leaves out sessions that no longer exist.
pub async fn session_rows(
    daemon: &DaemonState,
    keys: &[SessionKey],
) -> Result<Vec<SessionRow>, Error> {
    let live = list_sessions::live_sessions(daemon).await?;
    let store = daemon.engine.store().as_ref();
    let row = |key: &SessionKey| -> Result<Option<SessionRow>, StoreError> {
        let session = list_sessions::newest(store, &live, *key)?;
        session.map(|session| convert::session_row(store, &session)).transpose()
    };
    keys.iter()
        .filter_map(|key| row(key).transpose())
        .collect::<Result<_, _>>()
        .map_err(store_error)
}

/// Returns the number of the message at a line of a session's own file, or of the last message
/// before this line.
pub async fn message_at_line(
    daemon: &DaemonState,
    session: &str,
    line: u64,
) -> Result<Option<u32>, Error> {
    message_at(daemon, session, 0, line).await
}

/// Returns how many messages the file with the number `source` of a session has.
pub async fn message_total(daemon: &DaemonState, session: &str, source: u32) -> Result<u32, Error> {
    let last = message_at(daemon, session, source, u64::MAX).await?;
    Ok(last.map_or(0, |last| last + 1))
}

async fn message_at(
    daemon: &DaemonState,
    session: &str,
    source: u32,
    line: u64,
) -> Result<Option<u32>, Error> {
    let client = ClientContext::default();
    let found = super::current::resolve(daemon, Some(session), &client).await;
    let key = SourceKey { session: found.map_err(resolve_error)?, number: source };
    let store = daemon.engine.store().as_ref();
    tools::graph::message_at(store, key, line).map_err(store_error)
}

/// Returns the start of the given period, or the given time; `None` when nothing is given.
pub fn since_argument(given: Option<&str>) -> Result<Option<Timestamp>, Error> {
    Ok(tools::date("since", given)?.map(|range| range.from))
}

fn parsed<T: DeserializeOwned>(answer: Value) -> Result<T, Error> {
    serde_json::from_value(answer).map_err(|error| {
        let what = format!("the daemon does not understand its own answer: {error}");
        Error::new(graphiti_proto::rpc::code::INTERNAL, what)
    })
}
