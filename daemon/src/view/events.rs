//! Notifies visible pages of the changes in the outbox of the store, by server-sent events.

use std::{
    convert::Infallible,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    extract::State,
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use futures_core::Stream;
use serde::Serialize;
use tokio::sync::watch;

use crate::{
    api::in_process,
    model::SessionKey,
    store::{OutboxChange, Store},
    view::{
        pages::{PageResult, failure},
        state::SharedView,
        usage::{self, VisiblePage},
    },
};

/// Waiting time after a change. All changes in this time are reported as one event.
const MERGE_TIME: Duration = Duration::from_millis(400);
/// Maximum number of changes that are read for one event. If there are more changes, all sessions
/// count as changed.
const MAX_CHANGES: usize = 256;

/// The sessions that have changed.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
struct ChangedSessions {
    /// Whether sessions that are not listed may have changed, too.
    all: bool,
    /// The ids that the agents gave to the sessions.
    sessions: Vec<String>,
}

pub(super) async fn events(State(view): State<SharedView>) -> Response {
    match stream(&view) {
        Ok(events) => {
            let keep_alive = KeepAlive::new().interval(Duration::from_secs(30));
            Sse::new(events).keep_alive(keep_alive).into_response()
        }
        Err(error) => failure::page(&error).into_response(),
    }
}

fn stream(view: &SharedView) -> PageResult<ChangeStream> {
    let outbox = view.daemon()?.engine.store().outbox_ends();
    let position = *outbox.borrow();
    let listener = ChangeListener {
        view: view.clone(),
        outbox,
        position,
        stopping: view.stopping.clone(),
        _visible: usage::track_visible_page(&view.page_use),
    };
    Ok(ChangeStream(Box::pin(listener.next())))
}

struct ChangeListener {
    view: SharedView,
    outbox: watch::Receiver<u64>,
    /// The position of the last reported change.
    position: u64,
    stopping: watch::Receiver<bool>,
    _visible: VisiblePage,
}

impl ChangeListener {
    /// Waits for changes. Returns the changed sessions and the listener for later changes, or
    /// `None` when the server stops.
    async fn next(mut self) -> Option<(ChangedSessions, ChangeListener)> {
        let changed = async {
            self.outbox.wait_for(|end| *end > self.position).await.ok()?;
            tokio::time::sleep(MERGE_TIME).await;
            Some(())
        };
        tokio::select! {
            changed = changed => changed?,
            _ = self.stopping.wait_for(|stopping| *stopping) => return None,
        }
        let end = *self.outbox.borrow_and_update();
        let daemon = self.view.daemon().ok()?;
        // This code runs after the request handler has returned, so it must allow blocking itself.
        let store = daemon.engine.store().as_ref();
        let changed = in_process::blocking(|| changes(store, self.position, end));
        self.position = end;
        Some((changed, self))
    }
}

/// Returns the sessions that changed between the positions `after` and `end` of the outbox.
fn changes(store: &dyn Store, after: u64, end: u64) -> ChangedSessions {
    let all = ChangedSessions { all: true, sessions: Vec::new() };
    let Ok(entries) = store.outbox(after, MAX_CHANGES) else { return all };
    // Entries are missing if there are more than `MAX_CHANGES`, or if they were removed from the
    // outbox.
    let is_complete = u64::try_from(entries.len()).is_ok_and(|count| count >= end - after);
    let mut changed = ChangedSessions { all: !is_complete, sessions: Vec::new() };
    let mut keys: Vec<SessionKey> = Vec::new();
    for entry in entries {
        match entry.what {
            OutboxChange::Messages { source, .. } | OutboxChange::SourceCleared(source) => {
                keys.push(source.session);
            }
            OutboxChange::Session(key) => keys.push(key),
            OutboxChange::Episode(id) => match store.episode(id) {
                Ok(episode) => keys.extend(episode.map(|episode| episode.session)),
                Err(_) => changed.all = true,
            },
            OutboxChange::EpisodeDropped { session, .. } => keys.push(session),
            OutboxChange::SessionDropped(_) => changed.all = true,
            OutboxChange::EntitiesAndFacts(_) => {}
        }
    }
    keys.sort_unstable();
    keys.dedup();
    for key in keys {
        match store.session(key) {
            Ok(Some(session)) => changed.sessions.push(session.id.id),
            Ok(None) | Err(_) => changed.all = true,
        }
    }
    changed
}

/// The future that waits for the next change.
type NextChange = Pin<Box<dyn Future<Output = Option<(ChangedSessions, ChangeListener)>> + Send>>;

struct ChangeStream(NextChange);

impl Stream for ChangeStream {
    type Item = Result<Event, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match self.0.as_mut().poll(context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(None) => {
                self.0 = Box::pin(std::future::pending());
                Poll::Ready(None)
            }
            Poll::Ready(Some((changed, listener))) => {
                self.0 = Box::pin(listener.next());
                let data = serde_json::to_string(&changed).expect("the event has only string keys");
                Poll::Ready(Some(Ok(Event::default().event("change").data(data))))
            }
        }
    }
}
