//! Tests how the real daemon follows realistic transcripts.

use std::{fs, time::Duration};

use graphiti_tests::World;
use serde_json::{Value, json};

fn texts(daemon: &graphiti_tests::Daemon, session: &str, source: u32) -> Vec<String> {
    let arguments =
        json!({ "session_id": session, "view": "messages", "source": source, "limit": 200 });
    let answer = daemon.call("get_session", &arguments);
    let messages = answer["messages"].as_array().unwrap_or_else(|| panic!("{answer}"));
    messages.iter().map(|message| message["text"].as_str().unwrap().to_owned()).collect()
}

fn file(daemon: &graphiti_tests::Daemon, session: &str) -> Value {
    daemon.call("get_session", &json!({ "session_id": session }))["files"][0].clone()
}

#[test]
fn messages_are_stored_in_the_order_of_the_file() {
    let world = World::new();
    let daemon = world.start();
    let mut transcript = world.transcript("aaaa-1");
    transcript.prompt("Why does the build fail?");
    transcript.reply("I run it.");
    transcript.failing_tool(
        "Bash",
        &json!({ "command": "make" }),
        "Exit code 2\nmake: *** no rule",
    );
    transcript.tool(
        "Edit",
        &json!({ "file_path": "/work/app/Makefile", "old_string": "a", "new_string": "b" }),
        "ok",
    );
    transcript.reply("Fixed.");
    daemon.settle();
    assert_eq!(
        texts(&daemon, "aaaa-1", 0),
        [
            "Why does the build fail?",
            "I run it.",
            "Bash: make",
            "Bash: `make` → failed (exit 2): make: *** no rule",
            "Edit: /work/app/Makefile (+1 -1)\n-a\n+b",
            "Edit: /work/app/Makefile (+1 -1) → ok",
            "Fixed.",
        ]
    );
    let session = daemon.session("aaaa-1");
    assert_eq!(session["project"], "/work/app");
}

#[test]
fn a_partly_written_line_is_read_when_it_is_complete() {
    let world = World::new();
    let daemon = world.start();
    let mut transcript = world.transcript("aaaa-1");
    transcript.prompt("One");
    let line = r#"{"type":"user","message":{"role":"user","content":"Two"}}"#;
    transcript.raw(&line.as_bytes()[..30]);
    daemon.settle();
    assert_eq!(texts(&daemon, "aaaa-1", 0), ["One"]);
    // The line is complete, but has no newline yet.
    transcript.raw(&line.as_bytes()[30..]);
    daemon.settle();
    assert_eq!(texts(&daemon, "aaaa-1", 0), ["One", "Two"]);
    transcript.raw(b"\n").prompt("Three");
    daemon.settle();
    assert_eq!(texts(&daemon, "aaaa-1", 0), ["One", "Two", "Three"]);
}

#[test]
fn broken_records_do_not_affect_others_and_are_counted() {
    let world = World::new();
    let daemon = world.start();
    let mut transcript = world.transcript("aaaa-1");
    let record = |text: &str| {
        format!(
            r#"{{"parentUuid":null,"type":"user","message":{{"role":"user","content":"{text}"}}}}"#
        )
    };
    transcript.prompt("One");
    transcript.line(&format!("{}{}", &record("cut off")[..50], record("Two")));
    transcript.line(&format!("{}{}", record("Three"), record("Four")));
    transcript.line(&format!("\0\0\0{}", record("Five")));
    transcript.line(&record(r"C:\x"));
    transcript.raw(b"garbage \xff\xfe\n");
    transcript.prompt("Six");
    daemon.settle();
    assert_eq!(
        texts(&daemon, "aaaa-1", 0),
        ["One", "Two", "Three", "Four", "Five", r"C:\x", "Six"]
    );
    let file = file(&daemon, "aaaa-1");
    assert_eq!(
        (&file["read"], &file["repaired"], &file["broken"]),
        (&json!(7), &json!(4), &json!(2))
    );
}

#[test]
fn a_transcript_that_was_truncated_in_place_keeps_its_stored_messages() {
    let world = World::new();
    let daemon = world.start();
    let mut transcript = world.transcript("aaaa-1");
    transcript.prompt("One").prompt("Two").prompt("Three");
    daemon.settle();
    let content = fs::read_to_string(transcript.path()).unwrap();
    let first = content.lines().next().unwrap();
    fs::write(transcript.path(), format!("{first}\n")).unwrap();
    daemon.settle();
    assert_eq!(texts(&daemon, "aaaa-1", 0), ["One", "Two", "Three"]);
    transcript.prompt("Other");
    daemon.settle();
    assert_eq!(texts(&daemon, "aaaa-1", 0), ["One", "Two", "Three", "Other"]);
    assert_eq!(file(&daemon, "aaaa-1")["restarts"], 1);
    let shown = world.printed(&["show", "-v", "aaaa"]);
    assert!(
        shown.contains("truncated or replaced 1 times (messages read before are kept"),
        "{shown}"
    );
}

#[test]
fn sub_agents_belong_to_their_session_wherever_they_are_written() {
    let world = World::new();
    let mut transcript = world.transcript("aaaa-1").aged(Duration::from_secs(3_600));
    transcript.prompt("Look around").reply("I ask two helpers.");
    let project = transcript.path().parent().unwrap().to_owned();
    let nested = project.join("aaaa-1/subagents");
    fs::create_dir_all(&nested).unwrap();
    let line = |text: &str| {
        let record = json!({
            "type": "user", "isSidechain": true, "sessionId": "aaaa-1", "cwd": "/work/app",
            "timestamp": "2026-01-01T00:00:00Z", "message": { "role": "user", "content": text },
        });
        format!("{record}\n")
    };
    fs::write(nested.join("agent-one1234.jsonl"), line("Read the docs")).unwrap();
    fs::write(nested.join("agent-one1234.meta.json"), "{}").unwrap();
    fs::write(project.join("agent-two.jsonl"), line("Read the code")).unwrap();
    let results = project.join("aaaa-1/tool-results");
    fs::create_dir_all(&results).unwrap();
    fs::write(results.join("big.jsonl"), line("not a session")).unwrap();
    let daemon = world.start();
    daemon.settle();
    assert_eq!(daemon.call("list_sessions", &json!({}))["total"], 1);
    let mut prompts = [texts(&daemon, "aaaa-1", 1), texts(&daemon, "aaaa-1", 2)].concat();
    prompts.sort();
    assert_eq!(prompts, ["Read the code", "Read the docs"]);
    // The id of a sub-agent is the id of no session.
    let shown = world.json(&["show", "one123", "--messages"]);
    assert_eq!(shown["session"]["session_id"], "aaaa-1");
    assert_eq!(shown["messages"][0]["text"], "Read the docs");
    for view in ["--messages", "--conversation"] {
        let printed = world.printed(&["show", "one123", view]);
        assert!(printed.contains("sub-agent one1234: this is its "), "{printed}");
    }
    assert!(!world.printed(&["show", "aaaa-1"]).contains("sub-agent"));
    assert!(!world.graphiti(&["show", "one"]).status.success());
}

#[test]
fn a_clear_starts_a_second_session() {
    let world = World::new();
    let daemon = world.start();
    world.transcript("aaaa-1").prompt("Before the clear");
    daemon.settle();
    world.transcript("bbbb-2").prompt("After the clear");
    daemon.settle();
    assert_eq!(daemon.call("list_sessions", &json!({}))["total"], 2);
}

#[test]
fn secrets_never_reach_the_disk() {
    let world = World::new();
    let daemon = world.start();
    // No part of the secret repeats, because compression would hide a repeated part from the search
    // below.
    let digits: String = (0..23_u32).map(|n| format!("Z{:03x}", n * 173 + 97)).collect();
    let secret = ["sk-ant-", "api03-", &digits, "-AA"].concat();
    let mut transcript = world.transcript("aaaa-1");
    transcript.prompt(&format!("My key is {secret}, use it"));
    transcript.tool(
        "Bash",
        &json!({ "command": format!("curl -H 'x-api-key: {secret}' https://example.com") }),
        "ok",
    );
    transcript.tool(
        "Write",
        &json!({ "file_path": "/work/app/.env", "content": format!("API_KEY={secret}\n") }),
        "ok",
    );
    transcript.reply(&format!("I put {secret} into .env."));
    // A prompt that waits for the agent is stored in the checkpoint of the file.
    let waiting = format!("the key is {secret}");
    transcript.record("queue-operation", &json!({ "operation": "enqueue", "content": waiting }));
    daemon.settle();
    daemon.close("aaaa-1");
    let text = texts(&daemon, "aaaa-1", 0).join("\n");
    assert!(text.contains("[REDACTED:"), "{text}");
    daemon.stop();
    // This command decodes each record, so that it also finds secrets in compressed records.
    let again = world.json(&["redact", "--again"]);
    assert_eq!(again["changed"], json!({}), "{again}");
    let mut folders = vec![world.home()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let bytes = fs::read(&path).unwrap();
                let found = bytes.windows(24).any(|piece| piece == &secret.as_bytes()[12..36]);
                assert!(!found, "the secret is in {}", path.display());
            }
        }
    }
}
