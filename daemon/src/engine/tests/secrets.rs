//! Tests that a secret which was recognised once in a session is replaced in all its later text.

use std::fs;

use super::{Machine, messages, sources};
use crate::store::{NoteNamespace, Store};

const OWN: &str = "p/11111111-0000-4000-8000-000000000000.jsonl";
const SUB_AGENT: &str = "p/11111111-0000-4000-8000-000000000000/subagents/agent-a.jsonl";
const OTHER: &str = "p/22222222-0000-4000-8000-000000000000.jsonl";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_recognised_secret_is_replaced_in_all_later_text_of_its_session() {
    let machine = Machine::new();
    machine.append(OWN, "user bob, password: Tr0ub4dor-77x");
    let run = machine.start();
    read(&machine, &run, OWN).await;
    machine.append(OWN, "Logged in with Tr0ub4dor-77x as bob.");
    read(&machine, &run, OWN).await;
    drop(run.stop().await);
    // After a restart, and in other files of the session.
    let run = machine.start();
    machine.append(OWN, "Tr0ub4dor-77x works");
    machine.append(SUB_AGENT, "Use Tr0ub4dor-77x.");
    read(&machine, &run, OWN).await;
    read(&machine, &run, SUB_AGENT).await;
    // Another session does not know the secret.
    machine.append(OTHER, "What is Tr0ub4dor-77x?");
    read(&machine, &run, OTHER).await;
    let store = run.stop().await;
    assert_eq!(
        texts(store.as_ref()),
        [
            "user bob, password: [REDACTED:password]",
            "Logged in with [REDACTED:password] as bob.",
            "[REDACTED:password] works",
            "Use [REDACTED:password].",
            "What is Tr0ub4dor-77x?",
        ]
    );
    let notes = store.notes(NoteNamespace::KnownSecrets).unwrap();
    assert_eq!(notes.len(), 1);
    assert!(!String::from_utf8_lossy(&notes[0].1).contains("ub4dor"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_in_the_copied_start_of_a_fork_is_replaced_in_its_later_text() {
    let machine = Machine::new();
    machine.append(OWN, "user bob, password: Tr0ub4dor-77x");
    let run = machine.start();
    read(&machine, &run, OWN).await;
    fs::copy(machine.path(OWN), machine.path(OTHER)).unwrap();
    machine.append(OTHER, "Logged in with Tr0ub4dor-77x as bob.");
    read(&machine, &run, OTHER).await;
    let store = run.stop().await;
    let fork = messages(store.as_ref(), &sources(store.as_ref())[1]);
    let fork: Vec<&str> = fork.iter().map(|message| &*message.text).collect();
    assert_eq!(fork, ["Logged in with [REDACTED:password] as bob."]);
}

/// Claude Code also records the prompts that are queued while the agent works.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_recognised_secret_in_a_waiting_prompt_is_not_saved() {
    let machine = Machine::new();
    machine.append(OWN, "user bob, password: Tr0ub4dor-77x");
    let mut text = fs::read_to_string(machine.path(OWN)).unwrap();
    text.push_str(
        "{\"type\":\"queue-operation\",\"operation\":\"enqueue\",\"timestamp\":\"2026-01-01T10:00:00Z\",\"content\":\"then try Tr0ub4dor-77x\"}\n",
    );
    fs::write(machine.path(OWN), text).unwrap();
    let run = machine.start();
    read(&machine, &run, OWN).await;
    let store = run.stop().await;
    let state = store.checkpoint(sources(store.as_ref())[0].key).unwrap().unwrap();
    let state = String::from_utf8_lossy(&state);
    assert!(state.contains("then try ") && !state.contains("ub4dor"), "{state}");
}

async fn read(machine: &Machine, run: &super::Run, path: &str) {
    run.announce(&[machine.path(path)]).await;
    run.settle().await;
}

fn texts(store: &dyn Store) -> Vec<String> {
    let sources = sources(store);
    let messages = sources.iter().flat_map(|source| messages(store, source));
    messages.map(|message| message.text).collect()
}
