//! Reads events, which record actions of the program in addition to the model's history.

use std::borrow::Cow;

use crate::{
    format::{
        Memory, RecordVerdict,
        codex::{RolloutEmitter, call, message, note_turn, output, rollout, short},
        json::{self, Object},
        limits::{NAME_KEPT, TEXT_KEPT},
    },
    model::transcript::{Action, Call, Item, Outcome, TitleSource, Tokens},
};

pub(super) fn read(payload: &Object<'_>, out: &mut RolloutEmitter<'_>) -> RecordVerdict {
    let kind = payload.string("type").unwrap_or_default();
    let skipped = || RecordVerdict::Skipped(format!("event_msg/{kind}"));
    match kind.as_ref() {
        "user_message" => {
            let text = payload.string_within("message", TEXT_KEPT).unwrap_or_default();
            return message::prompt_event(&text, out);
        }
        "item_completed" => return item_completed(payload, out),
        "exec_command_end" => return command_ended(payload, "call_id", out),
        "patch_apply_end" if payload.raw("success") == Some("false") => {
            note_outcome(payload, "call_id", Outcome::Failed(None), out);
            return skipped();
        }
        "mcp_tool_call_end" if is_failed_call(payload) => {
            note_outcome(payload, "call_id", Outcome::Failed(None), out);
            return skipped();
        }
        "task_started" | "turn_started" => {
            note_turn(payload, out.memory);
            return skipped();
        }
        "token_count" => {
            let Some(info) = payload.object("info") else { return skipped() };
            return usage(&info, "total_token_usage", "last_token_usage", out);
        }
        "turn_aborted" if is_by_user(payload) => out.item(Item::Interrupted),
        "thread_name_updated" => {
            let text = payload.string("thread_name").filter(|name| !name.trim().is_empty());
            let Some(text) = text else { return skipped() };
            out.item(Item::Title { by: TitleSource::Model, text });
        }
        "entered_review_mode" => {
            let args = payload.string("user_facing_hint").unwrap_or_default();
            out.item(Item::Command { name: Cow::Borrowed("/review"), args });
        }
        "error" => {
            let text = payload.string_within("message", TEXT_KEPT).unwrap_or_default();
            out.item(Item::ServiceError(text));
        }
        _ => return skipped(),
    }
    RecordVerdict::Read
}

/// Whether the user aborted the turn. A turn is also aborted when another turn replaces it.
fn is_by_user(payload: &Object<'_>) -> bool {
    payload.string("reason").is_none_or(|reason| reason == "interrupted")
}

fn item_completed(payload: &Object<'_>, out: &mut RolloutEmitter<'_>) -> RecordVerdict {
    let Some(item) = payload.object("item") else {
        return RecordVerdict::Skipped("item_completed".to_owned());
    };
    let kind = item.string("type").unwrap_or_default();
    match kind.as_ref() {
        "UserMessage" => {
            let blocks = json::objects(item.raw("content").unwrap_or_default());
            let texts = blocks.iter().filter_map(|block| block.string_within("text", TEXT_KEPT));
            return message::prompt_event(&texts.collect::<Vec<_>>().join("\n"), out);
        }
        "CommandExecution" => return command_ended(&item, "id", out),
        "Plan" => return plan(&item, out),
        "FileChange" | "McpToolCall" | "DynamicToolCall" => {
            match item.string("status").as_deref() {
                Some("failed") => note_outcome(&item, "id", Outcome::Failed(None), out),
                Some("declined") => note_outcome(&item, "id", Outcome::Rejected, out),
                _ => {}
            }
        }
        _ => {}
    }
    RecordVerdict::Skipped(format!("item_completed/{kind}"))
}

/// Reads the plan that the agent proposes to the user in plan mode.
fn plan(item: &Object<'_>, out: &mut RolloutEmitter<'_>) -> RecordVerdict {
    let Some(plan) = item.string_within("text", TEXT_KEPT).filter(|text| !text.trim().is_empty())
    else {
        return RecordVerdict::Skipped("item_completed/Plan".to_owned());
    };
    let id = short(item, "id", NAME_KEPT).unwrap_or(Cow::Borrowed("plan"));
    let input = serde_json::json!({ "plan": plan });
    let action = Action::ProposePlan { plan: plan.into_owned() };
    out.item(Item::Call(Call { id, message: None, tool: "plan".into(), input, action }));
    RecordVerdict::Read
}

/// Reads the end of a command. If the call returned before the command ended, this record has the
/// call's result. Otherwise the history has the result, and only the outcome is noted.
fn command_ended(event: &Object<'_>, id: &str, out: &mut RolloutEmitter<'_>) -> RecordVerdict {
    let outcome = match (event.string("status").as_deref(), exit_code(event)) {
        (Some("declined"), _) => Outcome::Rejected,
        (_, Some(0)) | (Some("completed"), None) => Outcome::Succeeded,
        (_, code) => Outcome::Failed(code.filter(|code| *code >= 0)),
    };
    let call = short(event, id, NAME_KEPT).unwrap_or_default();
    if rollout(out.memory).take_ongoing_by_call(&call) {
        let raw = event.raw("aggregated_output").unwrap_or("\"\"");
        call::result(&call, outcome, output::plain(raw), out);
        return RecordVerdict::Read;
    }
    rollout(out.memory).note_outcome(&call, outcome);
    RecordVerdict::Skipped("event_msg/command ended".to_owned())
}

fn exit_code(event: &Object<'_>) -> Option<i32> {
    event.raw("exit_code")?.parse().ok()
}

fn note_outcome(event: &Object<'_>, id: &str, outcome: Outcome, out: &mut RolloutEmitter<'_>) {
    if let Some(call) = short(event, id, NAME_KEPT) {
        rollout(out.memory).note_outcome(&call, outcome);
    }
}

/// Whether a call of an MCP server failed: `{"Err": ..}`, or a result with `isError`.
fn is_failed_call(event: &Object<'_>) -> bool {
    let Some(result) = event.object("result") else { return false };
    result.raw("Err").is_some() || result.object("Ok").is_some_and(|ok| ok.is_true("isError"))
}

/// Reads the tokens of one response, as newer versions record them.
pub(super) fn usage_record(payload: &Object<'_>, out: &mut RolloutEmitter<'_>) -> RecordVerdict {
    usage(payload, "thread_token_usage", "usage", out)
}

/// Records the total of a copied record, because later totals include it.
pub(super) fn note_total(kind: &str, payload: &Object<'_>, memory: &mut Memory) {
    let total = match kind {
        "token_usage_record" => payload.object("thread_token_usage"),
        "event_msg" => payload.object("info").and_then(|info| info.object("total_token_usage")),
        _ => None,
    };
    if let Some(total) = total {
        rollout(memory).total = tokens(&total);
    }
}

/// Emits the tokens of the last response, unless the total is unchanged, because Codex repeats
/// totals.
fn usage(
    counts: &Object<'_>,
    total: &str,
    last: &str,
    out: &mut RolloutEmitter<'_>,
) -> RecordVerdict {
    let (Some(total), Some(last)) = (counts.object(total), counts.object(last)) else {
        return RecordVerdict::Skipped("tokens/incomplete".to_owned());
    };
    let total = tokens(&total);
    if total == rollout(out.memory).total {
        return RecordVerdict::Skipped("tokens/counted".to_owned());
    }
    rollout(out.memory).total = total;
    out.item(Item::Usage { message: None, tokens: tokens(&last) });
    RecordVerdict::Read
}

/// Parses token counts. Codex includes cached tokens in the input.
fn tokens(usage: &Object<'_>) -> Tokens {
    let count = |key| usage.number(key).unwrap_or(0);
    let cache_read = count("cached_input_tokens");
    let cache_write = count("cache_write_input_tokens");
    Tokens {
        input: count("input_tokens").saturating_sub(cache_read).saturating_sub(cache_write),
        output: count("output_tokens"),
        cache_read,
        cache_write,
    }
}
