//! Tests the results of searches, with the real daemon and the real client.

use std::{fs, time::Duration};

use graphiti_tests::{Daemon, World};
use serde_json::{Value, json};

const OLD: Duration = Duration::from_secs(3_600);

fn search(daemon: &Daemon, arguments: &Value) -> Value {
    daemon.call("search_sessions", arguments)
}

/// Returns the ids of the sessions that a query finds.
fn found(daemon: &Daemon, query: &str) -> Vec<String> {
    let answer = search(daemon, &json!({ "query": query }));
    let hits = answer["hits"].as_array().unwrap_or_else(|| panic!("{answer}"));
    hits.iter().map(|hit| hit["session"]["session_id"].as_str().unwrap().to_owned()).collect()
}

/// `test_lazy_index_on_search`: due sessions are indexed before the search answers.
#[test]
fn a_search_indexes_due_sessions_first() {
    let world = World::new();
    let daemon = world.start();
    let mut over = world.transcript("over-1").aged(Duration::from_secs(300));
    over.prompt("Why does the checkout page time out?").reply("The pool was exhausted.");
    daemon.settle();
    assert_eq!(daemon.session("over-1")["state"], "inactive");
    let answer = search(&daemon, &json!({ "query": "checkout time out" }));
    assert_eq!(answer["hits"][0]["session"]["session_id"], "over-1");
    assert_eq!(answer["hits"][0]["session"]["episode"]["close_reason"], "lazy_query");
    assert_eq!(answer["message"], "1 session indexed before searching");
    assert_eq!(answer["pending"], 0);
    let again = search(&daemon, &json!({ "query": "checkout time out" }));
    assert_eq!(again["message"], "");
}

/// `test_full_hybrid_flow`: one session is closed explicitly, another is not. A search finds both,
/// and creates the missing episode.
#[test]
fn a_closed_session_and_an_abandoned_session_are_both_found() {
    let world = World::new();
    let daemon = world.start();
    world.transcript("closed-1").prompt("Rename the ledger table").reply("Renamed in 4 files.");
    let mut left = world.transcript("left-1").aged(Duration::from_secs(300));
    left.prompt("Back up the ledger every night").reply("Added a timer.");
    daemon.settle();
    assert_eq!(daemon.close("closed-1")["action"], "indexed");
    let mut ids = found(&daemon, "ledger");
    ids.sort();
    assert_eq!(ids, ["closed-1", "left-1"]);
    assert_eq!(daemon.session("left-1")["state"], "indexed");
}

#[test]
fn the_id_of_a_session_or_its_start_finds_the_session_first() {
    let world = World::new();
    let id = "3f2a9c10-1111-4000-8000-0a1b2c3d4e5f";
    world.transcript(id).prompt("Rename the ledger table").reply("Renamed in 4 files.");
    world.transcript("bbbb-2").prompt("What did 3f2a9c10 change?").reply("The ledger table.");
    let daemon = world.start();
    daemon.settle();
    for query in [id, "3f2a9c10", "3f2a9c", "`3f2a9c10`"] {
        assert_eq!(found(&daemon, query)[0], id, "{query}");
    }
    assert_eq!(found(&daemon, "3f2a9c10"), [id, "bbbb-2"]);
    let page = |offset: u64| {
        let arguments = json!({ "query": "3f2a9c10", "limit": 1, "offset": offset });
        let answer = daemon.call("search_sessions", &arguments);
        (answer["hits"][0]["session"]["session_id"].clone(), answer["next"].clone())
    };
    assert_eq!(page(0), (json!(id), json!(1)));
    assert_eq!(page(1).0, "bbbb-2");
    assert!(world.printed(&["search", "3f2a9c10"]).contains("Rename the ledger table"));
}

#[test]
fn a_live_session_is_found_while_it_is_being_written() {
    let world = World::new();
    let daemon = world.start();
    let mut transcript = world.transcript("aaaa-1");
    transcript.prompt("Look at parse_header in http_server.rs");
    daemon.settle();
    for query in ["parse_header", "parseHeader", "header", "http_server.rs", "\"look at\"", "pars*"]
    {
        assert_eq!(found(&daemon, query), ["aaaa-1"], "{query}");
    }
    transcript.reply("The zebra crossing is in the other module.");
    daemon.settle();
    assert_eq!(found(&daemon, "zebra"), ["aaaa-1"]);
    assert_eq!(found(&daemon, "zebra -crossing"), [""; 0]);
}

#[test]
fn a_search_does_not_close_the_caller_s_own_session() {
    let mut world = World::new();
    world.variables.push(("CLAUDE_CODE_SESSION_ID".to_owned(), "mine-1".to_owned()));
    let daemon = world.start();
    let mut mine = world.transcript("mine-1").aged(Duration::from_secs(300));
    mine.prompt("Search for the walrus").reply("I look.");
    daemon.settle();
    let found = world.json(&["search", "walrus"]);
    assert_eq!(found["hits"][0]["session"]["session_id"], "mine-1");
    assert_ne!(daemon.session("mine-1")["state"], "indexed");
}

#[test]
fn filters_narrow_a_search() {
    let world = World::new();
    let daemon = world.start();
    let mut app = world.transcript("app-1").aged(OLD);
    app.prompt("Tidy up the lantern module");
    app.tool(
        "Edit",
        &json!({ "file_path": "/work/app/src/lantern.rs", "old_string": "a", "new_string": "b" }),
        "ok",
    );
    app.reply("The lantern is tidy.");
    let mut site = world.transcript_in("site-1", "/work/site").aged(OLD * 48);
    site.prompt("Draw a lantern on the front page").reply("Drawn.");
    daemon.settle_sessions();
    let narrowed = |more: &Value| {
        let mut arguments = json!({ "query": "lantern" });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let answer = search(&daemon, &arguments);
        let ids = answer["hits"].as_array().unwrap().iter();
        let mut ids: Vec<String> =
            ids.map(|hit| hit["session"]["session_id"].as_str().unwrap().to_owned()).collect();
        ids.sort();
        ids
    };
    let both = vec!["app-1".to_owned(), "site-1".to_owned()];
    let (app, site) = (both[..1].to_vec(), both[1..].to_vec());
    for (filter, wanted) in [
        (json!({}), &both),
        (json!({ "project": "/work/app" }), &app),
        (json!({ "project": "/work/site" }), &site),
        (json!({ "file": "lantern.rs" }), &app),
        (json!({ "tool": "Edit" }), &app),
        (json!({ "agent": "claude" }), &both),
        (json!({ "branch": "main" }), &both),
        (json!({ "branch": "other" }), &Vec::new()),
        (json!({ "after": "yesterday", "role": "user" }), &app),
        (json!({ "before": "yesterday" }), &site),
    ] {
        assert_eq!(&narrowed(&filter), wanted, "{filter}");
    }
    for (filter, why) in [
        (json!({ "after": "banana" }), "`after` must be a day from 1990 to next year"),
        (json!({ "role": "nobody" }), "`role` must be `user`, `assistant`, `tool` or `recap`"),
    ] {
        let mut arguments = json!({ "query": "lantern" });
        arguments.as_object_mut().unwrap().extend(filter.as_object().unwrap().clone());
        let params = json!({ "name": "search_sessions", "arguments": arguments });
        let refused = daemon.wire().ask("tools/call", params).unwrap_err();
        assert!(refused.message.contains(why), "{refused:?}");
    }
}

#[test]
fn matching_words_are_marked() {
    let world = World::new();
    let daemon = world.start();
    world.transcript("aaaa-1").prompt("Please fix the failing uploads of photos");
    daemon.settle();
    let answer = search(&daemon, &json!({ "query": "upload failed" }));
    let passage = &answer["hits"][0]["passages"][0];
    let text = passage["text"].as_str().unwrap();
    let marked: Vec<&str> = passage["marks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|mark| {
            let at = |end: usize| usize::try_from(mark[end].as_u64().unwrap()).unwrap();
            &text[at(0)..at(1)]
        })
        .collect();
    assert_eq!(marked, ["failing", "uploads"]);
}

#[test]
fn an_index_that_is_lost_or_damaged_is_rebuilt() {
    let world = World::new();
    let mut transcript = world.transcript("aaaa-1").aged(OLD);
    transcript.prompt("Where is the periwinkle?").reply("In the garden.");
    let daemon = world.start();
    daemon.settle_sessions();
    daemon.stop();
    // Without the transcript, the content of the index must come from the database.
    fs::remove_file(transcript.path()).unwrap();
    let index = world.home().join("index");
    let spoil: [&dyn Fn(); 3] = [
        &|| fs::remove_dir_all(&index).unwrap(),
        &|| {
            for file in fs::read_dir(&index).unwrap() {
                fs::write(file.unwrap().path(), b"damaged").unwrap();
            }
        },
        &|| {
            let file = fs::read_dir(&index).unwrap().next().unwrap().unwrap().path();
            fs::remove_file(file).unwrap();
        },
    ];
    for spoil in spoil {
        spoil();
        let daemon = world.start();
        daemon.settle();
        assert_eq!(found(&daemon, "periwinkle"), ["aaaa-1"], "{}", world.log());
        daemon.stop();
    }
}

#[test]
fn a_damaged_database_is_noticed_and_filled_again_from_the_transcripts() {
    let world = World::new();
    let mut transcript = world.transcript("aaaa-1").aged(OLD);
    transcript.prompt("Where is the periwinkle?").reply("In the garden.");
    let daemon = world.start();
    daemon.settle_sessions();
    daemon.stop();
    // The first time, sled treats the file as a new database. The second time, it cannot open the
    // file, because a snapshot exists.
    for _ in 0..2 {
        let file = world.home().join("db/db");
        let length = fs::metadata(&file).unwrap().len();
        fs::write(&file, vec![0; usize::try_from(length).unwrap()]).unwrap();
        let daemon = world.start();
        daemon.settle_sessions();
        let problems = daemon.call("session_tracking_health", &json!({}))["problems"].to_string();
        assert!(problems.contains("damaged"), "{problems}");
        assert_eq!(found(&daemon, "periwinkle"), ["aaaa-1"]);
        assert_eq!(daemon.session("aaaa-1")["state"], "indexed");
        daemon.stop();
    }
}

#[test]
fn a_filter_alone_lists_the_sessions_that_it_admits() {
    let world = World::new();
    let daemon = world.start();
    for (session, file) in [("auth-1", "auth/config.json"), ("other-1", "billing/config.json")] {
        world.transcript(session).prompt("Set b to 7").tool(
            "Edit",
            &json!({ "file_path": format!("/work/app/{file}"), "old_string": "1", "new_string": "7" }),
            "ok",
        );
    }
    daemon.settle();
    let answer = world.json(&["search", "--file", "auth/config.json"]);
    let hits = answer["hits"].as_array().unwrap_or_else(|| panic!("{answer}"));
    assert_eq!(hits.len(), 1, "{answer}");
    assert_eq!(hits[0]["session"]["session_id"], "auth-1");
    let output = world.graphiti(&["search"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("no words to search for"));
}
