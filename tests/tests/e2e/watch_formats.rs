//! Tests agents that are followed because of an entry in `watch_formats`.

use std::{fs, io::Write, path::Path};

use graphiti_tests::{Daemon, World};
use serde_json::{Value, json};

/// Returns a configuration with an agent `mine`, whose sessions are in the folder `mine`.
fn settings(world: &World) -> Value {
    json!({ "inactivity_timeout": 0, "watch_formats": [{
        "name": "mine",
        "paths": [world.path("mine")],
        "role": "/message/from",
        "text": "/message/body",
        "time": "/at",
        "session": "/conversation",
        "cwd": "/dir",
        "roles": { "user": ["me"], "agent": ["bot"] },
    }] })
}

fn record(session: &str, from: &str, body: &str, at: u64) -> Value {
    json!({
        "conversation": session, "dir": "/work/app", "at": 1_767_323_045_000 + at * 1_000,
        "message": { "from": from, "body": [{ "type": "text", "text": body }] },
    })
}

fn append(file: &Path, records: &[Value]) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let mut file = fs::File::options().create(true).append(true).open(file).unwrap();
    for record in records {
        writeln!(file, "{record}").unwrap();
    }
}

fn texts(daemon: &Daemon, session: &str, source: u32) -> Vec<String> {
    let arguments = json!({ "session_id": session, "view": "messages", "source": source });
    let answer = daemon.call("get_session", &arguments);
    let messages = answer["messages"].as_array().unwrap_or_else(|| panic!("{answer}"));
    messages.iter().map(|message| message["text"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_configured_agent_is_followed_like_a_built_in_agent() {
    let world = World::new();
    world.configure(&settings(&world));
    let daemon = world.start();
    let file = world.path("mine/2026/a.jsonl");
    append(
        &file,
        &[
            record("s-1", "me", "Why does the marmot build fail?", 0),
            record("s-1", "tool", "make: no rule", 1),
            record("s-1", "bot", "The key ghp_16C7e42F292c6912E7710c838347Ae178B4a was there.", 2),
            record("s-2", "me", "Another session", 3),
        ],
    );
    daemon.settle_sessions();
    let read = texts(&daemon, "s-1", 0);
    assert_eq!((read.len(), read[0].as_str()), (2, "Why does the marmot build fail?"));
    assert!(!read[1].contains("16C7e42F292c"), "{read:?}");
    // New records are read, also from a second file of the same session.
    append(&file, &[record("s-1", "me", "And now the walrus?", 4)]);
    append(&world.path("mine/b.jsonl"), &[record("s-1", "bot", "It is fixed.", 5)]);
    daemon.settle_sessions();
    assert_eq!(texts(&daemon, "s-1", 0).last().unwrap(), "And now the walrus?");
    assert_eq!(texts(&daemon, "s-1", 1), ["It is fixed."]);
    let session = daemon.session("s-1");
    assert_eq!((&session["agent"], &session["project"]), (&json!("mine"), &json!("/work/app")));
    assert_eq!(session["started_at"], "2026-01-02T03:04:05.000000+00:00");
    let listed = world.json(&["list", "--agent", "mine"]);
    assert_eq!(listed["total"], 1, "{listed}");
    assert_eq!(world.json(&["list", "--agent", "claude"])["total"], 0);
    let health = daemon.health();
    let mine = health.agents.iter().find(|agent| agent.agent == "mine").unwrap();
    let skipped: Vec<_> =
        mine.skipped.iter().map(|(kind, count)| (kind.as_str(), *count)).collect();
    assert_eq!((mine.sessions, mine.read), (1, 4));
    assert_eq!(skipped, [("of another session", 1), ("tool", 1)]);
    assert!(world.printed(&["status"]).contains("1 mine"));
    daemon.close("s-1");
    assert_eq!(daemon.session("s-1")["state"], "indexed");
    assert!(world.printed(&["search", "marmot"]).contains("marmot"));
}

#[test]
fn an_added_or_removed_entry_takes_effect_on_reload() {
    let world = World::new();
    world.configure(&json!({}));
    let daemon = world.start();
    let file = world.path("mine/a.jsonl");
    append(&file, &[record("s-1", "me", "One", 0)]);
    daemon.settle_sessions();
    assert_eq!(daemon.call("list_sessions", &json!({}))["total"], 0);
    world.configure(&settings(&world));
    world.printed(&["reload"]);
    daemon.settle_sessions();
    assert_eq!(texts(&daemon, "s-1", 0), ["One"]);
    world.configure(&json!({}));
    world.printed(&["reload"]);
    append(&file, &[record("s-1", "me", "Two", 1)]);
    daemon.settle_sessions();
    assert_eq!(texts(&daemon, "s-1", 0), ["One"]);
    // The missed records are read when the entry is added again.
    world.configure(&settings(&world));
    world.printed(&["reload"]);
    daemon.settle_sessions();
    assert_eq!(texts(&daemon, "s-1", 0), ["One", "Two"]);
    daemon.stop();
}

#[test]
fn a_file_is_read_again_when_a_changed_mapping_reads_more_of_it() {
    let world = World::new();
    let mut settings = settings(&world);
    settings["watch_formats"][0]["version"] = json!("/app");
    world.configure(&settings);
    let daemon = world.start();
    let mut records = [
        record("s-1", "me", "One", 0),
        record("s-1", "boss", "Two", 1),
        record("s-1", "tool", "Three", 2),
    ];
    records.iter_mut().for_each(|record| record["app"] = json!("2.1"));
    append(&world.path("mine/a.jsonl"), &records);
    daemon.settle_sessions();
    assert_eq!(texts(&daemon, "s-1", 0), ["One"]);
    daemon.close("s-1");
    assert_eq!(daemon.session("s-1")["state"], "indexed");
    assert_eq!(skipped(&daemon), [("boss".to_owned(), 1), ("tool".to_owned(), 1)]);
    assert!(world.printed(&["status"]).contains("1 mine 2.1; skipped 1 boss, 1 tool\n"));
    daemon.stop();
    // The mapping changes while the daemon is stopped, and then while it runs.
    settings["watch_formats"][0]["roles"]["user"] = json!(["me", "boss"]);
    world.configure(&settings);
    let daemon = world.start();
    daemon.settle_sessions();
    assert_eq!(texts(&daemon, "s-1", 0), ["One", "Two"]);
    assert_eq!(skipped(&daemon), [("tool".to_owned(), 1)]);
    assert_eq!(daemon.close("s-1")["action"], "replaced");
    settings["watch_formats"][0]["roles"]["user"] = json!(["me", "boss", "tool"]);
    world.configure(&settings);
    world.printed(&["reload"]);
    daemon.settle_sessions();
    assert_eq!(texts(&daemon, "s-1", 0), ["One", "Two", "Three"]);
    assert_eq!(skipped(&daemon), []);
    assert_eq!(daemon.close("s-1")["action"], "replaced");
    // A session that the new mapping does not change is not indexed again.
    settings["watch_formats"][0]["roles"]["agent"] = json!(["bot", "robot"]);
    world.configure(&settings);
    world.printed(&["reload"]);
    daemon.settle_sessions();
    assert_eq!(daemon.close("s-1")["action"], "unchanged");
}

fn skipped(daemon: &Daemon) -> Vec<(String, u64)> {
    let agents = daemon.health().agents;
    let mine = agents.into_iter().find(|agent| agent.agent == "mine").unwrap();
    mine.skipped.into_iter().collect()
}

#[test]
fn a_file_can_be_tried_before_it_is_followed() {
    let world = World::new();
    world.configure(&settings(&world));
    let run = |arguments: &[&str]| {
        let output = world.command("graphitid").args(["config", "try"]).args(arguments).output();
        let output = output.unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.success(), text(output.stdout), text(output.stderr))
    };
    let (file, elsewhere) = (world.path("mine/a.jsonl"), world.path("other/a.log"));
    let records = [
        record("s-1", "me", "Why does it fail?\u{1b}[2J", 0),
        record("s-1", "tool", "make: no rule", 1),
        record("s-1", "bot", "It is fixed.", 2),
    ];
    append(&file, &records);
    append(&elsewhere, &records);
    let (succeeds, report, _) = run(&[file.to_str().unwrap()]);
    let lines: Vec<&str> = report.lines().map(str::trim_end).collect();
    assert!(succeeds);
    for line in [
        "  format    mine (session_tracking.watch_formats)",
        "  session   s-1",
        "  project   /work/app",
        "  time      2026-01-02T03:04:05 to 2026-01-02T03:04:07",
        "  messages  1 of the user, 1 of the agent, 0 of tools",
        "  records   2 read, 1 skipped, 0 unreadable",
        "  skipped   1 tool",
        "  role      /message/from 3 of 3",
        "  user      Why does it fail?[2J",
        "  agent     It is fixed.",
    ] {
        assert!(lines.contains(&line), "{line:?} is missing in\n{report}");
    }
    assert!(!report.contains("Not followed"), "{report}");
    let (succeeds, report, _) = run(&[elsewhere.to_str().unwrap()]);
    assert!(!succeeds && report.contains("No format claims this path."), "{report}");
    assert!(
        report.contains(&format!("mine      reads {}", world.path("mine").display())),
        "{report}"
    );
    let (succeeds, report, _) = run(&[elsewhere.to_str().unwrap(), "--format", "mine"]);
    assert!(
        succeeds && report.contains("Not followed: `mine` does not claim the path"),
        "{report}"
    );
    let (succeeds, _, error) = run(&[file.to_str().unwrap(), "--format", "yours"]);
    assert!(
        !succeeds && error.contains("there is no format `yours`; there are claude,"),
        "{error}"
    );
    fs::write(&file, "{\"conversation\": null, \"other\": 1}\n").unwrap();
    let (succeeds, report, _) = run(&[file.to_str().unwrap()]);
    assert!(
        !succeeds && report.contains("`mine` finds no session in the first records"),
        "{report}"
    );
    assert!(
        report.contains("  session   /conversation 0 of 1: no record has this member"),
        "{report}"
    );
    // A transcript of a built-in agent.
    let mut transcript = world.transcript("aaaa-1");
    transcript.prompt("Hello").reply("Hi");
    let (succeeds, report, _) = run(&[transcript.path().to_str().unwrap()]);
    assert!(
        succeeds && report.contains("format    claude\n") && report.contains("session   aaaa-1"),
        "{report}"
    );
    assert!(!report.contains("Not followed"), "{report}");
    let (succeeds, _, error) = run(&[world.path("none.jsonl").to_str().unwrap()]);
    assert!(!succeeds && error.contains("none.jsonl"), "{error}");
}
