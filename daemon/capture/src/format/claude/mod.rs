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
        let types = records.iter().map_while(|record| record.string("type"));
        // The records of Qwen Code have the same types.
        if !types.into_iter().any(|kind| RECORD_TYPES.contains(&kind.as_ref()))
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::model::transcript::Outcome;

    /// Formats the content of the records.
    fn read(records: &[Value]) -> Vec<String> {
        read_file(Path::new("/home/ada/.claude/projects/-app/3f0c1f9e.jsonl"), records)
    }

    fn read_file(path: &Path, records: &[Value]) -> Vec<String> {
        let mut memory = Claude.memory_of(path);
        let mut formatted = Vec::new();
        for record in records {
            let mut emit = |entry: Entry<'_>| {
                let names = entry.caller.into_iter().chain(entry.sub_agent);
                let who: String = names.map(|name| format!("{name} ")).collect();
                formatted.push(match entry.item {
                    Item::Prompt(text) => format!("{who}prompt: {text}"),
                    Item::Reply { text, .. } => format!("{who}reply: {text}"),
                    Item::Call(call) => format!("{who}call: {}", call.tool),
                    Item::Result(result) => format!("{who}result: {}", result.content.decode(99)),
                    Item::TaskEnded(ended) => format!("{who}ended {}: {}", ended.task, ended.text),
                    Item::ShellOutput(text) => format!("{who}shell: {}", text.trim()),
                    Item::Recap { text, .. } => format!("{who}recap: {text}"),
                    Item::Answer { answer, .. } => format!("{who}answer: {answer}"),
                    Item::Interrupted => format!("{who}interrupted"),
                    _ => return,
                });
            };
            Claude.read(&record.to_string(), &mut memory, &mut emit).unwrap();
        }
        formatted
    }

    fn user(text: &str) -> Value {
        json!({ "type": "user", "message": { "content": text } })
    }

    fn reply(text: &str) -> Value {
        json!({ "type": "assistant", "message": { "content": text } })
    }

    fn queue(operation: &str, content: &str) -> Value {
        let content = (!content.is_empty()).then_some(content);
        json!({ "type": "queue-operation", "operation": operation, "content": content })
    }

    fn attached(text: &str) -> Value {
        json!({ "type": "attachment", "attachment": { "type": "queued_command", "prompt": text } })
    }

    #[test]
    fn a_summary_of_a_compaction_is_no_prompt_also_without_its_mark() {
        let text = "This session is being continued from a previous conversation that ran out of \
                    context. The conversation is summarized below:\n1. Request: fix it";
        let mut marked = user("Continued.");
        marked["isCompactSummary"] = json!(true);
        let block =
            json!({ "type": "user", "message": { "content": [{ "type": "text", "text": text }] } });
        let about = user("Is this session being continued from a previous conversation?");
        assert_eq!(
            read(&[marked, user(text), block, about]),
            [
                "recap: Continued.".to_owned(),
                format!("recap: {text}"),
                format!("recap: {text}"),
                "prompt: Is this session being continued from a previous conversation?".to_owned(),
            ]
        );
    }

    #[test]
    fn a_file_that_begins_with_a_new_type_of_record_is_read() {
        let id = "3f0c1f9e-0000-4000-8000-000000000001";
        let path = PathBuf::from(format!("/home/ada/.claude/projects/-app/{id}.jsonl"));
        let prompt = user("Fix it").to_string();
        for first in ["agent-setting", "worktree-state", "a-type-of-tomorrow"] {
            let head = format!("{}\n{prompt}\n", json!({ "type": first, "sessionId": id }));
            let identity = Claude.identify(&path, &head).map(|found| found.session);
            assert_eq!(identity.as_deref(), Some(id), "{first}");
        }
        let foreign = [
            json!({ "type": "started" }).to_string(),
            format!("{}\n{prompt}", json!({ "sessionId": id, "projectHash": "1" })),
        ];
        for head in foreign {
            assert!(Claude.identify(&path, &head).is_none(), "{head}");
        }
    }

    #[test]
    fn agents_of_the_program_are_no_sub_agents_of_the_session() {
        let identify = |name: &str| {
            let folder = "/home/ada/.claude/projects/-app/3f0c1f9e/subagents";
            let path = PathBuf::from(format!("{folder}/agent-{name}.jsonl"));
            Claude.identify(&path, &user("Go").to_string()).is_some()
        };
        assert!(identify("a1b2c3d4"));
        for own in ["acompact-1f", "aprompt_suggestion-1f", "aside_question-1f"] {
            assert!(!identify(own), "{own}");
        }
    }

    #[test]
    fn of_a_sub_agent_in_the_sessions_file_only_calls_and_results_are_read() {
        let own_file = Path::new("/home/ada/.claude/projects/-app/3f0c1f9e.jsonl");
        let sub_agents_file = Path::new("/home/ada/.claude/projects/-app/agent-1f.jsonl");
        let mut records = [
            user("Compare the caches."),
            reply("I decided to use ripgrep instead of grep."),
            json!({ "type": "assistant", "message": { "content": [
                { "type": "tool_use", "id": "c1", "name": "Bash", "input": { "command": "rg cache" } }
            ] } }),
        ];
        records.iter_mut().for_each(|record| record["isSidechain"] = json!(true));
        assert_eq!(read_file(own_file, &records), ["sidechain call: Bash"]);
        assert_eq!(
            read_file(sub_agents_file, &records),
            ["reply: I decided to use ripgrep instead of grep.", "call: Bash"]
        );
    }

    #[test]
    fn the_users_words_to_a_sub_agent_in_the_sessions_file_are_read() {
        let result = |is_error: bool, text: &str| {
            let block = json!({
                "type": "tool_result", "tool_use_id": "c", "is_error": is_error, "content": text,
            });
            json!({ "type": "user", "message": { "content": [block] } })
        };
        let refusal = "The user doesn't want to proceed. To tell you how to proceed, the user \
                       said:\nuse pnpm instead";
        let mut answered = result(false, "Answered");
        answered["toolUseResult"] = json!({ "questions": [], "answers": { "Which?": "pnpm" } });
        let mut records = [
            result(true, refusal),
            answered,
            user("[Request interrupted by user]"),
            user("Compare the caches."),
            result(true, "The user said: file not found"),
            user("<system-reminder>[Request interrupted by user]</system-reminder>"),
        ];
        let progress = {
            let message = &records[0];
            let data = json!({ "type": "agent_progress", "agentId": "a", "message": message });
            json!({ "type": "progress", "parentToolUseID": "t", "data": data })
        };
        records.iter_mut().for_each(|record| record["isSidechain"] = json!(true));
        let found = read(&records);
        let wanted = ["prompt: use pnpm instead", "answer: pnpm", "interrupted"];
        let words: Vec<&String> = found.iter().filter(|item| !item.contains(" result: ")).collect();
        assert_eq!(words, wanted);
        // The sub-agent's own file contains the same words.
        assert_eq!(read(&[progress]).len(), 1);
    }

    #[test]
    fn a_call_that_nobody_permitted_was_not_refused_by_the_user() {
        let outcome = |text: &str| {
            let mut outcomes = Vec::new();
            let record = json!({ "type": "user", "message": { "content": [
                { "type": "tool_result", "tool_use_id": "c", "is_error": true, "content": text }
            ] } });
            let mut emit = |entry: Entry<'_>| {
                if let Item::Result(result) = entry.item {
                    outcomes.push(result.outcome);
                }
            };
            Claude.read(&record.to_string(), &mut Memory::default(), &mut emit).unwrap();
            outcomes.remove(0)
        };
        for answer in [
            "Claude requested permissions to use WebSearch, but you haven't granted it yet.",
            "This command requires approval",
            "Permission for this action was denied by the Claude Code auto mode classifier.",
        ] {
            assert_eq!(outcome(answer), Outcome::Interrupted, "{answer}");
        }
        assert_eq!(outcome("The user doesn't want to proceed."), Outcome::Rejected);
        assert_eq!(outcome("open /etc/shadow: Permission denied"), Outcome::Failed(None));
    }

    #[test]
    fn queued_prompts_of_all_forms_are_read_without_a_record() {
        let blocks = json!([{ "type": "text", "text": "use pnpm instead of npm" }]);
        let long = format!("the log:\n{}\nfix it", "line\n".repeat(5_000));
        for (queued, wanted) in [
            (blocks, "prompt: use pnpm instead of npm"),
            (
                json!("/home/ada/log.txt shows the crash"),
                "prompt: /home/ada/log.txt shows the crash",
            ),
            (json!("<div> is not centred"), "prompt: <div> is not centred"),
            (json!(long), "prompt: the log:"),
        ] {
            let enqueue =
                json!({ "type": "queue-operation", "operation": "enqueue", "content": queued });
            let found = read(&[enqueue, queue("remove", ""), reply("Going on.")]);
            assert_eq!(found.len(), 2, "{found:?}");
            assert!(found[0].starts_with(wanted), "{found:?}");
        }
        let reminded = "<system-reminder>Be brief</system-reminder>use <b>pnpm</b>";
        let found = read(&[queue("enqueue", reminded), queue("remove", ""), reply("Going on.")]);
        assert_eq!(found, ["prompt: use <b>pnpm</b>", "reply: Going on."]);
        let reminder = "<system-reminder>Be brief</system-reminder>\n";
        for notice in
            ["/clear", "/my-plugin:review now", "<task-notification>\n<task-id>1", reminder]
        {
            let found = read(&[queue("enqueue", notice), queue("remove", ""), reply("Going on.")]);
            assert_eq!(found, ["reply: Going on."]);
        }
    }

    #[test]
    fn a_queued_prompt_is_read_once() {
        let (queued, goes_on) = ("use the other file", reply("Going on."));
        let enqueue = || queue("enqueue", queued);
        let wanted = ["prompt: use the other file", "reply: Going on."];
        for records in [
            // The prompt starts the next turn.
            vec![enqueue(), queue("dequeue", ""), user(queued), goes_on.clone()],
            // The prompt is delivered within the turn, with a record and without one.
            vec![enqueue(), queue("remove", ""), attached(queued), goes_on.clone()],
            vec![enqueue(), queue("remove", ""), goes_on.clone()],
        ] {
            assert_eq!(read(&records), wanted);
        }
        // The notice is delivered within the turn, and the prompt starts the next turn.
        let notice = queue("enqueue", "<task-notification>x</task-notification>");
        let records =
            [enqueue(), notice, queue("remove", ""), goes_on, queue("dequeue", ""), user(queued)];
        assert_eq!(read(&records), wanted);
        // A notice waits, and a prompt that is typed later is delivered first.
        for tag in ["task-notification", "system-reminder"] {
            let notice = queue("enqueue", &format!("<{tag}>x</{tag}>"));
            let records = [notice, enqueue(), queue("remove", ""), reply("Going on.")];
            assert_eq!(read(&records), wanted);
        }
    }

    #[test]
    fn withdrawn_and_unsent_texts_are_not_prompts() {
        let records = [
            queue("enqueue", "wait"),
            queue("popAll", "wait"),
            queue("enqueue", "{\"task_id\":\"a\"}"),
            queue("remove", ""),
            queue("enqueue", "never sent"),
            reply("Done."),
        ];
        assert_eq!(read(&records), ["reply: Done."]);
        let typed_twice = [user("continue"), reply("a"), user("continue")];
        assert_eq!(read(&typed_twice).len(), 3);
    }

    #[test]
    fn a_warm_up_of_the_cache_is_not_read() {
        let path = Path::new("/home/ada/.claude/projects/-app/agent-1f.jsonl");
        let read = |records: &[Value]| read_file(path, records);
        let side = |parent: &str, id: &str, mut record: Value| {
            record["isSidechain"] = json!(true);
            (record["parentUuid"], record["uuid"]) = (json!(parent), json!(id));
            record
        };
        let result = json!([{ "type": "tool_result", "tool_use_id": "t", "content": "a.rs" }]);
        let result = json!({ "type": "user", "message": { "content": result } });
        let warm_up = [
            side("", "w1", user("Warmup")),
            side("w1", "w2", reply("Ready.")),
            side("w2", "w3", result),
        ];
        assert_eq!(read(&warm_up), [""; 0]);
        let work = [side("", "a1", user("Find the tests")), side("a1", "a2", reply("Found."))];
        let alone = read(&work);
        assert_eq!(alone.last().unwrap(), "reply: Found.");
        assert_eq!(read(&[&warm_up[..], &work].concat()), alone);
        // The records of two agents in one file.
        assert_eq!(read(&[&work[..1], &warm_up, &work[1..]].concat()), alone);
        assert_eq!(read(&[user("Warmup"), reply("Ready.")]), ["prompt: Warmup", "reply: Ready."]);
    }

    #[test]
    fn text_in_a_refusal_is_a_prompt() {
        let long = "no ".repeat(2_000);
        for (words, wanted) in [
            ("To tell you how to proceed, the user said:\nuse pnpm", vec!["use pnpm"]),
            (
                "The user provided the following reason for the rejection:  use pnpm\n\nNote: The user's next message may differ.",
                vec!["use pnpm"],
            ),
            (&format!("To tell you how to proceed, the user said:\n{long}"), vec![long.trim()]),
            ("STOP what you are doing and wait for the user.", vec![]),
            (
                "To tell you how to proceed, the user said:\nThe user wants to clarify these questions.",
                vec![],
            ),
        ] {
            let content = format!("The user doesn't want to proceed with this tool use. {words}");
            let result = json!({
                "type": "tool_result", "tool_use_id": "a", "is_error": true, "content": content,
            });
            let record = json!({ "type": "user", "message": { "content": [result] } });
            let wanted: Vec<String> =
                wanted.into_iter().map(|words| format!("prompt: {words}")).collect();
            assert_eq!(read(&[record])[1..], wanted, "{words}");
        }
    }

    #[test]
    fn calls_of_a_sub_agent_are_read_from_the_file_of_its_session() {
        let progress = |kind: &str, block: Value| {
            let message = json!({ "type": kind, "message": { "content": [block] } });
            let data = json!({ "type": "agent_progress", "agentId": "a1", "message": message });
            json!({ "type": "progress", "uuid": "x", "parentToolUseID": "t9", "data": data })
        };
        let call = json!({ "type": "tool_use", "id": "t", "name": "Bash", "input": {} });
        let result = json!({ "type": "tool_result", "tool_use_id": "t", "content": "ok" });
        let records = [
            progress("user", json!({ "type": "text", "text": "Look around" })),
            progress("assistant", json!({ "type": "text", "text": "I look" })),
            progress("assistant", call),
            progress("user", result),
            json!({ "type": "progress", "data": { "type": "bash_progress" } }),
        ];
        assert_eq!(read(&records), ["t9 a1 call: Bash", "t9 a1 result: ok"]);
    }

    #[test]
    fn tasks_in_the_background_report_their_end() {
        let notice = "<task-notification>\n<task-id>a1</task-id>\n<status>completed</status>\n\
            <result>It <b>holds</b> </result> tags</result>\n</task-notification>";
        let records = [user(notice), attached(notice)];
        let wanted = "ended a1: It <b>holds</b> </result> tags";
        assert_eq!(read(&records), [wanted, wanted]);
        let printed = user("<bash-stdout>Switched</bash-stdout><bash-stderr></bash-stderr>");
        assert_eq!(read(&[printed]), ["shell: Switched"]);
    }
}
