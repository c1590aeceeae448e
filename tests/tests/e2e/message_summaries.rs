//! Tests that a model summarises long messages when their session is indexed, with the real daemon
//! and a mock model.

use graphiti_tests::{Daemon, MockModel, ModelReply, ModelRequest, Transcript, World};
use serde_json::{Value, json};

/// Answers a request about a session with a summary, and a request about a message with a sentence
/// that contains the first word of the message.
fn helpful(request: &ModelRequest) -> ModelReply {
    if request.purpose() == "text" {
        let (material, _) = request.material();
        let first = material.split_whitespace().next().unwrap_or_default();
        return ModelReply::Text(format!("The gist of {first}: a zeppelin landed."));
    }
    ModelReply::Json(json!({
        "objective": "Look at reports", "outcome": "completed", "completed_tasks": null,
        "key_decisions": null, "next_steps": null, "errors_resolved": null,
        "root_cause_analysis": null, "config_changes": null, "discoveries": null,
    }))
}

/// Returns a text of about `words` words that begins with `first`.
fn long(first: &str, words: usize) -> String {
    format!("{first}{}", " and so on".repeat(words / 3))
}

/// Writes a session in which a tool returned `report`.
fn write_report<'t>(transcript: &'t mut Transcript, report: &str) -> &'t mut Transcript {
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

/// Returns the displayed texts of the messages.
fn messages(daemon: &Daemon, session: &str) -> Vec<String> {
    let shown = daemon.call("get_session", &json!({ "session_id": session, "view": "messages" }));
    let rows = shown["messages"].as_array().unwrap();
    rows.iter().map(|row| row["text"].as_str().unwrap().to_owned()).collect()
}

/// Returns the requests about single messages.
fn about_messages(model: &MockModel) -> Vec<ModelRequest> {
    model.requests().into_iter().filter(|request| request.purpose() == "text").collect()
}

fn usage(world: &World) -> Value {
    let used = world.json(&["usage"]);
    let rows = used["rows"].as_array().unwrap();
    rows.iter().find(|row| row["purpose"] == "message_summary").cloned().unwrap_or_default()
}

#[test]
fn a_long_output_gets_one_summary_which_is_shown_and_searchable() {
    let world = World::new();
    let model = MockModel::start(helpful);
    world.configure(&model.settings(&json!({})));
    let daemon = world.start();
    let secret = ["ghp_", "x7Kq2LmZ9vRt4WsY", "8bNc3HdJ6pFg1TzQ5aVe"].concat();
    let report = long(&format!("REPORT-7 {secret}"), 2_000);
    let mut transcript = world.transcript("aaaa-1");
    write_report(&mut transcript, &report);
    daemon.settle();
    let line = "Bash: `./report --all` → ok";
    assert_eq!(messages(&daemon, "aaaa-1")[2], line);
    daemon.close("aaaa-1");

    let expected = format!("{line}\nThe gist of REPORT-7: a zeppelin landed.");
    assert_eq!(messages(&daemon, "aaaa-1")[2], expected, "{}", world.log());
    let hash = daemon.session("aaaa-1")["content_hash"].clone();
    let hits = daemon.call("search_sessions", &json!({ "query": "zeppelin" }));
    assert_eq!(hits["hits"][0]["session"]["session_id"], "aaaa-1", "{hits}");
    assert_eq!(model.purposes(), ["text", "session_summary"]);
    let requests = model.requests();
    assert!(!requests[0].prompt().contains(&secret), "{}", requests[0].prompt());
    let (material, around) = requests[0].material();
    assert!(material.contains("and so on"), "{material}");
    assert!(
        around.contains("**Context**: tool: Bash") && around.contains("max 500 char"),
        "{around}"
    );
    // The summary of the message is part of the request about the session.
    assert!(requests[1].prompt().contains("a zeppelin landed"), "{}", requests[1].prompt());
    let row = usage(&world);
    assert_eq!((&row["answered"], &row["calls"]), (&json!(1), &json!(1)));

    // An unchanged session causes no request. A changed session causes only a request about the
    // session.
    assert_eq!(daemon.close("aaaa-1")["action"], "unchanged");
    assert_eq!(model.requests().len(), 2);
    transcript.prompt("Thanks").reply("You are welcome.");
    daemon.settle();
    assert_eq!(daemon.close("aaaa-1")["action"], "replaced");
    assert_eq!(model.purposes(), ["text", "session_summary", "session_summary"]);
    assert_eq!(messages(&daemon, "aaaa-1")[2], expected);

    // The same output in another session causes no request, even after a restart.
    daemon.stop();
    let daemon = world.start();
    write_report(&mut world.transcript("bbbb-2"), &report);
    daemon.settle();
    daemon.close("bbbb-2");
    assert_eq!(messages(&daemon, "bbbb-2")[2], expected);
    assert_eq!(daemon.session("bbbb-2")["content_hash"], hash);
    assert_eq!(about_messages(&model).len(), 1);
    assert_eq!(usage(&world)["saved"]["kept"], 1, "{}", usage(&world));
    assert_eq!(messages(&daemon, "aaaa-1")[2], expected);
}

#[test]
fn prompts_and_replies_are_summarised_with_the_configured_prompts_and_length() {
    let world = World::new();
    let model = MockModel::start(|request| match helpful(request) {
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
    let expected = messages(&daemon, "aaaa-1");
    assert_eq!(
        expected,
        [
            "The gist of BIG-WISH: a zeppelin landed. More of it.",
            "Short\nand\nwhole.",
            "The gist of BIG-ANSWER: a zeppelin landed. More of it.",
        ],
        "{}",
        world.log()
    );
    let requests = about_messages(&model);
    let arounds: Vec<String> = requests.iter().map(|request| request.material().1).collect();
    assert!(arounds[0].starts_with("In 60 on user message: "), "{}", arounds[0]);
    assert!(arounds[1].starts_with("Our way: "), "{}", arounds[1]);
    assert!(requests[0].material().0.contains("BIG-WISH {content} "), "{}", requests[0].prompt());
}

#[test]
fn the_number_of_summarised_messages_is_limited_and_failures_come_first() {
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
    let expected = messages(&daemon, "aaaa-1");
    let expected: Vec<&str> =
        expected.iter().filter(|text| text.contains("zeppelin")).map(String::as_str).collect();
    assert!(
        expected[0].contains("./b") && expected[1].contains("./c") && expected.len() == 2,
        "{expected:?}"
    );
    let requests = about_messages(&model);
    let (material, _) = requests[0].material();
    assert!(material.trim_start().starts_with("FAILED"), "{}", requests[0].prompt());
    assert_eq!(requests.len(), 2);
    // The limit applies to the session: the next close causes no request about another message.
    transcript.reply("That was all.");
    daemon.settle();
    daemon.close("aaaa-1");
    assert_eq!(about_messages(&model).len(), 2);
}

#[test]
fn until_the_model_answers_a_message_keeps_its_short_line() {
    let world = World::new();
    let model = MockModel::start(|_| ModelReply::Status(503));
    world.configure(&model.settings(&json!({})));
    let daemon = world.start();
    write_report(&mut world.transcript("aaaa-1"), &long("REPORT-7", 2_000));
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
fn an_unusable_answer_about_a_message_does_not_affect_the_session() {
    let world = World::new();
    let model = MockModel::start(|request| match helpful(request) {
        ModelReply::Text(_) => ModelReply::Text("  ".to_owned()),
        other => other,
    });
    world.configure(&model.settings(&json!({})));
    let daemon = world.start();
    write_report(&mut world.transcript("aaaa-1"), &long("REPORT-7", 2_000));
    daemon.settle();
    daemon.close("aaaa-1");
    assert_eq!(messages(&daemon, "aaaa-1")[2], "Bash: `./report --all` → ok");
    assert_eq!(daemon.session("aaaa-1")["episode"]["model"], "some-model-1", "{}", world.log());
    assert_eq!(world.json(&["status"])["model"]["awaiting"], 0);
}

#[test]
fn no_message_is_summarised_without_auto_summarize_or_with_a_limit_of_zero() {
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
        write_report(&mut world.transcript("aaaa-1"), &long("REPORT-7", 2_000));
        daemon.settle();
        daemon.close("aaaa-1");
        assert_eq!(about_messages(&model).len(), 0);
        assert_eq!(messages(&daemon, "aaaa-1")[2], "Bash: `./report --all` → ok");
    }
}
