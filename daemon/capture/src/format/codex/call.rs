//! Reads calls of tools and their results.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::{
    format::{
        RecordVerdict,
        codex::{
            RolloutEmitter, action,
            memory::{AskedQuestion, Continuation, PRINTED, RunningScript, rollout},
            output::{self, OutputHeader},
            record_uuid, script,
            script_output::{self, ScriptState},
            short,
        },
        json::{self, Object},
        limits::{INPUT_KEPT, NAME_KEPT, TEXT_KEPT},
    },
    model::transcript::{Action, Call, Item, LazyText, Outcome, ToolResult},
};

pub(super) fn function(payload: &Object<'_>, out: &mut RolloutEmitter<'_>) -> RecordVerdict {
    let (Some(call), Some(name)) = (short(payload, "call_id", NAME_KEPT), payload.string("name"))
    else {
        return RecordVerdict::Skipped("response_item/nameless call".to_owned());
    };
    let arguments = payload.string("arguments").unwrap_or_default();
    let input = json::value_within(&arguments, INPUT_KEPT);
    let namespace = short(payload, "namespace", NAME_KEPT);
    if name == "write_stdin" && read_continuation(&call, &input, out) {
        return RecordVerdict::Skipped("response_item/write_stdin".to_owned());
    }
    let cell = input["cell_id"].as_str().unwrap_or_default();
    if name == "wait" && rollout(out.memory).wait_for_script(cell, &call) {
        return RecordVerdict::Skipped("response_item/wait".to_owned());
    }
    emit(&call, &full_name(namespace.as_deref(), &name), input, out)
}

pub(super) fn custom(payload: &Object<'_>, out: &mut RolloutEmitter<'_>) -> RecordVerdict {
    let (Some(call), Some(name)) = (short(payload, "call_id", NAME_KEPT), payload.string("name"))
    else {
        return RecordVerdict::Skipped("response_item/nameless call".to_owned());
    };
    let text = payload.string_within("input", INPUT_KEPT).unwrap_or_default();
    if name == "exec" && script_calls(&call, &text, out) {
        return RecordVerdict::Read;
    }
    emit(&call, &name, json!({ "input": text }), out)
}

/// Emits the calls in a script of the code mode; returns whether the script contains any.
fn script_calls(call: &str, text: &str, out: &mut RolloutEmitter<'_>) -> bool {
    let mut calls = Vec::new();
    let mut is_stored = false;
    for script::NestedCall { tool, mut input } in script::calls(text) {
        let is_action = matches!(tool.as_str(), "exec_command" | "shell_command" | "apply_patch");
        if is_action && !is_stored && action::of(&tool, &input, "") == Action::Other {
            // The script shows what is not known of its calls.
            input = json!({ "script": text });
            is_stored = true;
        }
        let id = match calls.len() {
            0 => call.to_owned(),
            earlier => format!("{call}#{}", earlier + 1),
        };
        if tool != "write_stdin" || !read_continuation(&id, &input, out) {
            emit(&id, &tool, input, out);
        }
        calls.push((id, matches!(tool.as_str(), "exec_command" | "write_stdin")));
    }
    let has_calls = !calls.is_empty();
    if has_calls {
        let call = call.to_owned();
        rollout(out.memory).note_script(RunningScript { call, calls, ..RunningScript::default() });
    }
    has_calls
}

pub(super) fn local_shell(payload: &Object<'_>, out: &mut RolloutEmitter<'_>) -> RecordVerdict {
    let call = short(payload, "call_id", NAME_KEPT).or_else(|| short(payload, "id", NAME_KEPT));
    let input = json::value_within(payload.raw("action").unwrap_or("null"), INPUT_KEPT);
    emit(&call.unwrap_or_default(), "local_shell", input, out)
}

pub(super) fn tool_search(payload: &Object<'_>, out: &mut RolloutEmitter<'_>) -> RecordVerdict {
    let call = short(payload, "call_id", NAME_KEPT).unwrap_or_default();
    let input = json::value_within(payload.raw("arguments").unwrap_or("null"), INPUT_KEPT);
    emit(&call, "tool_search", input, out)
}

/// Reads a web search by the service. The record is both the call and the result.
pub(super) fn web_search(payload: &Object<'_>, out: &mut RolloutEmitter<'_>) -> RecordVerdict {
    let call = short(payload, "id", NAME_KEPT).unwrap_or_default();
    let input = json::value_within(payload.raw("action").unwrap_or("null"), INPUT_KEPT);
    if action::of("web_search", &input, "") == Action::Other {
        return RecordVerdict::Skipped("response_item/web_search_call".to_owned());
    }
    let verdict = emit(&call, "web_search", input, out);
    let outcome = match payload.string("status").as_deref() {
        Some("failed") => Outcome::Failed(None),
        _ => Outcome::Succeeded,
    };
    result(&call, outcome, LazyText::plain(""), out);
    verdict
}

fn emit(call: &str, tool: &str, input: Value, out: &mut RolloutEmitter<'_>) -> RecordVerdict {
    let action = action::of(tool, &input, &out.memory.cwd);
    if matches!(action, Action::Ask(_)) {
        note_questions(call, &input, out);
    }
    // Without an id of its own, a call cannot be told from the same call of another session.
    let uuid = (!call.is_empty()).then(|| record_uuid("call", call));
    let (id, tool) = (Cow::Borrowed(call), Cow::Borrowed(tool));
    out.identified(uuid, Item::Call(Call { id, message: None, tool, input, action }));
    RecordVerdict::Read
}

/// Returns the name of a tool; for a tool of an MCP server, in the form `mcp__server__tool`.
fn full_name<'n>(namespace: Option<&str>, name: &'n str) -> Cow<'n, str> {
    match namespace.filter(|namespace| namespace.starts_with("mcp__")) {
        Some(namespace) => {
            let (server, tool) = (namespace.trim_end_matches('_'), name.trim_start_matches('_'));
            Cow::Owned(format!("{server}__{tool}"))
        }
        None => Cow::Borrowed(name),
    }
}

fn process(id: &str) -> String {
    format!("process {id}")
}

fn agent(id: &str) -> String {
    format!("agent {id}")
}

/// Maximum length, in bytes, of an output that is appended to a command's earlier output.
const OUTPUT: usize = 64 * 1024;
/// The control character that interrupts a command.
const INTERRUPT: &str = "\u{3}";

/// Records the command that a `write_stdin` continues. Returns whether the call only waits for the
/// command or interrupts it. In this case, the result of the call is the result of the command.
fn read_continuation(call: &str, input: &Value, out: &mut RolloutEmitter<'_>) -> bool {
    let id = match &input["session_id"] {
        Value::Number(id) => id.to_string(),
        Value::String(id) => id.clone(),
        _ => return false,
    };
    let typed = input["chars"].as_str().unwrap_or_default();
    let is_emitted = !(typed.is_empty() || typed == INTERRUPT);
    let (call, work) = (call.to_owned(), process(&id));
    rollout(out.memory).note_continuation(Continuation { call, work, is_emitted });
    !is_emitted
}

fn note_questions(call: &str, input: &Value, out: &mut RolloutEmitter<'_>) {
    for question in input["questions"].as_array().into_iter().flatten() {
        let text = |key: &str| question[key].as_str().unwrap_or_default().to_owned();
        let (id, text) = (text("id"), text("question"));
        rollout(out.memory).note_question(AskedQuestion { call: call.to_owned(), id, text });
    }
}

pub(super) fn output(payload: &Object<'_>, out: &mut RolloutEmitter<'_>) -> RecordVerdict {
    let Some(call) = short(payload, "call_id", NAME_KEPT) else {
        return RecordVerdict::Skipped("response_item/nameless output".to_owned());
    };
    let raw = payload.raw("output").unwrap_or("\"\"");
    if let Some(script) = rollout(out.memory).take_script(&call) {
        return script_output(script, raw, out);
    }
    output_of(&call, raw, out)
}

/// Reads an output of a script of the code mode, and divides it among the calls in the script.
fn script_output(
    mut script: RunningScript,
    raw: &str,
    out: &mut RolloutEmitter<'_>,
) -> RecordVerdict {
    let (state, texts) = script_output::read(raw);
    let remaining = PRINTED.saturating_sub(script.texts.iter().map(String::len).sum());
    if let ScriptState::Running(cell) = state {
        script.cell = cell;
        script.texts.extend(script_output::begin(texts, remaining));
        rollout(out.memory).note_script(script);
        return RecordVerdict::Skipped("response_item/still running".to_owned());
    }
    script.texts.extend(texts);
    for (call, text) in script_output::by_call(script, &state) {
        let raw = Value::String(text).to_string();
        let _ = output_of(&call, &raw, out);
    }
    RecordVerdict::Read
}

/// Reads the output of one call.
fn output_of(call: &str, raw: &str, out: &mut RolloutEmitter<'_>) -> RecordVerdict {
    let header = OutputHeader::of(raw);
    let continued = rollout(out.memory).continued_by(call);
    if let Some(continuation) = continued {
        return continuation_ended(&continuation, raw, &header, out);
    }
    let reported = rollout(out.memory).reported_outcome(call);
    if let (Some(id), None) = (&header.running, reported) {
        let work = process(id);
        rollout(out.memory).note_ongoing(&work, call);
        rollout(out.memory).append_output(&work, &output::printed(raw).decode(PRINTED));
        return RecordVerdict::Skipped("response_item/still running".to_owned());
    }
    if let Some(verdict) = read_agent_output(call, raw, &header.printed, out) {
        return verdict;
    }
    let outcome = match header.outcome() {
        Outcome::Succeeded => reported.unwrap_or(Outcome::Succeeded),
        outcome => outcome,
    };
    answers(call, raw, out);
    result(call, outcome, output::printed(raw), out);
    RecordVerdict::Read
}

/// Reads the output of a call that continues a command. When the command has ended, this output
/// completes the command's result.
fn continuation_ended(
    continuation: &Continuation,
    raw: &str,
    header: &OutputHeader,
    out: &mut RolloutEmitter<'_>,
) -> RecordVerdict {
    let is_over = header.running.is_none();
    let command = is_over.then(|| rollout(out.memory).take_ongoing(&continuation.work)).flatten();
    let printed = output::printed(raw);
    match &command {
        // The output of a poll continues the earlier output.
        Some((command, before)) if !before.is_empty() => {
            let whole = format!("{before}{}", printed.decode(OUTPUT));
            result(command, header.outcome(), LazyText::plain(&whole), out);
        }
        Some((command, _)) => result(command, header.outcome(), printed, out),
        None if !is_over => {
            rollout(out.memory).append_output(&continuation.work, &printed.decode(PRINTED));
        }
        None => {}
    }
    if continuation.is_emitted {
        result(&continuation.call, Outcome::Succeeded, output::printed(raw), out);
    }
    match command.is_some() || continuation.is_emitted {
        true => RecordVerdict::Read,
        false if is_over => RecordVerdict::Skipped("response_item/already ended".to_owned()),
        false => RecordVerdict::Skipped("response_item/still running".to_owned()),
    }
}

pub(super) fn tools_found(payload: &Object<'_>, out: &mut RolloutEmitter<'_>) -> RecordVerdict {
    let call = short(payload, "call_id", NAME_KEPT).unwrap_or_default();
    result(&call, Outcome::Succeeded, LazyText::plain(""), out);
    RecordVerdict::Read
}

pub(super) fn result(
    call: &str,
    outcome: Outcome,
    content: LazyText<'_>,
    out: &mut RolloutEmitter<'_>,
) {
    let uuid = record_uuid("result", call);
    let call = Cow::Owned(call.to_owned());
    out.identified(Some(uuid), Item::Result(ToolResult { call, outcome, content }));
}

/// Emits the user's answers. An answer contains the id of its question.
fn answers(call: &str, raw: &str, out: &mut RolloutEmitter<'_>) {
    let questions = rollout(out.memory).questions_of(call);
    if questions.is_empty() {
        return;
    }
    let text = json::string(raw).unwrap_or_default();
    let Some(answers) = Object::parse(&text).and_then(|object| object.object("answers")) else {
        return;
    };
    for AskedQuestion { id, text: question, .. } in questions {
        let Some(answer) = answers.object(&id).and_then(|one| one.raw("answers")) else { continue };
        let chosen: Vec<_> = json::items(answer).into_iter().filter_map(json::string).collect();
        if !chosen.is_empty() {
            let (call, answer) = (Cow::Borrowed(call), Cow::Owned(chosen.join(", ")));
            out.item(Item::Answer { call, question: question.into(), answer });
        }
    }
}

/// Reads an output that concerns sub-agents. Returns a verdict for the output of a call that starts
/// a sub-agent, because the result of that call is the sub-agent's later report. Returns `None` for
/// all other outputs, which are results.
fn read_agent_output(
    call: &str,
    raw: &str,
    printed: &str,
    out: &mut RolloutEmitter<'_>,
) -> Option<RecordVerdict> {
    if printed.starts_with(r#"{"agent_id":"#) {
        let text = json::string(raw)?;
        let id = Object::parse(&text)?.string("agent_id")?.into_owned();
        rollout(out.memory).note_ongoing(&agent(&id), call);
        return Some(RecordVerdict::Skipped("response_item/agent started".to_owned()));
    }
    if printed.starts_with(r#"{"status":{"#) && rollout(out.memory).has_ongoing() {
        let text = json::string(raw)?;
        for (id, status) in Object::parse(&text)?.object("status")?.members() {
            emit_agent_result(id, status, out);
        }
    }
    None
}

/// Emits the result of the call that started the agent, if the status shows that the agent has
/// ended.
pub(super) fn emit_agent_result(id: &str, status: &str, out: &mut RolloutEmitter<'_>) {
    let Some((outcome, report)) = agent_outcome(status) else { return };
    if let Some((call, _)) = rollout(out.memory).take_ongoing(&agent(id)) {
        result(&call, outcome, LazyText::plain(&report), out);
    }
}

/// Returns the outcome and the report of an agent; `None` while the agent works.
fn agent_outcome(status: &str) -> Option<(Outcome, Cow<'_, str>)> {
    if let Some(word) = json::string(status) {
        let is_over = matches!(word.as_ref(), "shutdown" | "interrupted" | "not_found");
        return is_over.then_some((Outcome::Interrupted, Cow::Borrowed("")));
    }
    let status = Object::parse(status)?;
    if let Some(report) = status.raw("completed") {
        let report = json::string_within(report, TEXT_KEPT).unwrap_or_default();
        return Some((Outcome::Succeeded, report));
    }
    let error = status.string_within("errored", TEXT_KEPT)?;
    Some((Outcome::Failed(None), error))
}
