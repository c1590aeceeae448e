//! Tests the handoff from one session to the next, with the real programs.

use std::{fs, path::Path, time::Duration};

use graphiti_tests::World;
use serde_json::json;

const HOUR: Duration = Duration::from_secs(3_600);

#[test]
fn a_handoff_contains_the_open_work_of_earlier_sessions() {
    let world = World::new();
    let mut first = world.transcript("aaaa-1").aged(3 * HOUR);
    first
        .prompt("Make the importer keep the order of the rows")
        .tool(
            "Edit",
            &json!({"file_path": "/work/app/src/import.rs", "old_string": "a", "new_string": "b"}),
            "The file has been updated.",
        )
        .failing_tool(
            "Bash",
            &json!({"command": "cargo test"}),
            "Exit code 101\nrunning 2 tests\ntest import::order ... FAILED\ntest import::empty ... ok\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s",
        )
        .reply("One test still fails: import::order.");
    let daemon = world.start();
    // A second agent works in this project now, and a third agent works in another project.
    world.transcript("bbbb-2").prompt("Write the manual");
    world.transcript_in("cccc-3", "/work/other").prompt("Something else");
    daemon.settle();
    let handoff =
        daemon.call("get_handoff", &json!({ "project": "/work/app/src/deep", "max_chars": 1_000 }));
    assert_eq!(handoff["project"], "/work/app");
    let last = &handoff["sessions"];
    assert!(
        last.as_array().unwrap().iter().any(|past| past["session_id"] == "aaaa-1"),
        "{handoff}"
    );
    let failing = &handoff["failing_tests"][0];
    assert_eq!(failing["failed"], 1, "{handoff}");
    assert_eq!(failing["names"], json!(["import::order"]), "{handoff}");
    assert_eq!(failing["session_id"], "aaaa-1");
    assert_eq!(handoff["files"], json!(["src/import.rs"]), "{handoff}");
    let text = handoff["text"].as_str().unwrap();
    assert!(text.chars().count() <= 1_000 && text.contains("import::order"), "{text}");
}

#[test]
fn a_handoff_omits_the_session_of_its_caller() {
    let world = World::new();
    let mut transcript = world.transcript("aaaa-1");
    transcript.prompt("Fix the login timeout").reply("I fixed it in auth.rs.");
    let daemon = world.start();
    daemon.settle();
    daemon.close("aaaa-1");
    let mut wire = daemon.wire();
    let mut handoff_for = |session: &str| {
        let params = json!({
            "name": "get_handoff", "arguments": { "project": "/work/app" },
            "_meta": { "graphiti/caller": { "session_id": session } },
        });
        wire.ask("tools/call", params).unwrap()["structuredContent"].clone()
    };
    let own = handoff_for("aaaa-1");
    assert_eq!(own["sessions"], json!([]), "{own}");
    assert_eq!(own["message"], "No earlier session is known in this project.");
    assert_eq!(handoff_for("bbbb-2")["sessions"][0]["session_id"], "aaaa-1");
}

#[test]
fn the_command_prints_the_handoff() {
    let world = World::new();
    let mut first = world.transcript("aaaa-1").aged(HOUR);
    first.prompt("Fix the login timeout").reply("I fixed it in auth.rs.");
    let daemon = world.start();
    daemon.settle();
    let printed = world.printed(&["handoff", "--project", "/work/app"]);
    assert!(printed.contains("Last session: “Fix the login timeout” (`aaaa-1`)"), "{printed}");
    assert_eq!(world.json(&["handoff", "-p", "/work/app"])["sessions"][0]["session_id"], "aaaa-1");
    let printed = world.printed(&["handoff", "--project", "/work/nothing"]);
    assert_eq!(printed, "No earlier session is known in this project.\n");
}

/// `list --json` prints a path such as `D:/code/app` for a session from another system.
#[test]
fn a_project_of_another_system_is_found_by_its_path() {
    let world = World::new();
    world.transcript_in("aaaa-1", r"D:\code\app").aged(HOUR).prompt("Fix the login").reply("Done.");
    world.transcript_in("bbbb-2", "/").aged(HOUR).prompt("Clean up").reply("Done.");
    let daemon = world.start();
    daemon.settle_sessions();
    assert_eq!(world.json(&["list", "-p", "D:/code/app"])["total"], 1);
    for path in ["D:/code/app", r"D:\code\app"] {
        let handoff = world.json(&["handoff", "-p", path]);
        assert_eq!(handoff["sessions"][0]["session_id"], "aaaa-1", "{path}: {handoff}");
    }
    assert_eq!(world.json(&["handoff", "-p", "D:/else"])["sessions"], json!([]));
}

#[test]
fn a_limit_of_zero_shows_nothing() {
    let world = World::new();
    let mut session = world.transcript("aaaa-1").aged(HOUR);
    session.prompt("Fix the login timeout").reply("I fixed it in auth.rs.");
    let daemon = world.start();
    daemon.settle_sessions();
    assert_eq!(world.printed(&["list", "-n", "0"]), "1 session.\n");
    assert_eq!(world.printed(&["handoff", "-p", "/work/app", "-n", "0"]), "");
    let none = json!({ "session_id": "aaaa-1", "view": "messages", "limit": 0 });
    let shown = daemon.call("get_session", &none);
    assert_eq!((&shown["messages"], &shown["next"]), (&json!([]), &json!(0)), "{shown}");
    let found = daemon.call("search_sessions", &json!({ "query": "login", "limit": 0 }));
    assert_eq!(found["hits"], json!([]));
}

/// Creates the files of a Git repository.
fn repository(path: &Path, remote: &str) {
    let git = path.join(".git");
    fs::create_dir_all(&git).unwrap();
    fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(git.join("config"), format!("[remote \"origin\"]\n\turl = {remote}\n")).unwrap();
}

#[test]
fn a_handoff_follows_the_repository_and_not_the_folder() {
    let world = World::new();
    let (root, copy) = (world.path("app"), world.path("copy"));
    repository(&root, "git@example.com:ann/app.git");
    repository(&copy, "https://example.com/ann/app");
    let sub = root.join("sub");
    fs::create_dir_all(&sub).unwrap();
    fs::create_dir_all(root.join(".git/worktrees/two")).unwrap();
    fs::write(root.join(".git/worktrees/two/commondir"), "../..\n").unwrap();
    let two = world.path("two");
    fs::create_dir_all(&two).unwrap();
    let own = root.join(".git/worktrees/two");
    fs::write(two.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
    let folder = |path: &Path| path.to_str().unwrap().to_owned();
    for (session, path) in [("aaaa-1", &sub), ("bbbb-2", &copy), ("cccc-3", &two)] {
        let mut transcript = world.transcript_in(session, &folder(path)).aged(HOUR);
        transcript.prompt("Fix the login timeout in the session store").reply("I fixed it.");
    }
    world.transcript_in("dddd-4", "/work/other").aged(HOUR).prompt("Something else").reply("Done.");
    let daemon = world.start();
    daemon.settle_sessions();
    let named = ["app", "example.com/ann/app", "ssh://git@example.com/ann/app.git"];
    let paths = [&root, &sub, &copy, &two].map(|path| folder(path));
    for project in paths.iter().map(String::as_str).chain(named) {
        assert_eq!(world.json(&["list", "-p", project])["total"], 3, "{project}");
        let handoff = world.json(&["handoff", "-p", project]);
        assert_ne!(handoff["sessions"], json!([]), "{project}");
        let found = world.json(&["search", "login", "-p", project]);
        assert_eq!(found["hits"].as_array().unwrap().len(), 3, "{project}");
    }
    // `forget` selects only the given folder, not the repository.
    let kept = world.json(&["forget", "-p", &paths[2]]);
    assert_eq!(kept["sessions"].as_array().unwrap().len(), 1, "{kept}");
    // The repository is deleted, but its folders still count as one project.
    fs::remove_dir_all(&root).unwrap();
    drop(daemon);
    let daemon = world.start();
    daemon.settle();
    assert_eq!(world.json(&["list", "-p", &paths[2]])["total"], 3);
}

#[test]
fn trivial_sessions_do_not_displace_a_session_with_work() {
    let world = World::new();
    world
        .transcript("aaaa-1")
        .aged(3 * HOUR)
        .prompt("Make the importer keep the order of the rows")
        .tool("Edit", &json!({"file_path": "/work/app/src/import.rs"}), "The file was updated.")
        .reply("The importer keeps the order of the rows.");
    for number in 2..7 {
        let mut trivial = world.transcript(&format!("bbbb-{number}")).aged(HOUR);
        trivial.prompt("What time is it?").reply("I cannot know that.");
    }
    let daemon = world.start();
    daemon.settle_sessions();
    let handoff = world.json(&["handoff", "-p", "/work/app"]);
    let sessions = handoff["sessions"].as_array().unwrap();
    assert_eq!((sessions.len(), &sessions[0]["session_id"]), (1, &json!("aaaa-1")), "{handoff}");
}
