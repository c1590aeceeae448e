//! Tests a daemon that hangs because a signal stopped it: commands report this in time, with the
//! remedy.
#![cfg(unix)]

use std::{
    io::Write,
    process::{Child, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use graphiti_tests::{McpHost, World};
use serde_json::json;

/// Time, in seconds, after which a silent daemon counts as hung.
const TIMEOUT: &str = "0.5";
/// Maximum time of a command; a busy machine is slow.
const MAX_DURATION: Duration = Duration::from_secs(30);

/// Commands that send requests to the daemon.
const COMMANDS: &[&[&str]] = &[
    &["status"],
    &["status", "--wait"],
    &["list"],
    &["show", "aaaa-1"],
    &["search", "marmot"],
    &["facts"],
    &["handoff"],
    &["close", "aaaa-1"],
    &["close", "aaaa-1", "--no-wait"],
    &["unindexed"],
    &["usage"],
    &["tools", "list"],
    &["prompts", "list"],
    &["sync"],
    &["export", "exported"],
    &["export", "--html", "exported-pages"],
    &["import", "exported"],
    &["forget"],
    &["reload"],
    &["up"],
    &["stop"],
    &["repair"],
    &["redact", "--again"],
    &["doctor"],
];

#[test]
fn every_command_reports_in_time_that_the_daemon_hangs() {
    let (world, daemon) = hung();
    let pid = daemon.pid();
    for arguments in COMMANDS {
        let mut command = world.command("graphiti");
        let child = command.args(*arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let output = in_time(child.unwrap(), arguments);
        let printed = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(!output.status.success(), "{arguments:?}: {printed}");
        assert!(printed.contains(&format!("(pid {pid})")), "{arguments:?}: {printed}");
        assert!(printed.contains("graphiti stop --force"), "{arguments:?}: {printed}");
        assert!(printed.contains("graphiti up"), "{arguments:?}: {printed}");
    }
    // When the daemon continues, it executes the request to stop.
    daemon.signal("CONT");
    assert!(daemon.ended().success());
}

#[test]
fn a_command_that_waits_for_work_notices_a_daemon_that_hangs_meanwhile() {
    let (world, daemon) = hung();
    daemon.signal("CONT");
    let mut command = world.command("graphiti");
    let child = command.args(["status", "--wait"]).stderr(Stdio::piped()).spawn().unwrap();
    daemon.signal("STOP");
    let output = in_time(child, &["status", "--wait"]);
    // The command may have got its answer before the signal.
    let printed = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() || printed.contains("graphiti stop --force"), "{printed}");
}

#[test]
fn a_hung_daemon_can_be_killed_and_started_again() {
    let (world, daemon) = hung();
    let ended = world.printed(&["stop", "--force"]);
    assert!(ended.contains("was killed"), "{ended}");
    assert!(!daemon.ended().success());
    let again = world.graphiti(&["stop", "--force"]);
    assert!(!again.status.success());
    let printed = String::from_utf8(again.stderr).unwrap();
    assert!(printed.contains("is not running"), "{printed}");
    world.printed(&["up"]);
    assert!(world.printed(&["list"]).contains("marmot"));
    assert!(
        world.printed(&["stop", "--force"]).contains("has stopped"),
        "a daemon that works stops on request"
    );
}

#[test]
fn a_request_of_an_agent_gets_an_error_when_the_daemon_hangs() {
    let (world, daemon) = hung();
    daemon.signal("CONT");
    let mut host = McpHost::start(world.command("graphiti").arg("mcp"));
    host.initialize("2025-11-25");
    daemon.signal("STOP");
    for _ in 0..2 {
        // The first request uses the open connection, the second request uses a new connection.
        let failed = host.call("session_tracking_health", json!({}));
        let message = failed["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains("graphiti stop --force"), "{failed}");
    }
    daemon.signal("CONT");
    let answered = host.call("session_tracking_health", json!({}));
    assert_eq!(answered["isError"], json!(false), "{answered}");
}

#[test]
fn a_hook_ends_in_time_without_output() {
    let (world, _daemon) = hung();
    let mut command = world.command("graphiti");
    command.arg("hook").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let event = json!({ "hook_event_name": "SessionEnd", "session_id": "aaaa-1" }).to_string();
    child.stdin.take().unwrap().write_all(event.as_bytes()).unwrap();
    let output = in_time(child, &["hook"]);
    assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty());
}

#[test]
fn a_timeout_that_is_not_a_number_is_refused() {
    let mut world = World::new();
    world.variables.push(("GRAPHITI_TIMEOUT".to_owned(), "soon".to_owned()));
    let output = world.graphiti(&["list"]);
    let printed = String::from_utf8(output.stderr).unwrap();
    assert!(printed.contains("GRAPHITI_TIMEOUT is `soon`"), "{printed}");
}

/// Creates a machine whose daemon was stopped by a signal.
fn hung() -> (World, graphiti_tests::Daemon) {
    let mut world = World::new();
    world.transcript("aaaa-1").prompt("Fix the marmot").reply("The marmot is fixed.");
    let daemon = world.start();
    daemon.settle();
    daemon.close("aaaa-1");
    world.printed(&["export", "exported"]);
    daemon.signal("STOP");
    world.variables.push(("GRAPHITI_TIMEOUT".to_owned(), TIMEOUT.to_owned()));
    (world, daemon)
}

/// Returns the result of a command, which must end within [`MAX_DURATION`].
fn in_time(mut child: Child, arguments: &[&str]) -> Output {
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if began.elapsed() > MAX_DURATION {
            child.kill().unwrap();
            panic!("{arguments:?} takes longer than {MAX_DURATION:?}");
        }
        thread::yield_now();
    }
    child.wait_with_output().unwrap()
}
