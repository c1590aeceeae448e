//! Tests panics: when a task of the daemon panics, all tasks restart, or the process ends with an
//! error. A request that panics is answered with an error.

use graphiti_proto::{methods, rpc::code};
use graphiti_tests::{Daemon, McpHost, World};
use graphitid::fault;
use serde_json::{Value, json};

/// The first pass of each task's loop, and a later pass of some tasks.
const DEFECTS: [&str; 9] = [
    "follower: turn:1",
    "follower: turn:3",
    "embedder: turn:1",
    "engine: turn:1",
    "engine: turn:9",
    "keeper: turn:1",
    "spool: turn:1",
    "server: turn:1",
    "server: turn:3",
];

#[test]
fn a_task_that_panics_is_restarted_and_reported() {
    for defect in DEFECTS {
        let world = with_defect(defect);
        world.transcript("aaaa-1").prompt("Fix the marmot").reply("The marmot is fixed.");
        let daemon = world.start();
        let answer = close_with_retries(&daemon, "aaaa-1");
        world.transcript("bbbb-2").prompt("Paint the walrus").reply("The walrus is painted.");
        daemon.settle_at_last();
        close_with_retries(&daemon, "bbbb-2");
        daemon.settle_at_last();
        for (word, session) in [("marmot", "aaaa-1"), ("walrus", "bbbb-2")] {
            let found = daemon.insist("search_sessions", &json!({ "query": word })).unwrap();
            assert_eq!(found["hits"][0]["session"]["session_id"], session, "{defect}: {found}");
        }
        let health = daemon.health();
        assert_eq!(health.pid, daemon.pid(), "{defect}");
        assert_eq!(health.problems.len(), 1, "{defect}: {:?}\n{}", health.problems, world.log());
        assert!(health.problems[0].contains("restarted"), "{defect}: {:?}", health.problems);
        assert_eq!((health.index.changes_behind, health.index.stalled), (0, false), "{defect}");
        let session = daemon.session("aaaa-1");
        assert_eq!(session["episode"]["uuid"], answer["episode_uuid"], "{defect}: {session}");
        assert!(daemon.stop().success(), "{defect}");
    }
}

#[test]
fn a_task_that_panics_each_time_ends_the_process_with_an_error() {
    for defect in ["follower: turn:1+", "engine: turn:1+"] {
        let world = with_defect(defect);
        let status = match world.try_start() {
            Ok(daemon) => daemon.ended(),
            Err(status) => status,
        };
        assert_eq!(status.code(), Some(1), "{defect}: {}", world.log());
        assert!(world.log().contains("ended repeatedly"), "{defect}: {}", world.log());
    }
}

#[test]
fn a_request_that_panics_is_answered_with_an_error() {
    let world = with_defect("request: taken:1");
    let daemon = world.start();
    let mut wire = daemon.wire();
    let error = wire.ask(methods::HELLO, json!({})).unwrap_err();
    assert_eq!(error.code, code::INTERNAL, "{error}");
    assert!(error.message.contains("see its log for the place"), "{error}");
    assert!(!error.message.contains(fault::QUOTED), "{error}");
    wire.ask(methods::HELLO, json!({})).unwrap();

    // An agent gets the error, too. `graphiti mcp` sends its handshake to the daemon first.
    drop(daemon);
    let mut world = with_defect("request: taken:2");
    let _daemon = world.start();
    world.variables.clear();
    let mut host = McpHost::start(world.command("graphiti").arg("mcp"));
    host.initialize("2025-11-25");
    let failed = host.call("session_tracking_health", json!({}));
    assert_eq!(failed["error"]["code"], code::INTERNAL, "{failed}");
    let answered = host.call("session_tracking_health", json!({}));
    assert_eq!(answered["isError"], json!(false), "{answered}");
}

fn with_defect(defect: &str) -> World {
    let mut world = World::new();
    world.variables.push((fault::PANIC_AT.to_owned(), defect.to_owned()));
    world
}

/// Closes a session, with retries: a restart of the tasks disconnects clients.
fn close_with_retries(daemon: &Daemon, session: &str) -> Value {
    daemon.settle_at_last();
    loop {
        let closed = daemon.insist("session_tracking_close", &json!({ "session_id": session }));
        let closed = closed.expect("the daemon runs");
        if closed["episode_uuid"].is_string() {
            return closed;
        }
    }
}
