//! Tests transcripts that are truncated in place, restored, or replaced.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};

use super::{Machine, Run, messages, sources};
use crate::{
    engine::forks::fork_of,
    model::{CloseReason, SessionId, session::State},
    store::{Store, Write},
};

const CLAUDE: &str = "p/11111111-0000-4000-8000-000000000000.jsonl";
const FORK: &str = "p/22222222-0000-4000-8000-000000000000.jsonl";
const ID: &str = "11111111-0000-4000-8000-000000000000";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_truncated_file_keeps_its_messages_and_its_episode() {
    for kept_lines in [0, 1, 2] {
        let machine = Machine::new();
        let path = machine.path(CLAUDE);
        ["one", "two", "three"].iter().for_each(|text| machine.append(CLAUDE, text));
        let run = machine.start();
        read(&run, &path).await;
        let key = run.store.find_session(&id()).unwrap().unwrap();
        run.engine.close(key, CloseReason::Explicit(None)).await.unwrap();
        let episode = run.store.session(key).unwrap().unwrap().indexed;
        assert!(episode.is_some());
        let whole = fs::read_to_string(&path).unwrap();
        let start: String = whole.split_inclusive('\n').take(kept_lines).collect();
        fs::write(&path, start).unwrap();
        read(&run, &path).await;
        assert_eq!(texts(&*run.store), ["one", "two", "three"], "{kept_lines}");
        let session = run.store.session(key).unwrap().unwrap();
        assert_eq!((session.state, session.indexed), (State::Indexed, episode), "{kept_lines}");
        drop(run.stop().await);
        // The agent goes on in the truncated file.
        let run = machine.start();
        machine.append(CLAUDE, "four");
        read(&run, &path).await;
        assert_eq!(texts(&*run.store), ["one", "two", "three", "four"], "{kept_lines}");
        let store = run.stop().await;
        assert_eq!(sources(store.as_ref())[0].tally.restarts, 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_lines_of_a_restored_file_are_read_once() {
    let machine = Machine::new();
    let path = machine.path(CLAUDE);
    ["one", "two", "three"].iter().for_each(|text| machine.append(CLAUDE, text));
    let run = machine.start();
    read(&run, &path).await;
    let whole = fs::read_to_string(&path).unwrap();
    fs::write(&path, whole.split_inclusive('\n').next().unwrap()).unwrap();
    read(&run, &path).await;
    fs::write(&path, whole).unwrap();
    machine.append(CLAUDE, "four");
    read(&run, &path).await;
    assert_eq!(texts(&*run.store), ["one", "two", "three", "four"]);
    run.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_was_replaced_by_a_longer_text_is_read_again() {
    let machine = Machine::new();
    let path = machine.path(CLAUDE);
    machine.append(CLAUDE, "one");
    let run = machine.start();
    read(&run, &path).await;
    fs::remove_file(&path).unwrap();
    machine.append(CLAUDE, "a longer text than before");
    read(&run, &path).await;
    assert_eq!(texts(&*run.store), ["a longer text than before"]);
    run.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_copied_start_of_a_truncated_fork_is_not_its_own() {
    for kept_lines in [[1, 2], [0, 2], [2, 3]] {
        let machine = Machine::new();
        let (path, fork) = (machine.path(CLAUDE), machine.path(FORK));
        ["one", "two", "three"].iter().for_each(|text| machine.append(CLAUDE, text));
        let run = machine.start();
        read(&run, &path).await;
        fs::copy(&path, &fork).unwrap();
        machine.append(FORK, "four");
        read(&run, &fork).await;
        let all = ["one", "two", "three", "four"];
        assert_eq!(texts(&*run.store), all);
        let shared = shared_records(&run);
        let whole = fs::read_to_string(&fork).unwrap();
        // The agent may write the kept lines in two steps.
        for lines in kept_lines {
            fs::write(&fork, whole.split_inclusive('\n').take(lines).collect::<String>()).unwrap();
            read(&run, &fork).await;
            assert_eq!(texts(&*run.store), all, "{kept_lines:?}");
        }
        machine.append(FORK, "five");
        read(&run, &fork).await;
        assert_eq!(texts(&*run.store), ["one", "two", "three", "four", "five"], "{kept_lines:?}");
        assert_eq!((shared_records(&run), shared), (Some(3), Some(3)), "{kept_lines:?}");
        run.stop().await;
    }
}

/// Returns the number of records that the session of [`FORK`] shares with another session.
fn shared_records(run: &Run) -> Option<u64> {
    let id = SessionId { agent: "claude".to_owned(), id: FORK[2..38].to_owned() };
    let key = run.store.find_session(&id).unwrap().unwrap();
    fork_of(&*run.store, key).unwrap().map(|fork| fork.records)
}

/// An agent rewrites its file in two steps: it empties the file, and then writes the kept lines.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kept_lines_that_are_written_after_the_truncation_are_known() {
    for first_lines in [0, 1] {
        let machine = Machine::new();
        let path = machine.path(CLAUDE);
        ["one", "two", "three"].iter().for_each(|text| machine.append(CLAUDE, text));
        let run = machine.start();
        read(&run, &path).await;
        let whole = fs::read_to_string(&path).unwrap();
        for kept_lines in [first_lines, 2] {
            let start: String = whole.split_inclusive('\n').take(kept_lines).collect();
            fs::write(&path, start).unwrap();
            read(&run, &path).await;
            assert_eq!(texts(&*run.store), ["one", "two", "three"], "{first_lines}");
        }
        machine.append(CLAUDE, "four");
        read(&run, &path).await;
        assert_eq!(texts(&*run.store), ["one", "two", "three", "four"], "{first_lines}");
        run.stop().await;
    }
}

/// The messages are stored more often than the state.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_after_the_saved_state_are_kept_if_the_file_is_truncated() {
    let machine = Machine::new();
    let path = machine.path(CLAUDE);
    ["one", "two", "three"].iter().for_each(|text| machine.append(CLAUDE, text));
    let run = machine.start();
    read(&run, &path).await;
    let store = run.stop().await;
    let source = sources(store.as_ref()).remove(0);
    let mut saved: Value =
        serde_json::from_slice(&store.checkpoint(source.key).unwrap().unwrap()).unwrap();
    saved["state"]["next_seq"] = json!(1);
    let state = serde_json::to_vec(&saved).unwrap();
    store.write(vec![Write::Source { source, checkpoint: Some(state) }]).done().await.unwrap();
    drop(store);
    fs::write(&path, "").unwrap();
    machine.append(CLAUDE, "four");
    let run = machine.start();
    read(&run, &path).await;
    assert_eq!(texts(&*run.store), ["one", "two", "three", "four"]);
    run.stop().await;
}

/// The user may have removed a secret from the transcript.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_without_ids_that_becomes_shorter_with_another_start_is_read_again() {
    let machine = Machine::new();
    let path = machine.path(CLAUDE);
    let write = |texts: &[&str]| {
        let _ = fs::remove_file(&path);
        texts.iter().for_each(|text| machine.append(CLAUDE, text));
        let whole = fs::read_to_string(&path).unwrap();
        fs::write(&path, whole.replace("\"uuid\"", "\"other\"")).unwrap();
    };
    write(&["a long text with a secret", "two"]);
    let run = machine.start();
    read(&run, &path).await;
    assert_eq!(texts(&*run.store), ["a long text with a secret", "two"]);
    write(&["short", "two"]);
    read(&run, &path).await;
    assert_eq!(texts(&*run.store), ["short", "two"]);
    run.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_without_ids_continues_after_the_lines_that_it_keeps() {
    let machine = Machine::new();
    let path = machine.path(CLAUDE);
    let add = |texts: &[&str]| {
        texts.iter().for_each(|text| machine.append(CLAUDE, text));
        let whole = fs::read_to_string(&path).unwrap();
        fs::write(&path, whole.replace("\"uuid\"", "\"other\"")).unwrap();
    };
    let long = "one ".repeat(200);
    let long = long.trim();
    add(&[long, "two", "three", "four"]);
    let run = machine.start();
    read(&run, &path).await;
    let whole = fs::read_to_string(&path).unwrap();
    fs::write(&path, whole.split_inclusive('\n').take(2).collect::<String>()).unwrap();
    add(&["x"]);
    read(&run, &path).await;
    assert_eq!(texts(&*run.store), [long, "two", "three", "four", "x"]);
    run.stop().await;
}

async fn read(run: &Run, path: &PathBuf) {
    run.announce(std::slice::from_ref(path)).await;
    run.settle().await;
}

fn id() -> SessionId {
    SessionId { agent: "claude".to_owned(), id: ID.to_owned() }
}

/// Returns the texts of the stored messages of all files.
fn texts(store: &dyn Store) -> Vec<String> {
    let sources = sources(store);
    let messages = sources.iter().flat_map(|source| messages(store, source));
    messages.map(|message| message.text).collect()
}
