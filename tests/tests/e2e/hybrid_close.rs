//! Tests how sessions are closed, with the real programs. The comments contain the names of the
//! corresponding tests in the original Graphiti's document about closing sessions.

use std::time::Duration;

use graphiti_tests::World;
use serde_json::{Value, json};

const OLD: Duration = Duration::from_secs(3_600);

/// `test_explicit_close_indexes`.
#[test]
fn an_explicit_close_indexes() {
    let world = World::new();
    let daemon = world.start();
    let mut transcript = world.transcript("aaaa-1");
    transcript.prompt("Fix the login timeout").reply("I fixed it in auth.rs.");
    daemon.settle();
    assert_eq!(daemon.session("aaaa-1")["state"], "active");
    let closed = daemon.call(
        "session_tracking_close",
        &json!({ "session_id": "aaaa-1", "reason": "story_complete" }),
    );
    assert_eq!(closed["status"], "success");
    assert_eq!(closed["action"], "indexed");
    let session = daemon.session("aaaa-1");
    assert_eq!(session["state"], "indexed");
    assert_eq!(session["episode"]["uuid"], closed["episode_uuid"]);
    assert_eq!(session["episode"]["close_reason"], "story_complete");
}

/// `test_explicit_close_skips_unchanged`, `test_content_hash_stability`.
#[test]
fn a_session_without_new_messages_is_skipped() {
    let world = World::new();
    let daemon = world.start();
    let mut transcript = world.transcript("aaaa-1");
    transcript.prompt("Fix the login timeout").reply("Done.");
    daemon.settle();
    let first = daemon.close("aaaa-1");
    transcript.record("progress", &json!({ "data": { "type": "hook_progress" } }));
    transcript.line(r#"{"type":"permission-mode","permissionMode":"default"}"#);
    daemon.settle();
    let second = daemon.close("aaaa-1");
    assert_eq!(second["action"], "unchanged");
    assert_eq!(second["episode_uuid"], first["episode_uuid"]);
}

/// The new file has the same records in other bytes, so the content hash is the same.
#[test]
fn a_rewritten_file_with_the_same_content_is_unchanged() {
    let world = World::new();
    let daemon = world.start();
    let mut transcript = world.transcript("aaaa-1");
    transcript.prompt("Fix the login timeout").reply("Done.");
    daemon.settle();
    let first = daemon.close("aaaa-1");
    let spaced: String = std::fs::read_to_string(transcript.path())
        .unwrap()
        .lines()
        .map(|line| {
            let record: Value = serde_json::from_str(line).unwrap();
            format!("  {}\n", serde_json::to_string(&record).unwrap().replace("\":", "\" : "))
        })
        .collect();
    let fresh = transcript.path().with_extension("new");
    std::fs::write(&fresh, spaced).unwrap();
    std::fs::rename(&fresh, transcript.path()).unwrap();
    daemon.settle();
    let second = daemon.close("aaaa-1");
    assert_eq!(second["action"], "unchanged");
    assert_eq!(second["episode_uuid"], first["episode_uuid"]);
}

/// `test_explicit_close_replaces_changed`, `test_content_hash_changes`,
/// `test_session_resume_replace`.
#[test]
fn the_episode_of_a_resumed_session_is_replaced_not_duplicated() {
    let world = World::new();
    let daemon = world.start();
    let mut transcript = world.transcript("aaaa-1");
    transcript.prompt("Fix the login timeout").reply("Done.");
    daemon.settle();
    let first = daemon.close("aaaa-1");
    transcript.prompt("Also fix the logout").reply("Done, too.");
    daemon.settle();
    assert_eq!(daemon.session("aaaa-1")["state"], "active");
    let second = daemon.close("aaaa-1");
    assert_eq!(second["action"], "replaced");
    assert_ne!(second["episode_uuid"], first["episode_uuid"]);
    let health = daemon.call("session_tracking_health", &json!({}));
    assert_eq!(health["kept"]["episodes"], 1);
    let gone = daemon.call("get_session", &json!({ "session_id": first["episode_uuid"] }));
    assert!(gone["error"].as_str().unwrap().contains("no episode has this id"), "{gone}");
}

/// A close includes all records up to the request, even if the watcher has not reported them.
#[test]
fn a_close_reads_what_was_just_written() {
    let world = World::new();
    let daemon = world.start();
    let mut transcript = world.transcript("aaaa-1");
    transcript.prompt("Fix the login timeout");
    daemon.settle();
    for round in 0..20 {
        transcript.reply(&format!("Step {round} is done."));
        assert_ne!(daemon.close("aaaa-1")["action"], "unchanged", "round {round}");
    }
}

/// `test_timeout_fallback`.
#[test]
fn an_abandoned_session_is_indexed_after_the_timeout() {
    let world = World::new();
    world.configure(&json!({ "inactivity_timeout": 1, "check_interval": 1 }));
    let daemon = world.start();
    world.transcript("aaaa-1").prompt("Fix the login timeout").reply("Done.");
    daemon.settle();
    daemon.settle_sessions();
    let session = daemon.session("aaaa-1");
    assert_eq!(session["state"], "indexed");
    assert_eq!(session["episode"]["close_reason"], "inactivity_timeout");
}

/// `test_parallel_sessions`.
#[test]
fn parallel_sessions_are_closed_separately() {
    let world = World::new();
    let daemon = world.start();
    let mut transcripts: Vec<_> =
        (0..5).map(|number| world.transcript(&format!("{number}aaa-1"))).collect();
    for round in 0..3 {
        for transcript in &mut transcripts {
            transcript.prompt(&format!("Round {round}")).reply("Done.");
        }
    }
    daemon.settle();
    daemon.close("2aaa-1");
    for number in 0..5 {
        let state = daemon.session(&format!("{number}aaa-1"))["state"].clone();
        assert_eq!(state, if number == 2 { "indexed" } else { "active" });
    }
}

/// `test_state_persistence`, `test_cross_restart_state`.
#[test]
fn states_survive_a_restart() {
    let world = World::new();
    let daemon = world.start();
    world.transcript("aaaa-1").prompt("Fix the login timeout").reply("Done.");
    let mut ongoing = world.transcript("bbbb-2");
    ongoing.prompt("Write the importer");
    daemon.settle();
    let closed = daemon.close("aaaa-1");
    assert!(daemon.stop().success());
    ongoing.reply("It is written.");
    let daemon = world.start();
    daemon.settle();
    assert_eq!(daemon.session("aaaa-1")["episode"]["uuid"], closed["episode_uuid"]);
    assert_eq!(daemon.close("aaaa-1")["action"], "unchanged");
    let ongoing = daemon.session("bbbb-2");
    let messages =
        daemon.call("get_session", &json!({ "session_id": "bbbb-2", "view": "messages" }));
    assert_eq!(messages["messages"].as_array().unwrap().len(), 2, "{messages}");
    assert_eq!((&ongoing["state"], &ongoing["message_count"]), (&json!("active"), &json!(2)));
}

/// History is imported without a request.
#[test]
fn history_is_imported_at_the_first_start() {
    let world = World::new();
    for number in 0..7 {
        let mut transcript = world.transcript(&format!("{number}aaa-1")).aged(OLD);
        transcript.prompt(&format!("Task {number}")).reply("Done.");
    }
    let daemon = world.start();
    daemon.settle();
    let listed = daemon.call("list_sessions", &json!({}));
    assert_eq!(listed["total"], 7);
    for session in listed["sessions"].as_array().unwrap() {
        assert_eq!(session["state"], "indexed");
        assert_eq!(session["episode"]["close_reason"], "history_sync");
    }
}

/// The client sends no handshake.
#[test]
fn a_bare_tool_call_on_the_socket_closes_a_session() {
    let world = World::new();
    let daemon = world.start();
    world.transcript("aaaa-1").prompt("Fix the login timeout").reply("Done.");
    daemon.settle();
    let mut wire = daemon.wire();
    wire.send(
        b"{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools/call\", \"params\": {\"name\": \
          \"session_tracking_close\", \"arguments\": {\"session_id\": \"aaaa-1\", \"reason\": \"hook_clear\"}}}\n",
    );
    let result = wire.receive().outcome().unwrap();
    let answer: Value =
        serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(answer["status"], "success");
    assert!(answer["episode_uuid"].is_string());
    assert_eq!(daemon.session("aaaa-1")["episode"]["close_reason"], "hook_clear");
}

/// The exit of an agent ends its session.
#[test]
fn a_session_whose_agent_is_gone_does_not_wait_for_the_timeout() {
    let world = World::new();
    world.configure(&json!({ "check_interval": 1 }));
    let sessions = world.claude().join("sessions");
    std::fs::create_dir_all(&sessions).unwrap();
    let running = sessions.join("1.json");
    let note = json!({ "pid": std::process::id(), "sessionId": "aaaa-1", "cwd": "/work/app" });
    std::fs::write(&running, note.to_string()).unwrap();
    let daemon = world.start();
    world.transcript("aaaa-1").prompt("Fix the login timeout").reply("Done.");
    daemon.settle();
    std::fs::remove_file(&running).unwrap();
    daemon.settle_sessions();
    assert_eq!(daemon.session("aaaa-1")["episode"]["close_reason"], "agent_exited");
}

/// The session stays known, and is indexed from the data that were stored before.
#[test]
fn a_deleted_transcript_is_not_lost() {
    let world = World::new();
    world.configure(&json!({ "check_interval": 1 }));
    let daemon = world.start();
    let mut transcript = world.transcript("aaaa-1");
    transcript.prompt("Fix the login timeout").reply("The cause was a stale cookie.");
    daemon.settle();
    std::fs::remove_file(transcript.path()).unwrap();
    daemon.settle_sessions();
    let session = daemon.session("aaaa-1");
    assert_eq!(session["state"], "indexed");
    assert!(session["episode"]["uuid"].is_string());
    let messages =
        daemon.call("get_session", &json!({ "session_id": "aaaa-1", "view": "messages" }));
    assert_eq!(messages["messages"][1]["text"], "The cause was a stale cookie.");
}
