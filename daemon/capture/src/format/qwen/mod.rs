//! The transcript format of Qwen Code: `projects/<slug>/chats/<session>.jsonl`, with sub-agents in
//! `projects/<slug>/subagents/<session>/agent-<id>.jsonl`.
//!
//! The records resemble the records of Claude Code, but a message has the form of Google's GenAI
//! interface: a role and parts. No transcript was available. The source is the program's code:
//! `packages/core/src/services/chatRecordingService.ts` at commit 015346f1 (2026) and
//! `packages/core/src/agents/agent-transcript.ts` at commit 015f2838, whose types also list the
//! records of older versions.

mod system;
mod user;

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{
    format::{
        Format, Identity, Memory, RecordVerdict, Surroundings, Unreadable,
        emitter::Emitter,
        genai::{self, GenaiPart, outcome, parts, typed::skipped},
        json::{self, Object},
        limits::{NAME_KEPT, PATH_KEPT, TEXT_KEPT},
        seen::SeenRecords,
    },
    model::{
        time::Timestamp,
        transcript::{Entry, Item, SessionContext, Tokens},
    },
};

pub struct Qwen;

impl Format for Qwen {
    fn agent(&self) -> &'static str {
        "qwen"
    }

    fn roots(&self, surroundings: &Surroundings<'_>) -> Vec<PathBuf> {
        let folder = ["QWEN_RUNTIME_DIR", "QWEN_HOME"].into_iter().find_map(|name| {
            (surroundings.variable)(name).filter(|folder| !folder.is_empty()).map(PathBuf::from)
        });
        vec![folder.unwrap_or_else(|| surroundings.home.join(".qwen")).join("projects")]
    }

    fn claims(&self, path: &Path) -> bool {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let folder = path.parent();
        let is_session =
            folder.is_some_and(|folder| folder.ends_with("chats")) && !name.starts_with("session-");
        let is_sub_agent = name.starts_with("agent-")
            && folder.and_then(Path::parent).is_some_and(|folder| folder.ends_with("subagents"));
        (is_session || is_sub_agent) && name.ends_with(".jsonl")
    }

    fn identify(&self, path: &Path, head: &str) -> Option<Identity> {
        let stem = path.file_stem()?.to_str()?;
        let records: Vec<Object<'_>> = head.lines().filter_map(Object::parse).collect();
        let first = records.first()?;
        if !RECORD_TYPES.contains(&first.raw("type")?) || !records.iter().any(genai::is_record) {
            return None;
        }
        let stated = |key, limit| {
            let text = records.iter().find_map(|record| record.string(key))?;
            (text.len() <= limit).then(|| text.into_owned())
        };
        let directory = stated("cwd", PATH_KEPT);
        let session = stated("sessionId", NAME_KEPT);
        match stem.strip_prefix("agent-") {
            Some(agent) => {
                Some(Identity { session: session?, sub_agent: Some(agent.to_owned()), directory })
            }
            None => {
                let session = session.unwrap_or_else(|| stem.to_owned());
                Some(Identity { session, sub_agent: None, directory })
            }
        }
    }

    fn read(
        &self,
        record: &str,
        memory: &mut Memory,
        emit: &mut dyn FnMut(Entry<'_>),
    ) -> Result<RecordVerdict, Unreadable> {
        let record = Object::parse(record).ok_or(Unreadable)?;
        let at = record.string("timestamp").and_then(|text| Timestamp::parse(&text));
        let uuid = record.string("uuid").and_then(|id| genai::record_uuid(&id));
        let mut out = Emitter::new(emit);
        (out.at, out.uuid) = (at, uuid);
        out.context(surroundings(&record), memory);
        Ok(match record.string("type").as_deref() {
            Some("user") => user::read(&record, memory, &mut out),
            Some("assistant") => assistant(&record, &mut out),
            Some("tool_result") => tool_result(&record, &mut out),
            Some("system") => system::read(&record, memory, &mut out),
            Some(other) => skipped(other),
            None => skipped("untyped"),
        })
    }

    fn record_starts(&self) -> &'static [&'static str] {
        &[r#"{"uuid":"#, r#"{"backgroundTurn":"#, r#"{"daemonPromptId":"#]
    }
}

/// The state that the format keeps for a file.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct QwenMemory {
    /// The commands that were read. The prompt of a command follows in a later record.
    seen: SeenRecords,
}

/// The raw types of records.
const RECORD_TYPES: &[&str] = &["\"user\"", "\"assistant\"", "\"tool_result\"", "\"system\""];

fn surroundings<'r>(record: &Object<'r>) -> SessionContext<'r> {
    SessionContext {
        cwd: record.string("cwd"),
        branch: record.string("gitBranch"),
        version: record.string("version"),
        model: record.string("model"),
    }
}

/// Returns the raw parts of a record's message.
fn content<'a>(record: &Object<'a>) -> &'a str {
    record.object("message").and_then(|message| message.raw("parts")).unwrap_or_default()
}

fn assistant(record: &Object<'_>, out: &mut Emitter<'_>) -> RecordVerdict {
    let id = record.string_within("uuid", NAME_KEPT).unwrap_or_default();
    let mut verdict = skipped("assistant/empty");
    if let Some(usage) = record.object("usageMetadata") {
        let message = Some(Cow::Borrowed(&*id));
        out.item(Item::Usage { message, tokens: tokens(&usage) });
        verdict = RecordVerdict::Read;
    }
    for part in parts(content(record)) {
        match part {
            GenaiPart::Text(text) if !text.trim().is_empty() => {
                let message = Some(Cow::Borrowed(&*id));
                out.item(Item::Reply { message, text });
            }
            GenaiPart::Call(call) => call.emit(Some(Cow::Borrowed(&id)), out),
            GenaiPart::Text(_) | GenaiPart::Response(_) | GenaiPart::Other => continue,
        }
        verdict = RecordVerdict::Read;
    }
    verdict
}

/// Parses token counts. The prompt tokens include cached tokens.
fn tokens(usage: &Object<'_>) -> Tokens {
    let count = |key| usage.number(key).unwrap_or(0);
    let cache_read = count("cachedContentTokenCount");
    let total = count("totalTokenCount");
    let prompt = count("promptTokenCount");
    // Some providers include thoughts in the output, and others count them separately.
    let output = count("candidatesTokenCount");
    let with_thoughts = output.saturating_add(count("thoughtsTokenCount"));
    let is_beside = prompt.saturating_add(with_thoughts) <= total;
    Tokens {
        input: prompt.saturating_sub(cache_read),
        output: if is_beside { with_thoughts } else { output },
        cache_read,
        cache_write: 0,
    }
}

fn tool_result(record: &Object<'_>, out: &mut Emitter<'_>) -> RecordVerdict {
    let reported = record.object("toolCallResult");
    let status = reported.as_ref().and_then(|reported| reported.string("status"));
    let mut verdict = skipped("tool_result/empty");
    for part in parts(content(record)) {
        if let GenaiPart::Response(response) = part {
            if response.tool == "ask_user_question" {
                answers(&response.id, reported.as_ref(), response.response, out);
            }
            let outcome = outcome::of(&response.tool, status.as_deref(), response.response);
            genai::emit_result(&response.id, outcome, response.response, out);
            verdict = RecordVerdict::Read;
        }
    }
    verdict
}

/// Emits the user's choices. Older versions report the choices only in a text, with the labels of
/// the questions.
fn answers(call: &str, reported: Option<&Object<'_>>, response: &str, out: &mut Emitter<'_>) {
    let display = reported.and_then(|reported| reported.object("resultDisplay"));
    if let Some(raw) = display.as_ref().and_then(|display| display.raw("answers")) {
        for answer in json::objects(raw) {
            if let (Some(question), Some(answer)) =
                (answer.string("question"), answer.string("answer"))
            {
                out.item(Item::Answer { call: Cow::Borrowed(call), question, answer });
            }
        }
        return;
    }
    let text = outcome::text(response, TEXT_KEPT);
    let lines = text.strip_prefix("User has provided the following answers:").unwrap_or_default();
    for line in lines.lines() {
        if let Some((question, answer)) =
            line.strip_prefix("**").and_then(|line| line.split_once("**: "))
        {
            let (question, answer) = (Cow::Borrowed(question), Cow::Borrowed(answer));
            out.item(Item::Answer { call: Cow::Borrowed(call), question, answer });
        }
    }
}

#[cfg(test)]
mod tests;
