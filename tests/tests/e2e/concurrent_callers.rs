//! Tests agents that send requests while a model is slow.

use std::{
    sync::{Arc, Condvar, Mutex, mpsc},
    thread,
    time::Duration,
};

use graphiti_tests::{McpHost, MockModel, ModelReply, World};
use serde_json::{Value, json};

/// A model that answers when the test releases it.
struct GatedModel {
    model: MockModel,
    open: Arc<(Mutex<bool>, Condvar)>,
    requests: mpsc::Receiver<()>,
}

impl GatedModel {
    fn start() -> GatedModel {
        let open: Arc<(Mutex<bool>, Condvar)> = Arc::default();
        let gate = open.clone();
        let (notify, requests) = mpsc::channel();
        let model = MockModel::start(move |_| {
            let _ = notify.send(());
            let (open, opened) = &*gate;
            let mut open = open.lock().unwrap();
            while !*open {
                open = opened.wait(open).unwrap();
            }
            ModelReply::Json(json!({
                "objective": "Look after the animals", "outcome": "completed",
                "completed_tasks": null, "key_decisions": null, "next_steps": null,
                "errors_resolved": null, "root_cause_analysis": null, "config_changes": null,
                "discoveries": null,
            }))
        });
        GatedModel { model, open, requests }
    }

    fn wait_for_request(&self) {
        self.requests.recv_timeout(Duration::from_secs(60)).expect("the model gets a request");
    }

    fn answer(&self) {
        let (open, opened) = &*self.open;
        *open.lock().unwrap() = true;
        opened.notify_all();
    }
}

/// Returns settings with which a session that was quiet for a moment may be indexed for a query.
fn settings(gated_model: &GatedModel) -> Value {
    let mut settings = gated_model.model.settings(&json!({}));
    settings["check_interval"] = json!(5);
    settings
}

#[test]
fn a_query_over_ten_sessions_does_not_wait_for_a_slow_model() {
    let gated_model = GatedModel::start();
    let world = World::new();
    world.configure(&settings(&gated_model));
    for number in 0..10 {
        let session = format!("aaaa-{number}");
        let mut transcript = world.transcript(&session).aged(Duration::from_secs(300));
        transcript.prompt("Look after the marmot").reply("It is fed.");
    }
    let daemon = world.start();
    daemon.settle();
    let ask = || daemon.call("search_sessions", &json!({ "query": "marmot", "limit": 20 }));
    let early = ask();
    assert_eq!(early["hits"].as_array().unwrap().len(), 10);
    assert_eq!(early["pending"], 10, "{early}");
    for hit in early["hits"].as_array().unwrap() {
        assert_eq!(hit["session"]["state"], "indexed", "{hit}");
        assert_eq!(hit["session"]["episode"]["model"], Value::Null);
    }
    // Another query gets the same answer, and no session is indexed again.
    assert_eq!(ask()["pending"], 10);
    gated_model.wait_for_request();
    gated_model.answer();
    daemon.settle();
    let late = ask();
    assert_eq!((&late["pending"], &late["message"]), (&json!(0), &json!("")), "{late}");
    for hit in late["hits"].as_array().unwrap() {
        assert_eq!(hit["session"]["episode"]["model"], "some-model-1", "{hit}");
    }
    assert_eq!(gated_model.model.requests().len(), 10);
}

#[test]
fn two_agents_in_one_directory_close_their_own_sessions() {
    let gated_model = GatedModel::start();
    let world = World::new();
    world.configure(&settings(&gated_model));
    let daemon = world.start();
    for session in ["aaaa-1", "bbbb-2"] {
        world.transcript(session).prompt("Look after the marmot").reply("It is fed.");
    }
    daemon.settle();
    let closing = ["aaaa-1", "bbbb-2"].map(|session| {
        let mut command = world.command("graphiti");
        command.arg("mcp").env("CLAUDE_CODE_SESSION_ID", session);
        thread::spawn(move || {
            let mut host = McpHost::start(&mut command);
            host.initialize("2025-06-18");
            host.call("session_tracking_close", json!({}))["structuredContent"].clone()
        })
    });
    // The model gets requests for both sessions, because neither close waits for the other.
    gated_model.wait_for_request();
    gated_model.wait_for_request();
    gated_model.answer();
    let closed = closing.map(|closing| closing.join().unwrap());
    for (closed, session) in closed.iter().zip(["aaaa-1", "bbbb-2"]) {
        assert_eq!(closed["session_id"], session, "{closed}");
        assert_eq!(closed["action"], "indexed", "{closed}");
    }
    assert_ne!(closed[0]["episode_uuid"], closed[1]["episode_uuid"]);
    // A caller whose session is unknown gets an error, and closes nothing.
    let mut command = world.command("graphiti");
    let mut stranger = McpHost::start(command.arg("mcp"));
    stranger.initialize("2025-06-18");
    let unclear = stranger.call("session_tracking_close", json!({}));
    assert_eq!(unclear["isError"], true, "{unclear}");
}

#[test]
fn a_cancelled_close_gets_no_answer_but_is_completed() {
    let gated_model = GatedModel::start();
    let world = World::new();
    world.configure(&settings(&gated_model));
    let daemon = world.start();
    world.transcript("aaaa-1").prompt("Look after the marmot").reply("It is fed.");
    daemon.settle();
    let mut command = world.command("graphiti");
    let mut host = McpHost::start(command.arg("mcp"));
    host.initialize("2025-06-18");
    let params = json!({
        "name": "session_tracking_close", "arguments": { "session_id": "aaaa-1" },
    });
    let id = host.request("tools/call", params);
    gated_model.wait_for_request();
    let cancelled = json!({ "requestId": id, "reason": "no time" });
    host.send(&json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled,
    }));
    let status = host.call("session_tracking_status", json!({ "session_id": "aaaa-1" }));
    assert_eq!(status["structuredContent"]["session"]["state"], "indexed", "{status}");
    gated_model.answer();
    daemon.settle();
    let session = daemon.session("aaaa-1");
    assert_eq!(session["episode"]["model"], "some-model-1", "{session}");
    host.call("session_tracking_health", json!({}));
    let late = host.notifications.iter().find(|message| message["id"] == id);
    assert_eq!(late, None, "a cancelled request was answered");
}

#[test]
fn sync_reports_the_estimated_and_the_actual_cost_of_a_model() {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    let gated_model = GatedModel::start();
    gated_model.answer();
    let world = World::new();
    let mut settings = settings(&gated_model);
    settings["keep_length_days"] = json!(7);
    world.configure(&settings);
    for (session, days) in [("aaaa-1", 30), ("bbbb-2", 40), ("cccc-3", 50)] {
        let mut transcript = world.transcript(session).aged(days * DAY);
        transcript.prompt("Look after the marmot").reply("It is fed.");
    }
    let daemon = world.start();
    daemon.settle();
    let sync = |arguments: Value| daemon.call("session_tracking_sync_history", &arguments);
    let preview = sync(json!({ "days": 0 }));
    assert_eq!((&preview["model"], &preview["price_known"]), (&json!("some-model"), &json!(true)));
    // Three answers of a thousand tokens cost 0.03 dollars, and the prompts a little.
    let cost = preview["estimated_cost"].as_f64().unwrap();
    assert!((0.03..0.05).contains(&cost), "{preview}");
    let printed = world.printed(&["sync", "--days", "0", "-n", "2"]);
    assert!(printed.contains("dollars for some-model"), "{printed}");
    let done = sync(json!({ "days": 0, "max_sessions": 2, "dry_run": false }));
    assert_eq!(done["sessions_indexed"], 2, "{done}");
    assert!((done["actual_cost"].as_f64().unwrap() - 0.004).abs() < 1e-9, "{done}");
    assert_eq!(daemon.session("aaaa-1")["episode"]["model"], "some-model-1");
    // The next run processes only the remaining session.
    assert_eq!(sync(json!({ "days": 0, "dry_run": false }))["sessions_indexed"], 1);
    assert_eq!(gated_model.model.requests().len(), 3);
    settings["llm"]["price"] = Value::Null;
    settings["llm"]["base_url"] = json!("http://models.example/v1");
    world.configure(&settings);
    world.printed(&["reload"]);
    world.transcript("dddd-4").aged(30 * DAY).prompt("Look after the otter").reply("It swims.");
    let printed = world.printed(&["sync", "--days", "0"]);
    assert!(printed.contains("the price of some-model is not known"), "{printed}");
}
