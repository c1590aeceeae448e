//! Tests the figures of `graphiti stats` and `graphiti usage --agents`.

use std::time::Duration;

use graphiti_tests::{Transcript, World};
use serde_json::{Value, json};

const HOUR: Duration = Duration::from_secs(3_600);

/// Adds a reply with a token usage.
fn reply(transcript: &mut Transcript, id: &str, model: &str, text: &str) {
    let message = json!({
        "id": id, "model": model, "role": "assistant",
        "content": [{ "type": "text", "text": text }],
        "usage": {
            "input_tokens": 1_000, "output_tokens": 2_000,
            "cache_read_input_tokens": 10_000, "cache_creation_input_tokens": 4_000,
        },
    });
    transcript.record("assistant", &json!({ "message": message }));
}

/// Creates a machine with two projects, each with one session.
fn machine() -> World {
    let world = World::new();
    let mut app = world.transcript("aaaa-1").aged(HOUR * 48);
    app.prompt("Fix the login");
    reply(&mut app, "msg_1", "claude-sonnet-4-6", "Looking.");
    // The agent repeats the usage of a message with each piece of the message.
    reply(&mut app, "msg_1", "claude-sonnet-4-6", "Found it.");
    reply(&mut app, "msg_2", "made-up-9", "Done.");
    let edit = json!({ "file_path": "/work/app/a.rs", "old_string": "a", "new_string": "b" });
    app.tool("Edit", &edit, "The file /work/app/a.rs has been updated.");
    app.tool(
        "Bash",
        &json!({ "command": "cargo test" }),
        "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out",
    );
    app.reply("Fixed.");
    world.transcript_in("bbbb-2", "/work/web").aged(HOUR * 24).prompt("Hello").reply("Hi.");
    world
}

fn row<'a>(stats: &'a Value, table: usize, name: &str) -> &'a Value {
    let rows = stats["tables"][table]["rows"].as_array().unwrap();
    rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("{name} in {stats}"))
}

#[test]
fn work_is_counted_by_day_project_and_agent() {
    let world = machine();
    let daemon = world.start();
    daemon.settle_sessions();
    let stats = world.json(&["stats"]);
    let total = &stats["total"];
    assert_eq!((&total["sessions"], &total["files"]), (&json!(2), &json!(1)), "{stats}");
    assert_eq!((&total["tests"], &total["errors"]), (&json!(1), &json!(0)), "{stats}");
    assert!(total["seconds"].as_u64().unwrap() > 0);
    let app = row(&stats, 1, "/work/app");
    assert_eq!((&app["sessions"], &app["tests"]), (&json!(1), &json!(1)));
    assert_eq!(row(&stats, 2, "claude")["sessions"], 2);
    assert_eq!(stats["tables"][0]["rows"].as_array().unwrap().len(), 2, "{stats}");
    // Stored figures are the same, also after a restart.
    assert_eq!(world.json(&["stats"]), stats);
    daemon.stop();
    let daemon = world.start();
    daemon.settle();
    assert_eq!(world.json(&["stats"]), stats);
    let printed = world.printed(&["stats", "--by", "project"]);
    assert!(printed.contains("PROJECT") && printed.contains("app"), "{printed}");
    assert!(printed.contains("2 sessions") && printed.contains('█'), "{printed}");
    let web = world.json(&["stats", "--project", "/work/web"]);
    assert_eq!(web["total"]["sessions"], 1);
    assert_eq!(world.json(&["stats", "--agent", "codex"])["total"]["sessions"], 0);
    assert_eq!(world.json(&["stats", "--since", "today"])["total"]["sessions"], 0);
    assert_eq!(world.json(&["stats", "--since", "all"])["since"], "");
    let picture = world.printed(&["stats", "--svg", "--by", "project"]);
    assert!(picture.starts_with("<svg") && picture.matches("<rect").count() == 2, "{picture}");
}

#[test]
fn figures_are_updated_when_a_session_continues() {
    let world = machine();
    let daemon = world.start();
    daemon.settle_sessions();
    let before = world.json(&["stats"])["total"]["output_tokens"].as_u64().unwrap();
    let mut live = world.transcript("cccc-3");
    live.prompt("More");
    reply(&mut live, "msg_7", "made-up-9", "Yes.");
    daemon.settle();
    daemon.close("cccc-3");
    assert_eq!(world.json(&["stats"])["total"]["output_tokens"], before + 2_000);
    reply(&mut live, "msg_8", "made-up-9", "And more.");
    daemon.settle();
    daemon.close("cccc-3");
    assert_eq!(world.json(&["stats"])["total"]["output_tokens"], before + 4_000);
}

#[test]
fn tokens_are_counted_by_model_with_separate_cache_tokens() {
    let world = machine();
    let daemon = world.start();
    daemon.settle_sessions();
    let usage = world.json(&["usage", "--agents"]);
    let priced = row(&usage, 1, "claude-sonnet-4-6");
    let tokens = ["input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens"];
    assert_eq!(tokens.map(|name| priced[name].as_u64().unwrap()), [1_000, 10_000, 4_000, 2_000]);
    let usd = priced["usd"].as_f64().unwrap();
    assert!((usd - 0.051).abs() < 1e-6, "{usd}");
    let unpriced = row(&usage, 1, "made-up-9");
    assert_eq!((&unpriced["usd"], &unpriced["unpriced_tokens"]), (&json!(0.0), &json!(17_000)));
    let session = row(&usage, 3, "aaaa-1");
    assert!(session["output_tokens"].as_u64().unwrap() >= 4_000, "{session}");
    assert!(session["title"].as_str().unwrap().contains("login"), "{session}");
    let project = row(&usage, 2, "/work/app");
    assert_eq!(project["output_tokens"], session["output_tokens"]);
    let printed = world.printed(&["usage", "--agents"]);
    for part in ["CACHE READ", "CACHE WRITE", "claude-sonnet-4-6", "$0.05", "made-up-9", "?"] {
        assert!(printed.contains(part), "{part} in {printed}");
    }
}

#[test]
fn a_time_without_tokens_is_explained() {
    let world = World::new();
    let _daemon = world.start();
    let printed = world.printed(&["usage", "--agents"]);
    assert!(printed.ends_with("No session reported tokens.\n"), "{printed}");
}
