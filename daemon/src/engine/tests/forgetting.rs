//! Tests that no text of a forgotten session is left.

use std::fs;

use super::{Machine, messages, sources};
use crate::{
    model::{SessionId, SessionKey, episode::MEMORY},
    prompt::cache_key::SummaryKey,
    store::{NoteNamespace, SourceKey, sled::SledStore},
};

const OWN: &str = "p/11111111-0000-4000-8000-000000000000.jsonl";
const COPY: &str = "p/22222222-0000-4000-8000-000000000000.jsonl";

/// Reads the session of [`OWN`], and damages the stored messages of its file.
async fn read_and_damage(
    machine: &Machine,
    damage: impl FnOnce(&SledStore, SourceKey),
) -> SessionKey {
    let run = machine.start();
    run.announce(&[machine.path(OWN)]).await;
    run.settle().await;
    drop(run.stop().await);
    let store = machine.store();
    let source = sources(&store).remove(0);
    damage(&store, source.key);
    source.key.session
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_with_damaged_messages_is_forgotten_with_the_cached_summaries() {
    let machine = Machine::new();
    machine.append(OWN, "The codename is quokka");
    let key = read_and_damage(&machine, SledStore::damage_messages).await;
    let run = machine.start();
    let session = run.store.session(key).unwrap().unwrap();
    let summarizer = run.engine.summarizer().await.unwrap();
    summarizer.summaries.put(SummaryKey::from_bytes([1; 32]), "The codename is quokka");
    drop(summarizer);
    let damaged = run.engine.forget(vec![(session.id.clone(), Some(session.key))]).await.unwrap();
    assert_eq!(damaged, [session.id]);
    let store = run.stop().await;
    assert_eq!(store.session(session.key).unwrap(), None);
    assert_eq!(store.notes(NoteNamespace::Summaries).unwrap(), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_behind_a_damaged_block_are_recognised_in_a_copy_of_a_forgotten_session() {
    let machine = Machine::new();
    (0..130).for_each(|number| machine.append(OWN, &format!("message {number}")));
    let key = read_and_damage(&machine, |store, source| store.damage_block(source, 0)).await;
    let run = machine.start();
    let session = run.store.session(key).unwrap().unwrap();
    run.engine.forget(vec![(session.id, Some(session.key))]).await.unwrap();
    fs::copy(machine.path(OWN), machine.path(COPY)).unwrap();
    machine.append(COPY, "a new message");
    run.announce(&[machine.path(COPY)]).await;
    run.settle().await;
    let store = run.stop().await;
    let copy = sources(store.as_ref()).remove(0);
    let texts: Vec<String> =
        messages(store.as_ref(), &copy).into_iter().map(|message| message.text).collect();
    assert_eq!(texts, ["a new message"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_cached_summaries_are_kept_if_only_a_remembered_text_is_forgotten() {
    let machine = Machine::new();
    let run = machine.start();
    let summarizer = run.engine.summarizer().await.unwrap();
    let key = SummaryKey::from_bytes([1; 32]);
    summarizer.summaries.put(key, "The codename is quokka");
    let id = SessionId { agent: MEMORY.to_owned(), id: "1".to_owned() };
    run.engine.forget(vec![(id, Some(SessionKey(9)))]).await.unwrap();
    assert!(summarizer.summaries.get(key).is_some());
    drop(summarizer);
    run.stop().await;
}
