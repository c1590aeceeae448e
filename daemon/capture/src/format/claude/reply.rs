//! Reads replies of the model: text, calls of tools, and the tokens used.

use std::borrow::Cow;

use super::{
    action, content_text, queue, surroundings,
    user_text::{Speaker, emit_user_text},
};
use crate::{
    format::{
        Memory, RecordVerdict,
        emitter::Emitter,
        json::{self, Object},
        limits::{INPUT_KEPT, TEXT_KEPT},
    },
    model::transcript::{Call, Item, Tokens},
};

pub(super) fn assistant(
    record: &Object<'_>,
    memory: &mut Memory,
    out: &mut Emitter<'_>,
) -> RecordVerdict {
    let Some(message) = record.object("message") else {
        return RecordVerdict::Skipped("assistant/empty".to_owned());
    };
    for prompt in queue::of(memory).without_record() {
        // A text that is no prompt is ignored, because the record that is read is the reply.
        let _ = emit_user_text(&prompt, Speaker::User, &mut out.unidentified(None));
    }
    if record.is_true("isApiErrorMessage") {
        let text = content_text(message.raw("content").unwrap_or_default(), 2_048);
        out.item(Item::ServiceError(text));
        return RecordVerdict::Read;
    }
    let model = message.string("model").filter(|model| model != "<synthetic>");
    out.context(surroundings(record, model), memory);
    let id = message.string("id");
    if let Some(usage) = message.object("usage") {
        let count = |key| usage.number(key).unwrap_or(0);
        out.session_item(Item::Usage {
            message: id.clone(),
            tokens: Tokens {
                input: count("input_tokens"),
                output: count("output_tokens"),
                cache_read: count("cache_read_input_tokens"),
                cache_write: count("cache_creation_input_tokens"),
            },
        });
    }
    if record.is_true("isSidechain") && queue::follows_warm_up(record, memory) {
        return RecordVerdict::Skipped("assistant/warm-up".to_owned());
    }
    let content = message.raw("content").unwrap_or_default();
    if content.starts_with('"') {
        let text = json::string_within(content, TEXT_KEPT).unwrap_or_default();
        return reply(id, text, out);
    }
    let mut verdict = RecordVerdict::Skipped("assistant/empty".to_owned());
    for block in json::objects(content) {
        let found = match block.string("type").as_deref() {
            Some("text") => {
                reply(id.clone(), block.string_within("text", TEXT_KEPT).unwrap_or_default(), out)
            }
            Some("tool_use" | "server_tool_use" | "mcp_tool_use") => call(id.clone(), &block, out),
            Some(other) => RecordVerdict::Skipped(format!("assistant/{other}")),
            None => continue,
        };
        if verdict != RecordVerdict::Read {
            verdict = found;
        }
    }
    verdict
}

fn reply(
    message: Option<Cow<'_, str>>,
    text: Cow<'_, str>,
    out: &mut Emitter<'_>,
) -> RecordVerdict {
    if text.trim().is_empty() || text == "(no content)" || text == "No response requested." {
        return RecordVerdict::Skipped("assistant/empty".to_owned());
    }
    out.item(Item::Reply { message, text });
    RecordVerdict::Read
}

pub(super) fn call(
    message: Option<Cow<'_, str>>,
    block: &Object<'_>,
    out: &mut Emitter<'_>,
) -> RecordVerdict {
    let (Some(id), Some(tool)) = (block.string("id"), block.string("name")) else {
        return RecordVerdict::Skipped("assistant/nameless call".to_owned());
    };
    let input = json::value_within(block.raw("input").unwrap_or("null"), INPUT_KEPT);
    let action = action::of(&tool, &input);
    out.item(Item::Call(Call { id, message, tool, input, action }));
    RecordVerdict::Read
}
