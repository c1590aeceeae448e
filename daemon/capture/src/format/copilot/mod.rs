//! The transcript format of GitHub Copilot CLI: `session-state/<session>/events.jsonl`, in older
//! versions `session-state/<session>.jsonl`.
//!
//! Each record is an event `{type, data, id, parentId, timestamp}`. Sub-agents write into the same
//! file, and their events contain `agentId`. The sources for the format are the session events in
//! the schema of Copilot's SDK, and transcripts.

mod action;
mod todos;
mod tool;

use std::{
    borrow::Cow,
    io::Read as _,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{
    format::{
        Format, Identity, Memory, RecordVerdict, Surroundings, Unreadable,
        emitter::Emitter,
        json::Object,
        limits::{NAME_KEPT, TEXT_KEPT},
        notes::Notes,
    },
    model::{
        time::Timestamp,
        transcript::{Entry, Item, RecapKind, RecordUuid, SessionContext, Task, Tokens},
    },
    open,
};

pub struct Copilot;

/// The state that the format keeps for a file.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct CopilotMemory {
    /// Questions to the user that wait for an answer, by call.
    questions: Notes,
    /// The calls that started background work, by Copilot's id of the work.
    running: Notes,
    /// The tokens that were emitted so far.
    counted: Tokens,
    /// The list of tasks. A call states only the changed tasks.
    tasks: Vec<Task>,
}

fn own(memory: &mut Memory) -> &mut CopilotMemory {
    memory.own()
}

/// Maximum number of bytes that are read from `workspace.yaml`, which describes a session.
const WORKSPACE: u64 = 64 * 1024;

impl Format for Copilot {
    fn agent(&self) -> &'static str {
        "copilot"
    }

    fn roots(&self, surroundings: &Surroundings<'_>) -> Vec<PathBuf> {
        let home = (surroundings.variable)("COPILOT_HOME")
            .filter(|folder| !folder.is_empty())
            .map_or_else(|| surroundings.home.join(".copilot"), PathBuf::from);
        vec![home.join("session-state")]
    }

    fn claims(&self, path: &Path) -> bool {
        session_in_path(path).is_some()
    }

    fn identify(&self, path: &Path, head: &str) -> Option<Identity> {
        let session = session_in_path(path)?.to_owned();
        let mut records = head.lines().filter_map(Object::parse);
        let first = records.next()?;
        if !is_event(&first) {
            return None;
        }
        let starts = std::iter::once(first).chain(records).find(is_start);
        let start = starts.and_then(|start| start.object("data"));
        let directory = start.as_ref().and_then(|start| start.object("context")?.string("cwd"));
        let directory = directory.map(Cow::into_owned).or_else(|| workspace_cwd(path));
        // When a session ends, Copilot itself starts another session, which updates Copilot's
        // memory. The other session is treated as a sub-agent.
        let parent = start.and_then(|start| {
            let parent = start.string("detachedFromSpawningParentSessionId")?;
            (parent.len() <= NAME_KEPT).then(|| parent.into_owned())
        });
        Some(match parent {
            Some(parent) => Identity { session: parent, sub_agent: Some(session), directory },
            None => Identity { session, sub_agent: None, directory },
        })
    }

    fn read(
        &self,
        record: &str,
        memory: &mut Memory,
        emit: &mut dyn FnMut(Entry<'_>),
    ) -> Result<RecordVerdict, Unreadable> {
        let record = Object::parse(record).ok_or(Unreadable)?;
        let Some(kind) = record.string("type") else {
            return Ok(RecordVerdict::Skipped("untyped".to_owned()));
        };
        let handled = handler(&kind).and_then(|handler| Some((handler, record.object("data")?)));
        let Some((handler, data)) = handled else {
            return Ok(RecordVerdict::Skipped(kind.into_owned()));
        };
        let agent = record.string("agentId");
        let mut out = Emitter::new(emit);
        out.at = record.string("timestamp").and_then(|time| Timestamp::parse(&time));
        out.uuid = uuid(&record);
        out.sub_agent = agent.as_deref();
        handler(&data, memory, &mut out);
        Ok(out.verdict(&kind))
    }

    fn record_starts(&self) -> &'static [&'static str] {
        &[r#"{"type":""#, r#"{"id":""#, r#"{"timestamp":""#]
    }
}

type Handler = fn(&Object<'_>, &mut Memory, &mut Emitter<'_>);

/// Returns the function that reads the data of an event.
fn handler(event: &str) -> Option<Handler> {
    Some(match event {
        "session.start" | "session.resume" => started,
        "session.context_changed" => moved,
        "session.model_change" => model_changed,
        "user.message" => user_message,
        "assistant.message" => assistant_message,
        "tool.execution_start" => tool::started,
        "tool.execution_complete" => tool::completed,
        "system.notification" => tool::notified,
        "session.usage_record" => usage_record,
        "session.compaction_complete" => compacted,
        "session.context_cleared" => cleared,
        "session.task_complete" => task_completed,
        "session.error" => failed,
        "abort" => aborted,
        "session.shutdown" => shut_down,
        _ => return None,
    })
}

/// Returns the session's id from a path: the name of the file or of its folder.
fn session_in_path(path: &Path) -> Option<&str> {
    let folder = path.parent()?.file_name()?.to_str()?;
    if path.file_name()? == "events.jsonl" {
        return is_uuid(folder).then_some(folder);
    }
    let is_session = folder == "session-state" && path.extension()? == "jsonl";
    path.file_stem()?.to_str().filter(|stem| is_session && is_uuid(stem))
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36 && uuid::Uuid::try_parse(text).is_ok()
}

fn is_event(record: &Object<'_>) -> bool {
    let is_known = |kind: &str| {
        kind == "abort" || kind.split_once('.').is_some_and(|(what, _)| EVENTS.contains(&what))
    };
    let has_frame = record.raw("id").is_some() && record.raw("timestamp").is_some();
    let is_object = record.raw("data").is_some_and(|data| data.starts_with('{'));
    has_frame && is_object && record.string("type").is_some_and(|kind| is_known(&kind))
}

/// The parts before the dot in the types of events.
const EVENTS: &[&str] =
    &["session", "user", "assistant", "tool", "system", "hook", "subagent", "skill", "permission"];

fn is_start(record: &Object<'_>) -> bool {
    matches!(record.string("type").as_deref(), Some("session.start" | "session.resume"))
}

/// Returns the working directory in `workspace.yaml`, for versions whose events lack it.
fn workspace_cwd(path: &Path) -> Option<String> {
    let file = open::open_file(&path.with_file_name("workspace.yaml")).ok()?;
    let mut text = String::new();
    file.take(WORKSPACE).read_to_string(&mut text).ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix("cwd: "))?.trim();
    let quoted = value.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    let plain = || value.trim_matches('"').to_owned();
    Some(quoted.map_or_else(plain, |quoted| quoted.replace("''", "'")))
}

fn uuid(record: &Object<'_>) -> Option<RecordUuid> {
    let text = record.string("id")?;
    uuid::Uuid::try_parse(&text).ok().map(uuid::Uuid::into_bytes)
}

fn started(data: &Object<'_>, memory: &mut Memory, out: &mut Emitter<'_>) {
    let folder = data.object("context");
    let version = data.string("copilotVersion");
    let model = data.string("selectedModel");
    let context = folder.as_ref().map(place).unwrap_or_default();
    out.context(SessionContext { version, model, ..context }, memory);
}

fn moved(data: &Object<'_>, memory: &mut Memory, out: &mut Emitter<'_>) {
    out.context(place(data), memory);
}

fn model_changed(data: &Object<'_>, memory: &mut Memory, out: &mut Emitter<'_>) {
    let model = data.string("newModel");
    out.context(SessionContext { model, ..SessionContext::default() }, memory);
}

fn place<'a>(context: &Object<'a>) -> SessionContext<'a> {
    let (cwd, branch) = (context.string("cwd"), context.string("branch"));
    SessionContext { cwd, branch, ..SessionContext::default() }
}

/// Emits the user's prompt. A message with another source is not emitted, because it comes from a
/// skill, a schedule, another agent or the program.
fn user_message(data: &Object<'_>, _: &mut Memory, out: &mut Emitter<'_>) {
    let source = data.string("source");
    let is_typed = source.is_none_or(|source| source == "user");
    if is_typed && !data.is_true("isAutopilotContinuation") {
        let text = data.string_within("content", TEXT_KEPT).unwrap_or_default();
        let text = text.trim();
        if !text.is_empty() {
            out.item(Item::Prompt(Cow::Borrowed(text)));
        }
    }
}

fn assistant_message(data: &Object<'_>, memory: &mut Memory, out: &mut Emitter<'_>) {
    let model = data.string("model");
    out.context(SessionContext { model, ..SessionContext::default() }, memory);
    if let Some(output) = data.number("outputTokens") {
        let tokens = Tokens { output, ..Tokens::default() };
        usage(data.string("apiCallId"), tokens, memory, out);
    }
    let text = data.string_within("content", TEXT_KEPT).unwrap_or_default();
    if !text.trim().is_empty() {
        out.item(Item::Reply { message: data.string("messageId"), text });
    }
}

fn usage_record(data: &Object<'_>, memory: &mut Memory, out: &mut Emitter<'_>) {
    if let Some(used) = data.object("usage") {
        usage(used.string("apiCallId"), tokens(&used), memory, out);
    }
}

fn usage(
    message: Option<Cow<'_, str>>,
    tokens: Tokens,
    memory: &mut Memory,
    out: &mut Emitter<'_>,
) {
    if tokens != Tokens::default() {
        own(memory).counted.add(tokens);
        out.session_item(Item::Usage { message, tokens });
    }
}

/// Returns the tokens in a usage object, whose input includes cached tokens.
fn tokens(usage: &Object<'_>) -> Tokens {
    let count = |key| usage.number(key).unwrap_or(0);
    let (cache_read, cache_write) = (count("cacheReadTokens"), count("cacheWriteTokens"));
    Tokens {
        input: count("inputTokens").saturating_sub(cache_read).saturating_sub(cache_write),
        output: count("outputTokens"),
        cache_read,
        cache_write,
    }
}

fn compacted(data: &Object<'_>, _: &mut Memory, out: &mut Emitter<'_>) {
    if !data.is_true("success") {
        return;
    }
    out.item(Item::Boundary);
    if let Some(text) = data.string_within("summaryContent", TEXT_KEPT) {
        out.item(Item::Recap { kind: RecapKind::Compaction, text });
    }
}

/// Emits the report of a task. In autopilot, only this event contains the report.
fn task_completed(data: &Object<'_>, _: &mut Memory, out: &mut Emitter<'_>) {
    let summary = data.string_within("summary", TEXT_KEPT);
    if let Some(text) = summary.filter(|text| !text.trim().is_empty()) {
        out.item(Item::Reply { message: None, text });
    }
}

fn cleared(_: &Object<'_>, _: &mut Memory, out: &mut Emitter<'_>) {
    out.item(Item::Boundary);
}

fn failed(data: &Object<'_>, _: &mut Memory, out: &mut Emitter<'_>) {
    service_error(data.string("message"), out);
}

fn service_error(message: Option<Cow<'_, str>>, out: &mut Emitter<'_>) {
    out.item(Item::ServiceError(message.unwrap_or(Cow::Borrowed("Copilot error"))));
}

fn aborted(data: &Object<'_>, _: &mut Memory, out: &mut Emitter<'_>) {
    if data.string("reason").is_none_or(|reason| reason != "autopilot_credit_limit") {
        out.item(Item::Interrupted);
    }
}

/// Emits the end of the session, and the tokens that no earlier event contained: the last event of
/// a process contains all tokens of the session.
fn shut_down(data: &Object<'_>, memory: &mut Memory, out: &mut Emitter<'_>) {
    let mut total = Tokens::default();
    if let Some(models) = data.object("modelMetrics") {
        let of_model = |raw| Some(tokens(&Object::parse(raw)?.object("usage")?));
        models.members().filter_map(|(_, raw)| of_model(raw)).for_each(|used| total.add(used));
    }
    let known = own(memory).counted;
    let uncounted = Tokens {
        input: total.input.saturating_sub(known.input),
        output: total.output.saturating_sub(known.output),
        cache_read: total.cache_read.saturating_sub(known.cache_read),
        cache_write: total.cache_write.saturating_sub(known.cache_write),
    };
    usage(None, uncounted, memory, out);
    if let Some(reason) = data.string("errorReason") {
        service_error(Some(reason), out);
    }
    out.item(Item::SessionEnded);
}

#[cfg(test)]
mod tests;
