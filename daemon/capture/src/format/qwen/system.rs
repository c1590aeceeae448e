//! Reads the records of type `system`, which are not sent to the model.

use std::borrow::Cow;

use crate::{
    format::{
        Memory, RecordVerdict,
        emitter::Emitter,
        genai::{
            text_of,
            typed::{self, ACKNOWLEDGEMENT, skipped},
        },
        json::{self, Object},
        limits::NAME_KEPT,
        qwen::QwenMemory,
    },
    model::transcript::{Item, RecapKind, SessionContext, TitleSource},
};

pub(super) fn read(
    record: &Object<'_>,
    memory: &mut Memory,
    out: &mut Emitter<'_>,
) -> RecordVerdict {
    let subtype = record.string("subtype").unwrap_or_default();
    let payload = record.object("systemPayload");
    let read = payload.and_then(|payload| match subtype.as_ref() {
        "chat_compression" => compression(&payload, out),
        "custom_title" => title(&payload, out),
        "session_model" => model(&payload, memory, out),
        "slash_command" => command(&payload, memory, out),
        "turn_result" => turn_result(&payload, out),
        "ui_telemetry" => api_error(&payload, out),
        _ => None,
    });
    read.unwrap_or_else(|| skipped(&format!("system/{subtype}")))
}

/// Emits the summary of a compacted history. Near its start, the history contains the summary and
/// then the answer that the program adds.
fn compression(payload: &Object<'_>, out: &mut Emitter<'_>) -> Option<RecordVerdict> {
    let history = json::objects(payload.raw("compressedHistory")?);
    let texts = history.iter().map(|content| text_of(content.raw("parts").unwrap_or_default()));
    let texts: Vec<String> = texts.take(4).collect();
    let answer = texts.iter().position(|text| text.starts_with(ACKNOWLEDGEMENT));
    let summary = texts.get(answer.map_or(0, |answer| answer.saturating_sub(1)));
    out.item(Item::Boundary);
    if let Some(summary) = summary.filter(|summary| !summary.trim().is_empty()) {
        let text = Cow::Borrowed(summary.trim());
        out.item(Item::Recap { kind: RecapKind::Compaction, text });
    }
    Some(RecordVerdict::Read)
}

fn title(payload: &Object<'_>, out: &mut Emitter<'_>) -> Option<RecordVerdict> {
    let text = payload.string_within("customTitle", NAME_KEPT)?;
    let is_automatic = payload.raw("titleSource") == Some("\"auto\"");
    let by = if is_automatic { TitleSource::Model } else { TitleSource::User };
    if text.trim().is_empty() {
        return None;
    }
    out.item(Item::Title { by, text });
    Some(RecordVerdict::Read)
}

fn model(
    payload: &Object<'_>,
    memory: &mut Memory,
    out: &mut Emitter<'_>,
) -> Option<RecordVerdict> {
    let model = payload.string_within("modelId", NAME_KEPT)?;
    if !Memory::note(&mut memory.model, &model) {
        return None;
    }
    out.item(Item::Context(SessionContext { model: Some(model), ..SessionContext::default() }));
    Some(RecordVerdict::Read)
}

/// Emits a command. The prompt to which the command was expanded follows in a separate record.
fn command(
    payload: &Object<'_>,
    memory: &mut Memory,
    out: &mut Emitter<'_>,
) -> Option<RecordVerdict> {
    let text = payload.string("rawCommand")?;
    if payload.raw("phase") != Some("\"invocation\"") {
        return None;
    }
    memory.own::<QwenMemory>().seen.insert("command", text.trim());
    let (name, args) = typed::command(text.trim())?;
    Some(typed::emit_command(name, args, out))
}

fn turn_result(payload: &Object<'_>, out: &mut Emitter<'_>) -> Option<RecordVerdict> {
    match payload.string("state")?.as_ref() {
        "cancelled" => out.item(Item::Interrupted),
        "error" => {
            let text = payload.object("error")?.string("message")?.into_owned();
            out.item(Item::ServiceError(text.into()));
        }
        _ => return None,
    }
    Some(RecordVerdict::Read)
}

fn api_error(payload: &Object<'_>, out: &mut Emitter<'_>) -> Option<RecordVerdict> {
    let event = payload.object("uiEvent")?;
    if !event.string("event.name")?.ends_with(".api_error") {
        return None;
    }
    let text = event.string("error_message").or_else(|| event.string("error"))?;
    out.item(Item::ServiceError(text));
    Some(RecordVerdict::Read)
}
