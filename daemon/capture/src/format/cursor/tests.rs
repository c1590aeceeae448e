#![expect(clippy::needless_pass_by_value, reason = "the arguments are written where they are used")]

use serde_json::{Value, json};

use super::*;
use crate::format::tests::{items, verdict};

const ID: &str = "3f0c1a52-9f5e-4a58-8a44-6f0b8f6f9d11";

fn message(role: &str, blocks: Value) -> Value {
    json!({ "role": role, "message": { "content": blocks } })
}

fn text(role: &str, text: &str) -> Value {
    message(role, json!([{ "type": "text", "text": text }]))
}

fn call(tool: &str, input: Value) -> Value {
    message("assistant", json!([{ "type": "tool_use", "name": tool, "input": input }]))
}

fn prompt(words: &str) -> String {
    format!(
        "<timestamp>Friday, Sep 4, 2026, 2:21 AM (UTC+8)</timestamp>\n<user_query>\n{words}\n\
         </user_query>\n[Image]"
    )
}

#[test]
fn the_path_contains_the_session_and_the_sub_agent() {
    let head = text("user", "hi").to_string();
    let folder = "/h/.cursor/projects/home-p/agent-transcripts";
    for (path, session, sub_agent) in [
        (format!("{folder}/{ID}/{ID}.jsonl"), ID, None),
        (format!("{folder}/{ID}.jsonl"), ID, None),
        (format!("{folder}/{ID}/subagents/a1.jsonl"), ID, Some("a1")),
    ] {
        let path = Path::new(&path);
        assert!(CursorCli.claims(path), "{path:?}");
        let found = CursorCli.identify(path, &head).unwrap();
        assert_eq!((found.session.as_str(), found.sub_agent.as_deref()), (session, sub_agent));
    }
    for path in [format!("{folder}/{ID}/{ID}.txt"), "/h/.cursor/projects/p/x.jsonl".to_owned()] {
        assert!(!CursorCli.claims(Path::new(&path)), "{path}");
    }
    let path = format!("{folder}/{ID}.jsonl");
    let of_other_agent = json!({ "type": "user", "uuid": "a", "message": { "role": "user" } });
    assert_eq!(CursorCli.identify(Path::new(&path), &of_other_agent.to_string()), None);
}

#[test]
fn the_directory_is_read_from_the_project_or_from_a_command() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("agent-transcripts");
    std::fs::create_dir(&folder).unwrap();
    let shell = call("Shell", json!({ "command": "ls", "working_directory": "/p/sub" }));
    let head = format!("{}\n{shell}\n", text("user", "hi"));
    let directory =
        || CursorCli.identify(&folder.join(format!("{ID}.jsonl")), &head).unwrap().directory;
    assert_eq!(directory().as_deref(), Some("/p/sub"));
    let trusted = json!({ "trustedAt": "2026", "workspacePath": "/p" }).to_string();
    std::fs::write(home.path().join(".workspace-trusted"), trusted).unwrap();
    assert_eq!(directory().as_deref(), Some("/p"));
}

#[test]
fn a_complete_turn_is_read() {
    let records = [
        text("user", &prompt("Check it")),
        message(
            "assistant",
            json!([
                { "type": "text", "text": "Looking.\n\n[REDACTED]" },
                { "type": "tool_use", "name": "Shell", "input": { "command": "make" } },
                { "type": "tool_use", "name": "Write", "input": { "path": "a", "contents": "x" } },
            ]),
        ),
        text("assistant", "[REDACTED]"),
        json!({ "type": "turn_ended", "status": "success" }),
        json!({ "type": "turn_ended", "status": "aborted", "error": "User aborted manually." }),
        json!({ "type": "turn_ended", "status": "error", "error": "overloaded" }),
    ];
    let written = "FileChange { path: \"a\", kind: Written, edits: [Replacement { old: \"\", \
        new: \"x\" }] }";
    assert_eq!(
        items(&CursorCli, &records),
        [
            "prompt: Check it",
            "reply: Looking.",
            "call call-1: Shell Run { command: \"make\", purpose: None }",
            &format!("call call-2: Write Change([{written}])"),
            "result call-2: Succeeded",
            "Interrupted",
            "ServiceError(\"overloaded\")",
        ]
    );
    let ended = RecordVerdict::Skipped("turn_ended".to_owned());
    assert_eq!(verdict(&CursorCli, &records[3]), ended);
}

#[test]
fn only_typed_text_is_a_prompt() {
    let injected = text("user", "<user_info>\nOS: test\n</user_info>");
    assert_eq!(verdict(&CursorCli, &injected), RecordVerdict::Skipped("user".to_owned()));
    let plain = json!({ "role": "user", "message": { "content": "fix the bug" } });
    let twice = text("user", "<user_query>a</user_query> x <user_query>b</user_query>");
    let found = items(&CursorCli, &[plain, twice]);
    assert_eq!(found, ["prompt: fix the bug", "prompt: a", "prompt: b"]);
}

#[test]
fn the_prompt_of_a_sub_agent_is_an_instruction() {
    let path = format!("/h/.cursor/projects/p/agent-transcripts/{ID}/subagents/a1.jsonl");
    let mut memory = CursorCli.memory_of(Path::new(&path));
    let mut items = Vec::new();
    let mut emit = |entry: Entry<'_>| items.push(format!("{:?}", entry.item));
    CursorCli.read(&text("user", "find it").to_string(), &mut memory, &mut emit).unwrap();
    assert_eq!(items, ["Instruction(\"find it\")"]);
}

#[test]
fn a_time_in_a_prompt_is_read() {
    for (written, wanted) in [
        ("Friday, Sep 4, 2026, 2:21 AM (UTC+8)", "2026-09-03T18:21:00Z"),
        ("Wednesday, Jun 3, 2026, 12:30 PM (UTC-7)", "2026-06-03T19:30:00Z"),
        ("Sunday, Sep 27, 2026, 12:05 AM (UTC+5:30)", "2026-09-26T18:35:00Z"),
        ("Sunday, Sep 27, 2026, 9:00 AM (UTC)", "2026-09-27T09:00:00Z"),
    ] {
        let found = text::time(&format!("<timestamp>{written}</timestamp>"));
        assert!(found.is_some() && found == Timestamp::parse(wanted), "{written}: {found:?}");
    }
    for written in ["now", "Sunday, Sep 27, 2026, 9:00 AM", "A, B, C, D (UTC)", ""] {
        assert_eq!(text::time(&format!("<timestamp>{written}</timestamp>")), None, "{written}");
    }
}

#[test]
fn tools_become_actions() {
    for (tool, input, wanted) in [
        ("StrReplace", json!({ "path": "a", "old_string": "x", "new_string": "y" }), "old: \"x\""),
        ("ApplyPatch", json!("*** Delete File: a"), "kind: Deleted"),
        ("Delete", json!({ "path": "a" }), "kind: Deleted"),
        ("Glob", json!({ "glob_pattern": "*.rs" }), "Search { pattern: \"*.rs\""),
        ("Task", json!({ "description": "Look" }), "Delegate { agent: None, subject: \"Look\" }"),
        ("CreatePlan", json!({ "plan": "Do" }), "ProposePlan { plan: \"Do\" }"),
        (
            "AskQuestion",
            json!({ "questions": [{ "prompt": "Which?", "options": [{ "label": "A" }] }] }),
            "question: \"Which?\", options: [\"A\"]",
        ),
        (
            "CallMcpTool",
            json!({ "server": "linear", "toolName": "get", "arguments": {} }),
            "call call-1: mcp__linear__get",
        ),
    ] {
        let found = items(&CursorCli, &[call(tool, input)]).remove(0);
        assert!(found.contains(wanted), "{found}");
    }
}

#[test]
fn changed_tasks_complete_the_known_list() {
    let todo = |id: &str, content: Option<&str>, status: &str| json!({ "id": id, "content": content, "status": status });
    let first = [todo("1", Some("Read"), "in_progress"), todo("2", Some("Write"), "pending")];
    let changed = [todo("1", None, "completed"), todo("2", None, "in_progress")];
    let records = [
        call("TodoWrite", json!({ "todos": first, "merge": false })),
        call("TodoWrite", json!({ "todos": changed, "merge": true })),
    ];
    let found = items(&CursorCli, &records).remove(1);
    assert!(found.contains("subject: \"Read\", state: Completed"), "{found}");
    assert!(found.contains("subject: \"Write\", state: InProgress"), "{found}");
}

#[test]
fn a_result_is_read_if_there_is_one() {
    let used = json!([{ "type": "tool_use", "id": "t", "name": "Read", "input": { "path": "a" } }]);
    let result = json!({
        "type": "tool_result", "tool_use_id": "t", "is_error": true,
        "content": [{ "type": "text", "text": "no such file" }],
    });
    let found = items(&CursorCli, &[message("assistant", used), message("user", json!([result]))]);
    assert_eq!(found[1..], ["result t: Failed(None) no such file"]);
}
