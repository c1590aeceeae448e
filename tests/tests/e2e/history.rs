//! Tests that earlier sessions are indexed on request, and that summaries can be exported.

use std::{fs, time::Duration};

use graphiti_tests::World;
use serde_json::{Value, json};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

#[test]
fn sessions_that_are_too_old_for_the_import_are_indexed_by_sync() {
    let world = World::new();
    world.configure(&json!({ "keep_length_days": 7 }));
    for (session, days) in [("aaaa-1", 1), ("bbbb-2", 20), ("cccc-3", 40), ("dddd-4", 400)] {
        let mut transcript = world.transcript(session).aged(days * DAY);
        transcript.prompt("Fix the login timeout").reply("I fixed it in auth.rs.");
    }
    let mut other = world.transcript_in("eeee-5", "/work/other").aged(30 * DAY);
    other.prompt("Write the manual").reply("Done.");
    let daemon = world.start();
    daemon.settle();
    let sync = |arguments: Value| daemon.call("session_tracking_sync_history", &arguments);
    let kept = || daemon.call("session_tracking_health", &json!({}))["kept"]["episodes"].clone();
    assert_eq!(kept(), 1);
    let preview = sync(json!({ "days": 50, "project": "/work/app" }));
    assert_eq!((&preview["sessions_found"], &preview["dry_run"]), (&json!(2), &json!(true)));
    let paths: Vec<&str> = preview["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|session| session["path"].as_str().unwrap())
        .collect();
    assert!(paths[0].ends_with("bbbb-2.jsonl") && paths[1].ends_with("cccc-3.jsonl"), "{paths:?}");
    assert_eq!(kept(), 1, "a preview changes nothing");
    let run = json!({ "days": 50, "project": "/work/app", "dry_run": false });
    let done = sync(run.clone());
    assert_eq!((&done["sessions_indexed"], &done["sessions_failed"]), (&json!(2), &json!(0)));
    assert_eq!(kept(), 3);
    assert_eq!(sync(run)["sessions_found"], 0, "no session is indexed twice");
    assert_eq!(sync(json!({ "days": 0, "max_sessions": 1 }))["sessions_found"], 1);
    assert_eq!(daemon.session("bbbb-2")["episode"]["close_reason"], "history_sync");
    // The command indexes the remaining sessions.
    let printed = world.printed(&["sync", "--days", "0"]);
    assert!(printed.starts_with("2 sessions would be indexed."), "{printed}");
    let printed = world.printed(&["sync", "--days", "0", "--run"]);
    assert_eq!(printed, "2 indexed, 0 failed.\n");
    let printed = world.printed(&["sync", "--days", "0", "--run"]);
    assert_eq!(printed, "There is no session to index.\n");
    assert_eq!(kept(), 5);
    // Imported data survive a restart.
    daemon.stop();
    let daemon = world.start();
    daemon.settle();
    assert_eq!(daemon.call("session_tracking_health", &json!({}))["kept"]["episodes"], 5);
}

#[test]
fn episodes_are_listed_by_page_and_project_and_stay_deleted() {
    let world = World::new();
    for (session, project, days) in
        [("aaaa-1", "/work/app", 3), ("bbbb-2", "/work/other", 2), ("cccc-3", "/work/app", 1)]
    {
        let mut transcript = world.transcript_in(session, project).aged(days * DAY);
        transcript.prompt("Fix the login timeout").reply("I fixed it in auth.rs.");
    }
    let daemon = world.start();
    daemon.settle();
    let episodes = |arguments: Value| daemon.call("get_episodes", &arguments);
    let sessions = |answer: &Value| -> Vec<String> {
        let episodes = answer["episodes"].as_array().unwrap().iter();
        episodes.map(|one| one["source_description"].as_str().unwrap().to_owned()).collect()
    };
    let all = episodes(json!({}));
    let names = ["claude session cccc-3", "claude session bbbb-2", "claude session aaaa-1"];
    assert_eq!(sessions(&all), names);
    let group = all["episodes"][0]["group_id"].clone();
    for arguments in [
        json!({ "group_ids": [group], "max_episodes": 5 }),
        json!({ "group_id": "/work/app", "last_n": 5 }),
    ] {
        assert_eq!(sessions(&episodes(arguments)), [names[0], names[2]]);
    }
    let page = episodes(json!({ "max_episodes": 2 }));
    assert_eq!(sessions(&page), names[..2]);
    let rest = episodes(json!({ "max_episodes": 2, "before": page["next"] }));
    assert_eq!((sessions(&rest), &rest["next"]), (vec![names[2].to_owned()], &Value::Null));
    let gone = all["episodes"][1]["uuid"].clone();
    let deleted = daemon.call("delete_episode", &json!({ "uuid": gone }));
    assert!(deleted["message"].as_str().unwrap().ends_with("deleted successfully"), "{deleted}");
    let again = daemon.call("delete_episode", &json!({ "uuid": gone }));
    assert!(again["error"].as_str().unwrap().starts_with("there is no episode"), "{again}");
    daemon.settle();
    assert_eq!(
        sessions(&episodes(json!({}))),
        [names[0], names[2]],
        "a deleted episode stays deleted"
    );
    let found =
        daemon.call("search_sessions", &json!({ "query": "login", "project": "/work/other" }));
    assert_eq!(found["hits"].as_array().unwrap().len(), 1, "the messages stay");
}

#[test]
fn tools_return_the_status_the_summary_and_the_failures_of_sessions() {
    let world = World::new();
    world.transcript("aaaa-1").prompt("Fix the login timeout").reply("I fixed it in auth.rs.");
    let daemon = world.start();
    daemon.settle();
    let status = daemon.call("session_tracking_status", &json!({ "session_id": "aaaa" }));
    assert_eq!((&status["enabled"], &status["session"]["state"]), (&json!(true), &json!("active")));
    let summary = daemon.call("summarize_session", &json!({ "session": "aaaa-1" }));
    assert!(summary["overview"].as_str().unwrap().contains("login timeout"), "{summary}");
    assert!(summary["episode_uuid"].is_string(), "{summary}");
    let status = daemon.call("session_tracking_status", &json!({}));
    assert_eq!((&status["session"], &status["sessions"]["indexed"]), (&Value::Null, &json!(1)));
    let failed = daemon.call("get_failed_episodes", &json!({}));
    assert_eq!((&failed["count"], &failed["message"]), (&json!(0), &json!("No session failed.")));
}

#[test]
fn an_export_contains_all_episodes_and_session_states() {
    let world = World::new();
    for session in ["aaaa-1", "bbbb-2"] {
        let mut transcript = world.transcript(session).aged(DAY);
        transcript.prompt("Fix the login timeout").reply("I fixed it in auth.rs.");
    }
    let daemon = world.start();
    daemon.settle();
    let folder = world.path("export");
    let to = folder.to_str().unwrap();
    let printed = world.printed(&["export", to]);
    assert!(printed.starts_with("2 episodes, 2 session states, the classifications"), "{printed}");
    assert_eq!(fs::read_dir(folder.join("episodes")).unwrap().count(), 2);
    world.printed(&["export", to, "--format", "jsonl", "--project", "/work/app"]);
    let lines = fs::read_to_string(folder.join("episodes.jsonl")).unwrap();
    for line in lines.lines() {
        let episode: Value = serde_json::from_str(line).unwrap();
        let file = folder.join(format!("episodes/{}.md", episode["uuid"].as_str().unwrap()));
        assert_eq!(fs::read_to_string(file).unwrap(), episode["content"].as_str().unwrap());
    }
    let states = fs::read_to_string(folder.join("session_states.json")).unwrap();
    let states: Value = serde_json::from_str(&states).unwrap();
    let state = &states["aaaa-1"];
    assert_eq!((&state["state"], &state["message_count"]), (&json!("indexed"), &json!(2)));
    assert_eq!(state["content_hash"].as_str().unwrap().len(), 16);
    assert!(state["episode_uuid"].is_string() && state["last_indexed_at"].is_string(), "{state}");
}
