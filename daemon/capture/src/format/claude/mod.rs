//! The transcript format of Claude Code: `projects/<slug>/<session>.jsonl`, with sub-agents at any
//! depth in `<session>/subagents/`. In older versions, sub-agents are in the folder of the
//! session's file, or in the session's file itself.
//!
//! An assistant record contains one content block, and a tool's result is in a later user record.
//! The sources for the format are Anthropic's hook reference and transcripts; Anthropic calls the
//! format internal.

mod action;
mod queue;
mod reply;
mod result;
#[cfg(test)]
mod tests;
mod user_text;

use std::{
    borrow::Cow,
    ffi::OsStr,
    path::{Path, PathBuf},
};

use self::{
    reply::{assistant, call},
    result::tool_result,
    user_text::{Speaker, emit_user_text},
};
use crate::{
    format::{
        Format, Identity, Memory, RecordVerdict, RunningSession, Surroundings, Unreadable,
        emitter::Emitter,
        genai,
        json::{self, Object},
        limits::{NAME_KEPT, PATH_KEPT, TEXT_KEPT},
    },
    model::{
        time::Timestamp,
        transcript::{
            COMPACTION_START, Entry, Item, RecapKind, RecordUuid, SessionContext, TitleSource,
            without_middle,
        },
    },
};

pub struct Claude;

impl Format for Claude {
    fn agent(&self) -> &'static str {
        "claude"
    }

    fn roots(&self, surroundings: &Surroundings<'_>) -> Vec<PathBuf> {
        vec![folder(surroundings).join("projects")]
    }

    /// The folder is undocumented, so it may be missing.
    fn liveness_folder(&self, surroundings: &Surroundings<'_>) -> Option<PathBuf> {
        Some(folder(surroundings).join("sessions"))
    }

    fn read_liveness(&self, text: &str) -> Option<RunningSession> {
        let object = Object::parse(text)?;
        let started = object.raw("procStart").map(|raw| raw.trim_matches('"'));
        Some(RunningSession {
            session: object.string("sessionId")?.into_owned(),
            pid: u32::try_from(object.number("pid")?).ok()?,
            started: started.and_then(|started| started.parse().ok()),
            cwd: object.string("cwd").map(Cow::into_owned),
        })
    }

    fn claims(&self, path: &Path) -> bool {
        let in_folder = |name: &str| path.components().any(|part| part.as_os_str() == name);
        path.extension().is_some_and(|extension| extension == "jsonl")
            && !in_folder("tool-results")
            && !in_folder("memory")
    }

    fn identify(&self, path: &Path, head: &str) -> Option<Identity> {
        let stem = path.file_stem()?.to_str()?;
        let records: Vec<Object<'_>> = head.lines().filter_map(Object::parse).collect();
        // New versions begin files with new types of records.
        let mut types = records.iter().map_while(|record| record.string("type"));
        // The records of Qwen Code have the same types.
        if !types.any(|kind| RECORD_TYPES.contains(&kind.as_ref()))
            || records.iter().any(genai::is_record)
        {
            return None;
        }
        let text = |key, limit| {
            let found = records.iter().find_map(|record| record.string(key))?;
            (found.len() <= limit).then(|| found.into_owned())
        };
        let directory = text("cwd", PATH_KEPT);
        if let Some(agent) = stem.strip_prefix("agent-") {
            // The program's own agents begin with a copy of the conversation and do no work.
            if ["acompact-", "aprompt_suggestion-", "aside_question-"]
                .iter()
                .any(|own| agent.starts_with(own))
            {
                return None;
            }
            let session = parent_of_sub_agent(path).or_else(|| text("sessionId", NAME_KEPT))?;
            return Some(Identity { session, sub_agent: Some(agent.to_owned()), directory });
        }
        // The first records of a fork still contain the id of the original session.
        let session = if is_uuid(stem) { None } else { text("sessionId", NAME_KEPT) };
        let session = session.unwrap_or_else(|| stem.to_owned());
        Some(Identity { session, sub_agent: None, directory })
    }

    fn memory_of(&self, path: &Path) -> Memory {
        let mut memory = Memory::default();
        let stem = path.file_stem().and_then(OsStr::to_str).unwrap_or_default();
        queue::set_session_file(&mut memory, !stem.starts_with("agent-"));
        memory
    }

    fn read(
        &self,
        record: &str,
        memory: &mut Memory,
        emit: &mut dyn FnMut(Entry<'_>),
    ) -> Result<RecordVerdict, Unreadable> {
        let record = Object::parse(record).ok_or(Unreadable)?;
        let Some(kind) = record.string("type") else {
            return Ok(RecordVerdict::Skipped("untyped".to_owned()));
        };
        let mut out = Emitter::new(emit);
        (out.at, out.uuid) = (time(&record), uuid(&record));
        // Versions before 2.1 write the records of sub-agents into the session's own file.
        let in_session = record.is_true("isSidechain") && queue::is_session_file(memory);
        let sub_agent = in_session.then(|| record.string("agentId").unwrap_or("sidechain".into()));
        out.sub_agent = sub_agent.as_deref();
        match kind.as_ref() {
            "user" => return Ok(user(&record, memory, &mut out)),
            "assistant" => return Ok(assistant(&record, memory, &mut out)),
            "system" => return Ok(system(&record, &mut out)),
            "attachment" => return Ok(attachment(&record, memory, &mut out)),
            "progress" => return Ok(progress(&record, &mut out)),
            "queue-operation" => return Ok(queue::operation(&record, memory)),
            "summary" => out.title(TitleSource::Summary, record.string("summary")),
            "ai-title" => out.title(TitleSource::Model, record.string("aiTitle")),
            "custom-title" => out.title(TitleSource::User, record.string("customTitle")),
            "pr-link" if let Some(url) = record.string("prUrl") => {
                out.item(Item::PullRequest { url, number: record.number("prNumber") });
            }
            other => return Ok(RecordVerdict::Skipped(other.to_owned())),
        }
        Ok(RecordVerdict::Read)
    }

    fn record_starts(&self) -> &'static [&'static str] {
        &[
            r#"{"parentUuid":"#,
            r#"{"type":"#,
            r#"{"logicalParentUuid":"#,
            r#"{"uuid":"#,
            r#"{"sessionId":"#,
            r#"{"isSidechain":"#,
            r#"{"timestamp":"#,
            r#"{"attachment":"#,
            r#"{"cwd":"#,
        ]
    }
}

fn folder(surroundings: &Surroundings<'_>) -> PathBuf {
    (surroundings.variable)("CLAUDE_CONFIG_DIR")
        .filter(|folder| !folder.is_empty())
        .map_or_else(|| surroundings.home.join(".claude"), PathBuf::from)
}

/// Record types that identify a file as Claude Code's.
const RECORD_TYPES: &[&str] = &[
    "user",
    "assistant",
    "system",
    "attachment",
    "progress",
    "queue-operation",
    "file-history-snapshot",
    "file-history-delta",
    "summary",
    "ai-title",
    "custom-title",
    "agent-name",
    "last-prompt",
    "mode",
    "permission-mode",
    "pr-link",
];

fn surroundings<'r>(record: &Object<'r>, model: Option<Cow<'r, str>>) -> SessionContext<'r> {
    SessionContext {
        cwd: record.string("cwd"),
        branch: record.string("gitBranch"),
        version: record.string("version"),
        model,
    }
}

fn user(record: &Object<'_>, memory: &mut Memory, out: &mut Emitter<'_>) -> RecordVerdict {
    let Some(message) = record.object("message") else {
        return RecordVerdict::Skipped("user/empty".to_owned());
    };
    let Some(content) = message.raw("content") else {
        return RecordVerdict::Skipped("user/empty".to_owned());
    };
    out.context(surroundings(record, None), memory);
    if record.is_true("isCompactSummary") {
        let text = content_text(content, TEXT_KEPT);
        out.item(Item::Recap { kind: RecapKind::Compaction, text });
        return RecordVerdict::Read;
    }
    // A text counts as typed, unless a member of the record shows that the program added it.
    let origin = record.object("origin").and_then(|origin| origin.string("kind"));
    let typed =
        !record.is_true("isMeta") && origin.is_none_or(|kind| kind == "human" || kind == "user");
    let speaker = match (typed, record.is_true("isSidechain")) {
        (false, _) => Speaker::Program,
        (true, true) => Speaker::ParentAgent,
        (true, false) => Speaker::User,
    };
    if record.is_true("isSidechain") && is_warm_up(record, content, memory) {
        return RecordVerdict::Skipped("user/warm-up".to_owned());
    }
    if content.starts_with('"') {
        let text = json::string_within(content, TEXT_KEPT).unwrap_or_default();
        return delivered(&text, speaker, memory, out);
    }
    let mut verdict = RecordVerdict::Skipped("user/empty".to_owned());
    for block in json::objects(content) {
        match block.string("type").as_deref() {
            Some("tool_result") => {
                tool_result(record, &block, out);
                verdict = RecordVerdict::Read;
            }
            Some("text") => {
                let text = block.string_within("text", TEXT_KEPT).unwrap_or_default();
                let text_verdict = delivered(&text, speaker, memory, out);
                if verdict != RecordVerdict::Read {
                    verdict = text_verdict;
                }
            }
            Some(other) if verdict != RecordVerdict::Read => {
                verdict = RecordVerdict::Skipped(format!("user/{other}"));
            }
            _ => {}
        }
    }
    verdict
}

/// Whether a record for a sub-agent is a warm-up request ([`queue::warm_up`]), or follows one.
fn is_warm_up(record: &Object<'_>, content: &str, memory: &mut Memory) -> bool {
    const REQUEST: &str = "Warmup";
    if content_text(content, 2 * REQUEST.len()).trim() == REQUEST {
        *queue::warm_up(memory) = record.string("uuid").unwrap_or_default().into_owned();
        return true;
    }
    queue::follows_warm_up(record, memory)
}

/// Emits a text of a user record, unless it was already emitted from the queue of prompts. The
/// summary of a compaction is no prompt, also if an older version did not mark its record.
fn delivered(
    text: &str,
    speaker: Speaker,
    memory: &mut Memory,
    out: &mut Emitter<'_>,
) -> RecordVerdict {
    if speaker == Speaker::User && queue::of(memory).delivered(text, false) {
        return RecordVerdict::Skipped("user/read from the queue".to_owned());
    }
    if text.starts_with(COMPACTION_START) {
        out.item(Item::Recap { kind: RecapKind::Compaction, text: Cow::Borrowed(text) });
        return RecordVerdict::Read;
    }
    emit_user_text(text, speaker, out)
}

fn system(record: &Object<'_>, out: &mut Emitter<'_>) -> RecordVerdict {
    let subtype = record.string("subtype").unwrap_or_default();
    match subtype.as_ref() {
        "compact_boundary" => out.item(Item::Boundary),
        "away_summary" => {
            let Some(text) = record.string_within("content", TEXT_KEPT) else {
                return RecordVerdict::Skipped("system/away_summary".to_owned());
            };
            out.item(Item::Recap { kind: RecapKind::Away, text });
        }
        "api_error" => {
            let text = record.object("error").and_then(|error| error.string("message"));
            out.item(Item::ServiceError(text.unwrap_or(Cow::Borrowed("API error"))));
        }
        "local_command" => {
            let text = record.string("content").unwrap_or_default();
            return emit_user_text(&text, Speaker::User, out);
        }
        "" => return RecordVerdict::Skipped("system".to_owned()),
        other => return RecordVerdict::Skipped(format!("system/{other}")),
    }
    RecordVerdict::Read
}

/// Reads a `progress` record. In some versions, these records in the session's own file contain the
/// calls and results of sub-agents.
fn progress(record: &Object<'_>, out: &mut Emitter<'_>) -> RecordVerdict {
    let read = || {
        let data = record.object("data")?;
        let is_agent = data.raw("type") == Some("\"agent_progress\"");
        let inner = data.object("message").filter(|_| is_agent)?;
        let content = inner.object("message")?.raw("content")?;
        let agent = data.raw("agentId").unwrap_or_default().trim_matches('"');
        Some((inner, content, agent))
    };
    let Some((inner, content, agent)) = read() else {
        return RecordVerdict::Skipped("progress".to_owned());
    };
    let caller = record.raw("parentToolUseID").map(|id| id.trim_matches('"'));
    let mut out = out.unidentified(Some(agent));
    out.caller = caller;
    for block in json::objects(content) {
        match block.raw("type") {
            Some("\"tool_use\"") => {
                // A call without an id or a name is ignored, but the record is counted as read.
                let _ = call(None, &block, &mut out);
            }
            Some("\"tool_result\"") => tool_result(&inner, &block, &mut out),
            _ => {}
        }
    }
    RecordVerdict::Read
}

fn attachment(record: &Object<'_>, memory: &mut Memory, out: &mut Emitter<'_>) -> RecordVerdict {
    let attachment = record.object("attachment");
    let kind = attachment.as_ref().and_then(|attachment| attachment.string("type"));
    let kind = kind.unwrap_or_default();
    if kind == "queued_command"
        && let Some(raw) = attachment.as_ref().and_then(|attachment| attachment.raw("prompt"))
    {
        let text = content_text(raw, TEXT_KEPT);
        if queue::of(memory).delivered(&text, true) {
            return RecordVerdict::Skipped("attachment/read from the queue".to_owned());
        }
        return emit_user_text(&text, Speaker::User, out);
    }
    RecordVerdict::Skipped(format!("attachment/{kind}"))
}

/// Returns the text of a `content` member: a string, or the text blocks of an array.
fn content_text(raw: &str, limit: usize) -> Cow<'_, str> {
    if raw.starts_with('"') {
        return json::string_within(raw, limit).unwrap_or_default();
    }
    let mut text = String::new();
    for block in json::objects(raw) {
        if let Some(part) = block.string_within("text", limit) {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&part);
        }
    }
    Cow::Owned(without_middle(&text, limit).into_owned())
}

fn time(record: &Object<'_>) -> Option<Timestamp> {
    Timestamp::parse(&record.string("timestamp")?)
}

fn uuid(record: &Object<'_>) -> Option<RecordUuid> {
    let text = record.string("uuid")?;
    uuid::Uuid::try_parse(&text).ok().map(uuid::Uuid::into_bytes)
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36 && uuid::Uuid::try_parse(text).is_ok()
}

/// Returns the session whose `subagents` folder contains the file.
fn parent_of_sub_agent(path: &Path) -> Option<String> {
    let folders: Vec<&str> =
        path.parent()?.components().filter_map(|c| c.as_os_str().to_str()).collect();
    let at = folders.iter().rposition(|name| *name == "subagents")?;
    folders.get(at.checked_sub(1)?).map(|name| (*name).to_owned())
}
