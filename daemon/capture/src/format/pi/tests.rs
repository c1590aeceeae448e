#![expect(clippy::needless_pass_by_value, reason = "the arguments are written where they are used")]

use serde_json::{Value, json};

use super::*;
use crate::format::tests::{items, verdict};

fn entry(id: &str, kind: &str, members: Value) -> Value {
    let mut entry = json!({
        "type": kind, "id": id, "parentId": null, "timestamp": "2026-05-20T10:00:00.000Z",
    });
    entry.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    entry
}

fn message(id: &str, message: Value) -> Value {
    entry(id, "message", json!({ "message": message }))
}

fn user(text: &str) -> Value {
    let content = json!([{ "type": "text", "text": text }]);
    message("0000000a", json!({ "role": "user", "content": content }))
}

fn result(text: &str, is_error: bool) -> Value {
    let content = json!([{ "type": "text", "text": text }]);
    message(
        "0000000c",
        json!({
            "role": "toolResult", "toolCallId": "c", "toolName": "bash", "content": content,
            "isError": is_error,
        }),
    )
}

fn call(tool: &str, arguments: Value) -> Value {
    let call = json!({ "type": "toolCall", "id": "c", "name": tool, "arguments": arguments });
    message("0000000b", json!({ "role": "assistant", "content": [call] }))
}

fn header() -> Value {
    json!({
        "type": "session", "version": 3, "id": "s1", "timestamp": "2026-05-20T10:00:00Z",
        "cwd": "/p",
    })
}

#[test]
fn the_first_record_contains_the_session() {
    let path = Path::new("/h/.pi/agent/sessions/--p--/2026-05-20T10-00-00-000Z_x.jsonl");
    assert!(Pi.claims(path));
    let found = Pi.identify(path, &header().to_string()).unwrap();
    let wanted =
        Identity { session: "s1".into(), sub_agent: None, directory: Some("/p".to_owned()) };
    assert_eq!(found, wanted);
    assert_eq!(Pi.identify(path, &user("hi").to_string()), None);
    assert!(!Pi.claims(Path::new("/h/.pi/agent/sessions/other/notes.jsonl")));
}

#[test]
fn a_complete_turn_is_read() {
    let thinking = json!({ "type": "thinking", "thinking": "hm" });
    let text = json!({ "type": "text", "text": "Done." });
    let run = json!({
        "type": "toolCall", "id": "c", "name": "bash", "arguments": { "command": "make" },
    });
    let usage = json!({ "input": 5, "output": 6, "cacheRead": 7, "cacheWrite": 8 });
    let reply = json!({
        "role": "assistant", "content": [thinking, text, run], "model": "gpt-5.5",
        "usage": usage, "stopReason": "toolUse",
    });
    let records = [header(), user("Build it"), message("0000000b", reply), result("ok", false)];
    assert_eq!(
        items(&Pi, &records),
        [
            "context: /p",
            "prompt: Build it",
            "context: gpt-5.5",
            "tokens: 5 6 7 8",
            "reply: Done.",
            "call c: bash Run { command: \"make\", purpose: None }",
            "result c: Succeeded ok",
        ]
    );
}

#[test]
fn the_outcome_of_a_failed_call_is_read_from_the_last_line() {
    for (text, wanted) in [
        ("FAIL\n\n\nCommand exited with code 101", "Failed(Some(101)) FAIL"),
        ("Command aborted", "Interrupted Command aborted"),
        ("Blocked by user", "Rejected Blocked by user"),
        ("Could not find the exact text", "Failed(None) Could not find the exact text"),
    ] {
        assert_eq!(items(&Pi, &[result(text, true)]), [format!("result c: {wanted}")]);
    }
}

#[test]
fn edits_are_read_in_their_old_and_new_form() {
    let wanted = "edits: [Replacement { old: \"a\", new: \"b\" }]";
    for arguments in [
        json!({ "path": "x", "oldText": "a", "newText": "b" }),
        json!({ "path": "x", "edits": [{ "oldText": "a", "newText": "b" }] }),
    ] {
        let found = items(&Pi, &[call("edit", arguments)]).remove(0);
        assert!(found.contains(wanted), "{found}");
    }
    let found = items(&Pi, &[call("ls", json!({}))]).remove(0);
    assert!(found.contains("Search"), "{found}");
}

#[test]
fn text_that_the_program_adds_to_a_prompt_is_removed() {
    let skill = "<skill name=\"review\" location=\"/s\">\nLong text\n</skill>\n\nthe parser";
    let file = "<file name=\"/a\">\ncontent\n</file>\nExplain it";
    let found = items(&Pi, &[user(skill), user(file)]);
    assert_eq!(found, ["command: /skill:review the parser", "prompt: Explain it"]);
    for role in ["custom", "hookMessage", "branchSummary"] {
        let record = message("a", json!({ "role": role, "content": "x", "summary": "x" }));
        let skipped = RecordVerdict::Skipped(format!("message/{role}"));
        assert_eq!(verdict(&Pi, &record), skipped);
    }
    for kind in ["custom_message", "custom", "label", "thinking_level_change", "branch_summary"] {
        let record = entry("a", kind, json!({ "content": "x", "summary": "x" }));
        assert_eq!(verdict(&Pi, &record), RecordVerdict::Skipped(kind.to_owned()));
    }
}

#[test]
fn the_users_own_commands_and_the_agents_failures_are_read() {
    let shell = json!({ "role": "bashExecution", "command": "git push", "output": "done" });
    let stopped = json!({ "role": "assistant", "content": [], "stopReason": "aborted" });
    let failed = json!({
        "role": "assistant", "content": [], "stopReason": "error", "errorMessage": "overloaded",
    });
    let compaction = entry("a", "compaction", json!({ "summary": "S", "firstKeptEntryId": "b" }));
    let records = [
        message("a", shell),
        message("b", stopped),
        message("c", failed),
        compaction,
        entry("d", "session_info", json!({ "name": "Release" })),
        entry("e", "model_change", json!({ "provider": "p", "modelId": "m" })),
    ];
    assert_eq!(
        items(&Pi, &records),
        [
            "command: ! git push",
            "ShellOutput(\"done\")",
            "Interrupted",
            "ServiceError(\"overloaded\")",
            "Boundary",
            "Recap { kind: Compaction, text: \"S\" }",
            "Title { by: User, text: \"Release\" }",
            "context: m",
        ]
    );
}

#[test]
fn a_fork_has_the_ids_of_the_original() {
    let id = |record: &Value| {
        let mut found = None;
        let mut emit = |entry: Entry<'_>| found = entry.uuid;
        Pi.read(&record.to_string(), &mut Memory::default(), &mut emit).unwrap();
        found
    };
    let first = user("hi");
    let mut later = first.clone();
    later["timestamp"] = json!("2026-05-20T10:00:01.000Z");
    assert!(id(&first).is_some());
    assert_eq!(id(&first), id(&first.clone()));
    assert_ne!(id(&first), id(&later));
    let no_id = json!({ "type": "message", "message": { "role": "user", "content": "x" } });
    assert_eq!(id(&no_id), None);
}

#[test]
fn branches_are_read_in_the_order_of_writing() {
    let mut branch = user("Do it otherwise");
    branch["parentId"] = json!("0000000a");
    let found = items(&Pi, &[user("Do it"), user("Go on"), branch]);
    assert_eq!(found, ["prompt: Do it", "prompt: Go on", "prompt: Do it otherwise"]);
}
