//! Reads the results of tool calls, and what the user typed when refusing a call.

use std::borrow::Cow;

use crate::{
    format::{
        emitter::Emitter,
        json::{self, Object},
    },
    model::transcript::{Item, LazyText, Outcome, ToolResult},
    outcome_text::is_not_permitted,
};

/// Maximum length, in bytes, of the text that the user typed when refusing a call.
const REFUSAL_KEPT: usize = 16 * 1024;

pub(super) fn tool_result(record: &Object<'_>, block: &Object<'_>, out: &mut Emitter<'_>) {
    let Some(call) = block.string("tool_use_id") else { return };
    let raw = block.raw("content").unwrap_or("\"\"");
    let content = LazyText::new(raw, super::content_text);
    let failed = block.is_true("is_error");
    // Refusals and exit codes are recognised by the start of the text.
    let head = if failed { content.decode(2_048) } else { Cow::Borrowed("") };
    let structured = record.raw("toolUseResult").unwrap_or_default();
    if structured.starts_with("{\"task\":")
        && let Some(task) = Object::parse(structured).and_then(|result| result.object("task"))
        && let Some(key) = task.string("id")
    {
        out.item(Item::TaskKey { call: call.clone(), key });
    }
    if structured.starts_with("{\"questions\":")
        && let Some(answers) = Object::parse(structured).and_then(|result| result.object("answers"))
    {
        for (question, raw) in answers.members() {
            if let Some(answer) = json::string(raw) {
                let (call, question) = (call.clone(), question.into());
                out.user_item(Item::Answer { call, question, answer });
            }
        }
    }
    let outcome = outcome(failed, &head);
    out.item(Item::Result(ToolResult { call, outcome, content }));
    if outcome == Outcome::Rejected
        && let Some(words) = refusal_text(&content.decode(REFUSAL_KEPT))
    {
        out.user_item(Item::Prompt(Cow::Borrowed(words)));
    }
}

fn outcome(failed: bool, head: &str) -> Outcome {
    if !failed {
        return Outcome::Succeeded;
    }
    if head.starts_with("The user doesn't want to") {
        return Outcome::Rejected;
    }
    if head.starts_with("[Request interrupted")
        || head.starts_with("Request was aborted")
        || is_not_permitted(head)
    {
        return Outcome::Interrupted;
    }
    let code = head.strip_prefix("Exit code ").map(|rest| {
        rest.bytes().take_while(u8::is_ascii_digit).fold(0i32, |code, digit| {
            code.saturating_mul(10).saturating_add(i32::from(digit - b'0'))
        })
    });
    Outcome::Failed(code)
}

/// Returns the text that the user typed when refusing a tool call.
fn refusal_text(text: &str) -> Option<&str> {
    const INTRODUCTIONS: [&str; 2] = [
        "To tell you how to proceed, the user said:",
        "The user provided the following reason for the rejection:",
    ];
    let (_, words) = INTRODUCTIONS.iter().find_map(|introduction| text.split_once(introduction))?;
    let words = words.split("\n\nNote: The user's next message").next().unwrap_or(words).trim();
    // The user did not type this text, but selected it in a menu.
    let menu = words.starts_with("The user wants to clarify these questions");
    (!words.is_empty() && !menu).then_some(words)
}
