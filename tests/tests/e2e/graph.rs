//! Tests that the tools of the real daemon find the entities and facts of sessions.

use std::{fs, time::Duration};

use graphiti_tests::{Daemon, Transcript, World};
use serde_json::{Value, json};

const HOUR: Duration = Duration::from_secs(3_600);

/// History is imported newest first: the newer session is already stored when the older one is
/// imported.
#[test]
fn the_newer_value_is_valid_now_and_the_older_one_was_valid_then() {
    let world = World::new();
    let mut older = world.transcript("aaaa-1").aged(HOUR * 48);
    set_expiry(&mut older, "The login ends too early, fix it", ["60", "3600"]);
    let mut newer = world.transcript("bbbb-2").aged(HOUR * 24);
    set_expiry(&mut newer, "The login lasts too long, shorten it", ["3600", "900"]);
    let daemon = world.start();
    daemon.settle_sessions();

    let now = facts(&daemon, &json!({ "query": "JWT_EXPIRY", "edge_types": ["SET_TO"] }));
    assert_eq!(sentences(&now), ["`JWT_EXPIRY` in `.env` is `900` (before: `3600`)."]);
    assert_eq!(now[0]["invalid_at"], Value::Null);
    let all = json!({ "query": "JWT_EXPIRY", "edge_types": ["SET_TO"], "include_ended": true });
    let all = facts(&daemon, &all);
    let ended = all.iter().find(|fact| fact["invalid_at"] != Value::Null).unwrap();
    assert_eq!((all.len(), &ended["invalid_at"]), (2, &now[0]["valid_at"]));
    assert_eq!(ended["certainty"], "verified");
    assert_eq!(ended["attributes"]["value"], "3600");

    // Requests the facts that held when the older value was set.
    let then = json!({
        "query": "JWT_EXPIRY", "edge_types": ["SET_TO"], "as_of": ended["valid_at"],
    });
    assert_eq!(sentences(&facts(&daemon, &then)), sentences(std::slice::from_ref(ended)));

    // The source of the fact is the line with the result of the tool.
    let source = &ended["sources"][0];
    assert_eq!(source["episode"], ended["episodes"][0]);
    let line = usize::try_from(source["line"].as_u64().unwrap()).unwrap();
    let text = fs::read_to_string(older.path()).unwrap();
    assert!(text.lines().nth(line - 1).unwrap().contains("has been updated"));
}

/// An earlier fact is found among many later ones, because filters apply before limits.
#[test]
fn an_old_fact_is_found_without_words_by_its_time_or_kind() {
    let world = World::new();
    set_expiry(&mut world.transcript("aaaa-1").aged(HOUR * 48), "Fix the login", ["60", "3600"]);
    for number in 0..12 {
        let session = format!("bbbb-{number}");
        let mut later = world.transcript(&session).aged(HOUR * 24);
        later.prompt(&format!("Write chapter {number} of the manual")).tool(
            "Write",
            &json!({ "file_path": format!("/work/app/doc/{number}.md"), "content": "x" }),
            "File created successfully",
        );
        later.reply(&format!("I wrote chapter {number}. I chose short sentences over long ones because they are clear."));
    }
    let daemon = world.start();
    daemon.settle_sessions();
    let set = json!({ "query": "JWT_EXPIRY", "edge_types": ["SET_TO"] });
    let set = facts(&daemon, &set)[0].clone();
    for arguments in [
        json!({ "as_of": set["valid_at"], "edge_types": ["SET_TO"], "max_facts": 1 }),
        json!({ "edge_types": ["SET_TO"], "max_facts": 1 }),
    ] {
        assert_eq!(facts(&daemon, &arguments), std::slice::from_ref(&set), "{arguments}");
    }
    let then = json!({ "as_of": set["valid_at"], "max_facts": 50 });
    assert!(facts(&daemon, &then).contains(&set));
    let few = json!({ "as_of": set["valid_at"], "max_facts": 1 });
    assert_eq!(facts(&daemon, &few).len(), 1);
    let node = json!({ "entity_types": ["setting"], "max_nodes": 1 });
    assert_eq!(daemon.call("search_nodes", &node)["nodes"][0]["name"], "JWT_EXPIRY");
}

#[test]
fn one_setting_of_two_sessions_is_one_node_with_its_neighbours() {
    let world = World::new();
    set_expiry(&mut world.transcript("aaaa-1").aged(HOUR * 48), "Fix the login", ["60", "3600"]);
    set_expiry(&mut world.transcript("bbbb-2").aged(HOUR * 24), "Shorten it", ["3600", "900"]);
    let daemon = world.start();
    daemon.settle_sessions();
    let found =
        daemon.call("search_nodes", &json!({ "query": "JWT_EXPIRY", "entity_types": ["setting"] }));
    let nodes = found["nodes"].as_array().unwrap();
    assert_eq!(nodes.len(), 1, "{found}");
    assert_eq!(nodes[0]["labels"], json!(["Entity", "Setting"]));
    assert_eq!(nodes[0]["attributes"]["episodes"], "2");
    let summary = nodes[0]["summary"].as_str().unwrap();
    assert!(summary.starts_with("`JWT_EXPIRY` in `.env` is `900`"), "{summary}");
    let around = json!({ "center_node_uuid": nodes[0]["uuid"], "include_ended": true });
    let around = facts(&daemon, &around);
    assert_eq!(around.len(), 2, "{around:?}");

    let other = daemon.call("search_nodes", &json!({ "query": "JWT_EXPIRY", "project": "/else" }));
    assert_eq!(other["nodes"], json!([]));
    let here = json!({ "query": "JWT_EXPIRY", "group_ids": ["/work/app"] });
    assert!(!facts(&daemon, &here).is_empty());
}

#[test]
fn facts_of_a_continued_session_replace_its_earlier_facts() {
    let world = World::new();
    let daemon = world.start();
    let mut transcript = world.transcript("aaaa-1");
    set_expiry(&mut transcript, "The login ends too early, fix it", ["60", "3600"]);
    daemon.settle();
    let first = daemon.close("aaaa-1");
    let before = of_episode(&daemon, &first["episode_uuid"]);
    assert!(sentences(&before).iter().any(|fact| fact.contains("is `3600`")), "{before:?}");
    set_expiry(&mut transcript, "Make that 900", ["3600", "900"]);
    daemon.settle();
    let second = daemon.close("aaaa-1");
    assert_eq!(second["action"], "replaced");
    let all = json!({ "query": "JWT_EXPIRY", "include_ended": true, "edge_types": ["SET_TO"] });
    assert_eq!(
        sentences(&facts(&daemon, &all)),
        ["`JWT_EXPIRY` in `.env` is `900` (before: `60`)."]
    );
    let gone =
        daemon.call("get_episode_entities", &json!({ "episode_uuids": [first["episode_uuid"]] }));
    assert_eq!((&gone["nodes"], &gone["facts"]), (&json!([]), &json!([])));
    let now = of_episode(&daemon, &second["episode_uuid"]);
    let values: Vec<&Value> =
        now.iter().map(|fact| &fact["attributes"]["value"]).filter(|one| one.is_string()).collect();
    assert_eq!(values, [&json!("900")]);
}

#[test]
fn an_error_its_cause_and_its_fix_are_one_fact() {
    let world = World::new();
    let mut transcript = world.transcript("aaaa-1").aged(HOUR * 24);
    let run = json!({ "command": "python app.py" });
    transcript.prompt("The server does not start, fix it");
    transcript.failing_tool(
        "Bash",
        &run,
        "Exit code 1\nTraceback (most recent call last):\nModuleNotFoundError: No module named 'lanterns'",
    );
    transcript.reply("The root cause is that lanterns is missing from requirements.txt.");
    transcript.tool(
        "Edit",
        &json!({
            "file_path": "/work/app/requirements.txt", "old_string": "flask", "new_string": "flask\nlanterns",
        }),
        "ok",
    );
    transcript.tool("Bash", &run, "Serving on port 8000");
    transcript.reply("The server starts now: I added lanterns to requirements.txt.");
    let daemon = world.start();
    daemon.settle_sessions();
    let found = facts(&daemon, &json!({ "query": "why did lanterns fail to import?" }));
    let fact = found.iter().find(|fact| fact["name"] == "RESOLVED").unwrap_or_else(|| {
        panic!("{found:#?}");
    });
    assert_eq!(fact["certainty"], "verified");
    assert_eq!(fact["target_name"], "requirements.txt");
    let text = fact["fact"].as_str().unwrap();
    for part in ["No module named 'lanterns'", "Cause: ", "Fix: ", "Verified by: "] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn facts_are_found_after_a_restart_and_after_the_loss_of_their_index() {
    let world = World::new();
    set_expiry(&mut world.transcript("aaaa-1").aged(HOUR * 24), "Fix the login", ["60", "3600"]);
    let daemon = world.start();
    daemon.settle_sessions();
    let query = json!({ "query": "JWT_EXPIRY" });
    let before = facts(&daemon, &query);
    assert!(!before.is_empty());
    daemon.stop();
    let daemon = world.start();
    daemon.settle();
    assert_eq!(facts(&daemon, &query), before);
    daemon.stop();
    fs::remove_dir_all(world.home().join("index-facts")).unwrap();
    let daemon = world.start();
    daemon.settle();
    assert_eq!(facts(&daemon, &query), before, "{}", world.log());
}

#[test]
fn the_source_of_a_fact_is_shown_when_the_transcript_is_deleted() {
    const FACT: &str = " 1. `JWT_EXPIRY` in `.env` is `3600` (before: `60`).";
    let world = World::new();
    let mut transcript = world.transcript("aaaa-1").aged(HOUR * 24);
    set_expiry(&mut transcript, "The login ends too early, fix it", ["60", "3600"]);
    let daemon = world.start();
    daemon.settle_sessions();
    fs::remove_file(transcript.path()).unwrap();
    daemon.settle();
    let found = facts(&daemon, &json!({ "query": "JWT_EXPIRY", "edge_types": ["SET_TO"] }));
    let source = &found[0]["sources"][0];
    assert_eq!(source["session_id"], "aaaa-1", "{found:?}");
    let message = json!({
        "session_id": source["session_id"], "view": "messages", "from": source["message"], "limit": 1,
    });
    let shown = daemon.call("get_session", &message);
    assert!(shown["messages"].to_string().contains("Edit: /work/app/.env"), "{shown}");

    let line = source["line"].as_u64().unwrap();
    let printed = world.printed(&["facts", "expiry", "--kind", "SET_TO", "--explain"]);
    let mut lines = printed.lines();
    assert_eq!(lines.next(), Some(FACT));
    let details = lines.next().unwrap();
    assert!(details.starts_with("    verified · since "), "{printed}");
    assert!(details.contains(&format!("set to · app · aaaa-1 line {line} (message ")), "{printed}");
    assert!(printed.contains("whole session"), "{printed}");
    assert_eq!(world.printed(&["facts", "expiry", "--as-of", "2020-01-01"]), "Nothing found.\n");
    let json = world.json(&["facts", "expiry", "--project", "/work/app"]);
    assert_eq!(json["facts"][0]["uuid"], found[0]["uuid"]);
}

#[test]
fn errors_about_arguments_list_the_valid_values() {
    let world = World::new();
    let daemon = world.start();
    for (tool, arguments, expected) in [
        ("search_memory_facts", json!({ "as_of": "someday" }), "`as_of` must be a date"),
        ("search_memory_facts", json!({ "edge_types": ["LIKES"] }), "the kinds are DECIDED"),
        ("search_nodes", json!({ "entity_types": ["Animal"] }), "the kinds are Project"),
        ("search_nodes", json!({ "center_node_uuid": "7" }), "`7` is not the id of a node"),
        (
            "get_episode_entities",
            json!({ "episode_uuids": ["7"] }),
            "`7` is not the id of an episode",
        ),
    ] {
        let params = json!({ "name": tool, "arguments": arguments });
        let error = daemon.wire().ask("tools/call", params).unwrap_err();
        assert!(error.message.contains(expected), "{error:?}");
    }
}

/// Adds the change of a setting to a session.
fn set_expiry(transcript: &mut Transcript, prompt: &str, [old, new]: [&str; 2]) {
    transcript.prompt(prompt);
    let edit = json!({
        "file_path": "/work/app/.env",
        "old_string": format!("JWT_EXPIRY={old}"),
        "new_string": format!("JWT_EXPIRY={new}"),
    });
    transcript.tool("Edit", &edit, "The file /work/app/.env has been updated.");
    transcript.reply("Done.");
}

fn facts(daemon: &Daemon, arguments: &Value) -> Vec<Value> {
    rows(&daemon.call("search_memory_facts", arguments))
}

fn of_episode(daemon: &Daemon, uuid: &Value) -> Vec<Value> {
    rows(&daemon.call("get_episode_entities", &json!({ "episode_uuids": [uuid] })))
}

fn rows(answer: &Value) -> Vec<Value> {
    answer["facts"].as_array().unwrap_or_else(|| panic!("{answer}")).clone()
}

/// Returns the sentences without their reasons.
fn sentences(facts: &[Value]) -> Vec<String> {
    let sentences = facts.iter().map(|fact| fact["fact"].as_str().unwrap());
    sentences.map(|one| one.split(" Why: ").next().unwrap().to_owned()).collect()
}
