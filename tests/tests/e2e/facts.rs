//! Tests preferences, corrections of facts, and searches for a pasted error.

use std::{fs, time::Duration};

use graphiti_tests::{PROJECT, Transcript, World};
use serde_json::{Value, json};

const HOUR: Duration = Duration::from_secs(3_600);

#[test]
fn a_wish_that_may_contradict_an_earlier_one_is_reported() {
    let world = World::new();
    world.transcript("aaaa-1").aged(HOUR).prompt("Fix the marmot").reply("It is fixed.");
    let daemon = world.start();
    daemon.settle();
    let remember = |text: &str| world.printed(&["remember", text, "--project", PROJECT]);
    assert!(remember("use tabs for indentation").starts_with("Remembered for /work/app."));
    let again = remember("use tabs for indentation");
    assert!(again.starts_with("Known already for /work/app, since 20"), "{again}");
    let other = remember("use spaces for indentation, never tabs");
    assert!(other.starts_with("Remembered"), "{other}");
    let earlier = other.lines().find(|line| line.starts_with("This may contradict ")).unwrap();
    assert!(earlier.contains("“use tabs for indentation.”"), "{earlier}");
    let handoff = world.json(&["handoff", "-p", PROJECT]);
    let wishes = handoff["preferences"].to_string();
    assert!(wishes.contains("tabs for indentation.” (since 20"), "{wishes}");
    assert_eq!(wishes.matches("a later wish may contradict it").count(), 1, "{wishes}");
    let id = earlier.rsplit(' ').next().unwrap();
    world.printed(&["forget", "--fact", id]);
    let wishes = world.json(&["handoff", "-p", PROJECT])["preferences"].to_string();
    assert!(!wishes.contains("contradict"), "{wishes}");
    let replaced = remember("never enter the PIN 4821 in a test");
    let shown = "it looks like a secret: “never enter the PIN [REDACTED:pin] in a test”\n";
    assert!(replaced.contains(shown), "{replaced}");
    let refused = world.graphiti(&["remember", ""]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("say what to remember"));
}

#[test]
fn a_wish_that_is_known_is_stored_once_and_is_gone_after_it_was_forgotten() {
    let world = World::new();
    let daemon = world.start();
    daemon.settle();
    let wish =
        json!({ "name": "pushes", "episode_body": "never push to main", "group_id": PROJECT });
    let remember = |wish: &Value| daemon.call("add_memory", wish)["uuid"].clone();
    let known = remember(&wish);
    assert_eq!(remember(&wish), known);
    let everywhere = json!({
        "name": "pushes", "episode_body": "never push to main", "group_id": PROJECT, "everywhere": true
    });
    assert_ne!(remember(&everywhere), known, "a wish for all projects is another wish");
    let wishes = || world.json(&["facts", "--kind", "PREFERS", "-p", PROJECT])["facts"].to_string();
    assert_eq!(wishes().matches("\"name\":\"PREFERS\"").count(), 2, "{}", wishes());
    world.printed(&["forget", known.as_str().unwrap(), "--run"]);
    assert_eq!(wishes().matches("\"name\":\"PREFERS\"").count(), 1, "{}", wishes());
}

#[test]
fn only_the_same_text_of_a_wish_that_holds_is_known() {
    let world = World::new();
    let daemon = world.start();
    daemon.settle();
    let remember = |body: &str, replaces: &Value| {
        let wish = json!({
            "name": "style", "episode_body": body, "group_id": PROJECT, "kind": "preference",
            "uuid": replaces
        });
        daemon.call("add_memory", &wish)
    };
    let new = |body: &str| remember(body, &Value::Null)["uuid"].clone();
    // The wishes are shown without the targets of their links.
    let guide = "Follow [the style guide](https://wiki.example/v1)";
    let first = new(guide);
    assert_ne!(new("Follow [the style guide](https://wiki.example/v2)"), first);
    assert_eq!(new(guide), first);
    let secret = || new("always deploy with password=hunter2hunter2");
    assert_eq!(secret(), secret(), "the stored text is redacted");
    let pushes = remember("never push to main", &Value::Null);
    let replaced = remember("never push to main", &pushes["uuid"]);
    assert_eq!(replaced["uuid"], pushes["uuid"]);
    world.printed(&["facts", "--wrong", replaced["fact"].as_str().unwrap()]);
    assert_ne!(new("never push to main"), pushes["uuid"], "the wish does not hold any more");
}

#[test]
fn a_preference_is_listed_until_the_user_withdraws_it() {
    let world = World::new();
    let mut transcript = world.transcript("aaaa-1").aged(HOUR * 24);
    transcript.prompt("Fix the login. From now on, write the tests first.").reply("Done.");
    let daemon = world.start();
    daemon.settle_sessions();
    let printed = world.printed(&["remember", "Never push to main", "--project", PROJECT]);
    let wanted = format!("Remembered for {PROJECT}.\nWithdraw it with: ");
    assert!(printed.starts_with(&wanted), "{printed}");
    world.printed(&["remember", "Answer", "in", "English", "--everywhere"]);
    let wishes = |project: &str| {
        let found = world.json(&["facts", "--kind", "PREFERS", "--project", project]);
        let rows = found["facts"].as_array().unwrap().clone();
        let mut texts: Vec<String> =
            rows.iter().map(|row| row["fact"].as_str().unwrap().to_owned()).collect();
        texts.sort();
        texts
    };
    let everywhere = "Answer in English.";
    let from_prompt = "From now on, write the tests first.";
    assert_eq!(wishes(PROJECT), [everywhere, from_prompt, "Never push to main."]);
    assert_eq!(wishes("/work/other"), [everywhere]);
    // In a handoff, stored wishes precede a wish from a prompt.
    let handoff = world.json(&["handoff", "--project", PROJECT]);
    let stored = ["“Answer in English.”", "“Never push to main.”"];
    assert_eq!(handoff["preferences"], json!([stored[0], stored[1], format!("“{from_prompt}”")]));

    let id = printed.trim().rsplit(' ').next().unwrap();
    let found = || world.printed(&["search", "never push to main"]);
    assert!(!found().contains("withdrawn"), "{}", found());
    world.printed(&["forget", "--fact", id]);
    assert_eq!(wishes(PROJECT), [everywhere, from_prompt]);
    assert!(found().contains(" · withdrawn"), "{}", found());
    let listed = world.json(&["search", "never push to main"]);
    let memory = listed["hits"][0]["session"]["session_id"].as_str().unwrap().to_owned();
    let shown = world.printed(&["show", &memory]);
    assert!(shown.contains("The user withdrew this wish"), "{shown}");
    let mut later = world.transcript("bbbb-2").aged(HOUR);
    later.prompt("You no longer have to write the tests first.").reply("Understood.");
    daemon.settle();
    daemon.close("bbbb-2");
    assert_eq!(wishes(PROJECT), [everywhere]);
}

#[test]
fn an_agent_can_store_a_preference() {
    let world = World::new();
    let daemon = world.start();
    let add = |body: &str, more: Value| {
        let mut arguments = json!({ "name": "x", "episode_body": body, "group_id": PROJECT });
        for (name, value) in more.as_object().unwrap() {
            arguments[name] = value.clone();
        }
        daemon.call("add_memory", &arguments)
    };
    assert!(add("Small commits, please", json!({ "kind": "preference" }))["fact"].is_string());
    assert!(add("Never push to main.", json!({}))["fact"].is_string());
    let wish = add("Use ruff.", json!({ "kind": "preference", "everywhere": true }));
    assert_eq!(wish["message"], "Remembered 'x' as a wish for all projects.");
    let note = add("The server is in Berlin.", json!({}));
    assert_eq!(note["fact"], Value::Null);
    assert_eq!(note["message"], format!("Remembered 'x' as a note about {PROJECT}."));
    assert_eq!(add("Never push to main.", json!({ "kind": "note" }))["fact"], Value::Null);
}

#[test]
fn corrections_of_the_user_survive_another_summary_and_are_exported() {
    let world = World::new();
    let mut transcript = world.transcript("aaaa-1").aged(HOUR);
    set_expiry(&mut transcript, ["60", "3600"]);
    let daemon = world.start();
    daemon.settle();
    daemon.close("aaaa-1");
    let query = ["facts", "JWT_EXPIRY", "--kind", "SET_TO", "--project", PROJECT];
    let current = |world: &World| world.json(&query)["facts"].as_array().unwrap().clone();
    let id = current(&world)[0]["uuid"].as_str().unwrap().to_owned();
    let printed = world.printed(&["facts", "--wrong", &id[..8]]);
    assert!(printed.starts_with("Marked as wrong.\n"), "{printed}");
    assert_eq!(current(&world), [] as [Value; 0]);

    // The session continues and is summarised again.
    transcript.prompt("Now tell me why").reply("Because the login ended too early.");
    daemon.settle();
    daemon.close("aaaa-1");
    assert_eq!(current(&world), [] as [Value; 0]);
    let ended = world.json(&[&query[..], &["--ended"]].concat());
    assert_eq!(ended["facts"][0]["attributes"]["corrected"], "wrong (by the user)");
    assert_eq!(ended["facts"][0]["certainty"], "refuted");
    assert_eq!(ended["facts"][0]["standing"], "refuted", "the older name of the field");

    // An agent cannot replace a correction of the user.
    let arguments = json!({ "uuid": id, "verdict": "keep" });
    let params = json!({ "name": "mark_fact", "arguments": arguments });
    let refused = daemon.wire().ask("tools/call", params.clone()).unwrap_err();
    assert!(refused.message.contains("the user has marked this fact"), "{refused:?}");

    let folder = world.path("export");
    world.printed(&["export", folder.to_str().unwrap()]);
    daemon.stop();
    let other = World::new();
    let there = other.start();
    let printed = other.printed(&["import", folder.to_str().unwrap()]);
    assert!(printed.contains("Corrections of facts: 1 imported, 0 known already."), "{printed}");
    let again = other.printed(&["import", folder.to_str().unwrap()]);
    assert!(again.contains("Corrections of facts: 0 imported, 1 known already."), "{again}");
    let ended = other.json(&[&query[..], &["--ended"]].concat());
    assert_eq!(ended["facts"][0]["certainty"], "refuted", "{ended}");
    // Without a session of the project, an import cannot change its facts.
    let alone = other.path("alone");
    fs::create_dir(&alone).unwrap();
    let corrections = fs::read_to_string(folder.join("fact_corrections.json")).unwrap();
    fs::write(alone.join("fact_corrections.json"), corrections.replace("wrong", "keep")).unwrap();
    let printed = other.printed(&["import", alone.to_str().unwrap()]);
    assert!(printed.contains("1 correction of facts skipped"), "{printed}");
    assert_eq!(current(&other), [] as [Value; 0]);
    other.printed(&["facts", "--keep", &id]);
    assert_eq!(current(&other).len(), 1);
    there.stop();
}

#[test]
fn a_pasted_error_finds_its_record_first() {
    let world = World::new();
    let error = |file: &str, line: u32| {
        format!(
            "{file}:{line}: ConnectionRefusedError: the broker refused session 4711 on port 5672"
        )
    };
    let run = json!({ "command": "python app.py" });
    let mut first = world.transcript("aaaa-1").aged(HOUR * 48);
    first.prompt("The server does not start, fix it");
    first.failing_tool(
        "Bash",
        &run,
        &format!("Exit code 1\n{}", error("/work/app/src/queue.py", 12)),
    );
    first.reply("The root cause is that the broker listens on another port.");
    first.tool(
        "Edit",
        &json!({ "file_path": "/work/app/queue.py", "old_string": "5672", "new_string": "5673" }),
        "ok",
    );
    first.tool("Bash", &run, "Serving");
    first.reply("The server starts now: I changed the port in queue.py.");
    let mut second = world.transcript("bbbb-2").aged(HOUR * 24);
    second.prompt("Start the server");
    second.failing_tool("Bash", &run, &format!("Exit code 1\n{}", error("/ci/build/queue.py", 99)));
    second.reply("The server does not start.");
    let daemon = world.start();
    daemon.settle_sessions();
    let pasted =
        format!("Traceback:\n  {}\n", error("/home/bob/x/queue.py", 3).replace("4711", "9"));
    let found = daemon.call("search_sessions", &json!({ "query": pasted }));
    let record = &found["error"];
    assert_eq!((&record["state"], &record["returns"]), (&json!("came back"), &json!(1)), "{found}");
    assert_eq!(record["sessions"].as_array().unwrap().len(), 2, "{record}");
    assert!(record["cause"].as_str().unwrap().contains("another port"), "{record}");
    let printed = world.printed(&["search", &pasted]);
    assert!(printed.starts_with("Known error: "), "{printed}");
    let other = daemon.call("search_sessions", &json!({ "query": "the broker" }));
    assert_eq!(other["error"], Value::Null);
}

/// Adds the change of a setting to a session.
fn set_expiry(transcript: &mut Transcript, [old, new]: [&str; 2]) {
    transcript.prompt("The login ends too early, fix it");
    let edit = json!({
        "file_path": "/work/app/.env",
        "old_string": format!("JWT_EXPIRY={old}"),
        "new_string": format!("JWT_EXPIRY={new}"),
    });
    transcript.tool("Edit", &edit, "The file /work/app/.env has been updated.");
    transcript.reply("Done.");
}
