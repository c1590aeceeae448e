//! Tests callers that wait until the engine has settled, has released sessions, or has stopped.

use std::time::Duration;

use tokio::sync::oneshot::error::TryRecvError;

use super::{
    Decider, START,
    jobs::{close, end},
};
use crate::{
    capture::{format::RunningSession, liveness::Process, watch::Notice},
    engine::{
        EngineEvent, RequestedEpisodes,
        command::{EngineCommand, Scope},
        job_result::IndexOutcome,
    },
    model::SessionKey,
};

const OWN: &str = "/p/a";
const WAITS: Result<(), TryRecvError> = Err(TryRecvError::Empty);

#[test]
fn the_engine_has_settled_when_a_scan_after_the_request_is_complete() {
    let mut decider = Decider::new();
    let mut settled =
        decider.command(|reply| EngineCommand::Settle { until_no_timeouts: false, reply });
    assert_eq!(settled.try_recv(), WAITS);
    decider.turn(EngineEvent::Notice(Notice::Complete { asked: 0 }));
    assert_eq!(settled.try_recv(), WAITS, "this scan began before the request");
    decider.turn(EngineEvent::Notice(Notice::Complete { asked: 1 }));
    assert_eq!(settled.try_recv(), Ok(()));
}

#[test]
fn the_engine_has_settled_when_no_file_is_being_identified_or_read() {
    let mut decider = Decider::new();
    decider.put(OWN, 1, 10);
    decider.announce(&[OWN]);
    let mut settled =
        decider.command(|reply| EngineCommand::Settle { until_no_timeouts: false, reply });
    decider.turn(EngineEvent::Notice(Notice::Complete { asked: 1 }));
    assert_eq!(settled.try_recv(), WAITS, "the file is being identified");
    decider.identify();
    assert_eq!(settled.try_recv(), WAITS, "the file is being read");
    assert_eq!(unread(&mut decider), 1);
    decider.finish(1);
    assert_eq!(unread(&mut decider), 0);
    assert_eq!(settled.try_recv(), Ok(()));
}

fn unread(decider: &mut Decider) -> usize {
    decider.command(EngineCommand::Status).try_recv().unwrap().unread
}

#[test]
fn a_search_for_old_sessions_waits_until_all_files_are_registered() {
    let mut decider = Decider::new();
    decider.put(OWN, 1, 10);
    decider.announce(&[OWN]);
    let mut context = decider.command(EngineCommand::BackfillContext);
    assert!(matches!(context.try_recv(), Err(TryRecvError::Empty)));
    decider.identify();
    assert_eq!(context.try_recv().unwrap().live.len(), 1);
}

#[test]
fn a_search_does_not_wait_for_a_history_of_more_sessions_than_its_limit() {
    let mut decider = with_history();
    let mut requested = |limit| {
        let scope = Scope { limit, history_limit: Some(limit), ..Scope::default() };
        let found = request(&mut decider, scope);
        (found.pending.len(), found.left_out)
    };
    let (running, left_out) = requested(2);
    assert_eq!(running + left_out, 4, "the running job is pending, the others are left out");
    assert!(left_out > 2, "{left_out}");
    assert_eq!(requested(4), (4, 0));
}

#[test]
fn a_hook_requests_the_latest_sessions_of_a_long_history() {
    let mut decider = with_history();
    let found = request(&mut decider, Scope { limit: 2, ..Scope::default() });
    assert_eq!((found.pending.len(), found.left_out), (2, 0));
}

#[test]
fn a_request_for_one_session_includes_no_other_session() {
    let mut decider = with_history();
    for id in ["a", "d"] {
        let only = decider.session(id).key;
        let found = request(&mut decider, Scope { only: Some(only), limit: 1, ..Scope::default() });
        let pending: Vec<SessionKey> = found.pending.iter().map(|one| one.session).collect();
        assert_eq!(pending, [only], "{id}");
    }
    assert_eq!(["b", "c"].map(|id| decider.state_of(id)), ["unindexed"; 2]);
}

#[test]
fn a_caller_can_wait_until_all_sessions_with_a_timeout_have_ended() {
    let mut decider = Decider::new();
    decider.follow(OWN, 1);
    let mut settled =
        decider.command(|reply| EngineCommand::Settle { until_no_timeouts: true, reply });
    decider.turn(EngineEvent::Notice(Notice::Complete { asked: 1 }));
    decider.pass(Duration::from_secs(60));
    assert_eq!((decider.state_of("a"), settled.try_recv()), ("inactive", WAITS));
    while decider.state_of("a") != "indexing" {
        decider.pass(Duration::from_secs(600));
    }
    let job = decider.jobs.pop_back().unwrap();
    let mut done = decider.read(&job, 0);
    done.index = Some(crate::engine::job_result::IndexOutcome::Nothing);
    decider.turn(EngineEvent::JobDone(Box::new(done)));
    while let Some(job) = decider.jobs.pop_front() {
        let done = decider.read(&job, 0);
        decider.turn(EngineEvent::JobDone(Box::new(done)));
    }
    assert_eq!(settled.try_recv(), Ok(()));
}

#[test]
fn a_session_is_released_when_its_job_has_ended() {
    let mut decider = Decider::new();
    decider.follow(OWN, 1);
    decider.put(OWN, 1, 20);
    decider.announce(&[OWN]);
    let sessions = vec![decider.session("a").key];
    let mut released = decider.command(|reply| EngineCommand::Release { sessions, reply });
    assert_eq!(released.try_recv(), WAITS);
    decider.performed.clear();
    decider.finish(1);
    assert_eq!(released.try_recv(), Ok(()));
    assert_eq!(decider.performed, [""; 0], "nothing is written after the release");
}

#[test]
fn a_session_whose_removal_failed_is_closed_again() {
    let mut decider = Decider::new();
    decider.follow(OWN, 1);
    let (session, _dropped) = close(&mut decider);
    let sessions = vec![session];
    let mut released = decider.command(|reply| EngineCommand::Release { sessions, reply });
    end(&mut decider, |done| done.index = Some(IndexOutcome::Nothing));
    assert_eq!(released.try_recv(), Ok(()));
    let sessions = vec![session];
    decider.command(|reply| EngineCommand::ReleaseEnded { sessions, reply });
    let (_, mut closed) = close(&mut decider);
    for _ in 0..2 {
        end(&mut decider, |done| done.index = Some(IndexOutcome::Nothing));
    }
    assert!(closed.try_recv().unwrap().is_ok());
    assert_eq!(decider.state_of("a"), "indexed");
}

#[test]
fn a_stop_does_not_report_that_the_engine_has_settled() {
    let mut decider = Decider::new();
    decider.put(OWN, 1, 10);
    decider.announce(&[OWN]);
    let settle = |reply| EngineCommand::Settle { until_no_timeouts: false, reply };
    let mut settled = decider.command(settle);
    decider.turn(EngineEvent::Notice(Notice::Complete { asked: 1 }));
    let _stopped = decider.command(EngineCommand::Stop);
    let mut later = decider.command(settle);
    decider.identify();
    decider.turn(EngineEvent::Notice(Notice::Complete { asked: 2 }));
    for settled in [&mut settled, &mut later] {
        assert_eq!(settled.try_recv(), Err(TryRecvError::Closed));
    }
}

#[test]
fn a_stop_waits_for_a_job_that_saves_the_states_in_memory() {
    let mut decider = Decider::new();
    decider.follow(OWN, 1);
    decider.put(OWN, 1, 20);
    decider.announce(&[OWN]);
    let job = decider.jobs.pop_front().unwrap();
    let mut done = decider.read(&job, 1);
    done.files[0].is_saved = false;
    decider.turn(EngineEvent::JobDone(Box::new(done)));
    let _stopped = decider.command(EngineCommand::Stop);
    assert!(!decider.state.is_stopped());
    assert_eq!(decider.due_files(), [0]);
    decider.finish(0);
    assert!(decider.state.is_stopped());
}

#[test]
fn a_session_whose_agent_has_exited_by_its_deadline_ends_because_of_the_exit() {
    let mut decider = Decider::new();
    decider.follow(OWN, 1);
    let process = Process { pid: 7, started: Some(1) };
    for _ in 0..2 {
        let running =
            RunningSession { session: "a".to_owned(), pid: 7, started: Some(1), cwd: None };
        decider.turn(EngineEvent::Command(EngineCommand::AgentRuns(running)));
    }
    decider.gone.insert(process);
    decider.pass(Duration::from_secs(60));
    assert_eq!(decider.state_of("a"), "unindexed");
}

#[test]
fn sessions_end_on_time_after_the_clock_is_set_back() {
    let mut decider = Decider::new();
    decider.now = START.plus(Duration::from_secs(1_000_000));
    decider.follow(OWN, 1);
    decider.now = START;
    decider.pass(Duration::ZERO);
    assert_eq!(decider.session("a").last_activity, START);
    decider.pass(Duration::from_secs(60));
    assert_eq!(decider.state_of("a"), "inactive");
}

/// Creates an engine with four old sessions, whose import has begun.
fn with_history() -> Decider {
    let mut decider = Decider::new();
    let files = ["/p/a", "/p/b", "/p/c", "/p/d"];
    for (file, path) in (1..).zip(files) {
        decider.put(path, file, 10);
    }
    decider.now = decider.after(86_400);
    decider.announce(&files);
    decider.identify();
    decider
}

fn request(decider: &mut Decider, scope: Scope) -> RequestedEpisodes {
    let mut found = decider.command(|reply| EngineCommand::RequestEpisodes { scope, reply });
    found.try_recv().unwrap()
}
