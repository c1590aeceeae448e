//! Reads messages: prompts, replies with calls, results, and the user's own commands.

use std::borrow::Cow;

use crate::{
    format::{
        Memory, RecordVerdict,
        emitter::Emitter,
        json::{self, Object},
        limits::{INPUT_KEPT, TEXT_KEPT},
        pi::{action, compacted, uuid},
    },
    model::transcript::{
        Call, Item, LazyText, Outcome, SessionContext, Tokens, ToolResult, without_middle,
    },
};

/// Maximum length, in bytes, of the start and the end of a result together, which are examined for
/// the outcome. Also the maximum length of an error message.
const ENDS: usize = 2_048;

pub(super) fn read(
    record: &Object<'_>,
    memory: &mut Memory,
    out: &mut Emitter<'_>,
) -> RecordVerdict {
    let Some(message) = record.object("message") else {
        return RecordVerdict::Skipped("message".to_owned());
    };
    out.uuid = uuid(record, out.at);
    let role = message.string("role").unwrap_or_default();
    match role.as_ref() {
        "user" => prompt(&message, out),
        "assistant" => assistant(record.string("id").as_ref(), &message, memory, out),
        "toolResult" => result(&message, out),
        "bashExecution" => command_of_user(&message, out),
        "compactionSummary" => compacted(&message, out),
        // Not read: texts that an extension added, and summaries of branches, because the
        // branches are in the file.
        _ => {}
    }
    out.verdict(&format!("message/{role}"))
}

fn prompt(message: &Object<'_>, out: &mut Emitter<'_>) {
    let text = content(message.raw("content").unwrap_or_default(), TEXT_KEPT);
    let text = without_files(text.trim());
    if let Some((name, args)) = skill(text) {
        let name = Cow::Owned(format!("/skill:{name}"));
        out.item(Item::Command { name, args: Cow::Borrowed(args) });
    } else if !text.is_empty() {
        out.item(Item::Prompt(Cow::Borrowed(text)));
    }
}

/// Removes the content of the files that were given on the command line. It precedes the prompt.
fn without_files(text: &str) -> &str {
    let mut text = text;
    while let Some((_, rest)) = text.strip_prefix("<file name=").and_then(|inside| {
        let (_, content) = inside.split_once('>')?;
        content.split_once("</file>")
    }) {
        text = rest.trim_start();
    }
    text
}

/// Parses a skill that the user called. The skill's content precedes the text that the user typed
/// after the skill's name.
fn skill(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.strip_prefix("<skill name=\"")?.split_once('"')?;
    let (_, args) = rest.split_once("</skill>")?;
    Some((name, args.trim()))
}

fn assistant(
    id: Option<&Cow<'_, str>>,
    message: &Object<'_>,
    memory: &mut Memory,
    out: &mut Emitter<'_>,
) {
    let model = message.string("model");
    out.context(SessionContext { model, ..SessionContext::default() }, memory);
    if let Some(usage) = message.object("usage") {
        let count = |key| usage.number(key).unwrap_or(0);
        let tokens = Tokens {
            input: count("input"),
            output: count("output"),
            cache_read: count("cacheRead"),
            cache_write: count("cacheWrite"),
        };
        out.item(Item::Usage { message: id.cloned(), tokens });
    }
    for block in json::objects(message.raw("content").unwrap_or_default()) {
        match block.string("type").as_deref() {
            Some("text") => {
                let text = block.string_within("text", TEXT_KEPT).unwrap_or_default();
                if !text.trim().is_empty() {
                    out.item(Item::Reply { message: id.cloned(), text });
                }
            }
            Some("toolCall") => call(id.cloned(), &block, out),
            _ => {}
        }
    }
    match message.string("stopReason").as_deref() {
        Some("aborted") => out.item(Item::Interrupted),
        Some("error") => {
            let text = message.string_within("errorMessage", ENDS);
            out.item(Item::ServiceError(text.unwrap_or(Cow::Borrowed("model error"))));
        }
        _ => {}
    }
}

fn call(message: Option<Cow<'_, str>>, block: &Object<'_>, out: &mut Emitter<'_>) {
    let (Some(id), Some(tool)) = (block.string("id"), block.string("name")) else { return };
    let input = json::value_within(block.raw("arguments").unwrap_or("null"), INPUT_KEPT);
    let action = action::of(&tool, &input);
    out.item(Item::Call(Call { id, message, tool, input, action }));
}

fn result(message: &Object<'_>, out: &mut Emitter<'_>) {
    let Some(call) = message.string("toolCallId") else { return };
    let content = LazyText::new(message.raw("content").unwrap_or("\"\""), printed);
    let outcome = if message.is_true("isError") {
        failure(&self::content(message.raw("content").unwrap_or_default(), ENDS))
    } else {
        Outcome::Succeeded
    };
    out.item(Item::Result(ToolResult { call, outcome, content }));
}

fn failure(text: &str) -> Outcome {
    let last = text.trim_end().lines().next_back().unwrap_or_default();
    match last.strip_prefix(EXIT) {
        Some(code) => Outcome::Failed(code.trim().parse().ok()),
        None if matches!(last, "Command aborted" | "Operation aborted") => Outcome::Interrupted,
        None if text.starts_with("Blocked by user") => Outcome::Rejected,
        None => Outcome::Failed(None),
    }
}

/// The start of the line that Pi adds to the output of a failed command.
const EXIT: &str = "Command exited with code ";

/// Emits a command that the user ran with `!`.
fn command_of_user(message: &Object<'_>, out: &mut Emitter<'_>) {
    let Some(args) = message.string_within("command", TEXT_KEPT) else { return };
    out.item(Item::Command { name: Cow::Borrowed("!"), args });
    if let Some(output) = message.string_within("output", TEXT_KEPT) {
        out.item(Item::ShellOutput(output));
    }
}

/// Decodes the tool's output, without the line that Pi adds about the exit code.
fn printed(raw: &str, limit: usize) -> Cow<'_, str> {
    let text = content(raw, limit);
    let trimmed = text.trim_end();
    let last = trimmed.rfind('\n').map_or(0, |at| at + 1);
    if trimmed[last..].starts_with(EXIT) { trimmed[..last].to_owned().into() } else { text }
}

/// Returns the text of a `content` member: a string, or the text blocks of an array.
fn content(raw: &str, limit: usize) -> Cow<'_, str> {
    if raw.starts_with('"') {
        return json::string_within(raw, limit).unwrap_or_default();
    }
    let blocks = json::objects(raw);
    if let [block] = blocks.as_slice() {
        return block.string_within("text", limit).unwrap_or_default();
    }
    let texts = blocks.iter().filter_map(|block| block.string_within("text", limit));
    let text = texts.collect::<Vec<_>>().join("\n");
    Cow::Owned(without_middle(&text, limit).into_owned())
}
