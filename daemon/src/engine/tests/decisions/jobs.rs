//! Tests the effects of jobs' results on sessions, files and waiting callers.

use std::{io, sync::Arc, time::Duration};

use tokio::sync::oneshot::error::TryRecvError;

use super::{Decider, Machine, START, indexed};
use crate::{
    engine::{
        CloseOutcome, EngineError, EngineEvent,
        command::EngineCommand,
        figures::SessionFigures,
        job_result::{IndexOutcome, JobResult},
        new_episode::NewEpisode,
        pipeline::SourceState,
        reading::ReadError,
        rereads,
    },
    model::{CloseReason, SessionKey, session::State},
    store::{Note, NoteNamespace, SourceKey, StoreError, Write, contract},
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
    let mut decider = Decider::with(|_, _| {}, &copied(), "");
    replace_original(&mut decider);
    assert_eq!(jobs(&decider), [(COPY, true)]);
    assert_eq!(saved_rereads(&decider), [COPY]);
    decider.finish(1);
    assert_eq!(saved_rereads(&decider), []);
    decider.announce(&[&path_of(COPY, "b")]);
    assert_eq!(jobs(&decider), []);
}

#[test]
fn a_copy_that_cannot_be_read_is_retried_a_limited_number_of_times() {
    let mut decider = Decider::with(|_, _| {}, &copied(), "");
    replace_original(&mut decider);
    for pause in [300, 900, 2_700, 7_200, 21_600] {
        fail_reread(&mut decider);
        assert_eq!(saved_rereads(&decider), [COPY]);
        decider.pass(Duration::from_secs(pause - 1));
        assert_eq!(jobs(&decider), [], "{pause}");
        decider.pass(Duration::from_secs(1));
        assert_eq!(jobs(&decider), [(COPY, true)], "{pause}");
    }
    fail_reread(&mut decider);
    assert_eq!(saved_rereads(&decider), []);
    decider.pass(Duration::from_secs(86_400));
    assert_eq!(jobs(&decider), []);
}

#[test]
fn attempts_while_the_store_refuses_text_do_not_count() {
    let mut decider = Decider::with(|_, _| {}, &copied(), "");
    replace_original(&mut decider);
    for _ in 0..8 {
        let full = ReadError::Store(StoreError::Full("no space".to_owned()));
        fail_job(&mut decider, full);
        assert_eq!(decider.jobs.len(), 0);
        decider.pass(Duration::from_secs(300));
        assert_eq!(jobs(&decider), [(COPY, true)]);
    }
    for _ in 0..5 {
        fail_reread(&mut decider);
        decider.pass(Duration::from_secs(21_600));
    }
    for _ in 0..2 {
        let (session, deaths, hours) = ("b".to_owned(), 4, 9);
        fail_job(&mut decider, ReadError::Quarantined { session, deaths, hours });
        decider.pass(Duration::from_secs(21_600));
        assert_eq!(jobs(&decider), [(COPY, true)]);
    }
}

#[test]
fn the_copies_of_a_replaced_file_are_read_although_its_job_failed() {
    let mut decider = Decider::with(|_, _| {}, &copied(), "");
    let path = path_of(SessionKey(1), "a");
    decider.put(&path, 78, 10);
    decider.announce(&[&path]);
    // The job has written its first messages with the note.
    decider.store.write(vec![rereads::write(COPY, 0)]).wait().unwrap();
    fail_reread(&mut decider);
    assert_eq!(jobs(&decider), [(COPY, true)]);
    decider.finish(1);
    assert_eq!(saved_rereads(&decider), []);
}

#[test]
fn other_jobs_of_a_copy_whose_reread_failed_read_only_the_new_lines() {
    let mut decider = Decider::with(|_, _| {}, &copied(), "");
    replace_original(&mut decider);
    fail_reread(&mut decider);
    let path = path_of(COPY, "b");
    decider.put(&path, 79, 10);
    decider.announce(&[&path]);
    assert_eq!(jobs(&decider), [(COPY, false)]);
    decider.finish(1);
    assert_eq!(saved_rereads(&decider), [COPY]);
}

#[test]
fn a_copy_is_retried_after_the_clock_was_set_back() {
    let mut decider = Decider::with(|_, _| {}, &copied(), "");
    replace_original(&mut decider);
    fail_reread(&mut decider);
    decider.now = decider.now.minus(Duration::from_secs(365 * 86_400));
    decider.pass(Duration::from_secs(1));
    assert_eq!(jobs(&decider), [(COPY, true)]);
}

#[test]
fn copies_are_read_from_their_start_even_if_the_daemon_stops_before() {
    let machine = Arc::new(Machine::new());
    let start = |writes: &[Write]| Decider::over(machine.clone(), |_, _| {}, writes, "");
    let mut decider = start(&copied());
    replace_original(&mut decider);
    let _stopped = decider.command(EngineCommand::Stop);
    // The reader returns early, because the daemon stops.
    decider.finish(0);
    drop(decider);
    let mut decider = start(&[]);
    assert_eq!(jobs(&decider), [(COPY, true)]);
    decider.finish(1);
    drop(decider);
    assert_eq!(jobs(&start(&[])), []);
}

#[test]
fn notes_about_missing_sessions_and_formats_and_of_other_versions_start_no_job() {
    let newer = Note {
        namespace: NoteNamespace::Rereads,
        name: SessionKey(3).0.to_be_bytes().to_vec(),
        content: Some(br#"{"version":2,"attempts":0}"#.to_vec()),
    };
    let mut writes = copied();
    let mut unknown = contract::session(SessionKey(4), "d");
    unknown.id.agent = "mine".to_owned();
    writes.extend([Write::Session(Box::new(unknown)), Write::Note(newer)]);
    writes.extend([4, 99].map(|key| rereads::write(SessionKey(key), 0)));
    let decider = Decider::with(|_, _| {}, &writes, "");
    assert_eq!(jobs(&decider), []);
    assert_eq!(saved_rereads(&decider), [3, 4].map(SessionKey), "the format may be added again");
}

#[test]
fn the_reread_of_a_session_whose_removal_failed_is_restored() {
    let mut writes = copied();
    writes.push(rereads::write(COPY, 0));
    let mut decider = Decider::with(|_, _| {}, &writes, "");
    let sessions = vec![COPY];
    decider.command(|reply| EngineCommand::Release { sessions, reply });
    fail_reread(&mut decider);
    let sessions = vec![COPY];
    decider.command(|reply| EngineCommand::ReleaseEnded { sessions, reply });
    assert_eq!(jobs(&decider), [(COPY, true)]);
}

#[test]
fn work_that_comes_due_before_a_removal_fails_is_done_afterwards() {
    let mut decider = Decider::with(|_, _| {}, &copied(), "");
    replace_original(&mut decider);
    fail_reread(&mut decider);
    let sessions = vec![COPY, SessionKey(3)];
    decider.command(|reply| EngineCommand::Release { sessions, reply });
    decider.pass(Duration::from_secs(300));
    let path = path_of(SessionKey(3), "c");
    decider.put(&path, 80, 10);
    decider.announce(&[&path]);
    assert_eq!((jobs(&decider), saved_rereads(&decider)), (vec![], vec![COPY]));
    let sessions = vec![COPY, SessionKey(3)];
    decider.command(|reply| EngineCommand::ReleaseEnded { sessions, reply });
    let mut started = jobs(&decider);
    started.sort_unstable();
    assert_eq!(started, [(COPY, true), (SessionKey(3), false)]);
}

#[test]
fn the_messages_of_all_files_are_counted_when_a_job_reads_one_of_them() {
    let machine = Arc::new(Machine::new());
    let mut decider = Decider::over(machine.clone(), |_, _| {}, &[], "");
    decider.follow(OWN, 1);
    decider.follow(SUB_AGENT, 2);
    let read = |decider: &mut Decider, path: &str, messages: usize, other: Option<u32>| {
        decider.put(path, messages as u64, 20);
        decider.announce(&[path]);
        end(decider, |done| {
            let file = &mut done.files[0];
            *file.state = state_with(messages);
            let number = 1 - file.source.key.number;
            let key = SourceKey { session: done.session, number };
            done.others = other.map(|count| (key, count)).into_iter().collect();
        });
        decider.session("a").content.unwrap().messages
    };
    assert_eq!(read(&mut decider, OWN, 4, None), 4);
    assert_eq!(read(&mut decider, SUB_AGENT, 3, None), 7);
    assert_eq!(read(&mut decider, OWN, 5, None), 8);
    assert_eq!(read(&mut decider, OWN, 2, None), 5, "the file was replaced");
    drop(decider);
    let mut decider = Decider::over(machine, |_, _| {}, &[], "");
    decider.put(OWN, 9, 30);
    decider.announce(&[OWN]);
    let uncounted: Vec<u32> = decider.jobs[0].uncounted.iter().map(|key| key.number).collect();
    assert_eq!(uncounted, [1]);
    decider.finish(1);
    assert_eq!(read(&mut decider, OWN, 6, None), 5, "the other file has no saved number");
    assert_eq!(read(&mut decider, OWN, 8, Some(3)), 11);
    assert_eq!(read(&mut decider, OWN, 7, None), 10);
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

const COPY: SessionKey = SessionKey(2);

fn path_of(session: SessionKey, id: &str) -> String {
    contract::source_of(&indexed(session.0, id).0, 0).path
}

/// Returns the writes of three sessions: the second session is a copy of the first session.
fn copied() -> Vec<Write> {
    let sessions = [(1, "a"), (2, "b"), (3, "c")].map(|(key, id)| indexed(key, id));
    let mut writes: Vec<Write> = sessions.into_iter().flat_map(|(_, writes)| writes).collect();
    for (session, record) in [(1, 1), (2, 1), (3, 2)] {
        let (session, records) = (SessionKey(session), vec![[record; 16]]);
        writes.push(Write::ForkKeys { session, records });
    }
    writes
}

/// Replaces the file of the first session by another file, which is read.
fn replace_original(decider: &mut Decider) {
    let path = path_of(SessionKey(1), "a");
    decider.put(&path, 78, 10);
    decider.announce(&[&path]);
    end(decider, |done| done.files[0].was_replaced = true);
}

/// Ends the oldest job without having read a file.
fn fail_reread(decider: &mut Decider) {
    fail_job(decider, ReadError::Store(StoreError::Backend("no".to_owned())));
}

fn fail_job(decider: &mut Decider, error: ReadError) {
    let job = decider.jobs.pop_front().expect("a job runs");
    decider.turn(EngineEvent::JobDone(Box::new(JobResult::failed(&job, error))));
}

/// Returns the sessions of the running jobs, and whether the jobs read from the start.
fn jobs(decider: &Decider) -> Vec<(SessionKey, bool)> {
    decider.jobs.iter().map(|job| (job.session.key, job.from_start)).collect()
}

fn saved_rereads(decider: &Decider) -> Vec<SessionKey> {
    let notes = decider.store.notes(NoteNamespace::Rereads).unwrap().into_iter();
    notes.map(|(name, _)| SessionKey(u64::from_be_bytes(name.try_into().unwrap()))).collect()
}

/// Returns the state of a file with `messages` messages.
fn state_with(messages: usize) -> SourceState {
    let mut state = serde_json::to_value(SourceState::new(0)).unwrap();
    state["collector"]["evidence"]["counts"]["messages"] = messages.into();
    serde_json::from_value(state).unwrap()
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
