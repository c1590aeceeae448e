//! The common parts of Gemini CLI and its fork Qwen Code: the content of Google's GenAI interface,
//! the names of tools, and the texts that both programs add to the user's prompts.

pub(crate) mod action;
pub(crate) mod outcome;
pub(crate) mod typed;

use std::borrow::Cow;

use crate::{
    format::{
        emitter::Emitter,
        json::{self, Object},
        limits::{INPUT_KEPT, TEXT_KEPT},
    },
    model::transcript::{Call, Item, LazyText, Outcome, RecordUuid, ToolResult, without_middle},
};

/// A part of a message.
pub(crate) enum GenaiPart<'a> {
    Text(Cow<'a, str>),
    Call(FunctionCall<'a>),
    Response(FunctionResponse<'a>),
    /// A thought, an image or a file.
    Other,
}

pub(crate) struct FunctionCall<'a> {
    pub(crate) id: Cow<'a, str>,
    pub(crate) tool: Cow<'a, str>,
    pub(crate) args: &'a str,
}

pub(crate) struct FunctionResponse<'a> {
    pub(crate) id: Cow<'a, str>,
    pub(crate) tool: Cow<'a, str>,
    /// The raw object with the member `output` or `error`.
    pub(crate) response: &'a str,
}

/// Parses a content, which is a text, a part, or an array of both.
pub(crate) fn parts(raw: &str) -> Vec<GenaiPart<'_>> {
    if raw.starts_with('[') {
        return json::items(raw).into_iter().map(part).collect();
    }
    if raw.starts_with(['"', '{']) { vec![part(raw)] } else { Vec::new() }
}

fn part(raw: &str) -> GenaiPart<'_> {
    if raw.starts_with('"') {
        return json::string_within(raw, TEXT_KEPT).map_or(GenaiPart::Other, GenaiPart::Text);
    }
    let Some(object) = Object::parse(raw).filter(|object| !object.is_true("thought")) else {
        return GenaiPart::Other;
    };
    let text = || object.string_within("text", TEXT_KEPT).map(GenaiPart::Text);
    call(&object).or_else(|| response(&object)).or_else(text).unwrap_or(GenaiPart::Other)
}

fn call<'a>(part: &Object<'a>) -> Option<GenaiPart<'a>> {
    let call = part.object("functionCall")?;
    let (id, tool) = (call.string("id")?, call.string("name")?);
    Some(GenaiPart::Call(FunctionCall { id, tool, args: call.raw("args").unwrap_or("null") }))
}

fn response<'a>(part: &Object<'a>) -> Option<GenaiPart<'a>> {
    let response = part.object("functionResponse")?;
    let (id, tool) = (response.string("id")?, response.string("name").unwrap_or_default());
    let response = response.raw("response").unwrap_or("null");
    Some(GenaiPart::Response(FunctionResponse { id, tool, response }))
}

/// Returns the texts among the parts of a content, without thoughts.
pub(crate) fn text_of(raw: &str) -> String {
    let texts = parts(raw).into_iter().filter_map(|part| match part {
        GenaiPart::Text(text) => Some(text),
        GenaiPart::Call(_) | GenaiPart::Response(_) | GenaiPart::Other => None,
    });
    let text = texts.collect::<Vec<_>>().join("\n");
    without_middle(&text, TEXT_KEPT).into_owned()
}

impl FunctionCall<'_> {
    pub(crate) fn emit(&self, message: Option<Cow<'_, str>>, out: &mut Emitter<'_>) {
        let input = json::value_within(self.args, INPUT_KEPT);
        let action = action::of(&self.tool, &input);
        out.item(Item::Call(Call {
            id: Cow::Borrowed(&self.id),
            message,
            tool: Cow::Borrowed(&self.tool),
            input,
            action,
        }));
    }
}

/// Emits the result of a call.
pub(crate) fn emit_result(call: &str, outcome: Outcome, response: &str, out: &mut Emitter<'_>) {
    out.item(Item::Result(ToolResult {
        call: Cow::Borrowed(call),
        outcome,
        content: LazyText::new(response, outcome::text),
    }));
}

/// Parses a record's id, which is the same in every copy of the record. Returns `None` for an id
/// that is not a UUID. Such an id is derived from the content, so it is not unique.
pub(crate) fn record_uuid(id: &str) -> Option<RecordUuid> {
    let is_uuid = id.len() == 36;
    is_uuid.then(|| uuid::Uuid::try_parse(id).ok().map(uuid::Uuid::into_bytes)).flatten()
}

/// Whether a record that resembles a record of Claude Code has a member that only Qwen Code writes:
/// parts, a system payload or a provenance.
pub(crate) fn is_record(record: &Object<'_>) -> bool {
    record.raw("systemPayload").is_some()
        || record.raw("provenance").is_some()
        || record.object("message").is_some_and(|message| message.raw("parts").is_some())
}
