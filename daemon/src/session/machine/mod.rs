//! The state machine of a session.
//!
//! | Event | State | Next state |
//! | --- | --- | --- |
//! | written | all except Indexing | Active |
//! | quiet | Active | Inactive, or Unindexed if no timeout is set |
//! | timed out | Active, Inactive | Indexing |
//! | requested | all except Indexing | Indexing |
//! | needed by a search | Inactive, Unindexed, Failed if a retry is due | Indexing |
//! | agent gone | Active, Inactive | Unindexed, and Indexing after a short time |
//! | reached by the import | Unindexed, if the session was old when it was found | Indexing |
//! | retry due | Failed | Indexing |
//! | job ended | Indexing | Indexed or Failed |
//! | daemon started | Indexing | Indexing: the job starts again |
//!
//! A write during indexing is recorded: when the job ends, the session is active again. A close
//! that is requested during indexing is recorded, too: another job follows. If the first job has
//! read everything, the second job finds the session unchanged. A requested close that failed is
//! retried even after more writes. Until the retry, these writes do not make the session active.
//!
//! `explore.rs` tests all reachable states of one session.

use std::time::Duration;

use crate::{
    model::{
        session::{CloseReason, Failure, Indexed, Indexing, Session, State, Unindexed},
        time::Timestamp,
    },
    session::Config,
};

/// Time after the end of an agent during which its last hook may still report the reason for the
/// end.
const HOOK_GRACE: Duration = Duration::from_secs(2);
/// Maximum pause before a failed job is retried.
const MAX_RETRY_PAUSE: Duration = Duration::from_secs(6 * 60 * 60);

#[derive(Clone, Debug, PartialEq)]
pub enum SessionEvent {
    /// The transcript was written to, at this time.
    Written(Timestamp),
    DeadlinePassed,
    /// A user, an agent or a hook requested the close of the session.
    CloseRequested(CloseReason),
    /// A search needs the session's episode.
    Needed,
    /// The agent has ended, or has deleted or archived the transcript.
    AgentGone,
    /// The import of history reached the session.
    HistoryReached,
    /// The daemon has just been started.
    Restarted,
    /// The job that creates the episode ended.
    JobEnded(JobEnd),
}

/// The result of the job that creates an episode.
#[derive(Clone, Debug, PartialEq)]
pub enum JobEnd {
    /// There is a new episode.
    Made(Indexed),
    /// The content is the same as when the session was last indexed.
    Unchanged,
    /// No episode was created: the session has no content yet, or the settings turn episodes off.
    Nothing,
    Failed {
        error: String,
        /// When to retry; `None` when a retry does not help.
        retry_at: Option<Timestamp>,
    },
}

/// Returns the state of a session that is seen for the first time.
pub fn first_state(last_written: Timestamp, now: Timestamp, config: &Config) -> State {
    let age = now.since(last_written);
    match config.inactivity_timeout {
        Some(timeout) if age >= timeout => State::Unindexed(Unindexed::History),
        None if age >= config.check_interval => State::Unindexed(Unindexed::History),
        _ => State::Active,
    }
}

/// Applies `event` to `session`. If a job has to be started, returns the reason.
///
/// An event that has no meaning in the current state is ignored.
pub fn handle(
    session: &mut Session,
    event: SessionEvent,
    now: Timestamp,
    config: &Config,
) -> Option<CloseReason> {
    match event {
        SessionEvent::Written(at) => {
            written(session, at);
            None
        }
        SessionEvent::DeadlinePassed => deadline_passed(session, now, config),
        SessionEvent::CloseRequested(reason) => match &mut session.state {
            State::Indexing(indexing) => {
                indexing.again = Some(reason);
                None
            }
            State::Active
            | State::Inactive
            | State::Indexed
            | State::Failed(_)
            | State::Unindexed(_) => start(session, reason, now),
        },
        SessionEvent::Needed => match &session.state {
            State::Active | State::Indexing(_) | State::Indexed => None,
            State::Failed(failure) if failure.retry_at.is_none_or(|due| due > now) => None,
            State::Inactive | State::Failed(_) | State::Unindexed(_) => {
                start(session, CloseReason::LazyQuery, now)
            }
        },
        SessionEvent::AgentGone => {
            match session.state {
                State::Active | State::Inactive => {
                    session.state = State::Unindexed(Unindexed::AgentGone { since: now });
                }
                State::Indexing(_) | State::Indexed | State::Failed(_) | State::Unindexed(_) => {}
            }
            None
        }
        SessionEvent::HistoryReached => match session.state {
            State::Unindexed(Unindexed::History) => start(session, CloseReason::HistorySync, now),
            State::Unindexed(Unindexed::AgentGone { .. } | Unindexed::NoTimeout)
            | State::Active
            | State::Inactive
            | State::Indexing(_)
            | State::Indexed
            | State::Failed(_) => None,
        },
        SessionEvent::Restarted => restarted(session, now),
        SessionEvent::JobEnded(end) => job_ended(session, end, now),
    }
}

/// Starts the job again that was interrupted by the end of the daemon.
fn restarted(session: &mut Session, now: Timestamp) -> Option<CloseReason> {
    match &session.state {
        State::Indexing(indexing) => {
            let reason = indexing.again.clone().unwrap_or_else(|| indexing.reason.clone());
            start(session, reason, now)
        }
        State::Active
        | State::Inactive
        | State::Indexed
        | State::Failed(_)
        | State::Unindexed(_) => None,
    }
}

/// Returns when `session` changes without another event.
pub fn deadline(session: &Session, config: &Config) -> Option<Timestamp> {
    let after = |span: Duration| session.last_activity.plus(span);
    match &session.state {
        State::Active => {
            let over = config.inactivity_timeout.map(after);
            Some(over.map_or(after(config.check_interval), |over| {
                over.min(after(config.check_interval))
            }))
        }
        State::Inactive => config.inactivity_timeout.map(after),
        State::Unindexed(Unindexed::AgentGone { since }) => {
            Some(since.plus(config.check_interval.min(HOOK_GRACE)))
        }
        State::Failed(failure) => failure.retry_at,
        State::Unindexed(Unindexed::History | Unindexed::NoTimeout)
        | State::Indexing(_)
        | State::Indexed => None,
    }
}

/// Limits the times of past events to `now`, and the time of a retry to [`MAX_RETRY_PAUSE`] after
/// `now`. Later times come from a clock that was ahead and has been set back. Until they pass, they
/// would prevent the session from ending. Returns whether anything changed.
pub fn clamp_future_times(session: &mut Session, now: Timestamp) -> bool {
    let before = session.clone();
    session.last_activity = session.last_activity.min(now);
    match &mut session.state {
        State::Unindexed(Unindexed::AgentGone { since }) => *since = (*since).min(now),
        State::Failed(failure) => {
            failure.retry_at = failure.retry_at.map(|at| at.min(now.plus(MAX_RETRY_PAUSE)));
        }
        State::Active
        | State::Inactive
        | State::Indexing(_)
        | State::Indexed
        | State::Unindexed(Unindexed::History | Unindexed::NoTimeout) => {}
    }
    *session != before
}

fn written(session: &mut Session, at: Timestamp) {
    session.last_activity = session.last_activity.max(at);
    match &mut session.state {
        State::Indexing(indexing) => indexing.written_since = true,
        State::Failed(failure) if must_be_retried(failure) => {}
        state @ (State::Active
        | State::Inactive
        | State::Indexed
        | State::Failed(_)
        | State::Unindexed(_)) => *state = State::Active,
    }
}

fn deadline_passed(session: &mut Session, now: Timestamp, config: &Config) -> Option<CloseReason> {
    if deadline(session, config).is_none_or(|due| due > now) {
        return None;
    }
    let idle = now.since(session.last_activity);
    let timed_out = config.inactivity_timeout.is_some_and(|timeout| idle >= timeout);
    match &session.state {
        State::Active | State::Inactive if timed_out => {
            start(session, CloseReason::InactivityTimeout, now)
        }
        State::Active if config.inactivity_timeout.is_none() => {
            session.state = State::Unindexed(Unindexed::NoTimeout);
            None
        }
        State::Active => {
            session.state = State::Inactive;
            None
        }
        State::Unindexed(Unindexed::AgentGone { .. }) => {
            start(session, CloseReason::AgentExited, now)
        }
        State::Failed(failure) => {
            let reason = failure.reason.clone();
            start(session, reason, now)
        }
        State::Inactive
        | State::Unindexed(Unindexed::History | Unindexed::NoTimeout)
        | State::Indexing(_)
        | State::Indexed => None,
    }
}

fn start(session: &mut Session, reason: CloseReason, now: Timestamp) -> Option<CloseReason> {
    let attempts = match &session.state {
        State::Failed(failure) => failure.attempts,
        State::Indexing(indexing) => indexing.attempts,
        State::Active | State::Inactive | State::Indexed | State::Unindexed(_) => 0,
    };
    session.state = State::Indexing(Indexing {
        reason: reason.clone(),
        since: now,
        attempts,
        written_since: false,
        again: None,
    });
    Some(reason)
}

fn job_ended(session: &mut Session, end: JobEnd, now: Timestamp) -> Option<CloseReason> {
    let State::Indexing(indexing) = &session.state else { return None };
    let indexing = indexing.clone();
    let failed = match end {
        JobEnd::Made(indexed) => {
            session.indexed = Some(indexed);
            None
        }
        JobEnd::Unchanged | JobEnd::Nothing => None,
        JobEnd::Failed { error, retry_at } => Some(Failure {
            error,
            attempts: indexing.attempts + 1,
            retry_at,
            reason: indexing.reason,
        }),
    };
    session.state = match failed {
        Some(failure) if must_be_retried(&failure) => State::Failed(failure),
        _ if indexing.written_since => State::Active,
        Some(failure) => State::Failed(failure),
        None => State::Indexed,
    };
    indexing.again.and_then(|reason| start(session, reason, now))
}

/// Whether the failed job belongs to a requested close and has to be retried. In this case, a write
/// does not make the session active: if no timeout is set, an active session would not be closed.
fn must_be_retried(failure: &Failure) -> bool {
    failure.reason.is_requested() && failure.retry_at.is_some()
}

#[cfg(test)]
mod tests;
