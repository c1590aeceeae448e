//! The records of both versions of opencode.

use serde_json::{Value, json};

use super::{
    entries,
    fixture::{Running, tool},
    records,
};
use crate::{
    format::{Format, opencode::Opencode},
    storage,
};

const SESSION: &str = "ses_1";

#[test]
fn a_session_of_version_1_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let mut running = Running::version_1(folder.path());
    running.session(SESSION, None);
    running.user(SESSION, "msg_1", "Make the test pass");
    let noise = json!({ "type": "text", "text": "Called the Read tool", "synthetic": true });
    running.part(SESSION, "msg_1", "prt_msg_1b", noise);
    running.answer(SESSION, "msg_2", None);
    running.part(SESSION, "msg_2", "prt_2a", json!({ "type": "step-start", "snapshot": "abc" }));
    let thought = json!({ "type": "reasoning", "text": "Hm", "time": { "start": 1, "end": 2 } });
    running.part(SESSION, "msg_2", "prt_2b", thought);
    let text = json!({ "type": "text", "text": "I run it.", "time": { "start": 1, "end": 2 } });
    running.part(SESSION, "msg_2", "prt_2c", text);
    let failed = json!({ "output": "1 failed", "metadata": { "exit": 1, "output": "1 failed" } });
    let input = json!({ "command": "cargo test", "description": "Run the tests" });
    running.part(SESSION, "msg_2", "prt_2d", tool("bash", "completed", input, failed));
    let input = json!({ "filePath": "/p/a.rs", "oldString": "1", "newString": "2" });
    let edited = json!({ "output": "", "metadata": { "diff": "a long diff" } });
    running.part(SESSION, "msg_2", "prt_2e", tool("edit", "completed", input, edited));
    let refused = json!({ "error": "The user rejected permission to use this specific tool call \
        with the following feedback: not this file" });
    let input = json!({ "filePath": "/p/b.rs", "content": "x" });
    running.part(SESSION, "msg_2", "prt_2f", tool("write", "error", input, refused));
    let asked = json!({ "questions": [{ "question": "Which?", "header": "Which",
        "options": [{ "label": "a" }, { "label": "b" }] }] });
    let answered = json!({ "output": "User has answered", "metadata": { "answers": [["b"]] } });
    running.part(SESSION, "msg_2", "prt_2g", tool("question", "completed", asked, answered));
    running.answer(SESSION, "msg_2", Some(9));
    running.title("session", SESSION, "A failing test");
    let read = entries(&running.session_path(SESSION));
    assert_eq!(
        read,
        [
            "context: Some(\"/home/dev/proj\") Some(\"1.4.0\") None",
            "context: None None Some(\"claude-sonnet-4\")",
            "prompt: Make the test pass",
            "skipped text",
            "skipped step-start",
            "skipped reasoning",
            "reply: I run it.",
            "call: Run { command: \"cargo test\", purpose: Some(\"Run the tests\") }",
            "result: Failed(Some(1)) 1 failed",
            "call: Change([FileChange { path: \"/p/a.rs\", kind: Edited, edits: [Replacement { \
             old: \"1\", new: \"2\" }] }])",
            "result: Succeeded ",
            "call: Change([FileChange { path: \"/p/b.rs\", kind: Written, edits: [Replacement { \
             old: \"\", new: \"x\" }] }])",
            "result: Rejected The user rejected permission to use this specific tool call with \
             the following feedback: not this file",
            "prompt: not this file",
            "call: Ask([UserQuestion { explanations: [\"\", \"\"], header: Some(\"Which\"), question: \"Which?\", options: \
             [\"a\", \"b\"] }])",
            "answer: Which? b",
            "result: Succeeded User has answered",
            "tokens: 10 7 100 7",
            "title: A failing test",
        ]
    );
}

#[test]
fn a_compaction_an_error_and_an_interruption_of_version_1_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let mut running = Running::version_1(folder.path());
    running.session(SESSION, None);
    running.message(SESSION, "msg_1", json!({ "role": "user" }));
    running.part(SESSION, "msg_1", "prt_1", json!({ "type": "compaction", "auto": true }));
    let time = json!({ "created": 1_700_000_100_000_i64, "completed": 2 });
    let summary = json!({ "role": "assistant", "summary": true, "time": time });
    running.message(SESSION, "msg_2", summary);
    running.part(SESSION, "msg_2", "prt_2", json!({ "type": "text", "text": "So far: all" }));
    let error = |name: &str| {
        let time = json!({ "created": 1_700_000_200_000_i64, "completed": 2 });
        json!({ "role": "assistant", "time": time,
            "error": { "name": name, "data": { "message": "overloaded" } } })
    };
    running.message(SESSION, "msg_3", error("APIError"));
    running.message(SESSION, "msg_4", error("MessageAbortedError"));
    let read = entries(&running.session_path(SESSION));
    assert_eq!(
        read[1..],
        [
            "skipped compaction",
            "Boundary",
            "recap: So far: all",
            "ServiceError(\"overloaded\")",
            "Interrupted"
        ]
    );
}

#[test]
fn a_session_of_version_2_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let mut running = Running::version_2(folder.path());
    running.session_2(SESSION, None);
    running.row(SESSION, 1, "user", json!({ "text": "Make the test pass" }));
    running.row(SESSION, 2, "system", json!({ "text": "Instructions" }));
    let content = json!([
        { "type": "reasoning", "text": "Hm" },
        { "type": "text", "text": "I run it." },
        { "type": "tool", "id": "call_1", "name": "shell",
          "time": { "created": 1, "ran": 2, "completed": 3 },
          "state": { "status": "completed", "input": { "command": "cargo test" },
            "content": [{ "type": "text", "text": "1 failed" }], "metadata": { "exit": 1 } } },
        { "type": "tool", "id": "call_2", "name": "read", "time": { "created": 1 },
          "state": { "status": "error", "input": { "path": "a.rs" },
            "error": { "type": "tool", "message": "no such file" } } },
    ]);
    running.row(SESSION, 3, "assistant", answer_2(&content, Some(9)));
    running.row(SESSION, 4, "model-switched", json!({ "model": { "id": "gpt-5" } }));
    let notice = "<shell id=\"call_3\" state=\"error\" command=\"x\">\nbroken\n</shell>";
    running.row(SESSION, 5, "synthetic", json!({ "text": notice }));
    let shell = json!({ "command": "ls", "status": "exited", "output": { "output": "a.rs" },
        "time": { "created": 1, "completed": 2 } });
    running.row(SESSION, 6, "shell", shell);
    running.row(SESSION, 7, "compaction", json!({ "status": "completed", "summary": "So far" }));
    running.row(SESSION, 8, "idle", json!({ "outcome": "interrupted" }));
    running.title("session_v2", SESSION, "A failing test");
    let read = entries(&running.session_path(SESSION));
    assert_eq!(
        read,
        [
            "context: Some(\"/home/dev/proj\") Some(\"2.0.3\") None",
            "prompt: Make the test pass",
            "skipped system",
            "context: None None Some(\"claude-sonnet-4\")",
            "skipped reasoning",
            "reply: I run it.",
            "call: Run { command: \"cargo test\", purpose: None }",
            "result: Failed(Some(1)) 1 failed",
            "call: Read { path: \"a.rs\" }",
            "result: Failed(None) no such file",
            "tokens: 1 2 3 4",
            "title: A failing test",
            "context: None None Some(\"gpt-5\")",
            "ended: call_3 Failed(None) broken",
            "command: ! ls",
            "ShellOutput(\"a.rs\")",
            "Boundary",
            "recap: So far",
            "Interrupted",
        ]
    );
}

fn answer_2(content: &Value, completed: Option<i64>) -> Value {
    json!({
        "agent": "build", "model": { "id": "claude-sonnet-4", "providerID": "anthropic" },
        "content": content, "time": { "created": 1, "completed": completed },
        "tokens": { "input": 1, "output": 2, "reasoning": 0, "cache": { "read": 3, "write": 4 } },
    })
}

/// Checks that the records of each state of a session begin with the records of the earlier state,
/// and that the stamp changes when there are more records.
struct Follower {
    running: Running,
    records: String,
    steps: usize,
}

impl Follower {
    fn step(&mut self, change: impl FnOnce(&mut Running)) {
        let path = self.running.session_path(SESSION);
        let before = storage::stamp(&path).unwrap();
        change(&mut self.running);
        self.steps += 1;
        let records = records(&path);
        assert!(records.starts_with(&self.records), "step {}: {records}", self.steps);
        if records != self.records {
            assert_ne!(storage::stamp(&path).unwrap(), before, "step {}", self.steps);
        }
        self.records = records;
    }
}

#[test]
fn records_of_version_1_are_only_added() {
    let folder = tempfile::tempdir().unwrap();
    let mut running = Running::version_1(folder.path());
    running.session(SESSION, None);
    let mut follower = Follower { running, records: String::new(), steps: 0 };
    let text = |text: &str, end: Option<i64>| json!({ "type": "text", "text": text, "time": { "start": 1, "end": end } });
    let open = |text: &str| json!({ "type": "text", "text": text, "time": { "start": 1 } });
    let run = |status: &str, more: Value| {
        let input = if status == "pending" { json!({}) } else { json!({ "command": "make" }) };
        tool("bash", status, input, more)
    };
    follower.step(|r| r.user(SESSION, "msg_1", "Go"));
    follower.step(|r| r.answer(SESSION, "msg_2", None));
    follower.step(|r| r.part(SESSION, "msg_2", "prt_2a", open("")));
    follower.step(|r| r.part(SESSION, "msg_2", "prt_2a", open("Wor")));
    follower.step(|r| r.part(SESSION, "msg_2", "prt_2a", text("Working", Some(2))));
    follower.step(|r| r.part(SESSION, "msg_2", "prt_2b", run("pending", json!({ "raw": "" }))));
    follower.step(|r| r.part(SESSION, "msg_2", "prt_2b", run("running", json!({}))));
    // A second call runs at the same time and ends first.
    follower.step(|r| r.part(SESSION, "msg_2", "prt_2c", run("running", json!({}))));
    follower
        .step(|r| r.part(SESSION, "msg_2", "prt_2c", run("completed", json!({ "output": "2" }))));
    follower.step(|r| r.user(SESSION, "msg_3", "Queued"));
    let metadata = json!({ "metadata": { "output": "some" } });
    follower.step(|r| r.part(SESSION, "msg_2", "prt_2b", run("running", metadata)));
    follower
        .step(|r| r.part(SESSION, "msg_2", "prt_2b", run("completed", json!({ "output": "1" }))));
    follower.step(|r| r.answer(SESSION, "msg_2", Some(9)));
    assert!(follower.records.contains("Queued"));
    follower.step(|r| r.answer(SESSION, "msg_4", None));
    // opencode is killed while a command runs, and the session is resumed.
    follower.step(|r| r.part(SESSION, "msg_4", "prt_4a", run("running", json!({}))));
    follower.step(|r| r.user(SESSION, "msg_5", "Again"));
    follower.step(|r| r.answer(SESSION, "msg_6", None));
    follower.step(|r| r.answer(SESSION, "msg_6", Some(10)));
    // Old output is removed from the context.
    let time = json!({ "start": 5, "end": 6, "compacted": 7 });
    let pruned = run("completed", json!({ "output": "1", "time": time }));
    follower.step(|r| r.part(SESSION, "msg_2", "prt_2b", pruned));
    let diffs = json!({ "role": "user", "summary": { "title": "t", "diffs": [] },
        "time": { "created": 1_700_000_002_000_i64 },
        "model": { "providerID": "anthropic", "modelID": "claude-sonnet-4" } });
    follower.step(|r| r.message(SESSION, "msg_1", diffs));
    assert!(follower.records.contains("Again"));
}

#[test]
fn records_of_version_2_are_only_added() {
    let folder = tempfile::tempdir().unwrap();
    let mut running = Running::version_2(folder.path());
    running.session_2(SESSION, None);
    let mut follower = Follower { running, records: String::new(), steps: 0 };
    let call = |status: &str, state: Value| {
        let mut state = state;
        state["status"] = json!(status);
        json!({ "type": "tool", "id": "c", "name": "shell", "time": { "created": 1 }, "state": state })
    };
    let text = |text: &str| json!({ "type": "text", "text": text });
    let run = json!({ "input": { "command": "make" } });
    let done =
        json!({ "input": { "command": "make" }, "content": [{ "type": "text", "text": "1" }] });
    let states = [
        (json!([]), None),
        (json!([text("")]), None),
        (json!([text("Working")]), None),
        (json!([text("Working"), call("streaming", json!({ "input": "{\"comm" }))]), None),
        (json!([text("Working"), call("running", run.clone())]), None),
        (json!([text("Working"), call("completed", done.clone())]), None),
        (json!([text("Working"), call("completed", done.clone()), text("Do")]), None),
        (json!([text("Working"), call("completed", done.clone()), text("Done")]), Some(9)),
    ];
    follower.step(|r| r.row(SESSION, 1, "user", json!({ "text": "Go" })));
    for (content, completed) in states {
        follower.step(|r| r.row(SESSION, 2, "assistant", answer_2(&content, completed)));
    }
    follower.step(|r| r.row(SESSION, 3, "shell", json!({ "command": "ls", "status": "running" })));
    follower.step(|r| r.row(SESSION, 4, "user", json!({ "text": "More" })));
    follower.step(|r| r.row(SESSION, 5, "assistant", answer_2(&json!([]), None)));
    assert!(follower.records.contains("More"));
}

#[test]
fn a_session_in_the_tables_of_both_versions_is_read_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut running = Running::version_1(folder.path());
    running.session(SESSION, None);
    running.user(SESSION, "msg_1", "Of version 1");
    running.session("ses_old", None);
    running.user("ses_old", "msg_o", "Not copied");
    running.add_version_2();
    assert!(records(&running.session_path(SESSION)).contains("Of version 1"));
    running.session_2(SESSION, None);
    running.row(SESSION, 1, "user", json!({ "text": "Of version 2" }));
    let both = records(&running.session_path(SESSION));
    assert!(both.contains("Of version 2") && !both.contains("Of version 1"));
    assert!(records(&running.session_path("ses_old")).contains("Not copied"));
}

#[test]
fn a_sub_agent_belongs_to_the_session_that_the_user_started() {
    let folder = tempfile::tempdir().unwrap();
    let mut running = Running::version_1(folder.path());
    running.session("ses_root", None);
    running.session("ses_child", Some("ses_root"));
    running.session("ses_grandchild", Some("ses_child"));
    running.user("ses_grandchild", "msg_1", "Look for it");
    let path = running.session_path("ses_grandchild");
    assert!(Opencode.claims(&path));
    let identity = Opencode.identify(&path, &records(&path)).unwrap();
    assert_eq!(identity.session, "ses_root");
    assert_eq!(identity.sub_agent.as_deref(), Some("ses_grandchild"));
    assert_eq!(identity.directory.as_deref(), Some("/home/dev/proj"));
    assert!(entries(&path).contains(&"instruction: Look for it".to_owned()));
    let root = running.session_path("ses_root");
    assert_eq!(Opencode.identify(&root, &records(&root)).unwrap().sub_agent, None);
}
