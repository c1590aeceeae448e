//! Sends the requests of the interactive search to the daemon, on a separate thread.

use std::sync::mpsc::{Receiver, Sender};

use graphiti_proto::tools::{
    list_sessions::{ListSessionsAnswer, ListSessionsArguments, NAME as LIST_SESSIONS},
    search_sessions::{Hit, NAME, SearchSessionsAnswer, SearchSessionsArguments},
};

use super::state::FinderEvent;
use crate::{
    commands::search::{DEFAULT_CONTEXT, open},
    connection::{AskError, Connection},
};

/// A request to the daemon.
pub(super) enum FinderRequest {
    Search(String),
    Open(Box<Hit>),
}

/// Answers requests until the sender of `requests` or the receiver of `events` is dropped. After a
/// connection error, the next request opens a new connection.
pub(super) fn serve(
    filters: &SearchSessionsArguments,
    requests: &Receiver<FinderRequest>,
    events: &Sender<FinderEvent>,
) {
    let mut connection = None;
    for request in requests {
        let event = match request {
            FinderRequest::Search(query) => {
                let answer =
                    with_connection(&mut connection, |daemon| search(daemon, filters, &query));
                FinderEvent::Searched { query, answer: Box::new(answer) }
            }
            FinderRequest::Open(hit) => {
                let session =
                    with_connection(&mut connection, |daemon| open(daemon, &hit, DEFAULT_CONTEXT));
                let session_id = hit.session.session_id;
                FinderEvent::Opened { session_id, session: Box::new(session) }
            }
        };
        if events.send(event).is_err() {
            return;
        }
    }
}

fn with_connection<T>(
    connection: &mut Option<Connection>,
    ask: impl FnOnce(&mut Connection) -> Result<T, AskError>,
) -> Result<T, String> {
    let ask_daemon = || {
        let mut daemon = match connection.take() {
            Some(daemon) => daemon,
            None => Connection::open()?,
        };
        let answer = ask(&mut daemon);
        if matches!(answer, Ok(_) | Err(AskError::Refused(_) | AskError::Tool { .. })) {
            *connection = Some(daemon);
        }
        answer
    };
    ask_daemon().map_err(|error| error.to_string())
}

/// Searches. If the query is empty and no filter except the project and the agent is set, lists the
/// latest sessions.
fn search(
    daemon: &mut Connection,
    filters: &SearchSessionsArguments,
    query: &str,
) -> Result<SearchSessionsAnswer, AskError> {
    let is_filtered = [&filters.branch, &filters.file, &filters.tool, &filters.role]
        .into_iter()
        .chain([&filters.after, &filters.before])
        .any(Option::is_some);
    if !query.trim().is_empty() || is_filtered {
        return daemon
            .call(NAME, &SearchSessionsArguments { query: query.to_owned(), ..filters.clone() });
    }
    let arguments = ListSessionsArguments {
        project: filters.project.clone(),
        agent: filters.agent.clone(),
        limit: filters.limit.unwrap_or_default(),
        offset: filters.offset,
        ..ListSessionsArguments::default()
    };
    let latest: ListSessionsAnswer = daemon.call(LIST_SESSIONS, &arguments)?;
    let ListSessionsAnswer { sessions, total, next, .. } = latest;
    let hits = sessions.into_iter().map(|session| Hit { session, ..Hit::default() });
    let message = next.map(|_| format!("{total} sessions in all")).unwrap_or_default();
    Ok(SearchSessionsAnswer { hits: hits.collect(), next, message, ..Default::default() })
}
