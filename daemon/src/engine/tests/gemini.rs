//! Tests files of Gemini CLI that are rewritten as a whole, are continued in another file, are
//! deleted, or do not contain their working directory.

use std::fs;

use serde_json::{Value, json};

use super::{Machine, messages, sources};
use crate::{model::session::State, store::Store};

const NEW: &str = "app/chats/session-2026-01-01T10-00-0a1b2c3d.jsonl";
const OLD: &str = "app/chats/session-2026-01-01T10-00-0a1b2c3d.json";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_project_comes_from_a_file_next_to_the_transcript() {
    for path in [NEW, OLD] {
        let machine = Machine::new();
        write(&machine, path, &["one"]);
        fs::write(machine.path("app/.project_root"), "/home/ann/app").unwrap();
        let run = machine.start();
        run.announce(&[machine.path(path)]).await;
        run.settle().await;
        let store = run.stop().await;
        assert_eq!(texts(store.as_ref()), ["one"], "{path}");
        let session = store.session(sources(store.as_ref())[0].key.session).unwrap().unwrap();
        assert_eq!(session.project.unwrap().path(), "/home/ann/app", "{path}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_document_that_grows_adds_only_its_new_messages() {
    let machine = Machine::new();
    write(&machine, OLD, &["one"]);
    let run = machine.start();
    run.announce(&[machine.path(OLD)]).await;
    run.settle().await;
    write(&machine, OLD, &["one", "two"]);
    run.announce(&[machine.path(OLD)]).await;
    run.settle().await;
    let store = run.stop().await;
    assert_eq!(texts(store.as_ref()), ["one", "two"]);
    assert_eq!(sources(store.as_ref())[0].tally.restarts, 0);
}

/// Gemini CLI copies the messages of an older file when it resumes the session.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_that_are_copied_to_a_new_file_are_read_once() {
    let machine = Machine::new();
    write(&machine, OLD, &["one", "two"]);
    let run = machine.start();
    run.announce(&[machine.path(OLD)]).await;
    run.settle().await;
    write(&machine, NEW, &["one", "two", "three"]);
    run.announce(&[machine.path(NEW)]).await;
    run.settle().await;
    let store = run.stop().await;
    assert_eq!(sources(store.as_ref()).len(), 2);
    assert_eq!(texts(store.as_ref()), ["one", "two", "three"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deleted_file_ends_its_session_but_does_not_delete_it() {
    let machine = Machine::new();
    write(&machine, NEW, &["one"]);
    let run = machine.start();
    run.announce(&[machine.path(NEW)]).await;
    run.settle().await;
    fs::remove_file(machine.path(NEW)).unwrap();
    run.announce(&[machine.path(NEW)]).await;
    run.settle().await;
    let store = run.stop().await;
    assert_eq!(texts(store.as_ref()), ["one"]);
    let session = store.session(sources(store.as_ref())[0].key.session).unwrap().unwrap();
    assert_eq!(session.state, State::Indexed);
}

/// Writes a session with the prompts `texts`, as lines or as a document.
fn write(machine: &Machine, path: &str, texts: &[&str]) {
    let message = |(number, text): (usize, &&str)| {
        json!({
            "id": format!("00000000-0000-4000-8000-{number:012x}"),
            "timestamp": "2026-01-01T10:00:00.000Z",
            "type": "user",
            "content": text,
        })
    };
    let messages: Vec<Value> = texts.iter().enumerate().map(message).collect();
    let header = json!({
        "sessionId": "0a1b2c3d-0000-4000-8000-000000000001",
        "projectHash": "5e",
        "startTime": "2026-01-01T10:00:00.000Z",
        "lastUpdated": format!("2026-01-01T10:00:0{}.000Z", texts.len()),
    });
    let path = machine.path(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let text = if path.extension().unwrap() == "json" {
        let mut document = header;
        document["messages"] = messages.into();
        serde_json::to_string_pretty(&document).unwrap()
    } else {
        let records = std::iter::once(header).chain(messages);
        records.map(|record| format!("{record}\n")).collect()
    };
    fs::write(path, text).unwrap();
}

/// Returns the texts of the stored messages of all files.
fn texts(store: &dyn Store) -> Vec<String> {
    let sources = sources(store);
    let messages = sources.iter().flat_map(|source| messages(store, source));
    messages.map(|message| message.text).collect()
}
