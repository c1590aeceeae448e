//! Converts the records that [`line`](super::line) builds into entries.

use std::borrow::Cow;

use super::action;
use crate::{
    format::{
        Memory, RecordVerdict,
        json::{self, Object},
        limits::{INPUT_KEPT, PATH_KEPT, TEXT_KEPT},
    },
    model::{
        time::Timestamp,
        transcript::{
            Call, Entry, Item, LazyText, Outcome, RecapKind, SessionContext, TaskEnded,
            TitleSource, Tokens, ToolResult, without_middle,
        },
    },
};

/// Maximum length, in bytes, of an error.
const ERROR_KEPT: usize = 16 * 1024;

/// The receiver of the items of one record.
struct RowEmitter<'e> {
    at: Option<Timestamp>,
    emit: &'e mut dyn FnMut(Entry<'_>),
}

impl RowEmitter<'_> {
    fn item(&mut self, item: Item<'_>) {
        (self.emit)(Entry { at: self.at, uuid: None, sub_agent: None, caller: None, item });
    }
}

/// Reads a record of type `kind`.
pub(super) fn record(
    kind: &str,
    record: &Object<'_>,
    memory: &mut Memory,
    emit: &mut dyn FnMut(Entry<'_>),
) -> RecordVerdict {
    let at = record.number("at").and_then(|millis| i64::try_from(millis).ok());
    let at = at.map(|millis| Timestamp::from_micros(millis.saturating_mul(1_000)));
    let mut out = RowEmitter { at, emit };
    let is_read = match kind {
        "session" | "user" | "assistant" | "model" | "location" => {
            context(record, memory, &mut out);
            true
        }
        "title" => title(record, &mut out),
        "text" => text(record, &mut out),
        "call" => call(record, &mut out),
        "result" => result(record, &mut out),
        "end" => end(record, &mut out),
        "subtask" | "shell" => command(record, &mut out),
        "shell-output" => shell_output(record, &mut out),
        "retry" => retry(record, &mut out),
        "idle" => idle(record, &mut out),
        "synthetic" => task_ended(record, &mut out),
        _ => false,
    };
    if is_read { RecordVerdict::Read } else { RecordVerdict::Skipped(kind.to_owned()) }
}

fn context(record: &Object<'_>, memory: &mut Memory, out: &mut RowEmitter<'_>) {
    let text = |key| record.string_within(key, PATH_KEPT).unwrap_or_default();
    let cwd = record.string_within("directory", PATH_KEPT).unwrap_or_else(|| text("cwd"));
    let (version, model) = (text("version"), text("model"));
    let news = SessionContext {
        cwd: Memory::note(&mut memory.cwd, &cwd).then_some(cwd),
        branch: None,
        version: Memory::note(&mut memory.version, &version).then_some(version),
        model: Memory::note(&mut memory.model, &model).then_some(model),
    };
    if news.cwd.is_some() || news.version.is_some() || news.model.is_some() {
        out.item(Item::Context(news));
    }
}

fn title(record: &Object<'_>, out: &mut RowEmitter<'_>) -> bool {
    let Some(text) = record.string_within("text", PATH_KEPT) else { return false };
    out.item(Item::Title { by: TitleSource::Model, text });
    true
}

fn text(record: &Object<'_>, out: &mut RowEmitter<'_>) -> bool {
    let Some(text) = record.string_within("text", TEXT_KEPT) else { return false };
    if record.is_true("synthetic") || text.trim().is_empty() {
        return false;
    }
    if record.is_true("summary") {
        out.item(Item::Boundary);
        out.item(Item::Recap { kind: RecapKind::Compaction, text });
    } else if record.raw("role") != Some("\"user\"") {
        out.item(Item::Reply { message: record.string("message"), text });
    } else if record.is_true("sub_agent") {
        out.item(Item::Instruction(text));
    } else {
        out.item(Item::Prompt(text));
    }
    true
}

fn call(record: &Object<'_>, out: &mut RowEmitter<'_>) -> bool {
    let (Some(id), Some(tool)) = (record.string("id"), record.string("tool")) else { return false };
    let input = json::value_within(record.raw("input").unwrap_or("null"), INPUT_KEPT);
    let action = action::of(&tool, &input);
    out.item(Item::Call(Call { id, message: record.string("message"), tool, input, action }));
    true
}

fn result(record: &Object<'_>, out: &mut RowEmitter<'_>) -> bool {
    let Some(call) = record.string("call") else { return false };
    let content = LazyText::new(record.raw("output").unwrap_or("\"\""), content_text);
    let outcome = outcome(record, &content);
    answers(record, &call, out);
    out.item(Item::Result(ToolResult { call, outcome, content }));
    if outcome == Outcome::Rejected
        && let Some((_, words)) = content.decode(ERROR_KEPT).split_once(FEEDBACK)
    {
        out.item(Item::Prompt(Cow::Borrowed(words.trim())));
    }
    true
}

/// The text that opencode writes before the words of a user who refused a call.
const FEEDBACK: &str = "tool call with the following feedback: ";

fn outcome(record: &Object<'_>, content: &LazyText<'_>) -> Outcome {
    let exit = record.raw("exit").and_then(|exit| exit.parse::<i32>().ok());
    if record.raw("status") == Some("\"completed\"") {
        return match exit {
            Some(0) | None => Outcome::Succeeded,
            code => Outcome::Failed(code),
        };
    }
    let text = content.decode(ERROR_KEPT);
    let error = record.string("error").unwrap_or_default();
    let is_refused = text.contains("The user rejected permission to use this")
        || text.contains("The user dismissed this question")
        || text.contains("The user has specified a rule which prevents")
        || error.contains("permission");
    if is_refused {
        Outcome::Rejected
    } else if record.is_true("interrupted")
        || error == "aborted"
        || text == "Tool execution aborted"
    {
        Outcome::Interrupted
    } else {
        Outcome::Failed(exit)
    }
}

/// Emits the answers to the questions of a call.
fn answers(record: &Object<'_>, call: &str, out: &mut RowEmitter<'_>) {
    let questions = json::objects(record.raw("questions").unwrap_or_default());
    let answers = json::items(record.raw("answers").unwrap_or_default());
    for (question, answer) in questions.iter().zip(answers) {
        let chosen: Vec<Cow<'_, str>> =
            json::items(answer).into_iter().filter_map(json::string).collect();
        if let Some(question) = question.string("question")
            && !chosen.is_empty()
        {
            let answer = Cow::Owned(chosen.join(", "));
            out.item(Item::Answer { call: Cow::Borrowed(call), question, answer });
        }
    }
}

fn end(record: &Object<'_>, out: &mut RowEmitter<'_>) -> bool {
    if let Some(tokens) = record.object("tokens") {
        let count = |key| tokens.number(key).unwrap_or(0);
        let cache = tokens.object("cache");
        let cached = |key| cache.as_ref().and_then(|cache| cache.number(key)).unwrap_or(0);
        let tokens = Tokens {
            input: count("input"),
            output: count("output").saturating_add(count("reasoning")),
            cache_read: cached("read"),
            cache_write: cached("write"),
        };
        out.item(Item::Usage { message: record.string("message"), tokens });
    }
    match record.string("error").as_deref() {
        None => {}
        Some("MessageAbortedError" | "aborted") => out.item(Item::Interrupted),
        Some(name) => {
            let text = record.string_within("text", ERROR_KEPT);
            out.item(Item::ServiceError(text.unwrap_or(Cow::Borrowed(name))));
        }
    }
    true
}

/// Reads a command of opencode or a shell command that the user entered.
fn command(record: &Object<'_>, out: &mut RowEmitter<'_>) -> bool {
    let Some(command) = record.string_within("command", TEXT_KEPT) else { return false };
    let item = match record.raw("type") {
        Some("\"shell\"") => Item::Command { name: Cow::Borrowed("!"), args: command },
        _ => Item::Command { name: Cow::Owned(format!("/{command}")), args: Cow::default() },
    };
    out.item(item);
    true
}

fn shell_output(record: &Object<'_>, out: &mut RowEmitter<'_>) -> bool {
    let Some(text) = record.string_within("output", TEXT_KEPT) else { return false };
    out.item(Item::ShellOutput(text));
    true
}

fn retry(record: &Object<'_>, out: &mut RowEmitter<'_>) -> bool {
    let Some(text) = record.string_within("error", ERROR_KEPT) else { return false };
    out.item(Item::ServiceError(text));
    true
}

fn idle(record: &Object<'_>, out: &mut RowEmitter<'_>) -> bool {
    let is_interrupted = record.raw("outcome") == Some("\"interrupted\"");
    if is_interrupted {
        out.item(Item::Interrupted);
    }
    is_interrupted
}

/// Reads the notice that a command or a sub-agent in the background ended.
fn task_ended(record: &Object<'_>, out: &mut RowEmitter<'_>) -> bool {
    let Some(text) = record.string_within("text", TEXT_KEPT) else { return false };
    let Some((head, report)) = text.split_once('\n') else { return false };
    let member = |name: &str| {
        let (_, rest) = head.split_once(&format!("{name}=\""))?;
        rest.split_once('"').map(|(value, _)| value)
    };
    let Some(task) = member("id") else { return false };
    let outcome = match member("state") {
        Some("completed") => Outcome::Succeeded,
        Some("error") => Outcome::Failed(None),
        _ => Outcome::Interrupted,
    };
    let report = report.rsplit_once("\n</").map_or(report, |(report, _)| report);
    out.item(Item::TaskEnded(TaskEnded {
        task: Cow::Borrowed(task),
        call: head.starts_with("<shell").then_some(Cow::Borrowed(task)),
        outcome,
        text: Cow::Borrowed(report),
    }));
    true
}

/// Returns the text of an output: a string, or the text parts of an array.
fn content_text(raw: &str, limit: usize) -> Cow<'_, str> {
    if raw.starts_with('"') {
        return json::string_within(raw, limit).unwrap_or_default();
    }
    let parts = json::objects(raw);
    let texts: Vec<Cow<'_, str>> =
        parts.iter().filter_map(|part| part.string_within("text", limit)).collect();
    Cow::Owned(without_middle(&texts.join("\n"), limit).into_owned())
}
