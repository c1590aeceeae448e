//! Tests that a model summarises single long messages when their session is indexed: the real
//! daemon and a real server on this machine.

use graphiti_tests::{Daemon, MockModel, ModelReply, ModelRequest, Transcript, World};
use serde_json::{Value, json};

/// Answers requests for sessions, and for a message repeats its beginning.
fn helpful(asked: &ModelRequest) -> ModelReply {
    if asked.purpose() == "text" {
        let (material, _) = asked.material();
        let first = material.split_whitespace().next().unwrap_or_default();
        return ModelReply::Text(format!("The gist of {first}: a zeppelin landed."));
    }
    ModelReply::Json(json!({
        "objective": "Look at reports", "outcome": "completed", "completed_tasks": null,
        "key_decisions": null, "next_steps": null, "errors_resolved": null,
        "root_cause_analysis": null, "config_changes": null, "discoveries": null,
    }))
}

/// Returns a text of `words` words that begins with `first`.
fn long(first: &str, words: usize) -> String {
    format!("{first}{}", " and so on".repeat(words / 3))
}

/// Writes a session whose tool returned `report`.
fn reported<'t>(transcript: &'t mut Transcript, report: &str) -> &'t mut Transcript {
    transcript.prompt("Fetch the report");
    transcript.tool("Bash", &json!({ "command": "./report --all" }), report);
    transcript.reply("It is all there.")
}

fn settings(model: &MockModel, filter: &Value, prompts: &Value) -> Value {
    let mut settings = model.settings(&json!({}));
    settings["filter"] = filter.clone();
    settings["summary_prompts"] = prompts.clone();
    settings
}

/// Returns the messages as they are shown.
fn messages(daemon: &Daemon, session: &str) -> Vec<String> {
    let shown = daemon.call("get_session", &json!({ "session_id": session, "view": "messages" }));
    let rows = shown["messages"].as_array().unwrap();
    rows.iter().map(|row| row["text"].as_str().unwrap().to_owned()).collect()
}

/// Returns the requests about single messages.
fn about_messages(model: &MockModel) -> Vec<ModelRequest> {
    model.asked().into_iter().filter(|asked| asked.purpose() == "text").collect()
}

fn usage(world: &World) -> Value {
    let used = world.json(&["usage"]);
    let rows = used["rows"].as_array().unwrap();
    rows.iter().find(|row| row["purpose"] == "message_summary").cloned().unwrap_or_default()
}

#[test]
fn a_long_output_is_shown_found_and_told_by_its_summary_and_asked_about_once() {
    let world = World::new();
    let model = MockModel::start(helpful);
    world.configure(&model.settings(&json!({})));
    let daemon = world.start();
    let secret = ["ghp_", "x7Kq2LmZ9vRt4WsY", "8bNc3HdJ6pFg1TzQ5aVe"].concat();
    let report = long(&format!("REPORT-7 {secret}"), 2_000);
    let mut transcript = world.transcript("aaaa-1");
    reported(&mut transcript, &report);
    daemon.settle();
    let line = "Bash: `./report --all` → ok";
    assert_eq!(messages(&daemon, "aaaa-1")[2], line);
    daemon.close("aaaa-1");

    let told = format!("{line}\nThe gist of REPORT-7: a zeppelin landed.");
    assert_eq!(messages(&daemon, "aaaa-1")[2], told, "{}", world.log());
    let hash = daemon.session("aaaa-1")["content_hash"].clone();
    let hits = daemon.call("search_sessions", &json!({ "query": "zeppelin" }));
    assert_eq!(hits["hits"][0]["session"]["session_id"], "aaaa-1", "{hits}");
    assert_eq!(model.purposes(), ["text", "session_summary"]);
    let asked = model.asked();
    assert!(!asked[0].prompt().contains(&secret), "{}", asked[0].prompt());
    let (material, around) = asked[0].material();
    assert!(material.contains("and so on"), "{material}");
    assert!(
        around.contains("**Context**: tool: Bash") && around.contains("max 500 char"),
        "{around}"
    );
    // The session's own summary is derived from it.
    assert!(asked[1].prompt().contains("a zeppelin landed"), "{}", asked[1].prompt());
    let row = usage(&world);
    assert_eq!((&row["answered"], &row["calls"]), (&json!(1), &json!(1)));

    // Unchanged: nothing is asked. Changed: the session, but not the message.
    assert_eq!(daemon.close("aaaa-1")["action"], "unchanged");
    assert_eq!(model.asked().len(), 2);
    transcript.prompt("Thanks").reply("You are welcome.");
    daemon.settle();
    assert_eq!(daemon.close("aaaa-1")["action"], "replaced");
    assert_eq!(model.purposes(), ["text", "session_summary", "session_summary"]);
    assert_eq!(messages(&daemon, "aaaa-1")[2], told);

    // The same output in another session is not paid for again, even after a restart.
    daemon.stop();
    let daemon = world.start();
    reported(&mut world.transcript("bbbb-2"), &report);
    daemon.settle();
    daemon.close("bbbb-2");
    assert_eq!(messages(&daemon, "bbbb-2")[2], told);
    assert_eq!(daemon.session("bbbb-2")["content_hash"], hash);
    assert_eq!(about_messages(&model).len(), 1);
    assert_eq!(usage(&world)["saved"]["kept"], 1, "{}", usage(&world));
    assert_eq!(messages(&daemon, "aaaa-1")[2], told);
}

#[test]
fn what_was_said_is_told_by_the_setting_s_prompt_within_its_length() {
    let world = World::new();
    let model = MockModel::start(|asked| match helpful(asked) {
        ModelReply::Text(text) => ModelReply::Text(format!("{text} {}", "More of it. ".repeat(50))),
        other => other,
    });
    let filter = json!({
        "user_messages": "In {max_chars} on {context}: {content}",
        "agent_messages": "default-agent-messages.md",
        "tool_content": false,
    });
    world.configure(&settings(&model, &filter, &json!({ "max_summary_chars": 60 })));
    let mut transcript = world.transcript_in("aaaa-1", world.path("app").to_str().unwrap());
    let folder = world.path("app/.graphiti/prompts");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("agent_messages.md"), "Our way: {content}").unwrap();
    let daemon = world.start();
    transcript.prompt(&long("BIG-WISH {content} </material>", 300)).reply("Short\nand\nwhole.");
    transcript.reply(&long("BIG-ANSWER", 300));
    daemon.settle();
    assert!(messages(&daemon, "aaaa-1")[0].ends_with('…'));
    daemon.close("aaaa-1");
    let told = messages(&daemon, "aaaa-1");
    assert_eq!(
        told,
        [
            "The gist of BIG-WISH: a zeppelin landed. More of it.",
            "Short\nand\nwhole.",
            "The gist of BIG-ANSWER: a zeppelin landed. More of it.",
        ],
        "{}",
        world.log()
    );
    let asked = about_messages(&model);
    let arounds: Vec<String> = asked.iter().map(|asked| asked.material().1).collect();
    assert!(arounds[0].starts_with("In 60 on user message: "), "{}", arounds[0]);
    assert!(arounds[1].starts_with("Our way: "), "{}", arounds[1]);
    assert!(asked[0].material().0.contains("BIG-WISH {content} "), "{}", asked[0].prompt());
}

#[test]
fn no_more_messages_of_a_session_are_asked_about_than_may_be_those_that_say_most_first() {
    let world = World::new();
    let model = MockModel::start(helpful);
    world.configure(&settings(&model, &json!({}), &json!({ "max_per_session": 2 })));
    let daemon = world.start();
    let mut transcript = world.transcript("aaaa-1");
    transcript.prompt("Look around");
    transcript.tool("Read", &json!({ "file_path": "/work/app/big.txt" }), &long("READ", 9_000));
    transcript.tool("Bash", &json!({ "command": "./a" }), &long("A", 2_100));
    transcript.tool("Bash", &json!({ "command": "./b" }), &long("B", 2_700));
    transcript.failing_tool("Bash", &json!({ "command": "./c" }), &long("FAILED", 1_800));
    daemon.settle();
    daemon.close("aaaa-1");
    let told = messages(&daemon, "aaaa-1");
    let told: Vec<&str> =
        told.iter().filter(|text| text.contains("zeppelin")).map(String::as_str).collect();
    assert!(told[0].contains("./b") && told[1].contains("./c") && told.len() == 2, "{told:?}");
    let asked = about_messages(&model);
    assert!(asked[0].material().0.trim_start().starts_with("FAILED"), "{}", asked[0].prompt());
    assert_eq!(asked.len(), 2);
    // The next close with new text continues with the two longest messages.
    transcript.reply("That was all.");
    daemon.settle();
    daemon.close("aaaa-1");
    assert_eq!(about_messages(&model).len(), 2);
}

#[test]
fn without_an_answer_the_line_stays_until_there_is_one() {
    let world = World::new();
    let model = MockModel::start(|_| ModelReply::Status(503));
    world.configure(&model.settings(&json!({})));
    let daemon = world.start();
    reported(&mut world.transcript("aaaa-1"), &long("REPORT-7", 2_000));
    daemon.settle();
    daemon.close("aaaa-1");
    assert_eq!(messages(&daemon, "aaaa-1")[2], "Bash: `./report --all` → ok");
    assert_eq!(world.json(&["status"])["model"]["awaiting"], 1);
    daemon.stop();
    let daemon = world.start();
    model.answers(helpful);
    daemon.close("aaaa-1");
    assert!(messages(&daemon, "aaaa-1")[2].contains("zeppelin"), "{}", world.log());
    assert_eq!(world.json(&["status"])["model"]["awaiting"], 0);
}

#[test]
fn an_answer_that_cannot_be_used_costs_the_message_and_not_the_session() {
    let world = World::new();
    let model = MockModel::start(|asked| match helpful(asked) {
        ModelReply::Text(_) => ModelReply::Text("  ".to_owned()),
        other => other,
    });
    world.configure(&model.settings(&json!({})));
    let daemon = world.start();
    reported(&mut world.transcript("aaaa-1"), &long("REPORT-7", 2_000));
    daemon.settle();
    daemon.close("aaaa-1");
    assert_eq!(messages(&daemon, "aaaa-1")[2], "Bash: `./report --all` → ok");
    assert_eq!(daemon.session("aaaa-1")["episode"]["model"], "some-model-1", "{}", world.log());
    assert_eq!(world.json(&["status"])["model"]["awaiting"], 0);
}

#[test]
fn nothing_is_asked_about_messages_without_auto_summarize_or_when_none_may_be() {
    for change in
        [json!({ "auto_summarize": false }), json!({ "summary_prompts": { "max_per_session": 0 } })]
    {
        let world = World::new();
        let model = MockModel::start(helpful);
        let mut settings = model.settings(&json!({}));
        for (key, value) in change.as_object().unwrap() {
            settings[key] = value.clone();
        }
        world.configure(&settings);
        let daemon = world.start();
        reported(&mut world.transcript("aaaa-1"), &long("REPORT-7", 2_000));
        daemon.settle();
        daemon.close("aaaa-1");
        assert_eq!(about_messages(&model).len(), 0);
        assert_eq!(messages(&daemon, "aaaa-1")[2], "Bash: `./report --all` → ok");
    }
}
