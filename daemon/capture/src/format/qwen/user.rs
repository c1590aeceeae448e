//! Reads the records of type `user`: prompts, and messages of the program with the user's role.

use std::borrow::Cow;

use crate::{
    format::{
        Memory, RecordVerdict,
        emitter::Emitter,
        genai::{
            GenaiPart, parts,
            typed::{self, TextSource, skipped},
        },
        json::Object,
        qwen::{QwenMemory, content},
    },
    model::transcript::{Item, Outcome, TaskEnded},
};

pub(super) fn read(
    record: &Object<'_>,
    memory: &mut Memory,
    out: &mut Emitter<'_>,
) -> RecordVerdict {
    let subtype = record.string("subtype").unwrap_or_default();
    match subtype.as_ref() {
        "notification" => return notification(record, out),
        "" | "mid_turn_user_message" | "realtime_message" => {}
        // A prompt of a schedule or of the program.
        other => return skipped(&format!("user/{other}")),
    }
    let is_typed = record.string("provenance").is_none_or(|source| source == "real_user");
    if !is_typed || record.raw("externalInputKind") == Some("\"notification\"") {
        return skipped("user/not typed");
    }
    if record.is_true("isSidechain") {
        return typed::emit(&sent(record), TextSource::ParentAgent, out);
    }
    // The typed text, without the expansion of a command or a reference.
    let typed = record.object("systemPayload").and_then(|payload| payload.string("displayText"));
    let text = typed.filter(|text| !text.trim().is_empty()).unwrap_or_else(|| sent(record).into());
    if typed::command(text.trim()).is_some()
        && memory.own::<QwenMemory>().seen.contains("command", text.trim())
    {
        return skipped("user/command again");
    }
    typed::emit(&text, TextSource::User, out)
}

/// Returns the text that was sent to the model.
fn sent(record: &Object<'_>) -> String {
    typed::join(parts(content(record)).into_iter().filter_map(|part| match part {
        GenaiPart::Text(text) => Some(text),
        GenaiPart::Call(_) | GenaiPart::Response(_) | GenaiPart::Other => None,
    }))
}

/// Reads the notice that a task in the background has ended.
fn notification(record: &Object<'_>, out: &mut Emitter<'_>) -> RecordVerdict {
    let payload = record.object("systemPayload");
    let task = payload.as_ref().and_then(|payload| payload.object("backgroundTask"));
    let outcome = task.as_ref().and_then(|task| match task.string("status").as_deref() {
        Some("completed") => Some(Outcome::Succeeded),
        Some("failed") => Some(Outcome::Failed(None)),
        Some("cancelled") => Some(Outcome::Interrupted),
        // A task that continues, or a message of another session.
        _ => None,
    });
    let (Some(task), Some(outcome)) = (task, outcome) else {
        return skipped("user/notification");
    };
    let Some(id) = task.string("taskId").filter(|_| task.raw("kind") != Some("\"peer\"")) else {
        return skipped("user/notification");
    };
    let text = sent(record);
    let report = text.split_once("<result>").map_or("", |(_, rest)| rest);
    let report = report.rsplit_once("</result>").map_or(report, |(report, _)| report);
    let call = task.string("toolUseId");
    let text = Cow::Borrowed(report);
    out.item(Item::TaskEnded(TaskEnded { task: id, call, outcome, text }));
    RecordVerdict::Read
}
