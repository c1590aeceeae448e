//! Tests that a forgotten session is deleted everywhere, and stays forgotten until it is restored.

use std::{fs, time::Duration};

use graphiti_tests::{Daemon, PROJECT, Transcript, World};
use serde_json::{Value, json};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const MARMOT: &str = "aaaaaaaa-0000-4000-8000-000000000001";
const OTHER: &str = "bbbbbbbb-0000-4000-8000-000000000002";

#[test]
fn an_ambiguous_id_is_reported_with_its_sessions() {
    let world = World::new();
    let twin = MARMOT.replace("0001", "0002");
    write_session(&world, MARMOT, PROJECT, "marmot");
    write_session(&world, &twin, PROJECT, "marmot");
    let daemon = world.start();
    daemon.settle();
    let refused = |arguments: &[&str]| {
        let output = world.graphiti(arguments);
        assert!(!output.status.success(), "{output:?}");
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains(MARMOT) && error.contains(&twin), "{arguments:?}: {error}");
    };
    refused(&["forget", "aaaa"]);
    forget(&daemon, json!({ "sessions": [MARMOT, twin], "dry_run": false }));
    refused(&["forget", "--undo", "aaaa"]);
}

#[test]
fn a_forgotten_session_is_deleted_everywhere_and_not_imported_again() {
    let world = World::new();
    let mut marmot = write_session(&world, MARMOT, PROJECT, "marmot");
    write_session(&world, OTHER, PROJECT, "walrus");
    let daemon = world.start();
    daemon.settle();
    daemon.close(MARMOT);
    let episode = daemon.session(MARMOT)["episode"]["uuid"].clone();
    let preview = forget(&daemon, json!({ "sessions": ["aaaaaaaa"] }));
    assert_eq!((&preview["messages"], &preview["episodes"]), (&json!(2), &json!(1)), "{preview}");
    assert_eq!(found(&daemon, "marmot"), 1, "a preview forgets nothing");
    forget(&daemon, json!({ "sessions": ["aaaaaaaa"], "dry_run": false }));
    let assert_forgotten = |daemon: &Daemon| {
        assert_eq!(found(daemon, "marmot"), 0);
        assert_eq!(found(daemon, "walrus"), 1);
        assert_eq!(daemon.call("list_sessions", &json!({ "empty": true }))["total"], 1);
        assert!(daemon.close(MARMOT)["error"].as_str().unwrap().starts_with("no session"));
        let health = daemon.call("session_tracking_health", &json!({}));
        assert_eq!(
            (&health["kept"]["messages"], &health["sessions"]["total"]),
            (&json!(2), &json!(1))
        );
        let nodes = daemon.call("search_nodes", &json!({ "query": "marmot" }));
        assert_eq!(nodes["nodes"], json!([]), "{nodes}");
        let history = daemon.call("session_tracking_sync_history", &json!({ "days": 0 }));
        let paths = history["sessions"].to_string();
        assert!(!paths.contains(MARMOT), "{history}");
    };
    assert_forgotten(&daemon);
    // The session stays forgotten when it is continued or copied, and after a restart.
    marmot.prompt("And the marmot once more").reply("Done.");
    let copy = world.claude().join("projects/-work-app/cccccccc-0000-4000-8000-000000000003.jsonl");
    daemon.settle();
    assert_forgotten(&daemon);
    daemon.stop();
    let daemon = world.start();
    daemon.settle();
    assert_forgotten(&daemon);
    fs::copy(marmot.path(), &copy).unwrap();
    daemon.settle();
    // Records that were added after the session was forgotten are not recognised in the copy.
    assert_eq!(daemon.session("cccccccc")["message_count"], 2);
    let page = daemon.call("get_episodes", &json!({}));
    assert!(!page.to_string().contains(episode.as_str().unwrap()), "{page}");
}

#[test]
fn a_forgotten_session_can_be_restored() {
    let world = World::new();
    write_session(&world, MARMOT, PROJECT, "marmot");
    let daemon = world.start();
    daemon.settle();
    assert!(world.printed(&["forget"]).starts_with("Nothing was forgotten."));
    // A script may pass an unset variable.
    for arguments in [
        &["forget", "--run", " "][..],
        &["forget", "--run", "--after", "2020-01-01", "--project", ""],
    ] {
        let refused = world.graphiti(arguments);
        let error = String::from_utf8(refused.stderr).unwrap();
        assert!(error.contains("must not be empty"), "{error}");
    }
    assert_eq!(found(&daemon, "marmot"), 1);
    let printed = world.printed(&["forget", "aaaa"]);
    assert!(
        printed.starts_with("Would be forgotten: 1 session, 2 messages, 0 summaries."),
        "{printed}"
    );
    let printed = world.printed(&["forget", "aaaa", "--run"]);
    assert!(printed.starts_with("Forgotten: 1 session, 2 messages"), "{printed}");
    assert!(world.printed(&["forget"]).starts_with(&format!("{MARMOT} (claude)")));
    assert_eq!(found(&daemon, "marmot"), 0);
    let printed = world.printed(&["forget", "--undo", "aaaa"]);
    assert_eq!(printed, format!("{MARMOT} is restored: its transcript is read again.\n"));
    daemon.settle();
    assert_eq!(found(&daemon, "marmot"), 1);
    let refused = world.graphiti(&["forget", "--undo", "aaaa"]);
    let error = String::from_utf8(refused.stderr).unwrap();
    assert!(error.contains("no forgotten session has an id that begins with `aaaa`"), "{error}");
}

#[test]
fn forgetting_a_project_or_a_time_includes_transcripts_that_were_never_read() {
    let world = World::new();
    world.configure(&json!({ "keep_length_days": 7 }));
    for (session, project, days, word) in [
        ("aaaa-1", PROJECT, 1, "marmot"),
        ("bbbb-2", PROJECT, 30, "otter"),
        ("cccc-3", "/work/other", 2, "walrus"),
        ("dddd-4", "/work/other", 5, "heron"),
    ] {
        let mut transcript = world.transcript_in(session, project).aged(days * DAY);
        transcript.prompt(&format!("Look at the {word}")).reply("It is there.");
    }
    let daemon = world.start();
    daemon.settle();
    let ids = |answer: &Value| -> Vec<String> {
        let rows = answer["sessions"].as_array().unwrap().iter();
        rows.map(|row| row["session_id"].as_str().unwrap().to_owned()).collect()
    };
    let done = forget(&daemon, json!({ "project": PROJECT, "dry_run": false }));
    assert_eq!(ids(&done), ["aaaa-1", "bbbb-2"]);
    let sync =
        daemon.call("session_tracking_sync_history", &json!({ "days": 0, "dry_run": false }));
    assert_eq!(sync["sessions_found"], 0, "{sync}");
    assert_eq!((found(&daemon, "marmot"), found(&daemon, "otter")), (0, 0));
    let day = |days: u32| {
        let at = std::time::SystemTime::now() - days * DAY;
        let seconds = at.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
        let at = graphitid::model::Timestamp::from_seconds(i64::try_from(seconds).unwrap());
        at.to_string()[..10].to_owned()
    };
    let old = forget(&daemon, json!({ "before": day(3) }));
    assert_eq!(ids(&old), ["dddd-4"]);
    let new = forget(&daemon, json!({ "after": day(3), "dry_run": false }));
    assert_eq!(ids(&new), ["cccc-3"]);
    assert_eq!((found(&daemon, "walrus"), found(&daemon, "heron")), (0, 1));
    let wrong = daemon.wire().ask("graphiti/forget", json!({ "after": "when it rained" }));
    assert!(wrong.unwrap_err().message.contains("must be a day from 1990 to next year"));
}

#[test]
fn filters_select_among_the_given_sessions() {
    let world = World::new();
    for (session, project) in [(MARMOT, PROJECT), (OTHER, "/srv/other")] {
        let mut transcript = world.transcript_in(session, project).aged(10 * DAY);
        transcript.prompt("Look at the marmot").reply("It is there.");
    }
    let daemon = world.start();
    daemon.settle();
    let count = |arguments: Value| forget(&daemon, arguments)["sessions"].as_array().unwrap().len();
    assert_eq!(count(json!({ "sessions": [MARMOT] })), 1);
    assert_eq!(count(json!({ "sessions": [MARMOT], "before": "2001-01-01" })), 0);
    assert_eq!(count(json!({ "sessions": [MARMOT], "after": "yesterday" })), 0);
    assert_eq!(count(json!({ "sessions": [MARMOT, OTHER], "project": PROJECT })), 1);
    assert_eq!(count(json!({ "sessions": [MARMOT, OTHER], "after": "2001-01-01" })), 2);
}

#[test]
fn remembered_texts_are_named_as_such_and_wishes_for_all_projects_are_kept() {
    let world = World::new();
    let transcript = write_session(&world, MARMOT, PROJECT, "marmot");
    let daemon = world.start();
    daemon.settle();
    world.printed(&["remember", "Never push to main", "--project", PROJECT]);
    let group = json!({ "name": "Tests", "episode_body": "Write tests.", "group_id": PROJECT,
        "kind": "preference", "everywhere": true });
    let everywhere = daemon.call("add_memory", &group)["uuid"].clone();
    let preview = forget(&daemon, json!({ "project": PROJECT }));
    let rows = preview["sessions"].as_array().unwrap();
    let mut kinds: Vec<_> = rows.iter().map(|row| [&row["origin"], &row["exists"]]).collect();
    kinds.sort_by_key(|[origin, _]| origin.to_string());
    let wanted = [[json!("memory"), json!(false)], [json!("transcript"), json!(true)]];
    assert_eq!(kinds, wanted.each_ref().map(|[origin, exists]| [origin, exists]), "{preview}");
    let printed = world.printed(&["forget", "--project", PROJECT]);
    let first = "Would be forgotten: 1 session, 1 remembered text, 2 messages";
    assert!(printed.starts_with(first), "{printed}");
    assert!(printed.contains("Never push to main  (remembered text)\n"), "{printed}");
    let loss = "1 remembered text cannot be restored: only the memory contains the text.\n";
    assert!(printed.contains(loss) && printed.contains("--undo"), "{printed}");
    let named = forget(&daemon, json!({ "sessions": [everywhere], "project": PROJECT }));
    assert_eq!(named["sessions"].as_array().unwrap().len(), 1, "a given text is selected");

    fs::remove_file(transcript.path()).unwrap();
    let printed = world.printed(&["forget", "--project", PROJECT, "--run"]);
    assert!(printed.contains(loss) && !printed.contains("--undo"), "{printed}");
    let deleted = "1 session cannot be restored: the transcript does not exist any more.\n";
    assert!(printed.contains(deleted), "{printed}");
    assert!(world.printed(&["forget"]).contains("(remembered text, cannot be restored)"));
    assert_eq!(world.json(&["facts", "--kind", "PREFERS"])["facts"].as_array().unwrap().len(), 1);
}

#[test]
fn forgetting_an_original_leaves_its_fork_with_its_own_part() {
    let world = World::new();
    let marmot = write_session(&world, MARMOT, PROJECT, "marmot");
    let daemon = world.start();
    daemon.settle();
    let mut fork = world.transcript(OTHER).continued();
    fs::copy(marmot.path(), fork.path()).unwrap();
    fork.prompt("Look at the walrus").reply("It is there.");
    daemon.settle();
    let done = forget(&daemon, json!({ "sessions": [MARMOT], "dry_run": false }));
    assert_eq!(done["relatives"][0]["session_id"], OTHER, "{done}");
    assert_eq!((found(&daemon, "marmot"), found(&daemon, "walrus")), (0, 1));
    // The forgotten part is not stored when the fork is read again from its start.
    let text = fs::read(fork.path()).unwrap();
    fs::remove_file(fork.path()).unwrap();
    let header: &[u8] = b"{\"type\":\"summary\",\"summary\":\"Animals\"}\n";
    fs::write(fork.path(), [header, &text].concat()).unwrap();
    daemon.settle();
    assert_eq!((found(&daemon, "marmot"), found(&daemon, "walrus")), (0, 1));
    let shown = world.printed(&["show", OTHER]);
    assert!(shown.contains("a forgotten session (the first 2 records are the same)"), "{shown}");
}

#[test]
fn an_unchanged_close_does_not_return_a_deleted_episode() {
    let world = World::new();
    write_session(&world, MARMOT, PROJECT, "marmot");
    let daemon = world.start();
    daemon.settle();
    let episode = daemon.close(MARMOT)["episode_uuid"].clone();
    daemon.call("delete_episode", &json!({ "uuid": episode }));
    let closed = daemon.close(MARMOT);
    assert_eq!((&closed["action"], &closed["episode_uuid"]), (&json!("unchanged"), &Value::Null));
    assert!(closed["message"].as_str().unwrap().contains("deleted"), "{closed}");
}

#[test]
fn waiting_events_of_a_forgotten_session_are_deleted() {
    let world = World::new();
    write_session(&world, MARMOT, PROJECT, "marmot");
    let daemon = world.start();
    daemon.settle();
    daemon.signal("STOP");
    let spool = world.home().join("spool");
    fs::create_dir_all(&spool).unwrap();
    let event = json!({ "hook_event_name": "SessionEnd", "session_id": MARMOT, "reason": "clear" });
    fs::write(spool.join("00000000000000000001-1.json"), event.to_string()).unwrap();
    daemon.signal("CONT");
    forget(&daemon, json!({ "sessions": [MARMOT], "dry_run": false }));
    daemon.settle();
    assert_eq!(fs::read_dir(&spool).unwrap().count(), 0);
}

fn forget(daemon: &Daemon, arguments: Value) -> Value {
    daemon.wire().ask("graphiti/forget", arguments).unwrap()
}

fn found(daemon: &Daemon, word: &str) -> usize {
    let found = daemon.call("search_sessions", &json!({ "query": word }));
    found["hits"].as_array().unwrap().len()
}

fn write_session(world: &World, session: &str, project: &str, word: &str) -> Transcript {
    let mut transcript = world.transcript_in(session, project);
    transcript.prompt(&format!("Look at the {word}")).reply("It is there.");
    transcript
}
