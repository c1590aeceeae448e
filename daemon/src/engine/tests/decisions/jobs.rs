//! Tests the effects of jobs' results on sessions, files and waiting callers.

use std::{io, time::Duration};

use tokio::sync::oneshot::error::TryRecvError;

use super::{Decider, START, indexed};
use crate::{
    engine::{
        CloseOutcome, EngineError, EngineEvent,
        command::EngineCommand,
        figures::SessionFigures,
        job_result::{IndexOutcome, JobResult},
        new_episode::NewEpisode,
        reading::ReadError,
    },
    model::{CloseReason, SessionKey, session::State},
    store::{StoreError, Write, contract},
};

const OWN: &str = "/p/a";
const SUB_AGENT: &str = "/p/a/1";

#[test]
fn new_messages_make_an_indexed_session_active_and_save_it() {
    let (session, writes) = indexed(1, "a");
    let mut decider = Decider::with(|_, _| {}, &writes, "");
    let path = contract::source_of(&session, 0).path;
    decider.put(&path, 77, 2_000);
    decider.announce(&[&path]);
    decider.finish(1);
    assert_eq!(decider.state_of("a"), "active");
    assert_eq!(decider.session("a").last_activity, START);
    assert_eq!(decider.performed, ["session"]);
}

#[test]
fn an_episode_is_saved_in_one_list_with_its_session_before_the_reply() {
    let mut decider = Decider::new();
    decider.follow(OWN, 1);
    let (key, mut closed) = close(&mut decider);
    assert_eq!(closed.try_recv(), Err(TryRecvError::Empty));
    decider.performed.clear();
    let id = make_episode(&mut decider);
    let saved = ["job: made", "episode + statements + session + note", "job: queued", "reply"];
    assert_eq!(decider.performed, saved);
    let closed = closed.try_recv().unwrap().unwrap();
    assert_eq!((closed.session, closed.episode, closed.how), (key, id, CloseOutcome::Indexed));
    assert_eq!(decider.state_of("a"), "indexed");
}

#[test]
fn a_close_during_a_job_waits_for_the_next_job() {
    let mut decider = Decider::new();
    decider.follow(OWN, 1);
    let (_, mut first) = close(&mut decider);
    let (_, mut second) = close(&mut decider);
    make_episode(&mut decider);
    assert_eq!(first.try_recv(), Err(TryRecvError::Empty));
    end(&mut decider, |done| done.index = Some(IndexOutcome::Unchanged));
    let outcome = |closed: Result<crate::engine::Closed, EngineError>| closed.unwrap().how;
    assert_eq!(outcome(first.try_recv().unwrap()), CloseOutcome::Unchanged);
    assert_eq!(outcome(second.try_recv().unwrap()), CloseOutcome::Unchanged);
}

#[test]
fn a_failed_job_is_retried_after_increasing_pauses_and_then_given_up() {
    let mut decider = Decider::new();
    decider.follow(OWN, 1);
    let (_, mut closed) = close(&mut decider);
    for pause in [300, 900, 2_700, 7_200, 21_600] {
        end(&mut decider, |done| done.index = Some(IndexOutcome::Failed("why".to_owned())));
        assert_eq!(decider.state_of("a"), "failed");
        decider.pass(Duration::from_secs(pause - 1));
        assert!(decider.jobs.is_empty(), "{pause}");
        decider.pass(Duration::from_secs(1));
        assert_eq!(decider.jobs.len(), 1, "{pause}");
    }
    assert_eq!(closed.try_recv().unwrap(), Err(EngineError::Failed("why".to_owned())));
    end(&mut decider, |done| done.index = Some(IndexOutcome::Failed("why".to_owned())));
    let State::Failed(failure) = decider.session("a").state else {
        panic!("the session has not failed")
    };
    assert_eq!(failure.retry_at, None);
}

#[test]
fn a_retry_of_a_session_of_history_is_not_counted_again() {
    let mut decider = Decider::new();
    decider.put(OWN, 1, 10);
    decider.now = decider.after(86_400);
    decider.announce(&[OWN]);
    decider.identify();
    for _ in 0..2 {
        end(&mut decider, |done| done.index = Some(IndexOutcome::Failed("why".to_owned())));
        let status = decider.command(EngineCommand::Status).try_recv().unwrap();
        assert_eq!(status.history_done, 1);
        decider.pass(Duration::from_secs(300));
    }
}

#[test]
fn a_scan_leaves_old_files_of_history_to_the_import_and_reads_those_that_were_just_written() {
    let mut decider = Decider::new();
    let files = ["/p/a", "/p/b", "/p/c"];
    for (file, path) in (1..).zip(files) {
        decider.put(path, file, 10);
    }
    decider.now = decider.after(86_400);
    decider.announce(&files);
    decider.identify();
    assert_eq!(decider.jobs.len(), 1, "the newest session is imported");
    let imported = decider.jobs[0].session.key;
    let [left, continued] = ["a", "b", "c"]
        .map(|id| decider.session(id))
        .into_iter()
        .filter(|session| session.key != imported)
        .map(|session| session.file)
        .collect::<Vec<_>>()
        .try_into()
        .unwrap();

    decider.announce(&[&left, &continued]);
    decider.put(&continued, 9, 20);
    decider.announce(&[&left, &continued]);
    decider.finish(1);
    let jobs = decider.jobs.iter();
    let read: Vec<&str> = jobs.map(|job| job.files[0].source.path.as_str()).collect();
    assert_eq!(read, [&continued], "the other old file waits for the import");
    assert!(decider.jobs[0].index.is_none());
}

#[test]
fn a_session_stays_due_when_the_store_failed_its_job() {
    let mut decider = Decider::new();
    decider.follow(OWN, 1);
    let (_, mut closed) = close(&mut decider);
    decider.performed.clear();
    end(&mut decider, |done| {
        done.index = Some(IndexOutcome::Failed("full".to_owned()));
        // The own file could not be written to the store, then a further file could not be read.
        let error = io::ErrorKind::PermissionDenied.into();
        done.errors.push(ReadError::Store(StoreError::Full("full".to_owned())));
        done.errors.push(ReadError::File { path: "/p/a/agent.jsonl".to_owned(), error });
    });
    assert_eq!(decider.state_of("a"), "indexing");
    assert!(matches!(closed.try_recv().unwrap(), Err(EngineError::Failed(_))));
}

#[test]
fn a_session_is_retried_when_only_a_read_of_the_store_failed() {
    let mut decider = Decider::new();
    decider.follow(OWN, 1);
    let (_, mut closed) = close(&mut decider);
    end(&mut decider, |done| {
        done.index = Some(IndexOutcome::Failed("no".to_owned()));
        done.errors.push(ReadError::Store(StoreError::Backend("no".to_owned())));
    });
    assert_eq!(closed.try_recv().unwrap(), Err(EngineError::Failed("no".to_owned())));
    assert_eq!(decider.state_of("a"), "failed");
    decider.pass(Duration::from_secs(300));
    assert_eq!(decider.jobs.len(), 1);
}

#[test]
fn the_close_of_a_session_whose_format_was_removed_fails_at_once() {
    let mut session = contract::session(SessionKey(7), "a");
    session.id.agent = "mine".to_owned();
    let stored = [Write::Session(Box::new(session.clone()))];
    let mut decider = Decider::with(|_, _| {}, &stored, "");
    let (session, reason) = (session.key, CloseReason::Explicit(None));
    let mut closed = decider.command(|reply| EngineCommand::Close { session, reason, reply });
    let Ok(Err(EngineError::Failed(error))) = closed.try_recv() else { panic!("not answered") };
    assert!(error.contains("`mine`") && error.contains("watch_formats"), "{error}");
}

#[test]
fn files_that_cannot_be_read_are_retried_after_a_minute() {
    let mut decider = Decider::new();
    decider.follow(OWN, 1);
    decider.follow(SUB_AGENT, 2);
    decider.put(OWN, 1, 20);
    decider.put(SUB_AGENT, 2, 20);
    decider.announce(&[OWN, SUB_AGENT]);
    let job = decider.jobs.pop_front().unwrap();
    let unreadable = |path: &str| {
        let error = io::ErrorKind::PermissionDenied.into();
        ReadError::File { path: path.to_owned(), error }
    };
    let mut done = JobResult::failed(&job, unreadable(OWN));
    done.errors.push(unreadable(SUB_AGENT));
    decider.turn(EngineEvent::JobDone(Box::new(done)));
    decider.pass(Duration::from_secs(59));
    assert!(decider.jobs.is_empty());
    decider.pass(Duration::from_secs(1));
    assert_eq!(decider.due_files(), [0, 1]);
}

#[test]
fn the_job_of_a_quarantined_session_is_not_started_until_a_caller_closes_the_session() {
    let note = serde_json::json!({
        "agent": "claude", "id": "a", "from": 0, "at_work": false, "deaths": 4,
        "last": START.micros(),
    });
    let program = env!("CARGO_PKG_VERSION");
    let crashes = serde_json::json!({
        "version": 1, "program": program, "process": "other", "sessions": [note],
    });
    let mut decider = Decider::with(|_, _| {}, &[], &crashes.to_string());
    decider.put(OWN, 1, 10);
    decider.announce(&[OWN]);
    decider.identify();
    assert!(decider.jobs.is_empty());
    let status = decider.command(EngineCommand::Status).try_recv().unwrap();
    assert!(status.problems[0].contains("died 4 times"), "{:?}", status.problems);
    close(&mut decider);
    assert_eq!(decider.due_files(), [0]);
}

#[test]
fn the_copies_of_a_session_whose_file_was_replaced_are_read_from_their_start() {
    let (session, mut writes) = indexed(1, "a");
    let (copy, copied) = indexed(2, "b");
    let (_, unrelated) = indexed(3, "c");
    writes.extend(copied.into_iter().chain(unrelated));
    for (session, record) in [(1, 1), (2, 1), (3, 2)] {
        let (session, records) = (SessionKey(session), vec![[record; 16]]);
        writes.push(Write::ForkKeys { session, records });
    }
    let mut decider = Decider::with(|_, _| {}, &writes, "");
    let path = contract::source_of(&session, 0).path;
    decider.put(&path, 78, 10);
    decider.announce(&[&path]);
    end(&mut decider, |done| done.files[0].was_replaced = true);
    let reread: Vec<_> = decider.jobs.iter().map(|job| (job.session.key, job.from_start)).collect();
    assert_eq!(reread, [(copy.key, true)]);
}

#[test]
fn a_new_session_has_the_time_of_its_messages_not_of_its_file() {
    let mut decider = Decider::new();
    decider.put(OWN, 1, 10);
    decider.announce(&[OWN]);
    decider.identify();
    let old = START.minus(Duration::from_secs(86_400));
    let job = decider.jobs.pop_front().unwrap();
    let mut done = decider.read(&job, 1);
    done.digest.last_at = Some(old);
    decider.performed.clear();
    decider.decide(EngineEvent::JobDone(Box::new(done)));
    assert_eq!(decider.session("a").last_activity, old);
    assert_eq!(decider.state_of("a"), "unindexed");
    assert_eq!(decider.performed, ["session"], "the session is saved once");
}

type Answer = tokio::sync::oneshot::Receiver<Result<crate::engine::Closed, EngineError>>;

/// Closes session `a`. Returns its key and the receiver of the reply.
pub(super) fn close(decider: &mut Decider) -> (SessionKey, Answer) {
    let (session, reason) = (decider.session("a").key, CloseReason::Explicit(None));
    (session, decider.command(|reply| EngineCommand::Close { session, reason, reply }))
}

/// Ends the oldest job with a result that `change` adapts.
pub(super) fn end(decider: &mut Decider, change: impl FnOnce(&mut JobResult)) {
    let job = decider.jobs.pop_front().expect("a job runs");
    let mut done = decider.read(&job, 0);
    change(&mut done);
    decider.turn(EngineEvent::JobDone(Box::new(done)));
}

/// Ends the oldest job with an episode.
fn make_episode(decider: &mut Decider) -> Option<crate::model::EpisodeId> {
    let mut session = decider.jobs[0].session.clone();
    session.project = contract::session(session.key, "a").project;
    let episode = contract::episode(&session, 2_000);
    let id = episode.id;
    let statements = contract::statements(2_000);
    let made = IndexOutcome::Made(Box::new(NewEpisode {
        episode,
        statements,
        figures: Some(SessionFigures::default()),
    }));
    end(decider, |done| done.index = Some(made));
    Some(id)
}
