//! Tests memories that a caller adds, and episodes that are imported from another machine.

use std::{collections::HashSet, fs, time::Duration};

use graphiti_tests::{Daemon, World};
use serde_json::{Value, json};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

#[test]
fn an_added_memory_can_be_searched_listed_replaced_and_deleted() {
    let world = World::new();
    let daemon = world.start();
    let add = |arguments: Value| daemon.call("add_memory", &arguments);
    let added = add(json!({
        "name": "Deploy key",
        "episode_body": "The marmot server is deployed with PASSWORD=hunter2hunter2 by hand.",
        "group_id": "/work/app",
        "source_description": "told by Ann",
    }));
    let uuid = added["uuid"].as_str().unwrap();
    assert_eq!(titles(&daemon, "marmot"), ["Deploy key"]);
    let listed = daemon.call("get_episodes", &json!({ "group_ids": ["/work/app"] }));
    let episode = &listed["episodes"][0];
    assert_eq!((&episode["uuid"], &episode["source"]), (&added["uuid"], &json!("text")));
    assert_eq!(episode["source_description"], "told by Ann");
    let content = episode["content"].as_str().unwrap();
    assert!(content.starts_with("The marmot server") && !content.contains("hunter2"), "{content}");
    // A memory is not a session.
    assert_eq!(daemon.call("list_sessions", &json!({ "empty": true }))["total"], 0);
    let health = daemon.call("session_tracking_health", &json!({}));
    assert_eq!((&health["sessions"]["total"], &health["kept"]["episodes"]), (&json!(0), &json!(1)));
    assert_eq!(daemon.close(uuid)["action"], "unchanged");
    let handoff = daemon.call("get_handoff", &json!({ "project": "/work/app" }));
    assert_eq!(handoff["sessions"], json!([]));
    assert!(world.printed(&["show", uuid]).contains("The marmot server"));
    let again = add(json!({
        "name": "Deploy key", "episode_body": "[\"the walrus server\"]", "source": "json",
        "group_id": added["group_id"], "uuid": uuid,
    }));
    assert_eq!(again["uuid"], added["uuid"]);
    assert_eq!((titles(&daemon, "marmot").len(), titles(&daemon, "walrus").len()), (0, 1));
    // The memory survives a rebuild of the index.
    daemon.stop();
    fs::remove_dir_all(world.home().join("index")).unwrap();
    let daemon = world.start();
    daemon.settle();
    assert_eq!(titles(&daemon, "walrus"), ["Deploy key"]);
    daemon.call("delete_episode", &json!({ "uuid": uuid }));
    assert_eq!(titles(&daemon, "walrus").len(), 0);
    assert_eq!(daemon.call("get_episodes", &json!({}))["episodes"], json!([]));
}

#[test]
fn an_invalid_memory_is_rejected_with_the_reason() {
    let world = World::new();
    world.transcript("aaaa-1").prompt("Fix the marmot").reply("It is fixed.");
    let daemon = world.start();
    daemon.settle();
    let session = daemon.close("aaaa-1")["episode_uuid"].clone();
    for (arguments, what) in [
        (json!({ "episode_body": "x" }), "must not be empty"),
        (json!({ "name": "x", "episode_body": "{", "source": "json" }), "is not JSON"),
        (json!({ "name": "x", "episode_body": "y", "source": "film" }), "not `film`"),
        (json!({ "name": "x", "episode_body": "y", "uuid": session }), "the episode of a session"),
    ] {
        let params = json!({ "name": "add_memory", "arguments": arguments });
        let refused = daemon.wire().ask("tools/call", params).unwrap_err();
        assert!(refused.message.contains(what), "{refused:?}");
    }
    let unknown = daemon
        .call("add_memory", &json!({ "name": "x", "episode_body": "y", "group_id": "01234567" }));
    assert!(unknown["error"].as_str().unwrap().contains("give its directory"), "{unknown}");
}

#[test]
fn an_export_is_imported_once_on_another_machine() {
    let (here, there) = (World::new(), World::new());
    for (session, days, word) in [("aaaa-1", 2, "marmot"), ("bbbb-2", 1, "walrus")] {
        let mut transcript = here.transcript(session).aged(days * DAY);
        transcript.prompt(&format!("Fix the {word}")).reply("I fixed it in src/animals.rs.");
    }
    let daemon = here.start();
    daemon.settle();
    let memory =
        json!({ "name": "Otter", "episode_body": "Otters swim.", "group_id": "/work/app" });
    daemon.call("add_memory", &memory);
    here.printed(&["tools", "set", "frobnicate", "modify", "code"]);
    let there_daemon = there.start();
    for (format, expected) in
        [("markdown", "Imported: 3 episodes."), ("jsonl", "Imported: 0 episodes; 3 known already.")]
    {
        let folder = here.path(format);
        let folder = folder.to_str().unwrap();
        here.printed(&["export", folder, "--format", format]);
        // The Markdown files alone can be imported, too.
        if format == "markdown" {
            fs::remove_file(here.path(format).join("episodes.jsonl")).unwrap();
        }
        let preview = there.printed(&["import", folder, "--dry-run"]);
        assert!(
            preview.starts_with(&expected.replace("Imported", "Would be imported")),
            "{preview}"
        );
        let printed = there.printed(&["import", folder]);
        assert!(printed.starts_with(expected), "{printed}");
    }
    assert!(there.printed(&["tools", "list"]).contains("frobnicate"));
    for (word, sessions) in [("marmot", 1), ("walrus", 1), ("swim", 1), ("lion", 0)] {
        assert_eq!(titles(&there_daemon, word).len(), sessions, "{word}");
    }
    let shown = there.printed(&["show", "aaaa-1"]);
    assert!(shown.contains("- from: ") && shown.contains("marmot"), "{shown}");
    let total = &there.json(&["stats", "--since", "all"])["total"];
    assert_eq!((&total["sessions"], &total["seconds"]), (&json!(2), &json!(0)), "{total}");
    assert_eq!(there_daemon.close("aaaa-1")["action"], "unchanged");
    let preview = there.printed(&["forget", "aaaa-1"]);
    assert!(preview.contains("1 imported session cannot be restored"), "{preview}");
    assert!(!preview.contains("The transcripts stay"), "{preview}");
    // The machine that exported the episodes knows all of them.
    let printed = here.printed(&["import", here.path("jsonl").to_str().unwrap()]);
    assert!(printed.starts_with("Imported: 0 episodes; 3 known already."), "{printed}");
    // If the transcript is copied to this machine, too, its episode replaces the imported episode.
    let mut transcript = there.transcript("aaaa-1").aged(2 * DAY);
    transcript.prompt("Fix the marmot").reply("I fixed it in src/animals.rs.");
    there_daemon.settle();
    there_daemon.close("aaaa-1");
    let session = there_daemon.session("aaaa-1");
    assert_eq!(session["episode"]["imported_from"], Value::Null, "{session}");
    assert_eq!(titles(&there_daemon, "marmot").len(), 1);
}

#[test]
fn thousands_of_sessions_are_listed_in_pages() {
    let (here, there) = (World::new(), World::new());
    here.transcript("aaaa-1").aged(DAY).prompt("Fix the marmot").reply("It is fixed.");
    let daemon = here.start();
    daemon.settle();
    let folder = here.path("out");
    here.printed(&["export", folder.to_str().unwrap(), "--format", "jsonl"]);
    let lines = folder.join("episodes.jsonl");
    let line = fs::read_to_string(&lines).unwrap();
    let uuid = serde_json::from_str::<Value>(&line).unwrap()["uuid"].as_str().unwrap().to_owned();
    let copies = (0..1_005).map(|number| {
        let copy = line.replace("aaaa-1", &format!("aaaa-{number:04}"));
        copy.replace(&uuid, &format!("{}{number:04}", &uuid[..uuid.len() - 4]))
    });
    fs::write(&lines, copies.collect::<String>()).unwrap();
    let there_daemon = there.start();
    there.printed(&["import", folder.to_str().unwrap()]);
    let page = there_daemon.call("list_sessions", &json!({ "limit": 5_000 }));
    assert_eq!((page["sessions"].as_array().unwrap().len(), &page["next"]), (1_000, &json!(1_000)));
    let listed = there.json(&["list", "-n", "5000"]);
    let ids: HashSet<&str> = listed["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|s| s["session_id"].as_str())
        .collect();
    assert_eq!(
        (ids.len(), &listed["total"], &listed["next"]),
        (1_005, &json!(1_005), &json!(null))
    );
}

#[test]
fn fields_of_summaries_are_imported_and_forgotten_sessions_are_not() {
    let (here, there) = (World::new(), World::new());
    let mut transcript = here.transcript("aaaa-1").aged(DAY);
    transcript.prompt("Fix the marmot").tool(
        "Edit",
        &json!({ "file_path": "/work/app/src/marmot.rs", "old_string": "a", "new_string": "b" }),
        "updated",
    );
    let daemon = here.start();
    daemon.settle();
    let folder = here.path("out");
    let folder = folder.to_str().unwrap();
    here.printed(&["export", folder]);
    let there_daemon = there.start();
    there.printed(&["import", folder]);
    let ours = here.json(&["show", "aaaa-1"])["summary"].clone();
    assert_eq!(
        there.json(&["show", "aaaa-1"])["summary"]["files_modified"],
        ours["files_modified"]
    );
    let handoff = there_daemon.call("get_handoff", &json!({ "project": "/work/app" }));
    assert!(handoff["files"].to_string().contains("marmot.rs"), "{handoff}");
    there.printed(&["forget", "aaaa-1", "--run"]);
    assert_eq!(titles(&there_daemon, "marmot").len(), 0);
    let printed = there.printed(&["import", folder]);
    assert!(
        printed.starts_with(
            "Imported: 0 episodes; 1 skipped, because their sessions were forgotten here."
        ),
        "{printed}"
    );
}

#[test]
fn an_imported_project_is_found_by_its_name_and_remote_and_has_the_same_facts() {
    let (here, there) = (World::new(), World::new());
    let repository = |world: &World, folder: &str| {
        let git = world.path(folder).join(".git");
        fs::create_dir_all(&git).unwrap();
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        let config = "[remote \"origin\"]\n\turl = git@github.com:acme/cms.git\n";
        fs::write(git.join("config"), config).unwrap();
        world.path(folder).to_str().unwrap().to_owned()
    };
    let folder = repository(&here, "ledger");
    let clone = repository(&there, "clone");
    let run = |transcript: &mut graphiti_tests::Transcript, output: &str, fails: bool| {
        let input = json!({ "command": "pytest -q" });
        match fails {
            true => transcript.failing_tool("Bash", &input, output),
            false => transcript.tool("Bash", &input, output),
        };
    };
    let mut first = here.transcript_in("aaaa-1", &folder).aged(2 * DAY);
    first.prompt("Always squash commits. Test the marmot, please.");
    let failed = "FAILED tests/test_cart.py::test_add_twice - assert 1 == 2\n1 failed, 1 passed";
    run(&mut first, failed, true);
    first.reply("One test fails. I decided to use Redis, because it expires keys by itself.");
    let mut second = here.transcript_in("bbbb-2", &folder).aged(DAY);
    second.prompt("Fix the test of the marmot");
    let edit =
        json!({ "file_path": format!("{folder}/cart.py"), "old_string": "a", "new_string": "b" });
    second.tool("Edit", &edit, "updated");
    run(&mut second, "2 passed in 0.1s", false);
    second.reply("Fixed.");
    let daemon = here.start();
    daemon.settle();
    let out = here.path("out");
    here.printed(&["export", out.to_str().unwrap(), "--format", "jsonl"]);
    let there_daemon = there.start();
    there.printed(&["import", out.to_str().unwrap()]);
    let facts = |world: &World| {
        let mut facts = world.json(&["facts", "-n", "100", "--ended"])["facts"].take();
        for fact in facts.as_array_mut().unwrap() {
            // Only the machine with the transcript knows the lines.
            fact["sources"] = json!([]);
        }
        facts
    };
    let ours = facts(&here);
    assert!(ours.to_string().contains("Redis"), "{ours}");
    assert_eq!(facts(&there), ours);
    let inside = format!("{clone}/src");
    fs::create_dir_all(&inside).unwrap();
    for project in ["cms", "ledger", "git@github.com:acme/cms.git", &clone, &inside] {
        let handoff = there_daemon.call("get_handoff", &json!({ "project": project }));
        assert_eq!(handoff["sessions"].as_array().unwrap().len(), 2, "{project}: {handoff}");
    }
}

#[test]
fn nothing_of_a_broken_export_is_imported_and_the_error_shows_the_line() {
    let (here, there) = (World::new(), World::new());
    for session in ["aaaa-1", "bbbb-2"] {
        here.transcript(session).aged(DAY).prompt("Fix the marmot").reply("It is fixed.");
    }
    let daemon = here.start();
    daemon.settle();
    let folder = here.path("out");
    here.printed(&["export", folder.to_str().unwrap(), "--format", "jsonl"]);
    let lines = folder.join("episodes.jsonl");
    let whole = fs::read_to_string(&lines).unwrap();
    let there_daemon = there.start();
    let (first, second) = whole.split_once('\n').unwrap();
    let date = |text: &str| text.replace("started_at: \\\"2", "started_at: \\\"x2");
    let fact = "0198c0de-0000-8000-8000-000000000000";
    let correction = |verdict: &str| json!([{ "fact": fact, "verdict": verdict }]).to_string();
    let no_correction = "[]".to_owned();
    let wrong_verdict = format!(
        "fact_corrections.json: the correction of the fact `{fact}`: the verdict must be `wrong`, \
         `done` or `keep`, not `maybe`"
    );
    for (text, corrections, what) in [
        (format!("{first}\n{}", &second[..40]), &no_correction, "episodes.jsonl:2: EOF"),
        (
            format!("{}\n{second}", date(first)),
            &no_correction,
            "episodes.jsonl:1: in line 10 of the content: `started_at` must be a time",
        ),
        ("{}".to_owned(), &no_correction, "episodes.jsonl:1: in line 1 of the content"),
        (whole.clone(), &correction("maybe"), wrong_verdict.as_str()),
        ("{}".to_owned(), &correction("done"), "episodes.jsonl:1: in line 1 of the content"),
    ] {
        fs::write(&lines, text).unwrap();
        fs::write(folder.join("fact_corrections.json"), corrections).unwrap();
        let refused = there.graphiti(&["import", folder.to_str().unwrap()]);
        let error = String::from_utf8(refused.stderr).unwrap();
        assert!(!refused.status.success() && error.contains("nothing was imported"), "{error}");
        assert!(error.contains(what), "{error}");
        let health = there_daemon.call("session_tracking_health", &json!({}));
        assert_eq!(health["kept"]["episodes"], 0);
    }
    let transcript = here.projects().join("-work-app/aaaa-1.jsonl");
    let refused = there.graphiti(&["import", transcript.to_str().unwrap()]);
    let error = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && error.contains("is not an export of graphiti"), "{error}");
    let empty = there.graphiti(&["import", there.path("").to_str().unwrap()]);
    assert!(String::from_utf8(empty.stderr).unwrap().contains("there is no export in"));
}

fn titles(daemon: &Daemon, word: &str) -> Vec<String> {
    let found = daemon.call("search_sessions", &json!({ "query": word }));
    let hits = found["hits"].as_array().unwrap().iter();
    hits.map(|hit| hit["session"]["title"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_synced_folder_transfers_new_versions_and_keeps_episodes_that_a_new_database_lacks() {
    let (here, there) = (World::new(), World::new());
    let folder = here.path("sync");
    let folder = folder.to_str().unwrap();
    let daemon = here.start();
    let add = |daemon: &Daemon, body: &str, uuid: Option<&str>| {
        let mut arguments = json!({
            "name": "Deploy", "episode_body": body, "group_id": "/work/app",
            "source_description": "notes of the meeting, from Ann",
        });
        if let Some(uuid) = uuid {
            arguments["uuid"] = json!(uuid);
        }
        daemon.call("add_memory", &arguments)["uuid"].as_str().unwrap().to_owned()
    };
    let uuid = add(&daemon, "The marmot server is deployed by hand.", None);
    // Together, these memories do not fit into one request.
    for number in 0..20 {
        add(&daemon, &format!("otter{number} {}", "swims ".repeat(40_000)), None);
    }
    let export = |world: &World| world.printed(&["export", "--follow", "--every", "0", folder]);
    let import = |world: &World| world.printed(&["import", "--follow", "--every", "0", folder]);
    assert!(export(&here).contains("21 files written"));
    let there_daemon = there.start();
    assert!(import(&there).contains("Imported: 21 episodes"));
    assert_eq!(titles(&there_daemon, "marmot"), ["Deploy"]);
    // A replaced memory keeps its id.
    add(&daemon, "The walrus server is deployed by hand.", Some(&uuid));
    assert!(export(&here).contains("1 file written, 0 removed"));
    assert!(import(&there).contains("Imported: 1 episode; 20 known already."));
    assert_eq!(titles(&there_daemon, "marmot").len(), 0);
    assert_eq!(titles(&there_daemon, "walrus"), ["Deploy"]);
    // Imported episodes are not exported again.
    assert_eq!(export(&there), "");
    // A new database, such as after damage, does not empty the folder.
    daemon.stop();
    fs::remove_dir_all(here.home().join("db")).unwrap();
    let _daemon = here.start();
    assert_eq!(export(&here), "");
    assert_eq!(fs::read_dir(here.path("sync")).unwrap().count(), 2);
}
