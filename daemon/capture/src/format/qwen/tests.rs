//! Tests with records in the form that the program's source defines. The texts are invented.

use serde_json::{Value, json};

use super::*;
use crate::format::{claude::Claude, genai::typed::ACKNOWLEDGEMENT};

/// Formats the items of the records, and the types of skipped records.
fn read(records: &[Value]) -> Vec<String> {
    let mut memory = Memory::default();
    let mut items = Vec::new();
    for record in records {
        let mut note = |entry: Entry<'_>| {
            items.push(match entry.item {
                Item::Prompt(text) => format!("prompt: {text}"),
                Item::Instruction(text) => format!("instruction: {text}"),
                Item::Command { name, args } => format!("command: {name} {args}"),
                Item::Reply { text, .. } => format!("reply: {text}"),
                Item::Call(call) => format!("call {}: {:?}", call.id, call.action),
                Item::Result(result) => {
                    let text = result.content.decode(999);
                    format!("result {}: {:?}: {text}", result.call, result.outcome)
                }
                Item::Usage { tokens, .. } => format!("{tokens:?}"),
                Item::Answer { question, answer, .. } => format!("answer: {question} {answer}"),
                Item::TaskEnded(ended) => {
                    format!("ended {}: {:?}: {}", ended.task, ended.outcome, ended.text)
                }
                item => format!("{item:?}"),
            });
        };
        let verdict = Qwen.read(&record.to_string(), &mut memory, &mut note).unwrap();
        if let RecordVerdict::Skipped(kind) = verdict {
            items.push(format!("skipped {kind}"));
        }
    }
    items
}

fn record(kind: &str, more: Value) -> Value {
    let mut record = json!({
        "uuid": "0a1b2c3d-0000-4000-8000-000000000001", "parentUuid": null,
        "sessionId": "5e551000-0000-4000-8000-000000000001",
        "timestamp": "2026-06-01T10:00:00.000Z", "type": kind,
    });
    extend(&mut record, more);
    record
}

fn extend(record: &mut Value, more: Value) {
    let Value::Object(more) = more else { panic!("not an object: {more}") };
    record.as_object_mut().unwrap().extend(more);
}

fn message_record(kind: &str, parts: Value) -> Value {
    let role = if kind == "assistant" { "model" } else { "user" };
    let mut record = record(kind, json!({ "message": { "role": role } }));
    record["message"]["parts"] = parts;
    record
}

fn system(subtype: &str, payload: Value) -> Value {
    let mut record = record("system", json!({ "subtype": subtype }));
    record["systemPayload"] = payload;
    record
}

fn result(id: &str, tool: &str, response: Value, status: &str) -> Value {
    let mut part = json!({ "functionResponse": { "id": id, "name": tool } });
    part["functionResponse"]["response"] = response;
    let mut record = message_record("tool_result", json!([part]));
    record["toolCallResult"] = json!({ "callId": id, "status": status });
    record
}

#[test]
fn a_turn_is_read_with_its_calls_and_results() {
    let call = |id: &str, name: &str, args: Value| json!({ "functionCall": { "id": id, "name": name, "args": args } });
    let mut answer = message_record(
        "assistant",
        json!([
            { "text": "Let me think", "thought": true },
            { "text": "I run the tests." },
            call("c1", "run_shell_command", json!({ "command": "cargo test" })),
            call("c2", "edit", json!({ "file_path": "a.rs", "old_string": "x", "new_string": "y" })),
        ]),
    );
    answer["usageMetadata"] = json!({
        "promptTokenCount": 100, "cachedContentTokenCount": 60, "candidatesTokenCount": 20,
        "thoughtsTokenCount": 5, "totalTokenCount": 125,
    });
    let failed = "Command: cargo test\nDirectory: (root)\nOutput: 1 failed\nError: (none)\n\
        Exit Code: 101\nSignal: (none)\nBackground PIDs: (none)\nProcess Group PGID: 7";
    let refused = json!({ "error": "[Operation Cancelled] Reason: User did not allow tool call" });
    let records = [
        message_record("user", json!([{ "text": "Fix the tests" }])),
        answer,
        result("c1", "run_shell_command", json!({ "output": failed }), "success"),
        result("c2", "edit", refused, "cancelled"),
    ];
    assert_eq!(
        read(&records),
        [
            "prompt: Fix the tests",
            "Tokens { input: 40, output: 25, cache_read: 60, cache_write: 0 }",
            "reply: I run the tests.",
            r#"call c1: Run { command: "cargo test", purpose: None }"#,
            r#"call c2: Change([FileChange { path: "a.rs", kind: Edited, edits: [Replacement { old: "x", new: "y" }] }])"#,
            "result c1: Failed(Some(101)): 1 failed",
            "result c2: Rejected: [Operation Cancelled] Reason: User did not allow tool call",
        ]
    );
}

#[test]
fn the_tokens_of_a_record_with_only_thoughts_are_read() {
    let mut record =
        message_record("assistant", json!([{ "text": "Let me think", "thought": true }]));
    assert_eq!(read(&[record.clone()]), ["skipped assistant/empty"]);
    record["usageMetadata"] = json!({ "promptTokenCount": 7, "totalTokenCount": 7 });
    assert_eq!(read(&[record]), ["Tokens { input: 7, output: 0, cache_read: 0, cache_write: 0 }"]);
}

#[test]
fn only_typed_text_is_a_prompt() {
    let user = |more: Value| {
        let mut record = message_record("user", json!([{ "text": "sent" }]));
        extend(&mut record, more);
        record
    };
    let display = |text: &str| json!({ "displayText": text, "hookContext": "notes" });
    for (record, wanted) in [
        (user(json!({})), "prompt: sent"),
        (user(json!({ "systemPayload": display("typed") })), "prompt: typed"),
        (user(json!({ "subtype": "mid_turn_user_message" })), "prompt: sent"),
        (user(json!({ "provenance": "real_user" })), "prompt: sent"),
        (user(json!({ "provenance": "system" })), "skipped user/not typed"),
        (user(json!({ "subtype": "cron" })), "skipped user/cron"),
        (user(json!({ "subtype": "goal_runtime" })), "skipped user/goal_runtime"),
        (user(json!({ "subtype": "notification" })), "skipped user/notification"),
        (user(json!({ "isSidechain": true })), "instruction: sent"),
    ] {
        assert_eq!(read(std::slice::from_ref(&record)), [wanted], "{record}");
    }
}

#[test]
fn the_context_of_a_record_is_emitted_when_it_changes() {
    let more = json!({ "cwd": "/home/dev/app", "gitBranch": "main", "version": "0.9.0" });
    let mut first = message_record("user", json!([{ "text": "one" }]));
    extend(&mut first, more);
    let items = read(&[first.clone(), first]);
    assert!(items[0].contains(r#"cwd: Some("/home/dev/app"), branch: Some("main")"#), "{items:?}");
    assert_eq!(items[1..], ["prompt: one", "prompt: one"]);
}

#[test]
fn a_command_is_read_once_and_a_local_command_is_skipped() {
    let invoked =
        |text: &str| system("slash_command", json!({ "phase": "invocation", "rawCommand": text }));
    let mut expanded =
        message_record("user", json!([{ "text": "Analyze the project. It is long." }]));
    expanded["systemPayload"] = json!({ "displayText": "/init now", "hookContext": "" });
    let shown = system("slash_command", json!({ "phase": "result", "rawCommand": "/init now" }));
    assert_eq!(
        read(&[invoked("/init now"), expanded, shown, invoked("/stats")]),
        [
            "command: /init now",
            "skipped user/command again",
            "skipped system/slash_command",
            "skipped user/local command",
        ]
    );
}

#[test]
fn system_records_report_titles_compactions_and_ends_of_turns() {
    let summary = "<state_snapshot>The pool has 20 connections</state_snapshot>";
    let history = json!([
        { "role": "user", "parts": [{ "text": summary }] },
        { "role": "model", "parts": [{ "text": ACKNOWLEDGEMENT }] },
        { "role": "user", "parts": [{ "text": "go on" }] },
    ]);
    let error = json!({ "event.name": "qwen-code.api_error", "error": "503 overloaded" });
    assert_eq!(
        read(&[
            system("chat_compression", json!({ "info": {}, "compressedHistory": history })),
            system("custom_title", json!({ "customTitle": "Pool", "titleSource": "auto" })),
            system("custom_title", json!({ "customTitle": "My pool" })),
            system("session_model", json!({ "modelId": "qwen3-coder", "authType": "openai" })),
            system("turn_result", json!({ "promptId": "p", "state": "cancelled", "endedAt": 1 })),
            system("turn_result", json!({ "promptId": "p", "state": "completed", "endedAt": 1 })),
            system("ui_telemetry", json!({ "uiEvent": error })),
            system("rewind", json!({ "truncatedCount": 2 })),
            record("managed", json!({})),
        ]),
        [
            "Boundary".to_owned(),
            format!("Recap {{ kind: Compaction, text: {summary:?} }}"),
            r#"Title { by: Model, text: "Pool" }"#.to_owned(),
            r#"Title { by: User, text: "My pool" }"#.to_owned(),
            r#"Context(SessionContext { cwd: None, branch: None, version: None, model: Some("qwen3-coder") })"#.to_owned(),
            "Interrupted".to_owned(),
            "skipped system/turn_result".to_owned(),
            r#"ServiceError("503 overloaded")"#.to_owned(),
            "skipped system/rewind".to_owned(),
            "skipped managed".to_owned(),
        ]
    );
}

#[test]
fn tasks_in_the_background_report_their_end() {
    let text = "<task-notification><status>completed</status><result>It holds</result></task-notification>";
    let mut record = message_record("user", json!([{ "text": text }]));
    record["subtype"] = json!("notification");
    let task = json!({ "taskId": "a1", "status": "completed", "kind": "agent", "toolUseId": "c1" });
    record["systemPayload"] = json!({ "displayText": "done", "backgroundTask": task });
    assert_eq!(read(&[record]), ["ended a1: Succeeded: It holds"]);
}

#[test]
fn answers_are_read_from_both_forms() {
    let text = "User has provided the following answers:\n\n**Database**: SQLite";
    let old = result("c1", "ask_user_question", json!({ "output": text }), "success");
    let mut new = old.clone();
    new["toolCallResult"]["resultDisplay"] = json!({
        "type": "ask_user_question_answers",
        "answers": [{ "question": "Which database?", "answer": "SQLite" }],
    });
    assert_eq!(read(&[old])[0], "answer: Database SQLite");
    assert_eq!(read(&[new])[0], "answer: Which database? SQLite");
}

#[test]
fn a_file_is_not_identified_as_a_file_of_claude_code() {
    let session = "5e551000-0000-4000-8000-000000000001";
    let mut first = message_record("user", json!([{ "text": "Fix it" }]));
    first["cwd"] = json!("/home/dev/app");
    let head = format!("{first}\n");
    let own = format!("/h/.qwen/projects/-home-dev-app/chats/{session}.jsonl");
    let identity = Qwen.identify(Path::new(&own), &head).unwrap();
    assert_eq!((identity.session.as_str(), identity.sub_agent), (session, None));
    assert_eq!(identity.directory.as_deref(), Some("/home/dev/app"));
    let sub_agent = format!("/h/.qwen/projects/-home-dev-app/subagents/{session}/agent-x-7.jsonl");
    let identity = Qwen.identify(Path::new(&sub_agent), &head).unwrap();
    assert_eq!((identity.session.as_str(), identity.sub_agent.as_deref()), (session, Some("x-7")));
    assert!(Qwen.claims(Path::new(&own)) && Qwen.claims(Path::new(&sub_agent)));
    assert_eq!(Claude.identify(Path::new(&own), &head), None);
    let of_claude = json!({ "type": "user", "uuid": "a", "message": { "content": "hello" } });
    assert_eq!(Qwen.identify(Path::new(&own), &of_claude.to_string()), None);
}
