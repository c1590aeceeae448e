//! Tests the settings that decide what answers contain: other projects, paths, groups and episodes.

use std::fs;

use graphiti_proto::tools::STRUCTURED;
use graphiti_tests::{Daemon, World};
use serde_json::{Value, json};

const APP: &str = "/home/ann/app";
const SITE: &str = "/home/ann/site";

/// Writes two finished sessions, each in its own project, that contain the same word.
fn two_projects(world: &World) -> Daemon {
    let daemon = world.start();
    for (session, project) in [("app-1", APP), ("site-1", SITE)] {
        let mut transcript = world.transcript_in(session, project);
        transcript.prompt("Where is the zeppelin moored?").reply("The zeppelin is at the mast.");
    }
    daemon.settle();
    for session in ["app-1", "site-1"] {
        assert_eq!(daemon.close(session)["session_id"], session);
    }
    daemon
}

/// Returns the answer of a tool to an agent in [`APP`], or to a person there if `agent` is `None`.
fn ask(daemon: &Daemon, agent: Option<&str>, tool: &str, arguments: &Value) -> Value {
    let mut meta = json!({ "graphiti/caller": { "directory": APP, "agent": agent } });
    meta[STRUCTURED] = json!(true);
    let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
    daemon.wire().ask("tools/call", params).unwrap()["structuredContent"].clone()
}

fn sessions(answer: &Value) -> Vec<&str> {
    let hits = answer["hits"].as_array().unwrap_or_else(|| panic!("{answer}"));
    hits.iter().map(|hit| hit["session"]["session_id"].as_str().unwrap()).collect()
}

#[test]
fn an_agent_searches_only_the_projects_that_the_settings_include() {
    let world = World::new();
    world.configure(&json!({ "cross_project_search": false }));
    let daemon = two_projects(&world);
    let agent = Some("claude");
    let found = ask(&daemon, agent, "search_sessions", &json!({ "query": "zeppelin" }));
    assert_eq!(sessions(&found), ["app-1"]);
    let listed = ask(&daemon, agent, "list_sessions", &json!({}));
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 1, "{listed}");
    let episodes = ask(&daemon, agent, "get_episodes", &json!({}));
    assert_eq!(episodes["episodes"].as_array().unwrap().len(), 1, "{episodes}");
    let owners = ask(&daemon, None, "get_episodes", &json!({ "group_ids": [SITE] }));
    let episode = &owners["episodes"][0]["uuid"];
    let wish = json!({
        "name": "A wish", "episode_body": "Never push to main.", "kind": "preference",
        "group_id": SITE,
    });
    let fact = &ask(&daemon, None, "add_memory", &wish)["fact"];
    for (tool, arguments) in [
        ("get_episode_entities", json!({ "episode_uuids": [episode] })),
        ("delete_episode", json!({ "uuid": episode })),
        ("mark_fact", json!({ "uuid": fact, "verdict": "wrong" })),
        ("summarize_session", json!({ "session": "site-1" })),
        ("search_sessions", json!({ "query": "zeppelin", "project": SITE })),
        ("get_episodes", json!({ "group_ids": [SITE] })),
        ("search_memory_facts", json!({ "query": "zeppelin", "project": SITE })),
        ("get_handoff", json!({ "project": SITE })),
        ("get_log", json!({ "project": SITE })),
        ("get_session", json!({ "session_id": "site-1" })),
        ("session_tracking_status", json!({ "session_id": "site-1" })),
        ("session_tracking_close", json!({ "session_id": "site-1", "again": true })),
        ("session_tracking_sync_history", json!({ "project": SITE })),
    ] {
        let refused = ask(&daemon, agent, tool, &arguments);
        let error = refused["error"].as_str().unwrap_or_else(|| panic!("{tool}: {refused}"));
        assert!(error.contains("`session_tracking.cross_project_search` is false"), "{error}");
    }
    // The answer to an added wish does not show earlier wishes.
    let opposite = json!({
        "name": "A wish", "episode_body": "Always push to main.", "kind": "preference",
        "group_id": SITE,
    });
    for (given, has_earlier) in [(agent, false), (None, true)] {
        for wish in [&wish, &opposite] {
            let added = ask(&daemon, given, "add_memory", wish);
            assert!(added["fact"].is_string(), "{added}");
            let shows = !added["known_since"].is_null() || !added["contradicts"].is_null();
            assert_eq!(shows, has_earlier, "{added}");
        }
    }
    // A person may search another project.
    let found = ask(&daemon, None, "search_sessions", &json!({ "query": "zeppelin" }));
    assert_eq!(sessions(&found), ["app-1"]);
    let named = json!({ "query": "zeppelin", "project": SITE });
    assert_eq!(sessions(&ask(&daemon, None, "search_sessions", &named)), ["site-1"]);
    // Changed settings are used after a reload.
    let namespace = daemon.session("site-1")["project_namespace"].clone();
    world.configure(&json!({ "trusted_namespaces": [namespace] }));
    assert!(world.graphiti(&["reload"]).status.success());
    let found = ask(&daemon, agent, "search_sessions", &json!({ "query": "zeppelin" }));
    assert_eq!(sessions(&found).len(), 2, "{found}");
    world.configure(&json!({ "trusted_namespaces": ["00000001"] }));
    assert!(world.graphiti(&["reload"]).status.success());
    let found = ask(&daemon, agent, "search_sessions", &json!({ "query": "zeppelin" }));
    assert_eq!(sessions(&found), ["app-1"]);
}

#[test]
fn an_agent_does_not_learn_hidden_projects_from_ambiguous_names_and_ids() {
    let world = World::new();
    world.configure(&json!({ "cross_project_search": false }));
    let daemon = world.start();
    for (session, project) in [
        ("aaaa-1", APP),
        ("aaaa-2", "/home/bob/app"),
        ("aaaa-3", "/home/eve/app"),
        ("bbbb-1", "/home/bob/site"),
        ("bbbb-2", "/home/eve/site"),
    ] {
        let mut transcript = world.transcript_in(session, project);
        transcript.prompt("Where is the zeppelin moored?").reply("The zeppelin is at the mast.");
    }
    daemon.settle();
    let agent = Some("claude");
    let search = |project: &str| json!({ "query": "zeppelin", "project": project });
    let session = |id: &str| json!({ "session_id": id });
    // Only the agent's own project and session count.
    assert_eq!(sessions(&ask(&daemon, agent, "search_sessions", &search("app"))), ["aaaa-1"]);
    let own = ask(&daemon, agent, "get_session", &session("aaaa"));
    assert_eq!(own["session"]["session_id"], "aaaa-1", "{own}");
    for (tool, arguments) in [
        ("search_sessions", search("site")),
        ("get_log", json!({ "project": "site" })),
        ("search_memory_facts", search("site")),
        ("get_session", session("bbbb")),
        ("session_tracking_close", session("bbbb")),
    ] {
        let refused = ask(&daemon, agent, tool, &arguments);
        assert!(refused["error"].is_string(), "{tool}: {refused}");
        let refused = refused.to_string();
        assert!(!refused.contains("/home/bob") && !refused.contains("bbbb-1"), "{tool}: {refused}");
    }
    // A person sees all projects and sessions.
    let all = ask(&daemon, None, "search_sessions", &search("app"));
    assert!(all["error"].as_str().unwrap().starts_with("3 projects have the name `app`"), "{all}");
    let all = ask(&daemon, None, "get_session", &session("bbbb"));
    assert!(all["error"].as_str().unwrap().starts_with("2 sessions have ids"), "{all}");
}

#[test]
fn the_message_about_an_ambiguous_id_counts_all_sessions() {
    let world = World::new();
    let daemon = world.start();
    for number in 10..22 {
        world.transcript(&format!("aaaa-{number}")).prompt("Fix the login timeout");
    }
    daemon.settle();
    let refused = daemon.call("get_session", &json!({ "session_id": "aaaa" }));
    let error = refused["error"].as_str().unwrap();
    assert!(error.starts_with("12 sessions have ids that begin with `aaaa`"), "{error}");
}

#[test]
fn a_wish_for_a_remote_or_a_subfolder_is_stored_in_its_project() {
    let world = World::new();
    let folder = world.path("cli");
    fs::create_dir_all(folder.join(".git")).unwrap();
    fs::write(folder.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let config = "[remote \"origin\"]\n\turl = https://github.com/ann/cli.git\n";
    fs::write(folder.join(".git/config"), config).unwrap();
    fs::create_dir(folder.join("src")).unwrap();
    let (folder, subfolder) = (folder.to_str().unwrap(), folder.join("src"));
    let daemon = world.start();
    world.transcript_in("aaaa-1", folder).prompt("Fix the login timeout").reply("Fixed.");
    daemon.settle();
    let wish = |group: &str| {
        json!({
            "name": "A wish", "episode_body": "Never push to main.", "kind": "preference",
            "group_id": group,
        })
    };
    let add = |group: &str| ask(&daemon, Some("claude"), "add_memory", &wish(group));
    for group in [folder, subfolder.to_str().unwrap(), "ann/cli", "https://github.com/ann/cli"] {
        let added = add(group);
        assert_eq!(added["message"], format!("Remembered 'A wish' as a wish for {folder}."));
    }
    // An absolute path may be the directory of a project without sessions.
    assert_eq!(add("/home/ann/new")["message"], "Remembered 'A wish' as a wish for /home/ann/new.");
    // A group of another memory server is not a project.
    assert_eq!(add("main")["message"], format!("Remembered 'A wish' as a wish for {APP}."));
    let unknown = add("ann/other");
    let error = unknown["error"].as_str().unwrap();
    assert!(error.starts_with("no project has the name or remote `ann/other`"), "{error}");
    for relative in ["./cli", "~/cli"] {
        let params = json!({ "name": "add_memory", "arguments": wish(relative) });
        let refused = daemon.wire().ask("tools/call", params).unwrap_err();
        assert!(refused.message.contains("must be an absolute path"), "{refused:?}");
    }
}

#[test]
fn documents_of_episodes_contain_no_paths_and_the_configured_group() {
    let world = World::new();
    world.configure(&json!({ "include_project_path": false, "group_id": "our_team" }));
    let daemon = two_projects(&world);
    let arguments = json!({ "group_ids": ["our_team"] });
    let answer = ask(&daemon, None, "get_episodes", &arguments);
    let episodes = answer["episodes"].as_array().unwrap();
    assert_eq!(episodes.len(), 2, "{answer}");
    for episode in episodes {
        assert_eq!(episode["group_id"], "our_team");
        let document = episode["content"].as_str().unwrap();
        assert!(document.contains("project_namespace"), "{document}");
        assert!(!document.contains("/home/ann") && !document.contains(".jsonl"), "{document}");
    }
}

#[test]
fn without_episodes_the_text_of_sessions_is_found() {
    let world = World::new();
    world.configure(&json!({ "store_in_graph": false }));
    let daemon = two_projects(&world);
    let found = ask(&daemon, None, "search_sessions", &json!({ "query": "zeppelin mast" }));
    assert_eq!(sessions(&found).len(), 2, "{found}");
    let episodes = ask(&daemon, None, "get_episodes", &json!({}));
    assert_eq!(episodes["episodes"], json!([]));
    let closed = daemon.close("app-1");
    assert_eq!(closed["action"], "empty", "{closed}");
    assert!(closed["message"].as_str().unwrap().contains("store_in_graph"), "{closed}");
    // When episodes are turned on again, the closed session is offered.
    world.configure(&json!({ "store_in_graph": true }));
    world.printed(&["reload"]);
    let listed = ask(&daemon, None, "session_tracking_list_unindexed", &json!({}));
    assert!(listed.to_string().contains("\"app-1\""), "{listed}");
    let offered = ask(&daemon, None, "session_tracking_sync_history", &json!({ "days": 0 }));
    assert!(offered.to_string().contains("app-1.jsonl"), "{offered}");
    assert_eq!(daemon.close("app-1")["action"], "indexed");
    let listed = ask(&daemon, None, "session_tracking_list_unindexed", &json!({}));
    assert!(!listed.to_string().contains("\"app-1\""), "{listed}");
}

#[test]
fn omitted_texts_are_in_no_summary_and_no_fact() {
    for (key, words, is_kept) in [
        ("user_messages", "kappa", false),
        ("user_messages", "lambda", true),
        ("agent_messages", "lambda", false),
        ("tool_calls", "theta", false),
    ] {
        let world = World::new();
        world.configure(&json!({ "filter": { key: false } }));
        let daemon = world.start();
        let mut transcript = world.transcript_in("app-1", APP);
        transcript.prompt("Write the kappa file. Never delete kappa backups.");
        transcript.tool("Bash", &json!({ "command": "touch theta.txt" }), "done");
        transcript.reply("Decided to use the lambda format, because it is simple.");
        daemon.settle();
        daemon.close("app-1");
        let messages = world.printed(&["show", "-m", "app-1"]);
        let exported = world.home().join("exported");
        world.printed(&["export", "--format", "jsonl", &exported.to_string_lossy()]);
        let episodes = std::fs::read_to_string(exported.join("episodes.jsonl")).unwrap();
        let facts = world.printed(&["facts", "--ended", "--json"]);
        let all = [messages, episodes, facts].concat();
        assert_eq!(all.contains(words), is_kept, "{key}: {all}");
    }
}

/// Returns the text that an agent in [`APP`] gets.
fn text(daemon: &Daemon, tool: &str, arguments: &Value) -> String {
    let mut meta = json!({ "graphiti/caller": { "directory": APP, "agent": "claude" } });
    meta[STRUCTURED] = json!(false);
    let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
    let answer = daemon.wire().ask("tools/call", params).unwrap();
    answer["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

#[test]
fn an_unknown_project_or_agent_is_an_error() {
    let world = World::new();
    let _daemon = two_projects(&world);
    let refused = |arguments: &[&str]| {
        let output = world.graphiti(arguments);
        assert!(!output.status.success(), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    for command in [&["list"][..], &["search", "zeppelin"], &["stats"], &["handoff"], &["facts"]] {
        let error = refused(&[command, &["-p", "nosuch"]].concat());
        assert!(error.contains("no project has the name or remote `nosuch`"), "{error}");
    }
    assert!(refused(&["log", "nosuch"]).contains("`nosuch`"));
    for command in [&["list"][..], &["search", "zeppelin"], &["stats"]] {
        let error = refused(&[command, &["--agent", "foo"]].concat());
        assert!(error.contains("`claude`") && error.contains("not `foo`"), "{error}");
    }
    assert_eq!(world.json(&["list", "--agent", "CLAUDE"])["total"], 2);
    assert!(refused(&["remember", "-p", "nosuch", "use tabs"]).contains("`nosuch`"));
    let error = refused(&["remember", "-p", "/nonexistent", "use tabs"]);
    assert!(error.contains("/nonexistent is not a directory"), "{error}");
    let printed = world.printed(&["remember", "-p", "app", "use tabs"]);
    assert!(printed.starts_with(&format!("Remembered for {APP}.")), "{printed}");
    let printed = world.printed(&["list", "-p", "/nonexistent"]);
    assert!(printed.contains("No session of `/nonexistent` is known"), "{printed}");
}

#[test]
fn a_query_says_what_was_not_searched() {
    let world = World::new();
    let _daemon = two_projects(&world);
    let blank = world.printed(&["search", "!!!"]);
    assert!(blank.starts_with("Nothing found.\nThe query has no words"), "{blank}");
    let invalid = world.printed(&["search", "zeppelin date:2026-13-45"]);
    assert!(invalid.contains("`date:2026-13-45` was searched as words"), "{invalid}");
    assert_eq!(world.json(&["search", "zeppelin", "-mast"])["hits"], json!([]));
    let found = world.json(&["search", "zeppelin", "-project:app"]);
    assert_eq!(sessions(&found), ["site-1"]);
    assert_eq!(world.json(&["search", "-mast"])["hits"], json!([]));
}

#[test]
fn an_empty_answer_suggests_what_would_find_something() {
    let world = World::new();
    let daemon = two_projects(&world);
    let search = |arguments: Value| text(&daemon, "search_sessions", &arguments);
    assert_eq!(
        search(json!({ "query": "zeppelin", "offset": 40 })),
        "Nothing is shown, because `offset` is 40: only 2 sessions were found."
    );
    let on_a_day = search(json!({ "query": "2020-01-01" }));
    assert!(on_a_day.contains(", the nearest day with sessions: 2 sessions\n"), "{on_a_day}");
    let unknown = search(json!({ "query": "ZEPPELIN-9" }));
    assert!(unknown.contains("`ZEPPELIN-9` is in none of the searched sessions"), "{unknown}");
    let excluding = search(json!({ "query": "zeppelin -quinces" }));
    assert!(excluding.contains("Left out: sessions with `quinces`."), "{excluding}");
    let filtered = json!({ "query": "zeppelin", "project": APP, "agent": "codex", "tool": "Bash" });
    let found = search(filtered);
    assert!(found.contains("- without both `agent` and `tool`: 1 session\n"), "{found}");
    let listed = text(&daemon, "list_sessions", &json!({ "project": "/home/ann/blog" }));
    let (reason, projects) = listed.split_once(". Projects with sessions: ").unwrap();
    assert_eq!(
        reason,
        "No sessions.\nSessions found with fewer filters: 2 without `project`. No session of `/home/ann/blog` is known"
    );
    assert!(projects.contains(APP) && projects.contains(SITE), "{listed}");
    let state = text(&daemon, "list_sessions", &json!({ "project": APP, "state": "failed" }));
    assert_eq!(state, "No sessions.\nSessions found with fewer filters: 1 without `state`.");
    let facts = json!({ "query": "zeppelin", "include_ended": true });
    let facts = text(&daemon, "search_memory_facts", &facts);
    assert!(facts.ends_with("No fact was found.\n- search_sessions: 2 sessions"), "{facts}");
}

#[test]
fn a_short_answer_of_the_user_is_shown_with_the_question_before_it() {
    let world = World::new();
    let daemon = world.start();
    world
        .transcript_in("app-1", APP)
        .prompt("Which tree shall stand in the garden?")
        .reply("There is space for one. Do you want the pear or the other one, in the corner?")
        .prompt("The second one, quince")
        .reply("I put it into the corner.")
        .prompt("Thanks")
        .reply("You are welcome.");
    daemon.settle();
    let found = text(&daemon, "search_sessions", &json!({ "query": "second quince" }));
    let at = |part: &str| found.find(part).unwrap_or_else(|| panic!("{part}: {found}"));
    let question = at("Do you want the pear or the other one, in the corner?");
    assert!(question < at("The second one, quince"), "{found}");
    assert!(at("The second one, quince") < at("I put it into the corner."), "{found}");
    assert!(!found.contains("welcome"), "{found}");
}

#[test]
fn a_question_of_the_agent_is_shown_with_the_short_answer_after_it() {
    let world = World::new();
    let daemon = world.start();
    world
        .transcript_in("app-1", APP)
        .prompt("Where do we keep the events?")
        .reply("Postgres or ClickHouse?")
        .prompt("the second")
        .reply("Then it is decided.")
        .prompt("Paint the fence")
        .reply("It is green now.");
    daemon.settle();
    let found = text(&daemon, "search_sessions", &json!({ "query": "postgres clickhouse" }));
    let at = |part: &str| found.find(part).unwrap_or_else(|| panic!("{part}: {found}"));
    assert!(at("Postgres or ClickHouse?") < at("the second"), "{found}");
    assert!(at("the second") < at("Then it is decided."), "{found}");
    assert!(!found.contains("green"), "{found}");
}

#[test]
fn the_reply_to_a_question_that_is_not_the_best_passage_is_shown_after_it() {
    let world = World::new();
    let daemon = world.start();
    world
        .transcript_in("app-1", APP)
        .prompt("Describe the mast")
        .reply("The mast of the zeppelin has a mooring rope and a quince beside it.")
        .prompt("Is the mooring rope long enough?")
        .reply("Only in calm air.")
        .prompt("Paint it")
        .reply("It is green now.");
    daemon.settle();
    let query = json!({ "query": "zeppelin mast quince mooring rope" });
    let found = text(&daemon, "search_sessions", &query);
    let at = |part: &str| found.find(part).unwrap_or_else(|| panic!("{part}: {found}"));
    assert!(at("The mast of the zeppelin") < at("Is the mooring rope"), "{found}");
    assert!(at("Is the mooring rope") < at("Only in calm air."), "{found}");
    assert!(!found.contains("green"), "{found}");
}

#[test]
fn an_error_in_the_output_of_a_command_that_succeeded_is_found() {
    let world = World::new();
    let daemon = world.start();
    let secret = format!("ghp_{}", "x7Kq2Lm9".repeat(5));
    let output = format!("Compiling\nerror: the mast {secret} cannot hold the zeppelin\ndone\n");
    world
        .transcript_in("app-1", APP)
        .prompt("Build it")
        .tool("Bash", &json!({ "command": "make | tail" }), &output)
        .reply("It is built.");
    daemon.settle();
    let found = text(&daemon, "search_sessions", &json!({ "query": "mast cannot hold" }));
    assert!(found.contains("→ ok error: the mast"), "{found}");
    assert!(!found.contains(&secret), "{found}");
}
