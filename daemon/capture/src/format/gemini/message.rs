//! Reads one message. Parts of the message may have been read before, so a text, a call or a result
//! is emitted only when it first appears.

use std::borrow::Cow;

use serde_json::Value;

use crate::{
    format::{
        Memory, RecordVerdict,
        emitter::Emitter,
        gemini::{own, seen},
        genai::{
            self, FunctionCall, FunctionResponse, GenaiPart, outcome, parts,
            typed::{self, TextSource, skipped},
        },
        json::{self, Object},
        limits::{NAME_KEPT, PATH_KEPT, TEXT_KEPT},
    },
    model::{
        time::Timestamp,
        transcript::{Entry, Item, RecordUuid, SessionContext, Tokens},
    },
};

pub(super) fn read(
    message: &Object<'_>,
    memory: &mut Memory,
    emit: &mut dyn FnMut(Entry<'_>),
) -> RecordVerdict {
    let mut out = Emitter::new(emit);
    (out.at, out.uuid) = (time(message), uuid(message));
    let content = message.raw("content").unwrap_or_default();
    match message.string("type").as_deref() {
        Some("user") => user(message, content, memory, &mut out),
        Some("gemini") => gemini(message, content, memory, &mut out),
        Some(kind) if !mark(message, memory) => skipped(&format!("{kind}/again")),
        Some("error") => {
            let text = genai::text_of(content);
            out.item(Item::ServiceError(Cow::Borrowed(text.trim())));
            RecordVerdict::Read
        }
        Some("info") if genai::text_of(content).starts_with("Request cancelled") => {
            out.item(Item::Interrupted);
            RecordVerdict::Read
        }
        Some(kind) => skipped(kind),
        None => skipped("untyped"),
    }
}

/// Reads a message of a repeated history. A resumed session may give a known text a new id.
pub(super) fn read_again(
    message: &Object<'_>,
    memory: &mut Memory,
    emit: &mut dyn FnMut(Entry<'_>),
) -> RecordVerdict {
    let text = genai::text_of(message.raw("content").unwrap_or_default());
    let is_known = !text.is_empty() && seen(memory).contains("text", &text);
    if is_known {
        seen(memory).insert("reply", &message.string_within("id", NAME_KEPT).unwrap_or_default());
    }
    if is_known && message.raw("toolCalls").is_none() {
        mark(message, memory);
        return skipped("$set.messages");
    }
    read(message, memory, emit)
}

/// Records that a message was read. Returns whether the message is new.
pub(super) fn mark(message: &Object<'_>, memory: &mut Memory) -> bool {
    seen(memory).insert("message", message.raw("id").unwrap_or_default())
}

pub(super) fn time(message: &Object<'_>) -> Option<Timestamp> {
    Timestamp::parse(&message.string("timestamp")?)
}

pub(super) fn uuid(message: &Object<'_>) -> Option<RecordUuid> {
    genai::record_uuid(&message.string("id")?)
}

fn user(
    message: &Object<'_>,
    content: &str,
    memory: &mut Memory,
    out: &mut Emitter<'_>,
) -> RecordVerdict {
    if !mark(message, memory) {
        return skipped("user/again");
    }
    let mut texts = Vec::new();
    let mut verdict = skipped("user/empty");
    for part in parts(content) {
        match part {
            GenaiPart::Text(text) => texts.push(text),
            GenaiPart::Response(response) => verdict = lone_response(&response, memory, out),
            GenaiPart::Call(_) | GenaiPart::Other => {}
        }
    }
    if texts.is_empty() {
        return verdict;
    }
    seen(memory).insert("text", &genai::text_of(content));
    if let Some(cwd) = texts.first().and_then(|text| directory(text)) {
        return note_directory(cwd, memory, out);
    }
    // The typed text, without the expansion of a command or a reference.
    let typed = message.raw("displayContent").map(genai::text_of).filter(|text| !text.is_empty());
    let text = typed.unwrap_or_else(|| typed::join(texts.into_iter()));
    let speaker = if own(memory).is_sub_agent { TextSource::ParentAgent } else { TextSource::User };
    typed::emit(&text, speaker, out)
}

/// Returns the working directory in the context that the program adds to a session.
fn directory(text: &str) -> Option<&str> {
    let is_context = ["<session_context>", "This is the Gemini CLI. We are setting up"]
        .iter()
        .any(|start| text.trim_start().starts_with(start));
    let names = ["- **Workspace Directories:**\n  - ", "I'm currently working in the directory: "];
    let mut rest = names.iter().filter_map(|name| text.split_once(name));
    let (_, rest) = rest.next().filter(|_| is_context)?;
    let path = rest.lines().next()?.trim();
    (!path.is_empty() && path.len() <= PATH_KEPT).then_some(path)
}

fn note_directory(cwd: &str, memory: &mut Memory, out: &mut Emitter<'_>) -> RecordVerdict {
    if !Memory::note(&mut memory.cwd, cwd) {
        return skipped("user/added");
    }
    let cwd = Some(Cow::Borrowed(cwd));
    // The id of this message is the same in all sessions.
    let context = Item::Context(SessionContext { cwd, ..SessionContext::default() });
    out.unidentified(None).item(context);
    RecordVerdict::Read
}

/// Emits a response that is not in the record of a call. If a sub-agent is not allowed to make a
/// call, only the response is recorded.
fn lone_response(
    response: &FunctionResponse<'_>,
    memory: &mut Memory,
    out: &mut Emitter<'_>,
) -> RecordVerdict {
    if seen(memory).insert("call", &response.id) {
        let (id, tool) = (response.id.clone(), response.tool.clone());
        FunctionCall { id, tool, args: "{}" }.emit(None, out);
    }
    if !seen(memory).insert("result", &response.id) {
        return skipped("user/functionResponse again");
    }
    let outcome = outcome::of(&response.tool, None, response.response);
    genai::emit_result(&response.id, outcome, response.response, out);
    RecordVerdict::Read
}

fn gemini(
    message: &Object<'_>,
    content: &str,
    memory: &mut Memory,
    out: &mut Emitter<'_>,
) -> RecordVerdict {
    let id = message.string_within("id", NAME_KEPT).unwrap_or_default();
    let mut is_news = note_model(message, memory, out);
    is_news |= reply(&id, content, memory, out);
    is_news |= note_tokens(message, &id, memory, out);
    for part in parts(content) {
        if let GenaiPart::Call(call) = part
            && seen(memory).insert("call", &call.id)
        {
            call.emit(Some(Cow::Borrowed(&id)), out);
            is_news = true;
        }
    }
    for call in message.raw("toolCalls").map(json::objects).unwrap_or_default() {
        is_news |= tool_call(&call, &id, memory, out);
    }
    if is_news { RecordVerdict::Read } else { skipped("gemini/again") }
}

fn note_model(message: &Object<'_>, memory: &mut Memory, out: &mut Emitter<'_>) -> bool {
    let model = message.string_within("model", NAME_KEPT).unwrap_or_default();
    let is_new = Memory::note(&mut memory.model, &model);
    if is_new {
        let model = Some(model);
        out.item(Item::Context(SessionContext { model, ..SessionContext::default() }));
    }
    is_new
}

fn reply(id: &str, content: &str, memory: &mut Memory, out: &mut Emitter<'_>) -> bool {
    let text = genai::text_of(content);
    if text.trim().is_empty() || !seen(memory).insert("reply", id) {
        return false;
    }
    seen(memory).insert("text", &text);
    out.item(Item::Reply { message: Some(Cow::Borrowed(id)), text: Cow::Borrowed(&text) });
    true
}

/// Emits the tokens of a message. In a record, the input includes cached tokens, and the output
/// excludes thoughts.
fn note_tokens(message: &Object<'_>, id: &str, memory: &mut Memory, out: &mut Emitter<'_>) -> bool {
    let Some(tokens) = message.object("tokens") else { return false };
    let count = |key| tokens.number(key).unwrap_or(0);
    let cache_read = count("cached");
    let tokens = Tokens {
        input: count("input").saturating_sub(cache_read).saturating_add(count("tool")),
        output: count("output").saturating_add(count("thoughts")),
        cache_read,
        cache_write: 0,
    };
    if tokens == Tokens::default() || !seen(memory).insert("tokens", id) {
        return false;
    }
    out.item(Item::Usage { message: Some(Cow::Borrowed(id)), tokens });
    true
}

/// Reads a call and, once the call has ended, its result.
fn tool_call(call: &Object<'_>, message: &str, memory: &mut Memory, out: &mut Emitter<'_>) -> bool {
    let (Some(id), Some(tool)) = (call.string("id"), call.string("name")) else { return false };
    let is_new = seen(memory).insert("call", &id);
    let has_ended = !matches!(
        call.string("status").as_deref(),
        Some("validating" | "scheduled" | "executing" | "awaiting_approval")
    );
    let response = call.raw("result").and_then(response_of).filter(|_| has_ended);
    if is_new {
        let args = call.raw("args").unwrap_or("null");
        let call = FunctionCall { id: id.clone(), tool: tool.clone(), args };
        call.emit(Some(Cow::Borrowed(message)), out);
    }
    let Some(response) = response.filter(|_| seen(memory).insert("result", &id)) else {
        return is_new;
    };
    if tool == "ask_user" {
        answers(&id, call.raw("args").unwrap_or("null"), response, out);
    }
    let status = call.string("status");
    let outcome = outcome::of(&tool, status.as_deref(), response);
    // The time of the message is the time of its text; a call contains the time of its end.
    let message_time = out.at;
    out.at = time(call).or(message_time);
    genai::emit_result(&id, outcome, response, out);
    out.at = message_time;
    true
}

/// Returns the raw response in a call's result: a string, or the first response among the parts.
fn response_of(result: &str) -> Option<&str> {
    if result.starts_with('"') {
        return Some(result);
    }
    parts(result).into_iter().find_map(|part| match part {
        GenaiPart::Response(response) => Some(response.response),
        GenaiPart::Text(_) | GenaiPart::Call(_) | GenaiPart::Other => None,
    })
}

/// Emits the user's answers. In the response, the key of an answer is the number of its question.
fn answers(call: &str, args: &str, response: &str, out: &mut Emitter<'_>) {
    let text = outcome::text(response, TEXT_KEPT);
    let answers: Value = serde_json::from_str(&text).unwrap_or_default();
    let args: Value = serde_json::from_str(args).unwrap_or_default();
    let questions = args["questions"].as_array().into_iter().flatten();
    for (number, question) in questions.enumerate() {
        let answer = answers["answers"][number.to_string()].as_str();
        if let (Some(question), Some(answer)) = (question["question"].as_str(), answer) {
            let (question, answer) = (Cow::Borrowed(question), Cow::Borrowed(answer));
            out.item(Item::Answer { call: Cow::Borrowed(call), question, answer });
        }
    }
}
