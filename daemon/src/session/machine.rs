//! The session state machine of the hybrid-close document (section 6), with `unindexed` and
//! `failed` made precise.
//!
//! ```text
//!              written                quiet                 timed out, asked, needed
//!   (new) ---> Active  <---------->  Inactive  ------------------------------> Indexing
//!     |          |  ^    written        |                                       |  |  |
//!     | old      |  |                   | agent gone, or quiet without timeout  |  |  | error
//!     v          v  | written           v                asked, needed, due     |  |  v
//!   Unindexed <-----+--------------- Unindexed ---------------------------------+  |  Failed
//!                   |                                                              |    |
//!                   +---------------------------------- Indexed <------------------+    |
//!                                  written                 ^     done, unchanged        |
//!                                                          +----------------------------+
//!                                                             retry due, asked, needed
//! ```
//!
//! What is written while a session is being indexed is remembered: when the job ends, the session
//! is active again. So is a close that is asked for meanwhile: another job follows, which finds the
//! session unchanged if the first one had read everything. A close that failed stays to be retried
//! whatever is written.
//!
//! `explore.rs` visits all that can happen to one session.

use std::time::Duration;

use crate::{
    model::{
        session::{CloseReason, Failure, Indexed, Indexing, Session, State, Unindexed},
        time::Timestamp,
    },
    session::Config,
};

/// After the end of an agent its last hook may still report why it ended.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// No failed job waits longer until it is tried again.
const LONGEST_RETRY: Duration = Duration::from_secs(6 * 60 * 60);

/// What can happen to a session.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionEvent {
    /// The transcript was written to, at this time.
    Written(Timestamp),
    /// The session's deadline passed.
    DeadlinePassed,
    /// Someone asks for the session to be closed: a person, an agent, a hook.
    CloseAsked(CloseReason),
    /// A search wants the session's episode.
    Needed,
    /// The agent's process is gone.
    AgentGone,
    /// The import of history reached the session.
    HistoryReached,
    /// The daemon has just been started.
    Restarted,
    /// The job that made the episode ended.
    JobEnded(JobEnd),
}

/// How the job of making an episode ended.
#[derive(Clone, Debug, PartialEq)]
pub enum JobEnd {
    /// There is a new episode.
    Made(Indexed),
    /// The session says what it said when it was last indexed.
    Unchanged,
    /// The session says nothing yet.
    Nothing,
    /// It failed.
    Failed {
        /// What went wrong.
        error: String,
        /// When to try again; `None` when that makes no sense.
        retry_at: Option<Timestamp>,
    },
}

/// The state of a session that is seen for the first time.
pub fn first_state(last_written: Timestamp, now: Timestamp, config: &Config) -> State {
    let age = now.since(last_written);
    match config.inactivity_timeout {
        Some(timeout) if age >= timeout => State::Unindexed(Unindexed::History),
        None if age >= config.check_interval => State::Unindexed(Unindexed::History),
        _ => State::Active,
    }
}

/// Moves `session` on by `event`. Returns the reason of the job to be started, if one is.
///
/// Where nothing is returned and the state did not change, the event means nothing in that state.
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
        SessionEvent::CloseAsked(reason) => match &mut session.state {
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
        SessionEvent::Restarted => match &session.state {
            State::Indexing(indexing) => {
                let reason = indexing.again.clone().unwrap_or_else(|| indexing.reason.clone());
                start(session, reason, now)
            }
            State::Active
            | State::Inactive
            | State::Indexed
            | State::Failed(_)
            | State::Unindexed(_) => None,
        },
        SessionEvent::JobEnded(end) => job_ended(session, end, now),
    }
}

/// When `session` changes by itself, if nothing else happens.
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
            Some(since.plus(config.check_interval.min(LAST_WORDS)))
        }
        State::Failed(failure) => failure.retry_at,
        State::Unindexed(Unindexed::History | Unindexed::NoTimeout)
        | State::Indexing(_)
        | State::Indexed => None,
    }
}

/// Nothing happened later than `now`: a clock that was ahead was set back since, and what it said
/// would keep the session from ending until that time comes again. Says whether anything did.
pub fn set_back(session: &mut Session, now: Timestamp) -> bool {
    let before = session.clone();
    session.last_activity = session.last_activity.min(now);
    match &mut session.state {
        State::Unindexed(Unindexed::AgentGone { since }) => *since = (*since).min(now),
        State::Failed(failure) => {
            failure.retry_at = failure.retry_at.map(|at| at.min(now.plus(LONGEST_RETRY)));
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
        State::Failed(failure) if is_owed(failure) => {}
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
        Some(failure) if is_owed(&failure) => State::Failed(failure),
        _ if indexing.written_since => State::Active,
        Some(failure) => State::Failed(failure),
        None => State::Indexed,
    };
    indexing.again.and_then(|reason| start(session, reason, now))
}

/// Whether a close was acknowledged that is still to be tried: then writing does not make the
/// session one that is merely active, for without a timeout nothing would end it again.
fn is_owed(failure: &Failure) -> bool {
    failure.reason.is_asked() && failure.retry_at.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{
        episode::EpisodeId,
        session::{ContentHash, SessionId, SessionKey},
    };

    const NOW: Timestamp = Timestamp::from_seconds(1_000_000);

    /// One row a state, one column an event: `state after [+reason of the job started]`.
    const EVENTS: [&str; 11] = [
        "written",
        "quiet",
        "timed out",
        "asked",
        "needed",
        "agent gone",
        "history",
        "restarted",
        "made",
        "unchanged",
        "failed",
    ];
    #[rustfmt::skip]
    const TABLE: [(&str, [&str; 11]); 10] = [
        ("active", [
            "active", "inactive", "indexing+inactivity_timeout", "indexing+explicit", "active",
            "unindexed/gone", "active", "active", "active", "active", "active",
        ]),
        ("inactive", [
            "active", "inactive", "indexing+inactivity_timeout", "indexing+explicit", "indexing+lazy_query",
            "unindexed/gone", "inactive", "inactive", "inactive", "inactive", "inactive",
        ]),
        ("indexing", [
            "indexing/written", "indexing", "indexing", "indexing/again", "indexing",
            "indexing", "indexing", "indexing+hook_clear", "indexed", "indexed", "failed",
        ]),
        ("indexing/written", [
            "indexing/written", "indexing/written", "indexing/written", "indexing/again", "indexing/written",
            "indexing/written", "indexing/written", "indexing+hook_clear", "active", "active", "active",
        ]),
        ("indexing/again", [
            "indexing/again", "indexing/again", "indexing/again", "indexing/again", "indexing/again",
            "indexing/again", "indexing/again", "indexing+explicit",
            "indexing+explicit", "indexing+explicit", "indexing+explicit",
        ]),
        ("indexed", [
            "active", "indexed", "indexed", "indexing+explicit", "indexed",
            "indexed", "indexed", "indexed", "indexed", "indexed", "indexed",
        ]),
        ("failed/due", [
            "failed", "indexing+hook_clear", "indexing+hook_clear", "indexing+explicit", "indexing+lazy_query",
            "failed", "failed", "failed", "failed", "failed", "failed",
        ]),
        ("failed/later", [
            "failed", "failed", "failed", "indexing+explicit", "failed",
            "failed", "failed", "failed", "failed", "failed", "failed",
        ]),
        ("unindexed/gone", [
            "active", "indexing+agent_exited", "indexing+agent_exited", "indexing+explicit", "indexing+lazy_query",
            "unindexed/gone", "unindexed/gone", "unindexed/gone", "unindexed/gone", "unindexed/gone", "unindexed/gone",
        ]),
        ("unindexed/history", [
            "active", "unindexed/history", "unindexed/history", "indexing+explicit", "indexing+lazy_query",
            "unindexed/history", "indexing+history_sync", "unindexed/history", "unindexed/history",
            "unindexed/history", "unindexed/history",
        ]),
    ];

    #[test]
    fn every_cell_of_the_transition_table_holds() {
        for (state, cells) in TABLE {
            for (event, wanted) in EVENTS.into_iter().zip(cells) {
                let quiet_for = if event == "timed out" { 1_800 } else { 60 };
                let mut session = session(state_named(state), quiet_for);
                let started = handle(&mut session, event_named(event), NOW, &Config::default());
                let after = match started {
                    Some(reason) => format!("{}+{}", name(&session.state), reason.name()),
                    None => name(&session.state).to_owned(),
                };
                assert_eq!(after, wanted, "{state} when {event}");
            }
        }
    }

    #[test]
    fn without_a_timeout_a_quiet_session_is_left_to_queries() {
        let config = Config { inactivity_timeout: None, ..Config::default() };
        let mut session = session(State::Active, 60);
        assert_eq!(handle(&mut session, SessionEvent::DeadlinePassed, NOW, &config), None);
        assert_eq!(session.state, State::Unindexed(Unindexed::NoTimeout));
        assert_eq!(deadline(&session, &config), None);
        let started = handle(&mut session, SessionEvent::Needed, NOW, &config);
        assert_eq!(started, Some(CloseReason::LazyQuery));
    }

    #[test]
    fn a_deadline_that_has_not_passed_changes_nothing() {
        let mut session = session(State::Active, 59);
        assert_eq!(
            handle(&mut session, SessionEvent::DeadlinePassed, NOW, &Config::default()),
            None
        );
        assert_eq!(session.state, State::Active);
    }

    #[test]
    fn a_session_whose_agent_is_gone_is_over_in_a_moment() {
        let mut session = session(State::Active, 0);
        handle(&mut session, SessionEvent::AgentGone, NOW, &Config::default());
        let due = deadline(&session, &Config::default());
        assert_eq!(due, Some(NOW.plus(LAST_WORDS)));
        let now = NOW.plus(LAST_WORDS);
        let started = handle(&mut session, SessionEvent::DeadlinePassed, now, &Config::default());
        assert_eq!(started, Some(CloseReason::AgentExited));
    }

    #[test]
    fn a_turn_pushes_the_deadline_back() {
        let config = Config::default();
        let mut session = session(State::Inactive, 1_700);
        assert_eq!(deadline(&session, &config), Some(NOW.plus(Duration::from_secs(100))));
        handle(&mut session, SessionEvent::Written(NOW), NOW, &config);
        assert_eq!(deadline(&session, &config), Some(NOW.plus(Duration::from_secs(60))));
    }

    #[test]
    fn the_age_of_a_transcript_decides_its_first_state() {
        let config = Config::default();
        let written = |seconds| NOW.minus(Duration::from_secs(seconds));
        assert_eq!(first_state(written(1_799), NOW, &config), State::Active);
        let history = State::Unindexed(Unindexed::History);
        assert_eq!(first_state(written(1_800), NOW, &config), history);
        let never = Config { inactivity_timeout: None, ..config };
        assert_eq!(first_state(written(60), NOW, &never), history);
    }

    #[test]
    fn failures_in_a_row_are_counted_and_a_success_forgets_them() {
        let config = Config::default();
        let mut session = session(State::Active, 0);
        for attempts in 1..=3 {
            handle(&mut session, event_named("asked"), NOW, &config);
            handle(&mut session, event_named("failed"), NOW, &config);
            let State::Failed(failure) = &session.state else { panic!("{:?}", session.state) };
            assert_eq!(failure.attempts, attempts);
        }
        handle(&mut session, event_named("asked"), NOW, &config);
        handle(&mut session, event_named("made"), NOW, &config);
        handle(&mut session, event_named("asked"), NOW, &config);
        handle(&mut session, event_named("failed"), NOW, &config);
        assert!(matches!(&session.state, State::Failed(failure) if failure.attempts == 1));
    }

    #[test]
    fn a_new_episode_is_noted_even_when_the_session_went_on() {
        let mut session = session(state_named("indexing/written"), 0);
        handle(&mut session, event_named("made"), NOW, &Config::default());
        assert_eq!(session.indexed, Some(indexed()));
    }

    fn session(state: State, quiet_for: u64) -> Session {
        Session {
            key: SessionKey(1),
            id: SessionId { agent: "claude".to_owned(), id: "a".to_owned() },
            project: None,
            file: "/t/a.jsonl".to_owned(),
            state,
            content: None,
            indexed: None,
            started_at: None,
            last_activity: NOW.minus(Duration::from_secs(quiet_for)),
        }
    }

    fn indexed() -> Indexed {
        Indexed {
            episode: EpisodeId(uuid::Uuid::nil()),
            hash: ContentHash([7; 32]),
            at: NOW,
            reason: CloseReason::Explicit(None),
        }
    }

    fn state_named(name: &str) -> State {
        let indexing = |written_since, again| {
            State::Indexing(Indexing {
                reason: CloseReason::Hook("clear".to_owned()),
                since: NOW,
                attempts: 0,
                written_since,
                again,
            })
        };
        let failed = |retry_at| {
            State::Failed(Failure {
                error: "no".to_owned(),
                attempts: 1,
                retry_at: Some(retry_at),
                reason: CloseReason::Hook("clear".to_owned()),
            })
        };
        let minute = Duration::from_secs(60);
        match name {
            "active" => State::Active,
            "inactive" => State::Inactive,
            "indexing" => indexing(false, None),
            "indexing/written" => indexing(true, None),
            "indexing/again" => indexing(false, Some(CloseReason::Explicit(None))),
            "indexed" => State::Indexed,
            "failed/due" => failed(NOW),
            "failed/later" => failed(NOW.plus(minute)),
            "unindexed/gone" => State::Unindexed(Unindexed::AgentGone { since: NOW.minus(minute) }),
            "unindexed/history" => State::Unindexed(Unindexed::History),
            other => panic!("no state {other}"),
        }
    }

    fn event_named(name: &str) -> SessionEvent {
        match name {
            "written" => SessionEvent::Written(NOW),
            "quiet" | "timed out" => SessionEvent::DeadlinePassed,
            "asked" => SessionEvent::CloseAsked(CloseReason::Explicit(None)),
            "needed" => SessionEvent::Needed,
            "agent gone" => SessionEvent::AgentGone,
            "history" => SessionEvent::HistoryReached,
            "restarted" => SessionEvent::Restarted,
            "made" => SessionEvent::JobEnded(JobEnd::Made(indexed())),
            "unchanged" => SessionEvent::JobEnded(JobEnd::Unchanged),
            "failed" => {
                SessionEvent::JobEnded(JobEnd::Failed { error: "no".to_owned(), retry_at: None })
            }
            other => panic!("no event {other}"),
        }
    }

    fn name(state: &State) -> &'static str {
        match state {
            State::Indexing(Indexing { again: Some(_), .. }) => "indexing/again",
            State::Indexing(indexing) if indexing.written_since => "indexing/written",
            State::Unindexed(Unindexed::AgentGone { .. }) => "unindexed/gone",
            State::Unindexed(Unindexed::History) => "unindexed/history",
            other => other.as_str(),
        }
    }
}
