//! Tests that work continues without the records that are damaged.

use std::fs;

use super::{Machine, messages, sources};
use crate::store::{Source, Store};

const OWN: &str = "p/11111111-0000-4000-8000-000000000000.jsonl";
const FORK: &str = "p/22222222-0000-4000-8000-000000000000.jsonl";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fork_of_a_session_with_damaged_messages_is_read() {
    let (machine, source) = machine_with_session().await;
    machine.store().damage_messages(source.key);
    fs::copy(machine.path(OWN), machine.path(FORK)).unwrap();
    machine.append(FORK, "three");
    let run = machine.start();
    run.announce(&[machine.path(FORK)]).await;
    run.settle().await;
    let store = run.stop().await;
    assert_eq!(texts(store.as_ref(), &sources(store.as_ref())[1]), ["one", "two", "three"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_whose_saved_state_is_damaged_is_read_from_its_start() {
    let (machine, source) = machine_with_session().await;
    machine.store().damage_checkpoint(source.key);
    machine.append(OWN, "three");
    let run = machine.start();
    run.announce(&[machine.path(OWN)]).await;
    run.settle().await;
    let store = run.stop().await;
    assert_eq!(texts(store.as_ref(), &source), ["one", "two", "three"]);
}

/// Returns a machine with a session of two messages that was read, and the file of the session.
async fn machine_with_session() -> (Machine, Source) {
    let machine = Machine::new();
    ["one", "two"].iter().for_each(|text| machine.append(OWN, text));
    let run = machine.start();
    run.announce(&[machine.path(OWN)]).await;
    run.settle().await;
    let store = run.stop().await;
    let source = sources(store.as_ref()).remove(0);
    (machine, source)
}

fn texts(store: &dyn Store, source: &Source) -> Vec<String> {
    messages(store, source).into_iter().map(|message| message.text).collect()
}
