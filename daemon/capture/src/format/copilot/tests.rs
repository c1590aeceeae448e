#![expect(clippy::needless_pass_by_value, reason = "the arguments are written where they are used")]

use serde_json::{Value, json};

use super::*;
use crate::format::tests::{items, items_of, verdict};

const FIX: &str = include_str!("samples/fix.jsonl");
const SUB_AGENT: &str = include_str!("samples/agent.jsonl");
const ID: &str = "8e089054-6c16-4aea-a381-ab6de9306532";

fn event(kind: &str, data: Value) -> Value {
    json!({
        "type": kind,
        "data": data,
        "id": ID,
        "timestamp": "2026-01-01T00:00:00Z",
    })
}

fn start(id: &str, tool: &str, arguments: Value) -> Value {
    event(
        "tool.execution_start",
        json!({ "toolCallId": id, "toolName": tool, "arguments": arguments }),
    )
}

fn complete(id: &str, content: &str) -> Value {
    let result = json!({ "content": content, "detailedContent": "\ndiff --git a/x b/x\n+x" });
    event("tool.execution_complete", json!({ "toolCallId": id, "success": true, "result": result }))
}

fn failed(id: &str, error: Value) -> Value {
    event("tool.execution_complete", json!({ "toolCallId": id, "success": false, "error": error }))
}

fn bash(id: &str, command: &str) -> Value {
    start(id, "bash", json!({ "command": command, "description": "Do it" }))
}

/// Returns the items without the calls.
fn results(records: &[Value]) -> Vec<String> {
    let mut items = items(&Copilot, records);
    items.retain(|item| !item.starts_with("call "));
    items
}

#[test]
fn a_complete_session_is_read() {
    let items = items_of(&Copilot, FIX);
    let heads: Vec<&str> = items.iter().map(|item| &item[..item.len().min(60)]).collect();
    for wanted in [
        "context: /home/dev/proj main 1.0.102 mock-model",
        "prompt: Do it #fix#",
        "tokens: 11985 20 0 0",
        "reply: I write the function and its test.",
        "reply: Fixed: total() left out the first item. The test passes now.",
    ] {
        let count = items.iter().filter(|item| *item == wanted).count();
        assert_eq!(count, 1, "{wanted}\n{heads:#?}");
    }
    let calls: Vec<&String> = items.iter().filter(|item| item.starts_with("call ")).collect();
    assert_eq!(calls.len(), 5, "{heads:#?}");
    assert!(calls[0].contains("Written") && calls[0].contains("total.py"), "{}", calls[0]);
    assert!(calls[2].contains("Run { command: \"python3 test_total.py\""), "{}", calls[2]);
    let runs: Vec<&String> = items.iter().filter(|item| item.contains("Failed(Some(1))")).collect();
    assert_eq!(runs.len(), 1, "{heads:#?}");
    assert!(runs[0].ends_with("AssertionError: 3"), "{}", runs[0]);
    assert_eq!(items.last().map(String::as_str), Some("SessionEnded"));
    assert_eq!(items.iter().filter(|item| item.starts_with("tokens:")).count(), 5);
}

#[test]
fn calls_of_a_sub_agent_in_the_same_file_are_read() {
    let items = items_of(&Copilot, SUB_AGENT);
    let of_agent: Vec<&String> =
        items.iter().filter(|item| item.starts_with("047151d0-")).collect();
    assert_eq!(of_agent.len(), 2, "{items:#?}");
    assert!(of_agent[0].contains("Run { command: \"ls\""), "{}", of_agent[0]);
    let prompts: Vec<&String> = items.iter().filter(|item| item.starts_with("prompt:")).collect();
    assert_eq!(prompts, ["prompt: Do it #agent#"]);
    assert!(items.iter().any(|item| item.contains("Delegate { agent: Some(\"general-purpose\")")));
    let tokens = items.iter().filter(|item| item.starts_with("tokens:")).count();
    assert_eq!(tokens, 4, "the tokens of the sub-agent are counted for the session");
}

#[test]
fn the_session_is_in_the_path_and_the_directory_is_in_the_first_event() {
    let path = format!("/h/.copilot/session-state/{ID}/events.jsonl");
    let found = Copilot.identify(Path::new(&path), SUB_AGENT).unwrap();
    assert_eq!(found.session, ID);
    assert_eq!(found.directory.as_deref(), Some("/home/dev/proj"));
    // The first line may be truncated.
    let truncated = format!("{{\"type\":\"sess\n{SUB_AGENT}");
    assert_eq!(Copilot.identify(Path::new(&path), &truncated), Some(found));
    let old = format!("/h/.copilot/session-state/{ID}.jsonl");
    assert_eq!(Copilot.identify(Path::new(&old), FIX).unwrap().session, ID);
    for path in [
        format!("/h/.copilot/session-state/{ID}/files/notes.jsonl"),
        "/h/.copilot/session-state/x/events.jsonl".to_owned(),
        format!("/h/.copilot/logs/{ID}.jsonl"),
    ] {
        assert!(!Copilot.claims(Path::new(&path)), "{path}");
    }
}

#[test]
fn a_session_that_copilot_starts_belongs_to_the_parent_session() {
    let data = json!({ "sessionId": ID, "detachedFromSpawningParentSessionId": "p" });
    let path = format!("/session-state/{ID}/events.jsonl");
    let head = event("session.start", data).to_string();
    let found = Copilot.identify(Path::new(&path), &head).unwrap();
    assert_eq!((found.session.as_str(), found.sub_agent.as_deref()), ("p", Some(ID)));
}

#[test]
fn without_a_context_the_directory_is_in_the_workspace_file() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(ID);
    std::fs::create_dir(&folder).unwrap();
    let head = event("session.start", json!({ "sessionId": ID })).to_string();
    let identify = || Copilot.identify(&folder.join("events.jsonl"), &head).unwrap().directory;
    assert_eq!(identify(), None);
    for (written, meant) in [("/p", "/p"), ("'/it''s'", "/it's"), ("\"/p q\"", "/p q")] {
        let text = format!("id: x\ncwd: {written}\ngit_root: /g\n");
        std::fs::write(folder.join("workspace.yaml"), text).unwrap();
        assert_eq!(identify().as_deref(), Some(meant));
    }
}

#[test]
fn the_exit_code_of_a_command_is_read_from_its_output() {
    for (printed, wanted) in [
        ("a\nb\n<shellId: 1 completed with exit code 0>", "result c: Succeeded a\nb"),
        ("\n<shellId: 51 completed with exit code 128>", "result c: Failed(Some(128))"),
        ("no\n<exited with exit code 1>", "result c: Failed(Some(1)) no"),
        ("exit code 3", "result c: Succeeded exit code 3"),
        ("<b>exit code 3</b>", "result c: Succeeded <b>exit code 3</b>"),
    ] {
        assert_eq!(results(&[complete("c", printed)]), [wanted]);
    }
    let data = json!({
        "toolCallId": "c", "success": true, "shellExecution": { "exitCode": 2 },
        "result": { "content": "x" },
    });
    assert_eq!(results(&[event("tool.execution_complete", data)]), ["result c: Failed(Some(2)) x"]);
}

#[test]
fn the_result_of_a_background_command_is_read_when_it_ends() {
    let read = |content: &str| complete("r", content);
    let began = "<command started in background with shellId: dev>";
    let late =
        "begun\n<command with shellId: dev is still running after 30 seconds. Use read_bash.>";
    for first in [began, late] {
        let ended = read("2 passed\n<shellId: dev completed with exit code 0>");
        let records = [bash("c", "make"), complete("c", first), read(late), ended];
        assert_eq!(
            results(&records),
            [
                "result r: Succeeded begun\n<command with shellId: dev is still running after 30 \
                 seconds. Use read_bash.>",
                "result c: Succeeded 2 passed",
                "result r: Succeeded 2 passed",
            ]
        );
    }
    let records = [bash("c", "make"), complete("c", began), read("<command with id: dev stopped>")];
    assert_eq!(results(&records)[0], "result c: Interrupted <command with id: dev stopped>");
}

#[test]
fn the_report_of_a_background_sub_agent_is_the_result_of_its_call() {
    let begun = "Agent started in background with agent_id: helper. You'll be notified.";
    let report = "Agent completed. agent_id: helper, status: completed\n\nNo bug found.";
    let records = [
        complete("t", begun),
        complete("r", "Agent is still running. agent_id: helper, status: running"),
        complete("r", report),
    ];
    let results = results(&records);
    assert_eq!(results[1], format!("result t: Succeeded {report}"));
    assert_eq!(results.len(), 3);
    let notice = json!({ "type": "agent_completed", "agentId": "helper", "status": "failed" });
    let notice = event("system.notification", json!({ "content": "x", "kind": notice }));
    assert_eq!(self::results(&[complete("t", begun), notice]), ["result t: Failed(None)"]);
}

#[test]
fn the_answer_of_the_user_is_read() {
    let old = json!({ "question": "Which database?", "choices": ["SQLite", "PostgreSQL"] });
    let choice = json!({ "type": "string", "enum": ["SQLite", "PostgreSQL"] });
    let schema = json!({ "type": "object", "properties": { "choice": choice } });
    let new = json!({ "message": "Which database?", "requestedSchema": schema });
    for (arguments, answer) in [(old, "User selected: SQLite"), (new, "User responded: SQLite")] {
        let items = items(&Copilot, &[start("q", "ask_user", arguments), complete("q", answer)]);
        assert!(items[0].contains(r#"options: ["SQLite", "PostgreSQL"]"#), "{}", items[0]);
        assert_eq!(items[1], "answer: Which database? SQLite");
        assert_eq!(items.len(), 3);
    }
}

#[test]
fn a_refused_call_is_rejected_and_its_reason_is_a_prompt() {
    let refused = "The user rejected this tool call. User feedback: use pnpm";
    let records = [failed("c", json!({ "message": refused, "code": "rejected" }))];
    assert_eq!(
        results(&records),
        [format!("result c: Rejected {refused}"), "prompt: use pnpm".into()]
    );
    let plan = "Plan not approved. User feedback:\n\nToo big\n\nPlease update the plan based on \
        this feedback and try again.";
    assert_eq!(results(&[complete("p", plan)])[1], "prompt: Too big");
    for (message, wanted) in [
        ("Permission denied and could not request permission from user", "Rejected"),
        ("The execution of this tool, or a previous tool was interrupted.", "Interrupted"),
        ("Path does not exist", "Failed(None)"),
    ] {
        let found = results(&[failed("c", json!({ "message": message, "code": "failure" }))]);
        assert_eq!(found, [format!("result c: {wanted} {message}")]);
    }
}

#[test]
fn only_typed_text_is_a_prompt() {
    let message = |more: Value| {
        let mut data = json!({ "content": " Fix it ", "transformedContent": "<x>Fix it" });
        data.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event("user.message", data)
    };
    assert_eq!(results(&[message(json!({}))]), ["prompt: Fix it"]);
    for more in [
        json!({ "source": "skill-pdf" }),
        json!({ "source": "agent-a1" }),
        json!({ "isAutopilotContinuation": true }),
    ] {
        let skipped = RecordVerdict::Skipped("user.message".to_owned());
        assert_eq!(verdict(&Copilot, &message(more)), skipped);
    }
}

#[test]
fn tools_become_actions() {
    for (tool, arguments, wanted) in [
        ("view", json!({ "path": "/a" }), "Read { path: \"/a\" }"),
        ("rg", json!({ "pattern": "x" }), "Search { pattern: \"x\", path: None }"),
        ("apply_patch", json!("*** Add File: n\n+x"), "path: \"n\", kind: Written"),
        ("update_todo", json!({ "todos": "- [x] a\n- [ ] b" }), "state: Completed }, Task"),
        ("exit_plan_mode", json!({ "summary": "Do" }), "ProposePlan { plan: \"Do\" }"),
        ("edit", json!({ "path": "/a", "old_str": "a", "new_str": "b" }), "old: \"a\", new: \"b\""),
        ("web_fetch", json!({ "url": "u" }), "Fetch { what: \"u\" }"),
    ] {
        let found = items(&Copilot, &[start("c", tool, arguments)]).remove(0);
        assert!(found.contains(wanted), "{found}");
    }
}

#[test]
fn tasks_are_read_from_the_table_of_the_session() {
    let sql = |query: &str| start("c", "sql", json!({ "query": query }));
    let records = [
        sql("INSERT INTO todos (id, title) VALUES ('a', 'Read'), ('b', 'Write')"),
        sql("UPDATE todos SET status = 'in_progress' WHERE id = 'b'"),
        sql("SELECT * FROM todos"),
    ];
    let items = items(&Copilot, &records);
    assert!(items[1].contains("\"Read\", state: Pending"), "{}", items[1]);
    assert!(items[1].contains("\"Write\", state: InProgress"), "{}", items[1]);
    assert_eq!(items[2], "call c: sql");
}

#[test]
fn the_name_of_an_mcp_tool_contains_its_server() {
    for data in [
        json!({ "mcpServerName": "linear", "mcpToolName": "get_issue" }),
        json!({ "mcpServerName": "linear" }),
    ] {
        let mut record = start("c", "linear-get_issue", json!({}));
        record["data"].as_object_mut().unwrap().extend(data.as_object().unwrap().clone());
        assert_eq!(items(&Copilot, &[record]), ["call c: mcp__linear__get_issue"]);
    }
}

#[test]
fn tokens_are_counted_once() {
    let message = |output: u64| {
        event("assistant.message", json!({ "content": "Hi", "outputTokens": output }))
    };
    let used = json!({
        "inputTokens": 1000, "outputTokens": 50, "cacheReadTokens": 600, "cacheWriteTokens": 100,
    });
    let shutdown = event(
        "session.shutdown",
        json!({ "shutdownType": "routine", "modelMetrics": { "m": { "usage": used } } }),
    );
    let items = items(&Copilot, &[message(20), message(10), shutdown.clone(), shutdown]);
    let tokens: Vec<&String> = items.iter().filter(|item| item.starts_with("tokens:")).collect();
    assert_eq!(tokens, ["tokens: 0 20 0 0", "tokens: 0 10 0 0", "tokens: 300 20 600 100"]);
}

#[test]
fn changes_of_the_context_are_read() {
    let records = [
        event("session.resume", json!({ "context": { "cwd": "/p", "branch": "main" } })),
        event("session.model_change", json!({ "newModel": "m" })),
        event("session.context_changed", json!({ "cwd": "/q", "branch": "main" })),
        event("session.compaction_complete", json!({ "success": true, "summaryContent": "S" })),
        event("session.compaction_complete", json!({ "success": false })),
        event("abort", json!({ "reason": "user_initiated" })),
        event("session.error", json!({ "errorType": "quota", "message": "Too much" })),
    ];
    assert_eq!(
        items(&Copilot, &records),
        [
            "context: /p main",
            "context: m",
            "context: /q",
            "Boundary",
            "Recap { kind: Compaction, text: \"S\" }",
            "Interrupted",
            "ServiceError(\"Too much\")",
        ]
    );
}
