//! Reads messages of the model's history.

use std::borrow::Cow;

use crate::{
    format::{
        RecordVerdict,
        codex::{
            RolloutEmitter, call, injected,
            memory::{PromptSource, rollout},
            record_uuid, review, short,
        },
        json::{self, Object},
        limits::{NAME_KEPT, TEXT_KEPT},
    },
    model::transcript::{Item, RecordUuid, without_middle},
};

pub(super) fn read(
    record: &Object<'_>,
    payload: &Object<'_>,
    out: &mut RolloutEmitter<'_>,
) -> RecordVerdict {
    let role = payload.string("role").unwrap_or_default();
    match role.as_ref() {
        "user" => user(payload, out),
        "assistant" => assistant(record, payload, out),
        other => RecordVerdict::Skipped(format!("message/{other}")),
    }
}

fn assistant(
    record: &Object<'_>,
    payload: &Object<'_>,
    out: &mut RolloutEmitter<'_>,
) -> RecordVerdict {
    // The summary of a compaction follows in a separate record.
    if record.object("metadata").is_some_and(|metadata| metadata.is_true("compaction_output")) {
        return RecordVerdict::Skipped("message/compaction".to_owned());
    }
    let text = joined(&parts(payload), |_| true);
    if text.trim().is_empty() {
        return RecordVerdict::Skipped("message/empty".to_owned());
    }
    let uuid = message_uuid(payload, &text, out);
    let message = short(payload, "id", NAME_KEPT);
    let text = review::as_markdown(&text).unwrap_or(text);
    out.identified(uuid, Item::Reply { message, text: Cow::Borrowed(&text) });
    RecordVerdict::Read
}

fn user(payload: &Object<'_>, out: &mut RolloutEmitter<'_>) -> RecordVerdict {
    let parts = parts(payload);
    if let [part] = parts.as_slice()
        && let Some(verdict) = notice(&part.text, out)
    {
        return verdict;
    }
    let text = joined(&parts, MessagePart::is_typed);
    let prompt = injected::without_editor_state(&text);
    if prompt.is_empty() {
        let kind = parts.iter().find_map(|part| injected::kind(&part.text));
        return RecordVerdict::Skipped(format!("message/{}", kind.unwrap_or("empty")));
    }
    if rollout(out.memory).note_prompt(prompt, PromptSource::History) {
        return RecordVerdict::Skipped("message/read from the event".to_owned());
    }
    let uuid = message_uuid(payload, prompt, out);
    emit_prompt(uuid, prompt, out);
    RecordVerdict::Read
}

/// Reads a prompt that an event reports.
pub(super) fn prompt_event(text: &str, out: &mut RolloutEmitter<'_>) -> RecordVerdict {
    let prompt = injected::without_editor_state(text);
    if prompt.is_empty() {
        return RecordVerdict::Skipped("event_msg/empty prompt".to_owned());
    }
    if rollout(out.memory).note_prompt(prompt, PromptSource::Event) {
        return RecordVerdict::Skipped("event_msg/read from the history".to_owned());
    }
    emit_prompt(None, prompt, out);
    RecordVerdict::Read
}

/// Emits a prompt of the user; in a sub-agent's file, an instruction of the parent.
fn emit_prompt(uuid: Option<RecordUuid>, text: &str, out: &mut RolloutEmitter<'_>) {
    let text = Cow::Borrowed(text);
    let item = match rollout(out.memory).is_sub_agent {
        true => Item::Instruction(text),
        false => Item::Prompt(text),
    };
    out.identified(uuid, item);
}

/// Reads a message with the role `user` by which Codex reports something; `None` for other
/// messages.
fn notice(text: &str, out: &mut RolloutEmitter<'_>) -> Option<RecordVerdict> {
    match injected::kind(text)? {
        "subagent_notification" => {
            let notice = injected::inside(text, "subagent_notification")?;
            let notice = Object::parse(notice)?;
            call::emit_agent_result(&notice.string("agent_path")?, notice.raw("status")?, out);
            Some(RecordVerdict::Skipped("message/subagent_notification".to_owned()))
        }
        "user_shell_command" => {
            let args = Cow::Borrowed(injected::inside(text, "command")?);
            out.item(Item::Command { name: Cow::Borrowed("!"), args });
            if let Some(result) = injected::inside(text, "result") {
                let printed = result.split_once("Output:\n").map_or(result, |(_, text)| text);
                out.item(Item::ShellOutput(Cow::Borrowed(printed)));
            }
            Some(RecordVerdict::Read)
        }
        _ => None,
    }
}

/// One text of a message.
struct MessagePart<'a> {
    text: Cow<'a, str>,
    /// The origin in newer versions, such as `user.text`.
    origin: Option<Cow<'a, str>>,
}

impl MessagePart<'_> {
    fn is_typed(&self) -> bool {
        let text = self.text.trim();
        // Codex surrounds an image with two text parts, `<image …>` and `</image>`.
        let is_mark = text == "</image>" || text.starts_with("<image") && text.ends_with('>');
        let by_user = self
            .origin
            .as_deref()
            .is_none_or(|origin| origin.starts_with("user.") || origin == "unknown");
        by_user && !is_mark && injected::kind(text).is_none()
    }
}

fn parts<'a>(payload: &Object<'a>) -> Vec<MessagePart<'a>> {
    let content = payload.raw("content").unwrap_or_default();
    if content.starts_with('"') {
        let text = json::string_within(content, TEXT_KEPT).unwrap_or_default();
        return vec![MessagePart { text, origin: None }];
    }
    let about = payload.object("internal_chat_message_metadata_passthrough");
    let origins = about.and_then(|about| about.raw("content_item_kinds"));
    let mut origins = origins.map(json::items).unwrap_or_default().into_iter();
    let blocks = json::objects(content).into_iter();
    blocks
        .map(|block| (block, origins.next().and_then(json::string)))
        .filter_map(|(block, origin)| {
            Some(MessagePart { text: block.string_within("text", TEXT_KEPT)?, origin })
        })
        .collect()
}

fn joined<'a>(parts: &[MessagePart<'a>], is_kept: impl Fn(&MessagePart<'a>) -> bool) -> String {
    let texts = parts.iter().filter(|part| is_kept(part)).map(|part| part.text.as_ref());
    let text = texts.collect::<Vec<_>>().join("\n");
    without_middle(&text, TEXT_KEPT).into_owned()
}

/// Returns the id of a message. For a message without an id, derives an id from the turn and the
/// text.
fn message_uuid(
    payload: &Object<'_>,
    text: &str,
    out: &mut RolloutEmitter<'_>,
) -> Option<RecordUuid> {
    if let Some(id) = payload.string("id") {
        return Some(record_uuid("message", &id));
    }
    let rollout = rollout(out.memory);
    // A short id of a turn is only a number, which is not unique.
    let turn = if rollout.turn.len() > 20 { &rollout.turn } else { &rollout.thread };
    (!turn.is_empty()).then(|| record_uuid("text", &format!("{turn}\n{text}")))
}
