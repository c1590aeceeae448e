//! Reads calls of tools and their results.
//!
//! `assistant.message` lists the calls, too, but only the event `tool.execution_start` contains the
//! MCP server of a tool. The first result of a command or a sub-agent in the background is not
//! final. The id of the shell or the sub-agent is stored, and the later result that reports its end
//! also becomes the result of the first call.

use std::borrow::Cow;

use crate::{
    format::{
        Memory, between,
        copilot::{action, own},
        emitter::Emitter,
        json::{self, Object},
        limits::INPUT_KEPT,
        tasks,
    },
    model::transcript::{Action, Call, Item, LazyText, Outcome, ToolResult},
};

/// Maximum length, in bytes, of the start and the end of a result together, in which Copilot
/// reports the outcome.
const ENDS: usize = 2_048;
/// Maximum length, in bytes, of an answer that the user typed.
const TYPED_ANSWER: usize = 16 * 1024;

pub(super) fn started(data: &Object<'_>, memory: &mut Memory, out: &mut Emitter<'_>) {
    let (Some(id), Some(name)) = (data.string("toolCallId"), data.string("toolName")) else {
        return;
    };
    let tool = match data.string("mcpServerName") {
        Some(server) => Cow::Owned(mcp_name(&server, data.string("mcpToolName").as_deref(), &name)),
        None => name,
    };
    let input = json::value_within(data.raw("arguments").unwrap_or("null"), INPUT_KEPT);
    let mut action = action::of(&tool, &input);
    if let Action::PlanTasks(changed) = &mut action
        && tool == "sql"
    {
        *changed = tasks::merge(&mut own(memory).tasks, std::mem::take(changed));
    }
    if let Action::Ask(questions) = &action
        && let Some(asked) = questions.first()
    {
        own(memory).questions.keep(&id, &asked.question);
    }
    out.item(Item::Call(Call { id, message: None, tool, input, action }));
}

/// Returns the name of an MCP tool in the form `mcp__server__tool`, as for all agents.
fn mcp_name(server: &str, tool: Option<&str>, name: &str) -> String {
    let without_server = || name.strip_prefix(server)?.strip_prefix('-');
    let tool = tool.or_else(without_server).unwrap_or(name);
    format!("mcp__{server}__{tool}")
}

pub(super) fn completed(data: &Object<'_>, memory: &mut Memory, out: &mut Emitter<'_>) {
    let Some(call) = data.string("toolCallId") else { return };
    let answer = ToolReply::read(data);
    if let Some(task) = answer.background_task()
        && !own(memory).running.contains(&task)
    {
        own(memory).running.keep(&task, &call);
        return;
    }
    if let Some((task, outcome)) = answer.ended()
        && let Some(first) = own(memory).running.take(&task)
    {
        let first = ToolResult { call: first.into(), outcome, content: answer.content() };
        out.item(Item::Result(first));
        let outcome = Outcome::Succeeded;
        out.item(Item::Result(ToolResult { call, outcome, content: answer.content() }));
        return;
    }
    if let Some(question) = own(memory).questions.take(&call)
        && let Some(answer) = answer.user_answer()
    {
        let (call, answer) = (call.clone(), Cow::Owned(answer));
        out.item(Item::Answer { call, question: question.into(), answer });
    }
    let outcome = answer.outcome(data);
    out.item(Item::Result(ToolResult { call, outcome, content: answer.content() }));
    if outcome == Outcome::Rejected
        && let Some(words) = answer.refusal_text()
    {
        out.item(Item::Prompt(Cow::Owned(words)));
    }
}

/// Reads a notification of Copilot. A sub-agent that fails in the background sends no result, so
/// the notification is its result.
pub(super) fn notified(data: &Object<'_>, memory: &mut Memory, out: &mut Emitter<'_>) {
    let Some(notice) = data.object("kind") else { return };
    let is = |key: &str, value: &str| notice.string(key).is_some_and(|text| text == value);
    if is("type", "agent_completed")
        && is("status", "failed")
        && let Some(call) =
            notice.string("agentId").and_then(|task| own(memory).running.take(&task))
    {
        let (call, outcome) = (Cow::Owned(call), Outcome::Failed(None));
        out.item(Item::Result(ToolResult { call, outcome, content: LazyText::plain("") }));
    }
}

/// The result of a tool.
struct ToolReply<'a> {
    succeeded: bool,
    /// The text as a JSON string.
    raw: &'a str,
    /// The beginning and the end of the text, where Copilot reports the outcome of the call.
    ends: Cow<'a, str>,
}

impl<'a> ToolReply<'a> {
    fn read(data: &Object<'a>) -> ToolReply<'a> {
        let succeeded = data.is_true("success");
        let result = data.object("result").and_then(|result| {
            result.raw("content").filter(|raw| raw.len() > 2).or(result.raw("detailedContent"))
        });
        let error = || data.object("error")?.raw("message");
        let raw = result.or_else(error).unwrap_or("\"\"");
        let ends = json::string_within(raw, ENDS).unwrap_or_default();
        ToolReply { succeeded, raw, ends }
    }

    fn content(&self) -> LazyText<'a> {
        LazyText::new(self.raw, printed)
    }

    /// Returns the shell or the sub-agent that continues in the background.
    fn background_task(&self) -> Option<String> {
        let started = |start| Some(self.ends.strip_prefix(start)?.split_once(". ")?.0);
        let agent = || started("Agent started in background with agent_id: ");
        let moved = || between(&self.ends, "moved to background (agent_id: ", ")");
        let shell = || {
            let note = note(&self.ends)?;
            let is_start = note.starts_with("command started in ");
            let is_running = note.starts_with("command with shellId: ");
            let (_, shell) = note.split_once("shellId: ").filter(|_| is_start || is_running)?;
            shell.split_whitespace().next()
        };
        let task = agent().or_else(moved).or_else(shell).filter(|_| self.succeeded);
        task.map(str::to_owned)
    }

    /// Returns the shell or the sub-agent in the background that ended, and its outcome.
    fn ended(&self) -> Option<(String, Outcome)> {
        let text = self.ends.as_ref();
        if let Some(exit) = exit(text) {
            return Some((exit.shell?.to_owned(), of_code(exit.code)));
        }
        let stopped = note(text).and_then(|note| between(note, "command with id: ", " stopped"));
        if let Some(shell) = stopped {
            return Some((shell.to_owned(), Outcome::Interrupted));
        }
        let outcome = match text.strip_prefix("Agent ")?.split(['.', ' ']).next()? {
            "completed" | "is" if !text.starts_with("Agent is still running") => Outcome::Succeeded,
            "failed" => Outcome::Failed(None),
            "cancelled" => Outcome::Interrupted,
            _ => return None,
        };
        let (_, agent) = text.split_once("agent_id: ")?;
        Some((agent.split([',', '\n', ')']).next()?.to_owned(), outcome))
    }

    fn outcome(&self, data: &Object<'_>) -> Outcome {
        let starts = |starts: &[&str]| starts.iter().any(|start| self.ends.starts_with(start));
        if starts(INTERRUPTED) && !self.succeeded {
            return Outcome::Interrupted;
        }
        let code = data.object("error").and_then(|error| error.string("code"));
        if matches!(code.as_deref(), Some("rejected" | "denied")) || starts(REFUSED) {
            return Outcome::Rejected;
        }
        let shell = data.object("shellExecution");
        let code = shell.and_then(|shell| shell.raw("exitCode")?.parse().ok());
        let code = code.or_else(|| exit(&self.ends).map(|exit| exit.code));
        match code {
            Some(code) if self.succeeded => of_code(code),
            _ if self.succeeded => Outcome::Succeeded,
            code => Outcome::Failed(code),
        }
    }

    /// Returns the user's answer to a question.
    fn user_answer(&self) -> Option<String> {
        let text = json::string_within(self.raw, TYPED_ANSWER)?;
        let answers = ["User responded: ", "User selected: "];
        let answer = answers.iter().find_map(|start| text.strip_prefix(start))?;
        Some(answer.trim().to_owned())
    }

    /// Returns the text that the user typed when refusing a call or a plan.
    fn refusal_text(&self) -> Option<String> {
        let text = json::string_within(self.raw, TYPED_ANSWER)?;
        let (_, words) = text.split_once("User feedback:")?;
        let words = words.split("\n\nPlease update the plan based on").next()?.trim();
        let is_typed = !words.starts_with("User requested changes but did not provide");
        (is_typed && !words.is_empty()).then(|| words.to_owned())
    }
}

/// Starts of the answers when the user did not allow the call or did not accept the plan.
const REFUSED: &[&str] = &[
    "The user rejected this tool call",
    "The tool execution was denied by the user",
    "Permission denied and could not request permission",
    "Permission denied because",
    "Plan not approved",
    "Plan changes requested",
];
const INTERRUPTED: &[&str] = &["The execution of this tool, or a previous tool was interrupted"];

/// The end of a command.
struct Exit<'t> {
    shell: Option<&'t str>,
    code: i32,
}

/// Reads the end of a command, such as `<shellId: 1 completed with exit code 1>`, or in older
/// versions `<exited with exit code 1>`.
fn exit(text: &str) -> Option<Exit<'_>> {
    let (what, code) = note(text)?.rsplit_once(" exit code ")?;
    let shell = what.split_once("hellId: ").map(|(_, shell)| shell);
    let shell = shell.and_then(|shell| shell.strip_suffix(" completed with"));
    let is_exit = shell.is_some() || what == "exited with";
    Some(Exit { shell, code: code.parse().ok().filter(|_| is_exit)? })
}

/// Returns Copilot's own note: the last line of `text`, without its angle brackets. Returns `None`
/// if the line has no angle brackets.
fn note(text: &str) -> Option<&str> {
    let line = text.trim_end().rsplit('\n').next()?;
    line.strip_prefix('<')?.strip_suffix('>')
}

/// Decodes the tool's output, without Copilot's note on the exit.
fn printed(raw: &str, limit: usize) -> Cow<'_, str> {
    let text = json::string_within(raw, limit).unwrap_or_default();
    if exit(&text).is_none() {
        return text;
    }
    let length = text.trim_end().rfind('\n').unwrap_or(0);
    Cow::Owned(text[..length].to_owned())
}

fn of_code(code: i32) -> Outcome {
    if code == 0 { Outcome::Succeeded } else { Outcome::Failed(Some(code)) }
}
