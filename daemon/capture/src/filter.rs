//! Filters the items of a transcript and formats their stored part.
//!
//! Omitted text is neither stored nor indexed nor hashed. Tool output is the largest and least
//! useful part of a transcript, so by default it is replaced by one line with the tool, its
//! target and its outcome.

use std::{borrow::Cow, collections::VecDeque};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::{
    Role,
    message::{ADDED_LINE, BEFORE_OUTCOME, REMOVED_LINE},
    transcript::{Action, Call, ChangeKind, FileChange, Item, TaskState, ToolResult},
};

pub use crate::config::{Filter, Keep};
use crate::{error_lines::error_lines, outcome_text::outcome_text};

/// The text that is kept of one item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilteredMessage {
    pub role: Role,
    pub text: String,
    /// The name of the tool, for a call or a result.
    pub tool: Option<String>,
    /// The files that the item touches.
    pub files: Vec<String>,
    /// The lines of errors in the output of a command that succeeded. They follow the text, but are
    /// not hashed, so that sessions that were stored without them count as unchanged.
    pub error_lines: Option<String>,
}

impl FilteredMessage {
    /// Returns the text with the lines of errors.
    pub fn full_text(&self) -> Cow<'_, str> {
        match &self.error_lines {
            Some(lines) => format!("{}\n{lines}", self.text).into(),
            None => Cow::Borrowed(&self.text),
        }
    }
}

/// The calls without a result so far, saved with the cursor of their file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PendingCalls {
    calls: VecDeque<PendingCall>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct PendingCall {
    id: String,
    tool: String,
    subject: String,
    files: Vec<String>,
    #[serde(default)]
    is_command: bool,
}

/// Maximum number of calls without a result that are kept. If a call was evicted, its result is
/// identified only by the call's id.
const PENDING_CALLS: usize = 256;
/// Maximum length, in bytes, of a call's id and of a tool's name.
const ID: usize = 256;
/// Maximum length, in bytes, of a file's path. Longer paths, which file systems do not allow, are
/// dropped.
const PATH: usize = 4_096;
/// Maximum length, in bytes, of a one-line text.
const ONE_LINE: usize = 300;
/// Maximum length, in bytes, of the subject in a one-line text.
const SUBJECT: usize = 160;
/// Tool output counts as long only if it is longer than this multiple of [`Filter::long`], because
/// its one-line form contains most of the information.
const OUTPUT_SHARE: usize = 4;
/// Maximum length, in bytes, of tool output that is kept in full.
const CONTENT: usize = 64 << 10;

impl Filter {
    /// Returns the stored part of `item`.
    pub fn keep(&self, item: &Item<'_>, waiting: &mut PendingCalls) -> Option<FilteredMessage> {
        match item {
            Item::Call(call) => self.keep_call(call, waiting),
            Item::Result(result) => self.keep_result(result, waiting),
            _ => {
                let (role, text) = words(item)?;
                self.keep_speech(role, text.trim())
            }
        }
    }

    /// Whether a summary is configured for `item` and the item is long, so that the kept text is
    /// incomplete.
    pub fn shortens(&self, item: &Item<'_>) -> bool {
        let is_long = |role, length| self.of(role).is_summary() && length > self.long;
        match item {
            Item::Result(result) => is_long(Role::Tool, result.content.raw_len() / OUTPUT_SHARE),
            item => words(item).is_some_and(|(role, text)| is_long(role, text.trim().len())),
        }
    }

    /// Returns how much of the messages of `role` is kept. For tools: how much of their output.
    pub fn of(&self, role: Role) -> &Keep {
        match role {
            Role::User => &self.user_messages,
            Role::Agent | Role::Recap => &self.agent_messages,
            Role::Tool => &self.tool_content,
        }
    }

    fn keep_speech(&self, role: Role, text: &str) -> Option<FilteredMessage> {
        let text = match self.of(role) {
            Keep::Omit => return None,
            Keep::Template(_) | Keep::Prompt(_) if text.len() > self.long => one_line(text),
            Keep::Full | Keep::Template(_) | Keep::Prompt(_) => text.to_owned(),
        };
        (!text.is_empty()).then(|| FilteredMessage {
            role,
            text,
            tool: None,
            files: Vec::new(),
            error_lines: None,
        })
    }

    fn keep_call(&self, call: &Call<'_>, waiting: &mut PendingCalls) -> Option<FilteredMessage> {
        let pending = PendingCall {
            id: cut(&call.id, ID).into_owned(),
            tool: cut(&call.tool, ID).into_owned(),
            subject: subject(&call.action, &call.input),
            files: files(&call.action),
            is_command: matches!(call.action, Action::Run { .. }),
        };
        let kept = self.tool_calls.then(|| FilteredMessage {
            role: Role::Tool,
            text: call_text(call, &pending.subject),
            tool: Some(pending.tool.clone()),
            files: pending.files.clone(),
            error_lines: None,
        });
        waiting.calls.push_back(pending);
        if waiting.calls.len() > PENDING_CALLS {
            waiting.calls.pop_front();
        }
        kept
    }

    fn keep_result(
        &self,
        result: &ToolResult<'_>,
        waiting: &mut PendingCalls,
    ) -> Option<FilteredMessage> {
        let at = waiting.calls.iter().position(|call| call.id == cut(&result.call, ID));
        let call = at.and_then(|at| waiting.calls.remove(at)).unwrap_or_else(|| PendingCall {
            id: String::new(),
            tool: "tool".to_owned(),
            subject: result.call.to_string(),
            files: Vec::new(),
            is_command: false,
        });
        let colon = if call.subject.is_empty() { "" } else { ": " };
        let call_text = format!("{}{colon}{}", call.tool, call.subject);
        let line = one_line(&format!("{call_text}{BEFORE_OUTCOME}{}", outcome_text(result)));
        let text = match &self.tool_content {
            Keep::Full => format!("{line}\n{}", result.content.decode(CONTENT)),
            Keep::Omit => return None,
            Keep::Template(_) | Keep::Prompt(_) => line,
        };
        let has_error_lines =
            call.is_command && result.outcome.succeeded() && self.tool_content.is_summary();
        let lines = || error_lines(&result.content.decode(CONTENT));
        let error_lines = has_error_lines.then(lines).flatten();
        let (role, tool, files) = (Role::Tool, Some(call.tool), call.files);
        Some(FilteredMessage { role, text, tool, files, error_lines })
    }
}

/// Returns the words of the user or an agent in `item`, with their role; `None` without words.
pub fn words<'i>(item: &'i Item<'_>) -> Option<(Role, Cow<'i, str>)> {
    match item {
        Item::Prompt(text) => Some((Role::User, Cow::Borrowed(text))),
        Item::Command { name, args } => {
            Some((Role::User, format!("{name} {args}").trim_end().to_owned().into()))
        }
        Item::Answer { question, answer, .. } => {
            Some((Role::User, format!("{question}\n{answer}").into()))
        }
        Item::Instruction(text) | Item::Reply { text, .. } => {
            Some((Role::Agent, Cow::Borrowed(text)))
        }
        Item::Recap { text, .. } => Some((Role::Recap, Cow::Borrowed(text))),
        Item::Call(_)
        | Item::Result(_)
        | Item::TaskKey { .. }
        | Item::Title { .. }
        | Item::Boundary
        | Item::Interrupted
        | Item::Context(_)
        | Item::Usage { .. }
        | Item::PullRequest { .. }
        | Item::ShellOutput(_)
        | Item::TaskEnded(_)
        | Item::SessionEnded
        | Item::ServiceError(_) => None,
    }
}

impl Keep {
    pub fn is_summary(&self) -> bool {
        matches!(self, Keep::Template(_) | Keep::Prompt(_))
    }
}

/// Returns the subject of a call, in one line.
fn subject(action: &Action, input: &Value) -> String {
    let subject = match action {
        Action::Run { command, .. } => format!("`{}`", cut(&joined_lines(command), SUBJECT)),
        Action::Read { path } => path.clone(),
        Action::Change(changes) => changes.iter().map(change).collect::<Vec<_>>().join(", "),
        Action::Search { pattern, path: None } => format!("`{pattern}`"),
        Action::Search { pattern, path: Some(path) } => format!("`{pattern}` in {path}"),
        Action::Fetch { what } => what.clone(),
        Action::PlanTasks(tasks) => {
            let done = tasks.iter().filter(|task| task.state == TaskState::Completed).count();
            format!("{done} of {} tasks done", tasks.len())
        }
        Action::AddTask { subject } | Action::Delegate { subject, .. } => subject.clone(),
        Action::UpdateTask { key, state: Some(state), .. } => {
            format!("task {key} {}", task_state(*state))
        }
        Action::UpdateTask { key, state: None, .. } => format!("task {key}"),
        Action::Ask(questions) => {
            questions.first().map(|question| question.question.clone()).unwrap_or_default()
        }
        Action::ProposePlan { plan } => plan.lines().next().unwrap_or_default().to_owned(),
        Action::Other => arguments(input),
    };
    cut(&joined_lines(&subject), SUBJECT).into_owned()
}

fn change(change: &FileChange) -> String {
    let lines = |text: &str| text.lines().count();
    let added: usize = change.edits.iter().map(|edit| lines(&edit.new)).sum();
    let removed: usize = change.edits.iter().map(|edit| lines(&edit.old)).sum();
    match &change.kind {
        ChangeKind::Edited => format!("{} (+{added} -{removed})", change.path),
        ChangeKind::Written => format!("{} ({added} lines)", change.path),
        ChangeKind::Deleted => format!("{} (deleted)", change.path),
        ChangeKind::Moved { to } => format!("{} (moved to {to})", change.path),
    }
}

fn task_state(state: TaskState) -> &'static str {
    match state {
        TaskState::Pending => "pending",
        TaskState::InProgress => "in progress",
        TaskState::Completed => "completed",
        TaskState::Dropped => "dropped",
    }
}

/// Formats the first four arguments that are texts, numbers or booleans as `key=value`; texts are
/// cut.
fn arguments(input: &Value) -> String {
    let Some(object) = input.as_object() else { return String::new() };
    let short = |value: &Value| match value {
        Value::String(text) => Some(cut(&joined_lines(text), 60).into_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(yes) => Some(yes.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    };
    let pairs = object.iter().filter_map(|(key, value)| Some(format!("{key}={}", short(value)?)));
    pairs.take(4).collect::<Vec<_>>().join(" ")
}

/// Formats a call: its subject or its main argument in full, and further texts such as the edits of
/// a change.
fn call_text(call: &Call<'_>, subject: &str) -> String {
    let tool = &call.tool;
    match &call.action {
        Action::Run { command, purpose: Some(purpose) } => {
            format!("{tool}: {command}\n# {purpose}")
        }
        Action::Run { command, purpose: None } => format!("{tool}: {command}"),
        Action::Change(changes) => {
            let mut text = format!("{tool}: {subject}");
            for edit in changes.iter().flat_map(|change| &change.edits) {
                for (mark, side) in [(REMOVED_LINE, &edit.old), (ADDED_LINE, &edit.new)] {
                    side.lines()
                        .for_each(|line| text.extend(["\n", mark.encode_utf8(&mut [0; 4]), line]));
                }
            }
            text
        }
        Action::PlanTasks(tasks) => {
            tasks.iter().fold(format!("{tool}: {subject}"), |text, task| {
                format!("{text}\n{}: {}", task_state(task.state), task.subject)
            })
        }
        Action::Ask(questions) => questions.iter().fold(format!("{tool}:"), |text, question| {
            format!("{text}\n{}\n- {}", question.question, question.options.join("\n- "))
        }),
        Action::ProposePlan { plan } => format!("{tool}: {plan}"),
        Action::Read { .. }
        | Action::Search { .. }
        | Action::AddTask { .. }
        | Action::UpdateTask { .. } => format!("{tool}: {subject}"),
        Action::Fetch { .. } | Action::Delegate { .. } | Action::Other => {
            let mut text = format!("{tool}: {subject}");
            let texts = call.input.as_object().into_iter().flatten();
            for value in texts.filter_map(|(_, value)| value.as_str()) {
                if !subject.contains(value) {
                    text.extend(["\n", value]);
                }
            }
            text
        }
    }
}

fn files(action: &Action) -> Vec<String> {
    let mut files = files_of(action);
    files.retain(|file| file.len() <= PATH);
    files
}

fn files_of(action: &Action) -> Vec<String> {
    match action {
        Action::Read { path } => vec![path.clone()],
        Action::Change(changes) => changes
            .iter()
            .flat_map(|change| match &change.kind {
                ChangeKind::Moved { to } => vec![change.path.clone(), to.clone()],
                ChangeKind::Edited | ChangeKind::Written | ChangeKind::Deleted => {
                    vec![change.path.clone()]
                }
            })
            .collect(),
        Action::Run { .. }
        | Action::Search { .. }
        | Action::Fetch { .. }
        | Action::PlanTasks(_)
        | Action::AddTask { .. }
        | Action::UpdateTask { .. }
        | Action::Delegate { .. }
        | Action::Ask(_)
        | Action::ProposePlan { .. }
        | Action::Other => Vec::new(),
    }
}

fn one_line(text: &str) -> String {
    cut(&joined_lines(text), ONE_LINE).into_owned()
}

fn joined_lines(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn cut(text: &str, limit: usize) -> Cow<'_, str> {
    if text.len() <= limit {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{}…", text[..text.floor_char_boundary(limit)].trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        format::{Format, Memory, claude::Claude},
        model::{
            Message,
            transcript::{LazyText, Origin, Outcome, Replacement},
        },
        omit::SpeechCalls,
        salvage,
        store::Tally,
    };

    const TRANSCRIPT: &str = r#"
{"type":"user","message":{"content":"  Fix the\nlogin.  "}}
{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"I look first. It is long."}]}}
{"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"cargo test\n  --all","description":"Run tests"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"Exit code 101\nrunning 2 tests\nerror: it broke\nmore"}]}}
{"type":"assistant","message":{"id":"m2","content":[{"type":"tool_use","id":"t2","name":"Edit","input":{"file_path":"/a/src/x.rs","old_string":"a\nb","new_string":"c"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t2","content":[{"type":"text","text":"updated"}]}]}}
{"type":"assistant","message":{"id":"m3","content":[{"type":"tool_use","id":"t3","name":"mcp__tracker__get_issue","input":{"id":"APP-7","deep":true,"list":[1]}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t3","is_error":true,"content":"The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nuse the web"}]}}
"#;

    #[test]
    fn by_default_speech_is_kept_and_tool_output_is_one_line() {
        assert_eq!(
            filtered(&Filter::default()),
            [
                "user: Fix the\nlogin.",
                "assistant: I look first. It is long.",
                "tool Bash: Bash: cargo test\n  --all\n# Run tests",
                "tool Bash: Bash: `cargo test --all` → failed (exit 101): error: it broke",
                "tool Edit /a/src/x.rs: Edit: /a/src/x.rs (+1 -2)\n-a\n-b\n+c",
                "tool Edit /a/src/x.rs: Edit: /a/src/x.rs (+1 -2) → ok",
                "tool mcp__tracker__get_issue: mcp__tracker__get_issue: id=APP-7 deep=true",
                "tool mcp__tracker__get_issue: mcp__tracker__get_issue: id=APP-7 deep=true → refused by the user",
                "user: use the web",
            ]
        );
    }

    #[test]
    fn each_kind_can_be_omitted_or_kept_in_full() {
        let filter = Filter {
            tool_calls: false,
            tool_content: Keep::Full,
            user_messages: Keep::Template("default-user-messages.md".to_owned()),
            agent_messages: Keep::Omit,
            long: 10,
        };
        let kept = filtered(&filter);
        assert_eq!(kept[0], "user: Fix the login.");
        let kept_whole = filtered(&Filter { long: 15, ..filter.clone() });
        assert_eq!(kept_whole[0], "user: Fix the\nlogin.");
        assert_eq!(
            kept[1],
            "tool Bash: Bash → failed (exit 101): error: it broke\n\
             Exit code 101\nrunning 2 tests\nerror: it broke\nmore"
        );
        assert_eq!(kept.len(), 5);
    }

    #[test]
    fn error_lines_of_a_command_that_succeeded_follow_its_text() {
        let mut waiting = PendingCalls::default();
        let mut result = |action: Action| {
            let id = || "t1".into();
            let call =
                Call { id: id(), message: None, tool: "T".into(), input: Value::Null, action };
            Filter::default().keep(&Item::Call(call), &mut waiting);
            let content = LazyText::plain("ok\nerror: it broke\n");
            let result = ToolResult { call: id(), outcome: Outcome::Succeeded, content };
            Filter::default().keep(&Item::Result(result), &mut waiting).unwrap()
        };
        let run = result(Action::Run { command: "make | tail".to_owned(), purpose: None });
        assert_eq!(run.text, "T: `make | tail` → ok");
        assert_eq!(run.full_text(), "T: `make | tail` → ok\nerror: it broke");
        let read = result(Action::Read { path: "a.log".to_owned() });
        assert_eq!(read.full_text(), "T: a.log → ok");
    }

    #[test]
    fn a_change_by_a_tool_of_any_name_is_recognised_in_its_text() {
        let edit = Replacement { old: "a".to_owned(), new: "b\n\nc".to_owned() };
        let path = "src/x.rs".to_owned();
        let change = FileChange { path: path.clone(), edits: vec![edit], ..Default::default() };
        let run = Action::Run { command: "cat <<E\n+b\nE".to_owned(), purpose: None };
        let mut waiting = PendingCalls::default();
        for (action, is_edit) in
            [(Action::Change(vec![change]), true), (Action::Read { path }, false), (run, false)]
        {
            let call = Call {
                id: "t1".into(),
                message: None,
                tool: "exec_command".into(),
                input: Value::Null,
                action,
            };
            let content = LazyText::plain("+ok\n");
            let result = ToolResult { call: "t1".into(), outcome: Outcome::Succeeded, content };
            let filter = Filter { tool_content: Keep::Full, ..Filter::default() };
            for (item, is_call) in [(Item::Call(call), true), (Item::Result(result), false)] {
                let kept = filter.keep(&item, &mut waiting).unwrap();
                let message = Message {
                    seq: 0,
                    origin: Origin::default(),
                    uuid: None,
                    role: kept.role,
                    at: None,
                    text: kept.text,
                    tool: kept.tool,
                    files: kept.files,
                    branch: None,
                };
                assert_eq!(message.edits_files(), is_edit && is_call, "{}", message.text);
            }
        }
    }

    #[test]
    fn calls_without_a_result_are_bounded() {
        let mut waiting = PendingCalls::default();
        for number in 0..2 * PENDING_CALLS {
            let call = Call {
                id: number.to_string().into(),
                message: None,
                tool: "Read".into(),
                input: Value::Null,
                action: Action::Read { path: "a".to_owned() },
            };
            Filter::default().keep(&Item::Call(call), &mut waiting);
        }
        assert_eq!(waiting.calls.len(), PENDING_CALLS);
        assert_eq!(waiting.calls[0].id, PENDING_CALLS.to_string());
    }

    fn filtered(filter: &Filter) -> Vec<String> {
        let (mut memory, mut tally) = (Memory::default(), Tally::default());
        let (mut waiting, mut calls) = (PendingCalls::default(), SpeechCalls::default());
        let mut kept = Vec::new();
        for line in TRANSCRIPT.lines() {
            let format: &dyn Format = &Claude;
            salvage::read_line(
                format,
                line.as_bytes(),
                &mut memory,
                &mut tally,
                &mut |mut entry| {
                    filter.omit(&mut entry.item, &mut calls);
                    kept.extend(filter.keep(&entry.item, &mut waiting));
                },
            );
        }
        kept.into_iter()
            .map(|kept| {
                let mut line = kept.role.to_string();
                kept.tool.iter().chain(&kept.files).for_each(|word| line.extend([" ", word]));
                format!("{line}: {}", kept.text)
            })
            .collect()
    }
}
