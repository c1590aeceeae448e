//! Indexes pending sessions before a search.
//!
//! The search waits for at most `query_timeout`. It does not wait for history sessions (sessions
//! that were old when they were first seen) if there are more than [`MAX_SESSIONS`]. Sessions that
//! take longer are indexed in the background, and the answer counts them as pending. Messages are
//! searchable as soon as they are written, independent of this step.

use graphiti_proto::rpc::{Error, code};
use tokio::time::{Instant, timeout_at};

use crate::{
    api::{DaemonState, client_context::ClientContext, current, errors::resolve_error},
    engine::Scope,
    model::Namespace,
};

/// Maximum number of sessions that are indexed for one search.
const MAX_SESSIONS: usize = 100;

/// The number of sessions that had to be indexed for a search, by result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CatchUp {
    /// Sessions that were indexed for this search.
    pub(super) done: usize,
    /// Sessions that were not indexed in time, history sessions that the import still indexes, and
    /// sessions whose summaries a model still writes.
    pub(super) pending: usize,
    /// Sessions that failed; they are retried later.
    pub(super) failed: usize,
}

/// Indexes the pending sessions of the given projects (of all projects if none are given), except
/// the client's own session.
pub(super) async fn index_pending(
    daemon: &DaemonState,
    client: &ClientContext,
    projects: Vec<Namespace>,
) -> Result<CatchUp, Error> {
    let deadline = Instant::now() + daemon.query_timeout();
    let except = current::client_session(daemon, client).await.map_err(resolve_error)?;
    let scope = Scope {
        projects,
        except,
        only: None,
        limit: MAX_SESSIONS,
        history_limit: Some(MAX_SESSIONS),
    };
    // A daemon that is stopping indexes no more sessions; the search uses the existing index.
    let Ok(requested) = daemon.engine.request_episodes(scope.clone()).await else {
        return Ok(CatchUp::default());
    };
    let mut indexed = CatchUp { pending: requested.left_out, ..CatchUp::default() };
    let mut position = 0;
    let total = requested.pending.len();
    for (done, needed) in requested.pending.into_iter().enumerate() {
        client
            .progress
            .report(done, total, || format!("Indexing {} first", sessions(total - done)));
        match timeout_at(deadline, needed.done).await {
            Ok(Ok(Ok(closed))) => {
                indexed.done += 1;
                position = closed.position.max(position);
            }
            Ok(Ok(Err(_))) => indexed.failed += 1,
            Ok(Err(_)) | Err(_) => indexed.pending += 1,
        }
    }
    // After the deadline, the search runs without the episodes that are not searchable yet.
    let _ = timeout_at(deadline, daemon.engine.wait_until_searchable(position)).await;
    // The search does not wait for a model, because each session has a summary that was made
    // without a model.
    indexed.pending += daemon.engine.pending_summaries(scope).await.unwrap_or(0);
    Ok(indexed)
}

impl CatchUp {
    /// Formats the result for people; empty when no session had to be indexed.
    pub(super) fn message(self) -> String {
        let parts = [
            (self.done, format!("{} indexed before searching", sessions(self.done))),
            (self.pending, format!("{} still being indexed or summarized", sessions(self.pending))),
            (
                self.failed,
                format!("{} could not be indexed and will be retried", sessions(self.failed)),
            ),
        ];
        let parts: Vec<String> =
            parts.into_iter().filter(|(count, _)| *count > 0).map(|(_, part)| part).collect();
        parts.join("; ")
    }
}

/// Adds to the error of a request for unknown data that some transcripts are not read yet.
pub(super) async fn explain(daemon: &DaemonState, error: Error) -> Error {
    if error.code != code::NOT_FOUND {
        return error;
    }
    match unread(daemon).await {
        Some(note) => Error { message: format!("{}. {note}", error.message), ..error },
        None => error,
    }
}

/// Returns a sentence about the transcripts that are not read yet, if there are any. A result
/// without sessions may be wrong until they are read.
pub(super) async fn unread(daemon: &DaemonState) -> Option<String> {
    // A daemon that is stopping reads no more transcripts.
    let status = daemon.engine.status().await.ok()?;
    let unread = status.unread + status.history_left + status.unidentified;
    unread_note(unread, status.scanned)
}

/// `is_scanned` is whether all transcripts were found.
fn unread_note(unread: usize, is_scanned: bool) -> Option<String> {
    match unread {
        0 if is_scanned => None,
        0 => Some("The transcripts are still being searched for.".to_owned()),
        1 => Some("1 transcript is not read yet.".to_owned()),
        count => Some(format!("{count} transcripts are not read yet.")),
    }
}

fn sessions(count: usize) -> String {
    match count {
        1 => "1 session".to_owned(),
        count => format!("{count} sessions"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transcripts_that_are_not_read_yet_are_reported() {
        assert_eq!(unread_note(0, true), None);
        let note = |unread, is_scanned| unread_note(unread, is_scanned).unwrap();
        assert_eq!(note(0, false), "The transcripts are still being searched for.");
        assert_eq!(note(1, false), "1 transcript is not read yet.");
        assert_eq!(note(16, true), "16 transcripts are not read yet.");
    }

    #[test]
    fn the_message_omits_counts_of_zero() {
        assert_eq!(CatchUp::default().message(), "");
        let indexed = CatchUp { done: 1, pending: 2, failed: 0 };
        assert_eq!(
            indexed.message(),
            "1 session indexed before searching; 2 sessions still being indexed or summarized"
        );
    }
}
