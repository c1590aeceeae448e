//! Tests the transitions of the state machine.

use super::*;
use crate::model::{
    EpisodeId,
    session::{ContentHash, SessionId, SessionKey},
};

const NOW: Timestamp = Timestamp::from_seconds(1_000_000);

/// The columns of [`TABLE`].
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
/// One row per state, except for sessions without a timeout, which have their own test. A cell has
/// the state after the event and, if a job was started, `+` and the reason.
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
fn without_a_timeout_a_quiet_session_is_indexed_by_queries() {
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
    assert_eq!(handle(&mut session, SessionEvent::DeadlinePassed, NOW, &Config::default()), None);
    assert_eq!(session.state, State::Active);
}

#[test]
fn a_session_whose_agent_has_exited_is_closed_after_a_short_time() {
    let mut session = session(State::Active, 0);
    handle(&mut session, SessionEvent::AgentGone, NOW, &Config::default());
    let due = deadline(&session, &Config::default());
    assert_eq!(due, Some(NOW.plus(HOOK_GRACE)));
    let now = NOW.plus(HOOK_GRACE);
    let started = handle(&mut session, SessionEvent::DeadlinePassed, now, &Config::default());
    assert_eq!(started, Some(CloseReason::AgentExited));
}

#[test]
fn a_write_postpones_the_deadline() {
    let config = Config::default();
    let mut session = session(State::Inactive, 1_700);
    assert_eq!(deadline(&session, &config), Some(NOW.plus(Duration::from_secs(100))));
    handle(&mut session, SessionEvent::Written(NOW), NOW, &config);
    assert_eq!(deadline(&session, &config), Some(NOW.plus(Duration::from_secs(60))));
}

#[test]
fn the_age_of_a_transcript_determines_the_first_state() {
    let config = Config::default();
    let written = |seconds| NOW.minus(Duration::from_secs(seconds));
    assert_eq!(first_state(written(1_799), NOW, &config), State::Active);
    let history = State::Unindexed(Unindexed::History);
    assert_eq!(first_state(written(1_800), NOW, &config), history);
    let never = Config { inactivity_timeout: None, ..config };
    assert_eq!(first_state(written(60), NOW, &never), history);
}

#[test]
fn failures_are_counted_until_a_success() {
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
fn a_new_episode_is_recorded_even_if_the_session_continues() {
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
        "asked" => SessionEvent::CloseRequested(CloseReason::Explicit(None)),
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
