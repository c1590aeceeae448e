//! Tests that links and pipes are not read, that paths in requests are not opened, that only the
//! user can read written files, and that reads are bounded.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
    process::Command,
};

use graphiti_tests::{Transcript, World};
use serde_json::json;

/// A text that must not be found in any session.
const OUTSIDE: &str = "zebrafinch";

#[test]
fn nothing_outside_of_the_watched_folders_is_read() {
    let world = World::new();
    let outside = world.path("outside");
    let mut other_folder = Transcript::new(&outside, "eeee-5", "/work/app");
    other_folder.prompt(&format!("Remember the {OUTSIDE}"));
    let projects = world.projects();
    let folder = projects.join("-work-app");
    let lead_out = |number: u32| {
        symlink(other_folder.path(), folder.join(format!("link-{number}.jsonl"))).unwrap();
        symlink(outside.join("-work-app"), projects.join(format!("-work-link{number}"))).unwrap();
        // Nothing writes to this pipe, so reading it would block.
        let pipe = folder.join(format!("pipe-{number}.jsonl"));
        assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
    };
    let mut inside = world.transcript("aaaa-1");
    inside.prompt("Fix the login timeout");
    // Some links exist when the daemon starts, others are created later.
    lead_out(1);
    let daemon = world.start();
    daemon.settle();
    lead_out(2);
    inside.prompt("And the logout");
    daemon.settle();
    // This transcript is replaced by a link after the daemon has read it.
    let replaced = world.transcript("bbbb-2").prompt("A second session").path().to_owned();
    daemon.settle();
    fs::remove_file(&replaced).unwrap();
    symlink(other_folder.path(), &replaced).unwrap();
    inside.prompt("And the session");
    daemon.settle();
    assert_eq!(daemon.session_ids(), ["aaaa-1", "bbbb-2"]);
    let found = daemon.call("search_sessions", &json!({ "query": OUTSIDE }));
    assert!(!found["hits"].to_string().contains("Remember"), "{found}");
    assert!(!daemon.close("bbbb-2").to_string().contains(OUTSIDE));
    assert!(
        !daemon
            .call("get_session", &json!({ "session_id": "bbbb-2" }))
            .to_string()
            .contains(OUTSIDE)
    );
}

#[test]
fn paths_in_events_and_arguments_are_names_and_are_not_opened() {
    let world = World::new();
    let secret = world.path("secret.jsonl");
    let line = json!({ "type": "user", "sessionId": "eeee-5", "message": { "content": format!("the {OUTSIDE}") } });
    fs::write(&secret, format!("{line}\n")).unwrap();
    world.transcript("aaaa-1").prompt("Fix the login timeout");
    let daemon = world.start();
    daemon.settle();
    let up = format!("{}/../secret.jsonl", world.projects().display());
    for path in [secret.to_str().unwrap(), &up, "/etc/passwd", "../../secret.jsonl"] {
        for name in ["SessionStart", "SessionEnd", "PreCompact"] {
            let event = json!({
                "hook_event_name": name, "session_id": path, "transcript_path": path, "cwd": path,
            });
            daemon.wire().ask("graphiti/hook", event).unwrap();
        }
        for (tool, argument) in [
            ("get_session", "session_id"),
            ("session_tracking_close", "session_id"),
            ("get_handoff", "project"),
            ("list_sessions", "project"),
            ("session_tracking_sync_history", "project"),
        ] {
            let params = json!({ "name": tool, "arguments": { argument: path } });
            let answer = daemon.wire().ask("tools/call", params);
            assert!(!format!("{answer:?}").contains(OUTSIDE), "{tool}: {answer:?}");
        }
    }
    let uri = json!({ "uri": "graphiti://episode/../../secret.jsonl" });
    assert!(daemon.wire().ask("resources/read", uri).is_err());
    daemon.settle();
    let listed = daemon.call("list_sessions", &json!({}));
    assert_eq!(listed["total"], 1, "{listed}");
    assert!(
        !daemon
            .call("search_sessions", &json!({ "query": OUTSIDE }))
            .to_string()
            .contains("the zebra")
    );
}

#[test]
fn only_the_user_can_read_written_files_under_any_umask() {
    for umask in ["000", "777"] {
        let mut world = World::new();
        world.umask = Some(umask);
        let daemon = world.start();
        world.transcript("aaaa-1").prompt("Fix the login timeout").reply("Done.");
        daemon.settle();
        daemon.close("aaaa-1");
        let export = world.path("export");
        world.printed(&["export", export.to_str().unwrap()]);
        daemon.stop();
        // With the daemon down, the client writes the spool.
        let mut hook = world.command("graphiti");
        let event = world.path("event.json");
        fs::write(&event, r#"{"hook_event_name":"SessionEnd","session_id":"aaaa-1"}"#).unwrap();
        hook.arg("hook").stdin(fs::File::open(event).unwrap());
        assert!(hook.status().unwrap().success());
        assert_eq!(fs::read_dir(world.home().join("spool")).unwrap().count(), 1);
        for folder in [world.home(), export] {
            assert_private(&folder, umask);
        }
    }
}

/// Checks that the user has access to everything in `path`, and that other users have no access.
fn assert_private(path: &Path, umask: &str) {
    let mode = fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777;
    let wanted = if path.is_dir() { 0o700 } else { 0o600 };
    let is_private = mode & 0o077 == 0 && mode & wanted == wanted;
    assert!(is_private, "{} has mode {mode:o} under umask {umask}", path.display());
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            assert_private(&entry.unwrap().path(), umask);
        }
    }
}

#[test]
fn an_error_shows_the_name_of_a_file_that_is_too_long() {
    let world = World::new();
    let _daemon = world.start();
    let folder = world.path("import");
    fs::create_dir_all(folder.join("episodes")).unwrap();
    let refused = |arguments: &[&str]| {
        let output = world.graphiti(arguments);
        assert!(!output.status.success(), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    // A sparse file uses no disk space.
    let long = folder.join("episodes/long.md");
    fs::File::create(&long).unwrap().set_len(600 << 20).unwrap();
    let error = refused(&["import", long.to_str().unwrap()]);
    assert!(error.contains("long.md") && error.contains("longer than 512 MB"), "{error}");
    fs::write(&long, "x".repeat(2 << 20)).unwrap();
    let error = refused(&["import", folder.to_str().unwrap()]);
    assert!(error.contains("long.md:1: is longer than 1 MB"), "{error}");
    let template = world.path("template.md");
    fs::File::create(&template).unwrap().set_len(64 << 20).unwrap();
    let error = refused(&["prompts", "check", template.to_str().unwrap()]);
    assert!(error.contains("template.md") && error.contains("longer than 16 MB"), "{error}");
    let pipe = world.path("pipe.md");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let error = refused(&["import", pipe.to_str().unwrap()]);
    assert!(error.contains("pipe.md: is not a regular file"), "{error}");
    fs::File::create(world.home().join("graphiti.config.json")).unwrap().set_len(8 << 20).unwrap();
    let error = refused(&["reload"]);
    assert!(
        error.contains("graphiti.config.json") && error.contains("longer than 1024 kB"),
        "{error}"
    );
}
