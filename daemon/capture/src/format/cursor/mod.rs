//! The transcript format of Cursor's command line. The folder
//! `projects/<directory>/agent-transcripts` contains the file `<session>/<session>.jsonl` (in older
//! versions `<session>.jsonl`). Sub-agents are in `<session>/subagents` or in other files of the
//! folder `<session>`.
//!
//! A record is a message `{role, message: {content}}` or the end of a turn. A record has no id and
//! no time, but the text of a prompt may contain the time. A call is written after the tool ran,
//! and its result is not written. No transcript was available: the sources for the format are
//! descriptions, and public programs that read transcripts.

mod action;
mod text;

use std::{
    borrow::Cow,
    io::Read as _,
    path::{Component, Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{
    format::{
        Format, Identity, Memory, RecordVerdict, Surroundings, Unreadable,
        emitter::Emitter,
        json::{self, Object},
        limits::{INPUT_KEPT, TEXT_KEPT},
        tasks,
    },
    model::{
        time::Timestamp,
        transcript::{
            Action, Call, Entry, Item, LazyText, Outcome, Task, ToolResult, without_middle,
        },
    },
    open,
};

pub struct CursorCli;

/// The state that the format keeps for a file.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct CursorMemory {
    /// The number of calls without an id in the transcript.
    calls: u64,
    /// The list of tasks. A call may state only the changed tasks.
    tasks: Vec<Task>,
    /// Whether the file belongs to a sub-agent, so that the parent agent wrote its prompts.
    is_sub_agent: bool,
}

/// Maximum number of bytes that are read from the file that describes a project.
const PROJECT: u64 = 64 * 1024;

impl Format for CursorCli {
    fn agent(&self) -> &'static str {
        "cursor"
    }

    fn roots(&self, surroundings: &Surroundings<'_>) -> Vec<PathBuf> {
        let folder = (surroundings.variable)("CURSOR_CONFIG_DIR")
            .filter(|folder| !folder.is_empty())
            .map_or_else(|| surroundings.home.join(".cursor"), PathBuf::from);
        vec![folder.join("projects")]
    }

    fn claims(&self, path: &Path) -> bool {
        path.extension().is_some_and(|extension| extension == "jsonl")
            && TranscriptPath::of(path).is_some()
    }

    fn identify(&self, path: &Path, head: &str) -> Option<Identity> {
        let TranscriptPath { project, session, sub_agent } = TranscriptPath::of(path)?;
        let mut records = head.lines().filter_map(Object::parse).peekable();
        if !is_record(records.peek()?) {
            return None;
        }
        let directory = workspace(&project).or_else(|| records.find_map(|one| shell_folder(&one)));
        Some(Identity { session, sub_agent, directory })
    }

    fn memory_of(&self, path: &Path) -> Memory {
        let mut memory = Memory::default();
        let sub_agent = TranscriptPath::of(path).and_then(|path| path.sub_agent);
        memory.own::<CursorMemory>().is_sub_agent = sub_agent.is_some();
        memory
    }

    fn read(
        &self,
        record: &str,
        memory: &mut Memory,
        emit: &mut dyn FnMut(Entry<'_>),
    ) -> Result<RecordVerdict, Unreadable> {
        let record = Object::parse(record).ok_or(Unreadable)?;
        let mut out = Emitter::new(emit);
        let kind = record.string("role").or_else(|| record.string("type"));
        let kind = kind.unwrap_or(Cow::Borrowed("untyped"));
        let message = record.object("message");
        let content = message.as_ref().and_then(|message| message.raw("content"));
        out.at = record.string("timestamp").and_then(|time| Timestamp::parse(&time));
        match (kind.as_ref(), content) {
            ("user", Some(content)) => user(content, memory, &mut out),
            ("assistant", Some(content)) => assistant(content, memory, &mut out),
            ("turn_ended", _) => turn_ended(&record, &mut out),
            _ => {}
        }
        Ok(out.verdict(&kind))
    }

    fn record_starts(&self) -> &'static [&'static str] {
        &[r#"{"role":""#, r#"{"type":""#]
    }
}

/// The information in a transcript's path.
struct TranscriptPath {
    project: PathBuf,
    session: String,
    sub_agent: Option<String>,
}

impl TranscriptPath {
    fn of(path: &Path) -> Option<TranscriptPath> {
        let folder = path.ancestors().find(|one| one.ends_with("agent-transcripts"))?;
        let names = path.strip_prefix(folder).ok()?.components();
        let names: Option<Vec<&str>> = names.map(name).collect();
        let (session, sub_agent) = match *names?.as_slice() {
            [file] => (file.strip_suffix(".jsonl")?, None),
            [session, file] => (session, file.strip_suffix(".jsonl").filter(|id| *id != session)),
            [session, "subagents", file] => (session, Some(file.strip_suffix(".jsonl")?)),
            _ => return None,
        };
        let project = folder.parent()?.to_path_buf();
        let sub_agent = sub_agent.map(str::to_owned);
        Some(TranscriptPath { project, session: session.to_owned(), sub_agent })
    }
}

fn name(component: Component<'_>) -> Option<&str> {
    component.as_os_str().to_str()
}

fn is_record(record: &Object<'_>) -> bool {
    let is =
        |key, values: &[&str]| record.string(key).is_some_and(|v| values.contains(&v.as_ref()));
    let is_message = is("role", &["user", "assistant"]) && record.raw("message").is_some();
    // Records of other agents have the same members, but also a type and an id.
    let is_bare = record.raw("type").is_none() && record.raw("uuid").is_none();
    (is_message && is_bare) || is("type", &["turn_ended"])
}

/// Returns the directory of a project, as `.workspace-trusted` in the project's folder states it.
/// The folder's name is ambiguous: each dash in it replaces a dash or a slash of the directory.
fn workspace(project: &Path) -> Option<String> {
    let file = open::open_file(&project.join(".workspace-trusted")).ok()?;
    let mut text = String::new();
    file.take(PROJECT).read_to_string(&mut text).ok()?;
    Object::parse(&text)?.string("workspacePath").map(Cow::into_owned)
}

/// Returns the directory of the first shell command in a record.
fn shell_folder(record: &Object<'_>) -> Option<String> {
    let message = record.object("message")?;
    let blocks = json::objects(message.raw("content")?);
    let folder = |block: &Object<'_>| {
        let folder = block.object("input")?.string("working_directory")?;
        folder.starts_with('/').then(|| folder.into_owned())
    };
    blocks.iter().find_map(folder)
}

fn user(content: &str, memory: &mut Memory, out: &mut Emitter<'_>) {
    for block in json::objects(content) {
        if let Some(call) = block.string("tool_use_id") {
            result(call, &block, out);
        }
    }
    let text = content_text(content);
    out.at = out.at.or_else(|| text::time(&text));
    let is_sub_agent = memory.own::<CursorMemory>().is_sub_agent;
    for prompt in text::prompts(&text).into_iter().map(Cow::Borrowed) {
        out.item(if is_sub_agent { Item::Instruction(prompt) } else { Item::Prompt(prompt) });
    }
}

/// Emits a result. Most versions write no results.
fn result(call: Cow<'_, str>, block: &Object<'_>, out: &mut Emitter<'_>) {
    let failed = block.is_true("is_error");
    let outcome = if failed { Outcome::Failed(None) } else { Outcome::Succeeded };
    let content = LazyText::new(block.raw("content").unwrap_or("\"\""), |raw, limit| {
        without_middle(&content_text(raw), limit).into_owned().into()
    });
    out.item(Item::Result(ToolResult { call, outcome, content }));
}

fn assistant(content: &str, memory: &mut Memory, out: &mut Emitter<'_>) {
    if content.starts_with('"') {
        return reply(&json::string_within(content, TEXT_KEPT).unwrap_or_default(), out);
    }
    for block in json::objects(content) {
        match block.string("type").as_deref() {
            Some("text") => {
                reply(&block.string_within("text", TEXT_KEPT).unwrap_or_default(), out);
            }
            Some("tool_use") => call(&block, memory, out),
            _ => {}
        }
    }
}

fn reply(text: &str, out: &mut Emitter<'_>) {
    let text = text::without_redacted(text);
    if !text.is_empty() {
        out.item(Item::Reply { message: None, text });
    }
}

fn call(block: &Object<'_>, memory: &mut Memory, out: &mut Emitter<'_>) {
    let Some(tool) = block.string("name") else { return };
    let input = json::value_within(block.raw("input").unwrap_or("null"), INPUT_KEPT);
    let (tool, input) = action::without_wrapper(tool, input);
    let mut action = action::of(&tool, &input);
    if let Action::PlanTasks(stated) = &mut action {
        let tasks = &mut memory.own::<CursorMemory>().tasks;
        if input["merge"] != true {
            tasks.clear();
        }
        *stated = tasks::merge(tasks, std::mem::take(stated));
    }
    let id = block.string("id");
    let has_result = id.is_some();
    let id = id.unwrap_or_else(|| {
        let calls = &mut memory.own::<CursorMemory>().calls;
        *calls += 1;
        Cow::Owned(format!("call-{calls}"))
    });
    // A call is written after the tool ran, so a read, a change or a search without a recorded
    // result is treated as successful. The outcome of other calls is unknown.
    let is_done = !has_result && is_done_once_run(&action);
    out.item(Item::Call(Call { id: id.clone(), message: None, tool, input, action }));
    if is_done {
        let content = LazyText::plain("");
        out.item(Item::Result(ToolResult { call: id, outcome: Outcome::Succeeded, content }));
    }
}

fn is_done_once_run(action: &Action) -> bool {
    matches!(action, Action::Read { .. } | Action::Change(_) | Action::Search { .. })
}

fn turn_ended(record: &Object<'_>, out: &mut Emitter<'_>) {
    let error = record.string_within("error", 2_048);
    let is_abort = |text: &str| text.to_ascii_lowercase().contains("abort");
    let status = record.string("status").unwrap_or_default();
    if is_abort(&status) || error.as_deref().is_some_and(is_abort) {
        out.item(Item::Interrupted);
    } else if status == "error" {
        out.item(Item::ServiceError(error.unwrap_or(Cow::Borrowed("Cursor error"))));
    }
}

/// Returns the text of a `content` member: a string, or the text blocks of an array.
fn content_text(raw: &str) -> Cow<'_, str> {
    if raw.starts_with('"') {
        return json::string_within(raw, TEXT_KEPT).unwrap_or_default();
    }
    let blocks = json::objects(raw);
    let texts = blocks.iter().filter_map(|block| block.string_within("text", TEXT_KEPT));
    Cow::Owned(texts.collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests;
