//! Tests when requests to models are sent, retried and given up.

use std::{sync::Arc, time::Duration};

use super::{Decider, Machine, indexed, with_model};
use crate::{
    engine::{
        EngineError, EngineEvent,
        command::EngineCommand,
        job_result::{GatherOutcome, JobResult},
        model_queue::{ModelQuestion, SummarizeOutcome, queued},
        new_episode::NewEpisode,
        parse_context::ParseContext,
        reading::ReadError,
        state::ModelAnswer,
    },
    llm::{
        config::{OnUnavailable, Resilience},
        error::Error,
    },
    model::{EpisodeId, Evidence, SessionKey},
    store::{NoteNamespace, Store as _, StoreError, Write, contract},
};

const A: SessionKey = SessionKey(1);

#[test]
fn a_queued_question_is_prepared_answered_and_removed() {
    let mut decider = queue_of(1, |_| {});
    assert!(decider.jobs[0].gather);
    gather(&mut decider);
    let (question, _) = decider.questions.pop_front().unwrap();
    let mut episode = question.episode.clone();
    episode.name = "Written by a model".to_owned();
    let statements = contract::statements(2_000);
    decider.performed.clear();
    let made = SummarizeOutcome::Made(Box::new(NewEpisode { episode, statements, figures: None }));
    answer(&mut decider, question.episode.id, made, 0);
    assert_eq!(decider.performed, ["episode + statements", "note"]);
    let stored = decider.store.episode(question.episode.id).unwrap().unwrap();
    assert_eq!(stored.name, "Written by a model");
    assert!(queued::load(decider.store.as_ref()).unwrap().queued.is_empty());
    decider.pass(Duration::from_secs(1_000_000));
    assert!(decider.jobs.is_empty());
}

#[test]
fn during_an_outage_a_question_is_retried_after_increasing_pauses_and_then_given_up() {
    let mut decider = queue_of(1, |_| {});
    for (retried, pause) in (1..).zip([300, 900, 2_700, 7_200, 21_600]) {
        fail(&mut decider, unavailable(), 0);
        let saved = queued::load(decider.store.as_ref()).unwrap().queued;
        assert_eq!((saved[0].1.due, saved[0].1.retried), (decider.after(pause), retried));
        decider.pass(Duration::from_secs(pause - 1));
        assert!(decider.jobs.is_empty(), "{pause}");
        decider.pass(Duration::from_secs(1));
    }
    fail(&mut decider, unavailable(), 0);
    let saved = queued::load(decider.store.as_ref()).unwrap();
    assert!(saved.queued.is_empty());
    // The status shows the failure, and the user may request the summary again.
    let [(A, abandoned)] = &saved.abandoned[..] else { panic!("{saved:?}") };
    assert!(abandoned.error.contains("down"), "{abandoned:?}");
    let status = decider.command(EngineCommand::Status);
    assert_eq!({ status }.try_recv().unwrap().model.abandoned, 1);
    let _done = decider.command(|reply| EngineCommand::RequestSummary { session: A, reply });
    let saved = queued::load(decider.store.as_ref()).unwrap();
    assert_eq!((saved.queued.len(), saved.abandoned.len()), (1, 0));
    let status = decider.command(EngineCommand::Status);
    assert_eq!({ status }.try_recv().unwrap().model.abandoned, 0);
}

#[test]
fn a_status_does_not_read_the_sessions_without_a_summary_again() {
    let mut decider = queue_of(1, |_| {});
    for pause in [300, 900, 2_700, 7_200, 21_600] {
        fail(&mut decider, unavailable(), 0);
        decider.pass(Duration::from_secs(pause));
    }
    fail(&mut decider, unavailable(), 0);
    let counted = |decider: &mut Decider| {
        let status = decider.command(EngineCommand::Status);
        { status }.try_recv().unwrap().model.abandoned
    };
    assert_eq!(counted(&mut decider), 1);
    let episode = decider.store.stored_episode_of(A).unwrap().unwrap().id;
    decider.store.write(vec![Write::DropEpisode(episode)]).wait().unwrap();
    assert_eq!(counted(&mut decider), 1);
    // A request for the list counts the sessions again.
    let list = decider.command(EngineCommand::Abandoned);
    assert_eq!({ list }.try_recv().unwrap(), []);
    assert_eq!(counted(&mut decider), 0);
}

#[test]
fn a_question_that_cannot_be_prepared_is_retried() {
    let mut decider = queue_of(1, |_| {});
    let job = decider.jobs.pop_front().expect("a job prepares a question");
    let error = ReadError::Store(StoreError::Closed);
    decider.turn(EngineEvent::JobDone(Box::new(JobResult::failed(&job, error))));
    let saved = queued::load(decider.store.as_ref()).unwrap().queued;
    assert_eq!((saved[0].1.due, saved[0].1.retried), (decider.after(300), 1));
    decider.pass(Duration::from_secs(300));
    assert!(decider.jobs[0].gather);
}

#[test]
fn a_question_about_a_session_whose_record_is_damaged_is_retried() {
    let machine = Arc::new(Machine::new());
    let store = machine.store();
    store.write(queued_writes(1)).wait().unwrap();
    store.close();
    let database = machine.folder.path().join("db");
    let raw = sled::Config::default().path(database).segment_size(2 << 20).open().unwrap();
    let mut key = vec![b's'];
    key.extend(A.0.to_be_bytes());
    assert!(raw.insert(key, b"damaged").unwrap().is_some());
    drop(raw);
    let decider = queue_over(machine, &[], |_| {});
    let saved = queued::load(decider.store.as_ref()).unwrap().queued;
    assert_eq!((saved[0].1.due, saved[0].1.retried), (decider.after(300), 1));
}

#[test]
fn a_question_is_asked_within_the_longest_pause_after_the_clock_is_set_back() {
    let mut decider = queue_of(1, |_| {});
    let until = decider.after(365 * 86_400);
    fail(&mut decider, Error::BudgetSpent { limit: "5 calls".to_owned(), until }, 0);
    decider.now = decider.now.minus(Duration::from_secs(86_400));
    decider.pass(Duration::from_secs(1));
    assert!(decider.jobs.is_empty());
    decider.pass(Duration::from_secs(21_600));
    assert_eq!(decider.jobs.len(), 1);
}

#[test]
fn a_damaged_question_does_not_prevent_the_start() {
    let machine = Arc::new(Machine::new());
    let store = machine.store();
    store.write(queued_writes(2)).wait().unwrap();
    store.damage_note(NoteNamespace::Awaiting, &A.0.to_be_bytes());
    store.close();
    let decider = queue_over(machine, &[], |_| {});
    assert_eq!(decider.jobs[0].session.key, SessionKey(2));
}

#[test]
fn a_question_waits_for_the_next_budget_without_counting_a_retry() {
    let mut decider = queue_of(1, |_| {});
    let until = decider.after(40_000);
    fail(&mut decider, Error::BudgetSpent { limit: "5 calls".to_owned(), until }, 0);
    let saved = queued::load(decider.store.as_ref()).unwrap().queued;
    assert_eq!((saved[0].1.due, saved[0].1.retried), (until, 0));
}

#[test]
fn after_a_failure_of_a_replaced_summarizer_the_session_is_queued_again() {
    let mut decider = queue_of(1, |_| {});
    gather(&mut decider);
    let episode = decider.questions.pop_front().unwrap().0.episode.id;
    decider.reload();
    answer(&mut decider, episode, SummarizeOutcome::Failed(unavailable()), 0);
    let saved = queued::load(decider.store.as_ref()).unwrap().queued;
    assert_eq!((saved[0].1.due, saved[0].1.retried), (decider.now, 0));
    assert_eq!(decider.jobs.len(), 1, "the question is prepared again");
}

#[test]
fn an_answer_about_an_episode_that_was_replaced_meanwhile_is_dropped() {
    let mut decider = queue_of(1, |_| {});
    gather(&mut decider);
    decider.questions.clear();
    decider.performed.clear();
    let other = EpisodeId::new(decider.now, [9; 10]);
    answer(&mut decider, other, SummarizeOutcome::Nothing, 0);
    assert_eq!(decider.performed, [""; 0]);
    assert_eq!(queued::load(decider.store.as_ref()).unwrap().queued.len(), 1);
}

#[test]
fn an_answer_about_an_episode_that_was_deleted_meanwhile_is_dropped() {
    let mut decider = queue_of(1, |_| {});
    gather(&mut decider);
    let episode = decider.questions.pop_front().unwrap().0.episode;
    decider.store.write(vec![Write::DropEpisode(episode.id)]).wait().unwrap();
    let (id, statements) = (episode.id, contract::statements(2_000));
    let made = SummarizeOutcome::Made(Box::new(NewEpisode { episode, statements, figures: None }));
    answer(&mut decider, id, made, 0);
    assert!(decider.store.episode(id).unwrap().is_none());
    assert!(queued::load(decider.store.as_ref()).unwrap().queued.is_empty());
}

#[test]
fn a_failure_is_reported_to_the_caller_if_the_settings_require_it() {
    let mut decider = queue_of(1, |resilience| resilience.on_unavailable = OnUnavailable::Fail);
    let pending = decider.command(|reply| EngineCommand::Pending { session: A, reply });
    let mut done = { pending }.try_recv().unwrap().unwrap().done.unwrap();
    fail(&mut decider, unavailable(), 0);
    assert!(matches!(done.try_recv().unwrap(), Err(EngineError::Failed(_))));
    assert!(queued::load(decider.store.as_ref()).unwrap().queued.is_empty());
}

#[test]
fn the_number_of_concurrent_questions_is_limited() {
    let mut decider = queue_of(3, |_| {});
    assert_eq!(decider.jobs.len(), 1);
    gather(&mut decider);
    assert!(decider.jobs.is_empty(), "no second question is prepared");
    let episode = decider.questions.pop_front().unwrap().0.episode.id;
    answer(&mut decider, episode, SummarizeOutcome::Nothing, 0);
    assert_eq!(decider.jobs.len(), 1);
}

/// Returns a state with `count` indexed sessions. For each session, a question to the model is due.
fn queue_of(count: u64, change: impl FnOnce(&mut Resilience)) -> Decider {
    queue_over(Arc::new(Machine::new()), &queued_writes(count), change)
}

fn queued_writes(count: u64) -> Vec<Write> {
    let sessions = (1..=count).map(|key| indexed(key, &format!("session-{key}")));
    let mut writes: Vec<Write> = sessions.flat_map(|(_, writes)| writes).collect();
    let question = queued::QueuedQuestion { due: super::START, retried: 0, error: None };
    writes.extend((1..=count).map(|key| queued::write(SessionKey(key), Some(&question))));
    writes
}

fn queue_over(
    machine: Arc<Machine>,
    writes: &[Write],
    change: impl FnOnce(&mut Resilience),
) -> Decider {
    let settings = |machine: &_, settings: &mut _| {
        with_model(machine, settings);
        let summarizer = Arc::get_mut(&mut settings.summarizer).unwrap();
        let ParseContext { filter, redactor, learned, formats, .. } = &*summarizer.parse_context;
        let summarize =
            crate::summarize::config::Config { auto_summarize: true, ..Default::default() };
        summarizer.parse_context = Arc::new(ParseContext {
            filter: filter.clone(),
            redactor: redactor.clone(),
            learned: learned.clone(),
            formats: formats.clone(),
            summarize,
            makes_episodes: true,
        });
        change(&mut summarizer.resilience);
    };
    Decider::over(machine, settings, writes, "")
}

/// Ends the job that prepares the question.
fn gather(decider: &mut Decider) {
    let job = decider.jobs.pop_front().expect("a job prepares a question");
    let mut done = decider.read(&job, 0);
    let episode = job.session.indexed.as_ref().unwrap().episode;
    let question = ModelQuestion {
        episode: decider.store.episode(episode).unwrap().unwrap(),
        session: job.session,
        root: None,
        evidence: Evidence::default(),
        detector: Default::default(),
        unknowns: Default::default(),
        truncated: Vec::new(),
    };
    done.gathered = GatherOutcome::Question(Box::new(question));
    decider.turn(EngineEvent::JobDone(Box::new(done)));
}

fn answer(decider: &mut Decider, episode: EpisodeId, end: SummarizeOutcome, generation: u64) {
    let answered = ModelAnswer { session: A, episode, end, generation };
    decider.turn(EngineEvent::ModelAnswered(Box::new(answered)));
}

/// Prepares the question, and simulates a failure of the model.
fn fail(decider: &mut Decider, error: Error, generation: u64) {
    gather(decider);
    let episode = decider.questions.pop_front().unwrap().0.episode.id;
    answer(decider, episode, SummarizeOutcome::Failed(error), generation);
}

fn unavailable() -> Error {
    Error::Unavailable { reason: "down".to_owned(), retry_after: None }
}
