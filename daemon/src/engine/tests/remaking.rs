//! Tests that summaries that were created by older rules are created again.

use std::{fs, time::Duration};

use super::{Machine, Run, sources};
use crate::{
    engine::{
        command::EngineCommand, new_episode::NewEpisode, remake::Remaker,
        remake_permit::RemakePermit,
    },
    model::{
        CloseReason, Episode, EpisodeId, SessionKey,
        episode::Author,
        graph::Statements,
        session::{Session, State},
    },
    store::{NoteNamespace, Write},
    summarize::RULES_VERSION,
};

const OWN: &str = "p/11111111-0000-4000-8000-000000000000.jsonl";
/// The summary that an older version created.
const OLD: &str = "an older summary";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_the_summary_changes_when_it_is_created_again() {
    let machine = Machine::new();
    let run = with_episode(&machine).await;
    let older = age(&run, |_| {}).await;
    let before = session(&run);
    remake_all(&run).await;
    let episode = episode(&run);
    assert_eq!(episode.rules, RULES_VERSION);
    assert_eq!(episode.summary.objective, "Fix the marmot");
    assert_eq!(episode.name, "Fix the marmot");
    let made = Episode { name: episode.name.clone(), summary: episode.summary.clone(), ..older };
    assert_eq!(
        episode,
        Episode { rules: RULES_VERSION, ..made },
        "id, times and reason do not change"
    );
    assert_eq!(session(&run), before);
    assert!(is_complete(&run));
    // All summaries were checked, so even a summary with an older version is not created again.
    age(&run, |_| {}).await;
    remake_all(&run).await;
    assert_eq!(self::episode(&run).summary.objective, OLD);
    run.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn summaries_by_a_model_or_without_a_transcript_are_kept() {
    let machine = Machine::new();
    let run = with_episode(&machine).await;
    let by_model = age(&run, |one| one.author = Author::Model("a model".to_owned())).await;
    let older_by_model = || run.engine.older_model_summaries().unwrap();
    assert_eq!(older_by_model(), 0, "the summaries were not checked yet");
    remake_all(&run).await;
    assert_eq!(episode(&run), by_model);
    assert_eq!(older_by_model(), 1);
    age(&run, |one| (one.author, one.rules) = (by_model.author.clone(), RULES_VERSION)).await;
    assert_eq!(older_by_model(), 0, "the model wrote the summary again");
    forget_completion(&run).await;
    let older = age(&run, |_| {}).await;
    fs::remove_file(machine.path(OWN)).unwrap();
    remake_all(&run).await;
    assert_eq!(episode(&run), older);
    assert!(is_complete(&run), "the summary is not retried at every start");
    run.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn summaries_are_created_again_although_an_episode_is_damaged() {
    let machine = Machine::new();
    let run = with_episode(&machine).await;
    let older = age(&run, |_| {}).await;
    let mut damaged = Episode { id: EpisodeId::new(older.ended_at, [200; 10]), ..older.clone() };
    damaged.session = SessionKey(99);
    let episodes = vec![Write::Episode(Box::new(damaged.clone()))];
    run.store.write(episodes).done().await.unwrap();
    drop(run.stop().await);
    machine.store().damage_episode(damaged.id);
    let run = machine.start();
    remake_all(&run).await;
    assert_eq!(episode(&run).rules, RULES_VERSION);
    run.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_active_session_keeps_its_summary() {
    let machine = Machine::new();
    let run = with_episode(&machine).await;
    let older = age(&run, |_| {}).await;
    machine.append(OWN, "Fix the walrus");
    run.announce(&[machine.path(OWN)]).await;
    run.settle().await;
    remake_all(&run).await;
    assert_eq!(episode(&run), older);
    assert!(!is_complete(&run));
    run.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn records_that_are_newer_than_the_episode_are_not_summarized() {
    let machine = Machine::new();
    let run = with_episode(&machine).await;
    age(&run, |_| {}).await;
    // The new record is not announced.
    machine.append(OWN, "Fix the walrus");
    remake_all(&run).await;
    let episode = episode(&run);
    assert_eq!(episode.rules, RULES_VERSION);
    assert_eq!(episode.summary.message_count, Some(1));
    run.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replaced_episode_is_not_stored_again() {
    let machine = Machine::new();
    let run = with_episode(&machine).await;
    let older = age(&run, |_| {}).await;
    let made =
        || NewEpisode { episode: older.clone(), statements: Statements::default(), figures: None };
    assert!(!store_remade(&run, made()).await, "no permit was given");
    let (session, id) = (older.session, older.id);
    let permit = |reply| EngineCommand::PermitRemake { session, episode: id, reply };
    assert!(matches!(run.engine.request(permit).await.unwrap(), RemakePermit::Granted(_)));
    machine.append(OWN, "Fix the walrus");
    run.announce(&[machine.path(OWN)]).await;
    run.settle().await;
    close(&run).await;
    assert!(!store_remade(&run, made()).await, "the session has a new episode");
    assert_eq!(episode(&run).summary.message_count, Some(2));
    let permit = |reply| EngineCommand::PermitRemake { session, episode: id, reply };
    assert!(matches!(run.engine.request(permit).await.unwrap(), RemakePermit::Refused));
    run.stop().await;
}

/// Returns a run with one closed session.
async fn with_episode(machine: &Machine) -> Run {
    machine.append(OWN, "Fix the marmot");
    let run = machine.start();
    run.announce(&[machine.path(OWN)]).await;
    run.settle().await;
    close(&run).await;
    assert_eq!(episode(&run).rules, RULES_VERSION);
    run
}

async fn close(run: &Run) {
    run.engine.close(session(run).key, CloseReason::Explicit(None)).await.unwrap();
    assert_eq!(session(run).state, State::Indexed);
}

/// Replaces the episode by an episode of older rules.
async fn age(run: &Run, change: impl FnOnce(&mut Episode)) -> Episode {
    let mut older = Episode { rules: 0, name: OLD.to_owned(), ..episode(run) };
    older.summary.objective = OLD.to_owned();
    change(&mut older);
    run.store.write(vec![Write::Episode(Box::new(older.clone()))]).done().await.unwrap();
    older
}

async fn remake_all(run: &Run) {
    let remaker = Remaker { engine: run.engine.clone() };
    remaker.remake_all(Duration::ZERO).await.unwrap();
    run.store.write(Vec::new()).done().await.unwrap();
}

async fn store_remade(run: &Run, made: NewEpisode) -> bool {
    let made = Box::new(made);
    run.engine.request(|reply| EngineCommand::StoreRemade { made, reply }).await.unwrap()
}

fn is_complete(run: &Run) -> bool {
    run.store.note(NoteNamespace::Checked, b"summaries").unwrap().is_some()
}

async fn forget_completion(run: &Run) {
    let (namespace, name, content) = (NoteNamespace::Checked, b"summaries".to_vec(), None);
    let note = crate::store::Note { namespace, name, content };
    run.store.write(vec![Write::Note(note)]).done().await.unwrap();
}

fn session(run: &Run) -> Session {
    let key = sources(run.store.as_ref())[0].key.session;
    run.store.session(key).unwrap().unwrap()
}

fn episode(run: &Run) -> Episode {
    run.store.episode(session(run).indexed.unwrap().episode).unwrap().unwrap()
}
