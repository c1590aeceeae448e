//! Writes the same turns in the format of each agent.

use graphiti_tests::{Random, made_up::Library};
use graphitid::model::Timestamp;
use serde_json::{Value, json};

/// The start of histories, in seconds since the epoch; each turn is a minute later.
const BEGIN: i64 = 1_780_000_000;
pub(super) const CWD: &str = "/home/ann/app";

/// A prompt, and the agent's work for it.
pub(super) struct Turn {
    session: String,
    number: u64,
    prompt: String,
    reply: String,
    command: String,
    output: String,
    path: String,
    old: String,
    new: String,
    report: String,
}

impl Turn {
    pub(super) fn new(session: &str, number: u64, library: &Library, random: &mut Random) -> Turn {
        Turn {
            session: session.to_owned(),
            number,
            prompt: library.prose(random, 150).to_owned(),
            reply: library.prose(random, 200).to_owned(),
            command: format!("cargo test {}", library.word(random)),
            output: library.noise(random, 3_000).to_owned(),
            path: library.path(random),
            old: library.code(random, 200).to_owned(),
            new: library.code(random, 300).to_owned(),
            report: library.prose(random, 300).to_owned(),
        }
    }

    /// Returns the time at this second of the turn.
    fn at(&self, second: i64) -> String {
        self.time(second).to_string()
    }

    pub(super) fn time(&self, second: i64) -> Timestamp {
        let seconds = BEGIN + 60 * i64::try_from(self.number).expect("a small number") + second;
        Timestamp::from_micros(seconds * 1_000_000)
    }

    fn id(&self, part: u64) -> String {
        format!("00000000-0000-4000-8000-{:012x}", self.number * 16 + part)
    }

    fn call(&self, part: u64) -> String {
        format!("call_{}_{part}", self.number)
    }
}

/// Returns the records at the start of a transcript.
pub(super) fn head(agent: &str, session: &str) -> Vec<Value> {
    let at = Timestamp::from_micros(BEGIN * 1_000_000).to_string();
    match agent {
        "codex" => vec![json!({
            "timestamp": at, "type": "session_meta",
            "payload": { "id": session, "timestamp": at, "cwd": CWD, "originator": "codex_exec",
                "cli_version": "0.169.0", "git": { "branch": "main" } },
        })],
        "copilot" => vec![json!({
            "type": "session.start", "id": "start", "timestamp": at,
            "data": { "sessionId": session, "copilotVersion": "1.0.102",
                "context": { "cwd": CWD, "branch": "main" } },
        })],
        "gemini" => vec![json!({
            "sessionId": session, "projectHash": "app", "startTime": at, "kind": "main",
        })],
        "pi" => vec![json!({
            "type": "session", "version": 3, "id": session, "timestamp": at, "cwd": CWD,
        })],
        _ => Vec::new(),
    }
}

/// Returns the records of a turn.
pub(super) fn records(agent: &str, turn: &Turn) -> Vec<Value> {
    match agent {
        "claude" => claude(turn),
        "codex" => codex(turn),
        "copilot" => copilot(turn),
        "gemini" => gemini(turn),
        "pi" => pi(turn),
        "qwen" => qwen(turn),
        "cursor" => cursor(turn),
        other => panic!("{other} stores no transcript as lines of a file"),
    }
}

fn claude(turn: &Turn) -> Vec<Value> {
    let record = |part: u64, role: &str, content: Value| {
        json!({
            "type": role, "uuid": turn.id(part), "sessionId": turn.session, "cwd": CWD,
            "version": "2.1.197", "gitBranch": "main", "timestamp": turn.at(part as i64),
            "message": { "id": turn.id(part), "role": role, "content": content },
        })
    };
    let call = |part: u64, name: &str, input: Value| json!({ "type": "tool_use", "id": turn.call(part), "name": name, "input": input });
    let result = |part: u64, text: &str| json!([{ "type": "tool_result", "tool_use_id": turn.call(part), "content": text }]);
    let edit = json!({ "file_path": turn.path, "old_string": turn.old, "new_string": turn.new });
    let text = |text: &str| json!({ "type": "text", "text": text });
    let run = call(1, "Bash", json!({ "command": turn.command }));
    vec![
        record(1, "user", json!(turn.prompt)),
        record(2, "assistant", json!([text(&turn.reply), run])),
        record(3, "user", result(1, &turn.output)),
        record(4, "assistant", json!([call(2, "Edit", edit)])),
        record(5, "user", result(2, "The file has been updated.")),
        record(6, "assistant", json!([text(&turn.report)])),
    ]
}

fn codex(turn: &Turn) -> Vec<Value> {
    let item = |part: u64, payload: Value| json!({ "timestamp": turn.at(part as i64), "type": "response_item", "payload": payload });
    let message = |role: &str, kind: &str, text: &str| json!({ "type": "message", "role": role, "content": [{ "type": kind, "text": text }] });
    let changed = |mark: char, text: &str| -> String {
        text.lines().map(|line| format!("{mark}{line}\n")).collect()
    };
    let (old, new) = (changed('-', &turn.old), changed('+', &turn.new));
    let patch =
        format!("*** Begin Patch\n*** Update File: {}\n@@\n{old}{new}*** End Patch\n", turn.path);
    let output = format!("Exit code: 0\nWall time: 0.1 seconds\nOutput:\n{}", turn.output);
    vec![
        item(1, message("user", "input_text", &turn.prompt)),
        item(2, message("assistant", "output_text", &turn.reply)),
        item(
            3,
            json!({ "type": "function_call", "name": "exec_command", "call_id": turn.call(1),
            "arguments": json!({ "cmd": turn.command }).to_string() }),
        ),
        item(
            4,
            json!({ "type": "function_call_output", "call_id": turn.call(1), "output": output }),
        ),
        item(
            5,
            json!({ "type": "custom_tool_call", "name": "apply_patch",
            "call_id": turn.call(2), "input": patch }),
        ),
        item(
            6,
            json!({ "type": "custom_tool_call_output", "call_id": turn.call(2),
            "output": "Success. Updated the following files:\nM a\n" }),
        ),
        item(7, message("assistant", "output_text", &turn.report)),
    ]
}

fn copilot(turn: &Turn) -> Vec<Value> {
    let event = |part: u64, kind: &str, data: Value| json!({ "type": kind, "id": turn.id(part), "timestamp": turn.at(part as i64), "data": data });
    let start = |part: u64, tool: &str, arguments: Value| {
        let data =
            json!({ "toolCallId": turn.call(part), "toolName": tool, "arguments": arguments });
        event(part * 2, "tool.execution_start", data)
    };
    let end = |part: u64, text: &str| {
        let result = json!({ "content": text, "detailedContent": text });
        let data = json!({ "toolCallId": turn.call(part), "success": true, "result": result });
        event(part * 2 + 1, "tool.execution_complete", data)
    };
    let edit = json!({ "path": turn.path, "old_str": turn.old, "new_str": turn.new });
    let printed = format!("{}\n<shellId: 1 completed with exit code 0>", turn.output);
    let reply = |part: u64, text: &str| {
        event(part, "assistant.message", json!({ "messageId": turn.id(part), "content": text }))
    };
    vec![
        event(1, "user.message", json!({ "content": turn.prompt })),
        reply(2, &turn.reply),
        start(2, "bash", json!({ "command": turn.command })),
        end(2, &printed),
        start(3, "edit", edit),
        end(3, "File updated with changes."),
        reply(9, &turn.report),
    ]
}

fn gemini(turn: &Turn) -> Vec<Value> {
    let message = |part: u64, kind: &str, content: Value| {
        json!({ "id": turn.id(part), "timestamp": turn.at(part as i64), "type": kind,
            "content": content })
    };
    let call = |part: u64, name: &str, args: Value, output: &str| {
        let id = turn.call(part);
        let response = json!({ "id": id, "name": name, "response": { "output": output } });
        json!({ "id": id, "name": name, "args": args, "status": "success",
            "timestamp": turn.at(part as i64), "result": [{ "functionResponse": response }] })
    };
    let edit = json!({ "file_path": turn.path, "old_string": turn.old, "new_string": turn.new });
    let run = json!({ "command": turn.command });
    let mut work = message(2, "gemini", json!(turn.reply));
    work["toolCalls"] = json!([
        call(1, "run_shell_command", run, &format!("Output: {}\nExit Code: 0", turn.output)),
        call(2, "replace", edit, "Successfully modified file"),
    ]);
    vec![
        message(1, "user", json!([{ "text": turn.prompt }])),
        work,
        message(3, "gemini", json!(turn.report)),
    ]
}

fn pi(turn: &Turn) -> Vec<Value> {
    let message = |part: u64, message: Value| {
        json!({ "type": "message", "id": format!("{:08x}", turn.number * 16 + part),
            "parentId": format!("{:08x}", (turn.number * 16 + part).saturating_sub(1)),
            "timestamp": turn.at(part as i64), "message": message })
    };
    let text = |text: &str| json!({ "type": "text", "text": text });
    let call = |part: u64, name: &str, arguments: Value| json!({ "type": "toolCall", "id": turn.call(part), "name": name, "arguments": arguments });
    let result = |part: u64, name: &str, output: &str| {
        json!({ "role": "toolResult", "toolCallId": turn.call(part), "toolName": name,
            "content": [text(output)], "isError": false })
    };
    let edits = json!([{ "oldText": turn.old, "newText": turn.new }]);
    let run = call(1, "bash", json!({ "command": turn.command }));
    let edit = call(2, "edit", json!({ "path": turn.path, "edits": edits }));
    let reply = |content: Value| json!({ "role": "assistant", "content": content });
    vec![
        message(1, json!({ "role": "user", "content": [text(&turn.prompt)] })),
        message(2, reply(json!([text(&turn.reply), run]))),
        message(3, result(1, "bash", &turn.output)),
        message(4, reply(json!([edit]))),
        message(5, result(2, "edit", "Successfully replaced 1 block(s).")),
        message(6, reply(json!([text(&turn.report)]))),
    ]
}

fn qwen(turn: &Turn) -> Vec<Value> {
    let record = |part: u64, kind: &str, parts: Value| {
        let role = if kind == "assistant" { "model" } else { "user" };
        json!({ "uuid": turn.id(part), "parentUuid": null, "sessionId": turn.session,
            "timestamp": turn.at(part as i64), "type": kind, "cwd": CWD, "version": "0.6.0",
            "gitBranch": "main", "message": { "role": role, "parts": parts } })
    };
    let call = |part: u64, name: &str, args: Value| json!({ "functionCall": { "id": turn.call(part), "name": name, "args": args } });
    let result = |part: u64, name: &str, output: &str| {
        let response = json!({ "output": output });
        let part = json!({ "id": turn.call(part), "name": name, "response": response });
        json!([{ "functionResponse": part }])
    };
    let edit = json!({ "file_path": turn.path, "old_string": turn.old, "new_string": turn.new });
    let run = call(1, "run_shell_command", json!({ "command": turn.command }));
    let output = format!("Output: {}\nExit Code: 0", turn.output);
    vec![
        record(1, "user", json!([{ "text": turn.prompt }])),
        record(2, "assistant", json!([{ "text": turn.reply }, run])),
        record(3, "tool_result", result(1, "run_shell_command", &output)),
        record(4, "assistant", json!([call(2, "edit", edit)])),
        record(5, "tool_result", result(2, "edit", "Successfully modified file")),
        record(6, "assistant", json!([{ "text": turn.report }])),
    ]
}

/// Returns the records of Cursor CLI; they contain no outputs of tools, because Cursor stores none.
fn cursor(turn: &Turn) -> Vec<Value> {
    let record =
        |role: &str, content: Value| json!({ "role": role, "message": { "content": content } });
    let text = |text: &str| json!({ "type": "text", "text": text });
    let call =
        |name: &str, input: Value| json!({ "type": "tool_use", "name": name, "input": input });
    let edit = json!({ "path": turn.path, "old_string": turn.old, "new_string": turn.new });
    let run = call("Shell", json!({ "command": turn.command, "working_directory": CWD }));
    vec![
        record("user", json!([text(&format!("<user_query>\n{}\n</user_query>", turn.prompt))])),
        record("assistant", json!([text(&turn.reply), run])),
        record("assistant", json!([call("StrReplace", edit)])),
        record("assistant", json!([text(&turn.report)])),
    ]
}

/// The rows of opencode 1 for a turn.
pub(super) struct TurnRows {
    pub(super) at: i64,
    pub(super) prompt: Value,
    pub(super) prompt_parts: Vec<Value>,
    pub(super) answer: Value,
    pub(super) answer_parts: Vec<Value>,
}

pub(super) fn rows(turn: &Turn) -> TurnRows {
    let at = turn.time(0).micros() / 1_000;
    let text =
        |text: &str| json!({ "type": "text", "text": text, "time": { "start": at, "end": at } });
    let tool = |part: u64, name: &str, input: Value, output: &str| {
        json!({ "type": "tool", "callID": turn.call(part), "tool": name, "state": {
            "status": "completed", "input": input, "output": output, "title": name,
            "metadata": { "exit": 0 }, "time": { "start": at, "end": at + 1_000 } } })
    };
    let edit = json!({ "filePath": turn.path, "oldString": turn.old, "newString": turn.new });
    TurnRows {
        at,
        prompt: json!({ "role": "user", "time": { "created": at }, "agent": "build" }),
        prompt_parts: vec![json!({ "type": "text", "text": turn.prompt })],
        answer: json!({ "role": "assistant", "modelID": "m-1", "path": { "cwd": CWD, "root": CWD },
            "time": { "created": at + 1_000, "completed": at + 9_000 },
            "tokens": { "input": 10, "output": 5, "reasoning": 2, "cache": { "read": 1, "write": 7 } } }),
        answer_parts: vec![
            text(&turn.reply),
            tool(1, "bash", json!({ "command": turn.command }), &turn.output),
            tool(2, "edit", edit, "Edit applied successfully."),
            text(&turn.report),
        ],
    }
}
