//! Tests the daemon as a process: only one daemon runs for each home, its files are private, and it
//! reacts to signals and uses its configuration.

use std::{fs, os::unix::fs::PermissionsExt, path::Path, time::Duration};

use graphiti_proto::endpoint;
use graphiti_tests::{World, namespace::report_skipped};
use serde_json::{Value, json};

#[test]
fn a_second_daemon_reports_the_running_one_and_ends() {
    let world = World::new();
    let daemon = world.start();
    let second = world.command("graphitid").output().unwrap();
    assert_eq!(second.status.code(), Some(endpoint::EXIT_HOME_IN_USE.into()));
    let message = String::from_utf8(second.stderr).unwrap();
    assert!(message.starts_with("graphitid: graphitid is already running for "), "{message}");
    assert!(message.contains(&format!("(pid {})", daemon.pid())), "{message}");
    assert_eq!(world.json(&["status"])["pid"], daemon.pid());
}

#[test]
fn a_daemon_starts_after_another_was_killed() {
    let world = World::new();
    let daemon = world.start();
    let socket = daemon.socket().to_owned();
    daemon.kill();
    assert!(Path::new(&socket).exists());
    let message = String::from_utf8(world.graphiti(&["status"]).stderr).unwrap();
    assert!(message.contains("graphitid is not running"), "{message}");
    assert!(message.contains("Start it with: graphiti up"), "{message}");
    let daemon = world.start();
    assert_eq!(world.json(&["status"])["pid"], daemon.pid());
}

#[test]
fn only_the_user_has_access_to_the_files() {
    let world = World::new();
    let daemon = world.start();
    world.transcript("aaaa-1").prompt("Fix the login timeout");
    daemon.settle();
    daemon.close("aaaa-1");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&world.home()), 0o700);
    assert_eq!(mode(Path::new(daemon.socket())), 0o600);
    let mut folders = vec![world.home()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            assert_eq!(mode(&path) & 0o077, 0, "{} is open to others", path.display());
            if path.is_dir() {
                folders.push(path);
            }
        }
    }
}

/// This test needs root.
#[test]
fn another_user_is_refused_even_with_a_socket_left_open() {
    use std::os::unix::process::CommandExt;
    let world = World::new();
    let door = tempfile::tempdir().unwrap();
    fs::set_permissions(door.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let socket = door.path().join("mcp.sock");
    world.configure(&json!({ "hooks": { "socket_path": socket } }));
    let _daemon = world.start();
    assert_eq!(world.json(&["status"])["status"], "ok");
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o666)).unwrap();
    let program = door.path().join("graphiti");
    fs::copy(world.command("graphiti").get_program(), &program).unwrap();
    let mut stranger = std::process::Command::new(&program);
    stranger.arg("status").env("GRAPHITI_HOME", door.path()).current_dir(door.path()).uid(65_534);
    match stranger.output() {
        Ok(output) => {
            let message = String::from_utf8(output.stderr).unwrap();
            assert!(!output.status.success());
            assert!(message.contains("no usable answer from graphitid"), "{message}");
            assert!(
                world.log().contains("refused a connection of another user"),
                "{}",
                world.log()
            );
        }
        Err(error) => {
            assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied);
            report_skipped("another_user_is_refused_even_with_a_socket_left_open", "needs root");
        }
    }
}

#[test]
fn a_configuration_is_read_again_on_reload() {
    let world = World::new();
    world.configure(&json!({}));
    let _daemon = world.start();
    world.configure(&json!({ "inactivity_timeout": 60 }));
    let message = world.printed(&["reload"]);
    assert!(message.contains("inactivity_timeout"), "{message}");
    assert_eq!(world.printed(&["reload"]), "Nothing changed.\n");
}

#[test]
fn an_unknown_section_is_reported_on_reload() {
    let world = World::new();
    world.configure(&json!({}));
    let _daemon = world.start();
    let misspelt = json!({ "session_trackin": { "inactivity_timeout": 60 } });
    std::fs::write(world.home().join("graphiti.config.json"), misspelt.to_string()).unwrap();
    let message = world.printed(&["reload"]);
    for part in ["`session_trackin` is unknown", "did you mean `session_tracking`?"] {
        assert!(message.contains(part), "{message}");
    }
    let doctor = String::from_utf8(world.graphiti(&["doctor"]).stdout).unwrap();
    assert!(doctor.contains("`session_trackin` is unknown"), "{doctor}");
    // A correct section is accepted without a message.
    world.configure(&json!({ "enabled": true }));
    assert_eq!(world.printed(&["reload"]), "Nothing changed.\n");
}

#[test]
fn an_invalid_configuration_is_rejected_with_a_reason_and_the_old_settings_stay() {
    let world = World::new();
    world.configure(&json!({ "inactivity_timeout": 1, "check_interval": 1 }));
    let daemon = world.start();
    world.configure(&json!({ "inactivity_timeout": "soon", "chek_interval": 1 }));
    let refused = world.graphiti(&["reload"]);
    assert!(!refused.status.success());
    let message = String::from_utf8(refused.stderr).unwrap();
    assert!(message.contains("session_tracking.inactivity_timeout` is \"soon\""), "{message}");
    assert!(message.ends_with("The old settings stay in force.\n"), "{message}");
    // The timeout of one second is still used.
    world.transcript("aaaa-1").prompt("Fix the login timeout");
    daemon.settle();
    daemon.settle_sessions();
    assert_eq!(daemon.session("aaaa-1")["state"], "indexed");
}

#[test]
fn an_invalid_configuration_at_the_start_is_reported_with_its_file_line_and_key() {
    let world = World::new();
    world.configure(&json!({ "inactivity_timeout": "soon" }));
    let output = world.command("graphitid").output().unwrap();
    assert!(!output.status.success());
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(
        message.contains("graphiti.config.json:1: `session_tracking.inactivity_timeout`"),
        "{message}"
    );
}

#[test]
fn a_configuration_can_be_written_checked_and_described() {
    let world = World::new();
    let run = |arguments: &[&str]| world.command("graphitid").args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let written = run(&["config", "init"]);
    assert!(written.status.success(), "{}", text(written.stderr));
    assert!(!run(&["config", "init"]).status.success(), "an existing file was overwritten");
    let checked = run(&["config", "check"]);
    assert!(checked.status.success(), "{}", text(checked.stdout));
    let schema: Value = serde_json::from_str(&text(run(&["config", "schema"]).stdout)).unwrap();
    assert!(schema["properties"]["session_tracking"].is_object());
    world.start().stop();
}

#[test]
fn tracking_can_be_switched_off() {
    let world = World::new();
    world.configure(&json!({ "enabled": false }));
    world.transcript("aaaa-1").prompt("Fix the login timeout");
    let daemon = world.start();
    daemon.settle();
    assert_eq!(daemon.call("list_sessions", &json!({}))["total"], 0);
    let off = "`session_tracking.enabled` is false";
    assert!(world.printed(&["status"]).contains(off));
    world.configure(&json!({ "watch_directories": [world.path("gone")] }));
    let reloaded = world.printed(&["reload"]);
    assert!(reloaded.contains("which does not exist"), "{reloaded}");
    let status = world.printed(&["status"]);
    assert!(!status.contains(off) && status.contains("gone (events)"), "{status}");
}

#[test]
fn configured_folders_are_watched_and_excluded_folders_are_not() {
    let world = World::new();
    let more = world.path("elsewhere");
    world.configure(&json!({
        "watch_directories": [more, world.claude().join("projects/-work-secret"), world.claude().join("projects/-work-old")], "excluded_paths": ["/work/secret", world.claude().join("projects/-work-old")]
    }));
    let daemon = world.start();
    world.transcript_in("aaaa-1", "/work/app").prompt("One");
    world.transcript_in("bbbb-2", "/work/secret/deep").prompt("Two");
    world.transcript_in("cccc-3", "/work/old").prompt("Three");
    graphiti_tests::Transcript::new(&more, "dddd-4", "/work/else").prompt("Four");
    daemon.settle();
    // The folder of `aaaa-1` is not configured.
    assert_eq!(daemon.session_ids(), ["dddd-4"]);
}

#[test]
fn the_agents_folders_are_only_read() {
    let world = World::new();
    let mut transcript = world.transcript("aaaa-1").aged(Duration::from_secs(7_200));
    transcript.prompt("Fix the login timeout").reply("Done.");
    let project = transcript.path().parent().unwrap().to_owned();
    let readonly = |mode| fs::set_permissions(&project, fs::Permissions::from_mode(mode)).unwrap();
    let before = fs::metadata(transcript.path()).unwrap();
    readonly(0o500);
    let daemon = world.start();
    daemon.settle();
    assert_eq!(daemon.session("aaaa-1")["state"], "indexed");
    readonly(0o700);
    let after = fs::metadata(transcript.path()).unwrap();
    assert_eq!(
        (after.modified().unwrap(), after.len()),
        (before.modified().unwrap(), before.len())
    );
    assert_eq!(fs::read_dir(&project).unwrap().count(), 1);
}

#[test]
fn each_wrong_line_on_the_socket_gets_an_answer() {
    let world = World::new();
    let daemon = world.start();
    let mut wire = daemon.wire();
    for (line, code) in [
        ("{", -32_700),
        ("[]", -32_600),
        (r#"{"id":1,"method":"no/such"}"#, -32_601),
        (r#"{"id":1,"method":"tools/call","params":{"name":"no_such"}}"#, -32_601),
        (
            r#"{"id":1,"method":"tools/call","params":{"name":"list_sessions","arguments":{"limit":"x"}}}"#,
            -32_602,
        ),
        (r#"{"id":1,"method":"tools/call"}"#, -32_601),
    ] {
        wire.send(format!("{line}\n").as_bytes());
        let error = wire.receive().outcome().unwrap_err();
        assert_eq!(i64::from(code), error.code, "{line}: {error}");
    }
    // Blank lines and notifications get no answer, and the connection can still be used.
    wire.send(b"\n\r\n{\"method\":\"no/such\"}\n");
    assert_eq!(wire.ask("ping", json!({})), Ok(json!({})));
}

#[test]
fn a_line_without_end_closes_only_its_connection() {
    let world = World::new();
    let daemon = world.start();
    let mut other = daemon.wire();
    let mut wire = daemon.wire();
    let piece = vec![b'x'; 1 << 20];
    while wire.try_send(&piece).is_ok() {}
    assert!(wire.receive_line().is_empty() || wire.receive_line().is_empty());
    assert_eq!(other.ask("ping", json!({})), Ok(json!({})));
}

#[test]
fn requests_of_one_connection_do_not_wait_for_each_other() {
    let world = World::new();
    let daemon = world.start();
    let mut wire = daemon.wire();
    // The first request is answered when the session ends, which is after the test.
    world.transcript("aaaa-1").prompt("Fix the login timeout");
    daemon.settle();
    wire.send(b"{\"id\":1,\"method\":\"graphiti/settle\",\"params\":{\"sessions\":true}}\n{\"id\":2,\"method\":\"ping\"}\n");
    assert_eq!(wire.receive().id, 2);
}

#[test]
fn the_daemon_can_be_stopped_by_its_client() {
    let world = World::new();
    let daemon = world.start();
    let printed = world.printed(&["stop"]);
    assert!(printed.starts_with("graphitid has stopped.\n"), "{printed}");
    assert!(daemon.ended().success());
    assert!(!world.home().join("graphitid.json").exists());
}
