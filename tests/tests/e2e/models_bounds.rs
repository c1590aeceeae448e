//! Tests special cases of models: sessions that need several requests or none, programs as models,
//! failures, outages and budgets.

use std::{fs, sync::Mutex};

use graphiti_tests::{Daemon, MockModel, ModelReply, ModelRequest, Transcript, World};
use serde_json::{Value, json};

fn summary(objective: &str, task: &str) -> Value {
    json!({
        "objective": objective, "outcome": "completed", "completed_tasks": [task],
        "key_decisions": null, "next_steps": null, "errors_resolved": null,
        "root_cause_analysis": null, "config_changes": null, "discoveries": null,
    })
}

fn helpful(_: &ModelRequest) -> ModelReply {
    ModelReply::Json(summary("Make logins last", "Raised the timeout"))
}

fn work(transcript: &mut Transcript) {
    transcript.prompt("Make logins last longer").reply("They last an hour now.");
}

/// Creates a world with a session `aaaa-1` and a daemon that has read it.
fn started(settings: &Value) -> (World, Daemon) {
    let world = World::new();
    world.configure(settings);
    let daemon = world.start();
    work(&mut world.transcript("aaaa-1"));
    daemon.settle();
    (world, daemon)
}

fn with(model: &MockModel, changes: &Value) -> Value {
    let mut settings = model.settings(&json!({}));
    for (key, value) in changes.as_object().unwrap() {
        settings[key] = value.clone();
    }
    settings
}

fn by_model(daemon: &Daemon, session: &str) -> Value {
    daemon.session(session)["episode"]["model"].clone()
}

fn status(world: &World) -> Value {
    world.json(&["status"])["model"].clone()
}

#[test]
fn a_session_that_is_too_long_for_one_request_is_summarised_in_parts() {
    const TASKS: [&str; 4] = [
        "Raised the timeout",
        "Wrote a report on billing",
        "Moved all parsers",
        "Named every colour",
    ];
    let world = World::new();
    let number = Mutex::new(0_usize);
    let model = MockModel::start(move |request| {
        assert_eq!(request.purpose(), "session_summary");
        let mut number = number.lock().unwrap();
        *number += 1;
        ModelReply::Json(summary(&format!("Objective {number}"), TASKS[*number - 1]))
    });
    world.configure(&model.settings(&json!({ "context_tokens": 8_000 })));
    let daemon = world.start();
    let mut transcript = world.transcript("aaaa-1");
    for step in 0..160 {
        let words = "with all the care that it needs, in every corner ".repeat(12);
        transcript.prompt(&format!("Now do step {step} {words}"));
        transcript.reply(&format!("Step {step} is done {words}"));
    }
    daemon.settle();
    daemon.close("aaaa-1");
    let requests = model.requests();
    let count = requests.len();
    assert!((2..=4).contains(&count), "{count}\n{}", world.log());
    for (at, request) in requests.iter().enumerate() {
        let (material, _) = request.material();
        assert!(material.contains(&format!("[Part {} of {count} of the session]", at + 1)));
        // A token has about four bytes.
        assert!(request.prompt().len() < 8_000 * 5, "{}", request.prompt().len());
    }
    assert!(requests[0].material().0.contains("do step 0 "));
    assert!(requests[count - 1].material().0.contains("Step 159 is done"));
    let shown = daemon.call("get_session", &json!({ "session_id": "aaaa-1" }));
    let tasks = &shown["summary"]["completed_tasks"];
    assert_eq!(tasks, &json!(TASKS[..count]));
    let used = world.json(&["usage"]);
    assert!(used["rows"][0]["saved_tokens"].as_u64() > Some(5_000), "{used}");
    assert_eq!(by_model(&daemon, "aaaa-1"), "some-model-1");
}

#[test]
fn the_agent_s_recap_is_first_in_the_request_or_replaces_the_request() {
    for suffices in [false, true] {
        let world = World::new();
        let model = MockModel::start(helpful);
        let changes = json!({ "summarization": { "recap_suffices": suffices } });
        world.configure(&with(&model, &changes));
        let daemon = world.start();
        let mut transcript = world.transcript("aaaa-1");
        work(&mut transcript);
        let recap = "This session is being continued. Summary:\n1. Primary Request and Intent:\n   \
                     Make logins last an hour instead of a minute.";
        transcript.record(
            "user",
            &json!({ "isCompactSummary": true, "message": { "role": "user", "content": recap } }),
        );
        daemon.settle();
        daemon.close("aaaa-1");
        if suffices {
            assert_eq!(model.requests().len(), 0);
            let used = world.json(&["usage"]);
            assert_eq!(used["rows"][0]["saved"]["recaps"], 1, "{used}");
            assert_eq!(by_model(&daemon, "aaaa-1"), Value::Null);
            // A newer message makes the recap outdated.
            transcript.prompt("And the sessions of admins");
            daemon.settle();
            daemon.close("aaaa-1");
            assert_eq!(model.requests().len(), 1);
        } else {
            let requests = model.requests();
            let (material, _) = requests[0].material();
            let recap = material.find("instead of a minute").unwrap();
            assert!(recap < material.find("They last an hour now").unwrap(), "{material}");
        }
    }
}

#[cfg(unix)]
#[test]
fn the_session_of_an_agent_that_serves_as_the_model_is_not_followed() {
    let world = World::new();
    // The script acts like an agent that gets a prompt on its standard input: it writes a
    // transcript, runs a hook, and prints its answer.
    let script = world.path("agent.sh");
    let slug: String = world
        .home()
        .join("llm-work")
        .to_str()
        .unwrap()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let projects = world.projects().join(slug);
    let client = world.command("graphiti").get_program().to_str().unwrap().to_owned();
    let answer = summary("Make logins last", "Raised the timeout");
    let record = |kind: &str, text: &str| {
        json!({
            "type": kind, "sessionId": "eeee-5", "uuid": "00000000-0000-4000-8000-000000000005",
            "cwd": "$(pwd)", "timestamp": "2026-01-01T00:00:00.000Z",
            "message": { "role": kind, "content": text },
        })
    };
    let event =
        json!({ "hook_event_name": "SessionEnd", "session_id": "aaaa-1", "reason": "clear" });
    let text = format!(
        "#!/bin/sh\ncat > \"$0.prompt\"\necho x >> \"$0.calls\"\nmkdir -p '{projects}'\n\
         cat > '{projects}/eeee-5.jsonl' <<END\n{}\nEND\n\
         echo '{event}' | '{client}' hook > \"$0.hook\" 2>&1\n\
         cat <<'END'\n{answer}\nEND\n",
        record("user", "You are a function. Summarize this coding session"),
        projects = projects.display(),
    );
    fs::write(&script, text).unwrap();
    world.configure(&json!({
        "auto_summarize": true,
        "llm": { "provider": "command", "command": ["sh", script.to_str().unwrap()] },
    }));
    let daemon = world.start();
    let mut transcript = world.transcript("aaaa-1");
    work(&mut transcript);
    daemon.settle();
    assert_eq!(daemon.close("aaaa-1")["status"], "success");
    let side =
        |name: &str| fs::read_to_string(format!("{}.{name}", script.display())).unwrap_or_default();
    assert_eq!(by_model(&daemon, "aaaa-1"), "sh", "{}", world.log());
    let prompt = side("prompt");
    assert!(prompt.contains("[user] Make logins last longer"), "{prompt}");
    assert!(prompt.contains("JSON schema"), "{prompt}");
    // The session of the `command` provider is not listed, its hook does nothing, and the program
    // ran once.
    daemon.settle();
    let sessions = daemon.call("list_sessions", &json!({ "limit": 10, "empty": true }));
    assert_eq!(sessions["total"], 1, "{sessions}");
    assert_eq!(side("hook"), "");
    assert_eq!(daemon.session("aaaa-1")["episode"]["close_reason"], "explicit");
    assert_eq!(side("calls").lines().count(), 1);
    // A restart changes nothing.
    daemon.stop();
    let daemon = world.start();
    daemon.settle();
    let sessions = daemon.call("list_sessions", &json!({ "limit": 10, "empty": true }));
    assert_eq!(sessions["total"], 1, "{sessions}");
    assert_eq!(side("calls").lines().count(), 1);
    let used = world.json(&["usage"]);
    let row = &used["rows"][0];
    assert!(row["unpriced"].as_u64() > Some(0) && row["usd"] == 0.0, "{used}");
}

#[test]
fn store_raw_keeps_the_derived_summary_without_retries() {
    let model = MockModel::start(|_| ModelReply::Status(503));
    let resilience = json!({ "on_llm_unavailable": "STORE_RAW" });
    let (world, daemon) = started(&with(&model, &json!({ "resilience": resilience })));
    assert_eq!(daemon.close("aaaa-1")["status"], "success");
    assert_eq!(status(&world)["awaiting"], 0);
    assert_eq!(daemon.session("aaaa-1")["state"], "indexed");
    assert_eq!(by_model(&daemon, "aaaa-1"), Value::Null);
}

#[test]
fn fail_returns_the_error_and_a_later_close_tries_again() {
    let model = MockModel::start(|_| ModelReply::Status(503));
    let resilience = json!({ "on_llm_unavailable": "FAIL" });
    let (world, daemon) = started(&with(&model, &json!({ "resilience": resilience })));
    let closed = daemon.close("aaaa-1");
    assert_ne!(closed["status"], "success", "{closed}");
    assert!(closed.to_string().contains("is not available"), "{closed}");
    let health = daemon.call("session_tracking_health", &json!({}));
    assert_eq!(health["status"], "degraded");
    assert!(health["problems"].to_string().contains("is not available"), "{health}");
    // A later close sends the request again.
    model.answers(helpful);
    assert_eq!(daemon.close("aaaa-1")["status"], "success", "{}", world.log());
    assert_eq!(by_model(&daemon, "aaaa-1"), "some-model-1");
}

#[test]
fn the_retry_queue_keeps_its_maximum_size() {
    let model = MockModel::start(|_| ModelReply::Status(503));
    let resilience = json!({ "retry_queue": { "max_queue_size": 1 } });
    let (world, daemon) = started(&with(&model, &json!({ "resilience": resilience })));
    daemon.close("aaaa-1");
    work(&mut world.transcript("bbbb-2"));
    daemon.settle();
    daemon.close("bbbb-2");
    assert_eq!(status(&world)["awaiting"], 1);
    assert_eq!(model.requests().len(), 2);
}

#[test]
fn a_retry_queue_that_is_not_persisted_is_empty_after_a_restart() {
    let model = MockModel::start(|_| ModelReply::Status(503));
    let resilience = json!({ "retry_queue": { "persist_to_disk": false } });
    let (world, daemon) = started(&with(&model, &json!({ "resilience": resilience })));
    daemon.close("aaaa-1");
    assert_eq!(status(&world)["awaiting"], 1);
    daemon.stop();
    let daemon = world.start();
    assert_eq!(status(&world)["awaiting"], 0);
    drop(daemon);
}

#[test]
fn during_an_outage_the_server_gets_no_requests_and_the_status_reports_it() {
    let model = MockModel::start(|_| ModelReply::Later(7_200));
    let (world, daemon) = started(&model.settings(&json!({})));
    for number in 0..3 {
        let session = format!("bbbb-{number}");
        work(&mut world.transcript(&session));
        daemon.settle();
        assert_eq!(daemon.close(&session)["status"], "success");
    }
    assert_eq!(model.requests().len(), 1, "{}", world.log());
    assert!(!status(&world)["outage"].as_str().unwrap().is_empty());
    assert_eq!(daemon.call("session_tracking_health", &json!({}))["status"], "degraded");
    assert_eq!(status(&world)["awaiting"], 3);
    // New settings create a new client, which does not know about the outage.
    model.answers(helpful);
    world.configure(&model.settings(&json!({ "timeout": 59 })));
    world.printed(&["reload"]);
    daemon.settle();
    assert_eq!(status(&world)["awaiting"], 0, "{}", world.log());
    assert_eq!(status(&world)["outage"], Value::Null);
    assert_eq!(daemon.call("session_tracking_health", &json!({}))["status"], "ok");
    assert_eq!(by_model(&daemon, "bbbb-2"), "some-model-1");
}

#[test]
fn the_cost_of_a_day_is_limited() {
    let model = MockModel::start(helpful);
    // A reply may cost up to 8 dollars, but costs 10 cents; a prompt costs one cent at most.
    let (world, daemon) = started(&model.settings(&json!({
        "price": { "input_per_mtok": 1.0, "output_per_mtok": 1_000.0 },
        "daily_budget": { "usd": 8.08 },
    })));
    daemon.close("aaaa-1");
    assert_eq!(by_model(&daemon, "aaaa-1"), "some-model-1", "{}", world.log());
    work(&mut world.transcript("bbbb-2"));
    daemon.settle();
    assert_eq!(daemon.close("bbbb-2")["status"], "success");
    assert_eq!(model.requests().len(), 1);
    let status = status(&world);
    assert!(status["last_error"].as_str().unwrap().contains("daily budget of $8.08"), "{status}");
    // The spent budget survives a restart.
    daemon.stop();
    let daemon = world.start();
    daemon.close("bbbb-2");
    assert_eq!(model.requests().len(), 1);
    assert_eq!(world.json(&["usage"])["rows"][0]["usd"], 0.101);
}

#[test]
fn after_an_unusable_answer_the_request_is_repeated_once_and_then_retried_later() {
    let model = MockModel::start(|_| ModelReply::Text("I would rather not.".to_owned()));
    let retry_queue = json!({ "retry_delays_seconds": [86_400] });
    let changes = json!({ "resilience": { "retry_queue": retry_queue } });
    let (world, daemon) = started(&with(&model, &changes));
    daemon.close("aaaa-1");
    // The second request contains a description of the error.
    assert_eq!(model.requests().len(), 2);
    assert_eq!(status(&world)["awaiting"], 1);
    assert!(model.requests()[1].prompt().contains("An earlier answer could not be used"));
    assert_eq!(by_model(&daemon, "aaaa-1"), Value::Null);
    model.answers(helpful);
    daemon.close("aaaa-1");
    assert_eq!(by_model(&daemon, "aaaa-1"), "some-model-1");
    assert_eq!(status(&world)["awaiting"], 0);
}
