//! The state of the collector between entries. It is saved with the evidence, and has similar
//! limits.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::{
    model::{
        time::Timestamp,
        transcript::{Origin, Tokens},
    },
    summarize::{
        evidence::{
            bounds,
            errors::Tracker,
            files::{EditMade, PlannedChange},
            retries::FailedCommand,
            shell::CommandLine,
        },
        lists::push_latest,
    },
    text::around_gap,
};

/// The state that is needed to interpret the next entries.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Pending {
    /// Calls that have no result yet, oldest first.
    pub(super) calls: Vec<PendingCall>,
    /// The line of the last result before the last call. A call before this line no longer waits
    /// for its result.
    pub(super) settled: u64,
    /// Background tasks that have not ended, oldest first.
    pub(super) background: Vec<BackgroundTask>,
    /// The question that the user last refused to answer, until the next prompt or question.
    pub(super) refused: Option<PendingQuestion>,
    /// The call that the user refused last, until the next prompt. It is an empty string if the
    /// user interrupted the agent and refused no call.
    pub(super) corrects: Option<String>,
    /// Ids of the messages that were counted last.
    pub(super) messages: Vec<String>,
    /// The tokens that were counted for the last messages, by the ids of the messages.
    pub(super) usages: Vec<(String, Tokens)>,
    /// The latest time seen; earlier times add no working time.
    pub(super) clock: Option<Timestamp>,
    /// The model that writes the replies.
    pub(super) model: String,
    pub(super) directory: String,
    /// Errors that may still be resolved.
    pub(super) errors: Tracker,
    /// The id of the message that the last reply is a part of.
    pub(super) replying: Option<String>,
    /// The shell command that the user ran last, until the next prompt.
    pub(super) shell_of_user: String,
    /// Whether the last report belongs to the current turn.
    pub(super) reporting: bool,
    /// The length, in bytes, of the document at the end of the current turn's report: the text of a
    /// file that describes the progress. 0 if the turn wrote no such file.
    pub(super) document_bytes: usize,
    /// Whether the agent was notified that a background task ended. Reset by the agent's next call
    /// and by the user's next prompt.
    pub(super) notified: bool,
    /// Whether files were changed or a commit was made since the user's last prompt.
    pub(super) turn_changed: bool,
    /// Whether the changes are stashed: after `git stash`, they were not restored, no file was
    /// changed, and no prompt followed.
    pub(super) stashed: bool,
    /// Commands that failed and may still work in another form, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) failed_commands: Vec<FailedCommand>,
    /// The latest edits, oldest first.
    pub(super) edits: Vec<EditMade>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct PendingCall {
    pub(super) id: String,
    pub(super) tool: String,
    pub(super) origin: Origin,
    pub(super) at: Option<Timestamp>,
    /// The number of messages when the call was made.
    pub(super) messages: u32,
    pub(super) meaning: CallEffect,
}

/// The effect of a call once its result arrives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CallEffect {
    Run(Box<CommandLine>),
    Read(String),
    Change(Vec<PlannedChange>),
    AddTask(String),
    /// A sub-agent reported.
    Delegate,
    /// Questions in the form that older versions stored.
    Ask(Vec<(String, Vec<String>)>),
    /// The user answered or refused questions.
    Questions(Vec<PendingQuestion>),
    /// The list of tasks was read.
    ListTasks,
    /// The output of the background task with this id was read.
    Background(String),
    /// The user accepted or refused a plan.
    Plan(String),
    /// A tool of an MCP server was called. Contains the first short text among its arguments.
    Other(String),
    /// No effect on evidence.
    Nothing,
}

impl PendingCall {
    /// Whether the call uses a tool of graphiti or the command `graphiti`. The results of such
    /// calls are not part of the work.
    pub(super) fn is_ours(&self) -> bool {
        is_our_tool(&self.tool)
            || matches!(&self.meaning, CallEffect::Run(command) if command.shown.starts_with("graphiti "))
    }

    /// Returns a short description of the call.
    pub(super) fn shown(&self) -> String {
        let target = match &self.meaning {
            CallEffect::Run(command) => return command.shown.clone(),
            CallEffect::Read(path) => path.as_str(),
            CallEffect::Change(changes) => {
                changes.first().map_or("", |change| change.path.as_str())
            }
            CallEffect::Other(target) => target.as_str(),
            CallEffect::AddTask(_)
            | CallEffect::Delegate
            | CallEffect::Ask(_)
            | CallEffect::Questions(_)
            | CallEffect::Background(_)
            | CallEffect::ListTasks
            | CallEffect::Plan(_)
            | CallEffect::Nothing => "",
        };
        format!("{} {target}", self.tool).trim_end().to_owned()
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct BackgroundTask {
    pub(super) id: String,
    pub(super) call: PendingCall,
}

/// Whether a tool belongs to graphiti. The name differs when graphiti is set up as a plugin.
pub(super) fn is_our_tool(tool: &str) -> bool {
    tool.starts_with("mcp__graphiti__") || tool.starts_with("mcp__plugin_graphiti_graphiti__")
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct PendingQuestion {
    pub(super) question: String,
    pub(super) options: Vec<String>,
    #[serde(default)]
    pub(super) explanations: Vec<String>,
    /// The label above the question.
    pub(super) header: Option<String>,
}

impl PendingQuestion {
    /// Returns the explanation of the option that an answer contains; `None` if the answer contains
    /// no option or several options, or if the option has no explanation.
    pub(super) fn explanation(&self, answer: &str) -> Option<String> {
        let is_chosen = |at: &usize| position_in(answer, &self.options[*at]).is_some();
        let mut chosen = (0..self.options.len()).filter(is_chosen);
        let at = chosen.next().filter(|_| chosen.next().is_none())?;
        self.explanations.get(at).filter(|text| !text.is_empty()).cloned()
    }
}

/// The options that an answer contains, in the order of the question.
pub(super) struct AnswerOptions<'o> {
    pub(super) options: Vec<&'o String>,
    /// Whether the answer contains no other words.
    pub(super) is_list: bool,
}

/// Returns the options that an answer contains. Longer options are matched first, so that an option
/// that is a part of a longer, chosen option is not found.
pub(super) fn options_in_answer<'o>(options: &'o [String], answer: &str) -> AnswerOptions<'o> {
    let mut by_length: Vec<&String> = options.iter().filter(|one| !one.is_empty()).collect();
    by_length.sort_by_key(|one| std::cmp::Reverse(one.len()));
    let mut rest = answer.to_owned();
    let mut found = Vec::new();
    for option in by_length {
        if let Some(place) = position_in(&rest, option) {
            rest.replace_range(place, "\n");
            found.push(option);
        }
    }
    let options: Vec<&String> = options.iter().filter(|one| found.contains(one)).collect();
    AnswerOptions { options, is_list: !rest.contains(char::is_alphanumeric) }
}

/// Returns the position of an option in an answer. The middle of a long option was removed, but the
/// answer contains the whole option.
fn position_in(answer: &str, option: &str) -> Option<Range<usize>> {
    let (head, tail) = around_gap(option).unwrap_or((option, ""));
    let start = answer.find(head)?;
    let end = start + head.len();
    Some(start..end + answer[end..].find(tail)? + tail.len())
}

impl Pending {
    /// Remembers a call. When too many calls wait, the oldest call is forgotten. Only the latest
    /// calls keep the texts of their commands.
    pub(super) fn wait(&mut self, waiting: PendingCall) {
        push_latest(&mut self.calls, waiting, bounds::CALLS_WAITING);
        if let Some(at) = self.calls.len().checked_sub(bounds::CALLS_WITH_TEXTS + 1)
            && let CallEffect::Run(command) = &mut self.calls[at].meaning
        {
            command.forget_texts();
        }
    }

    /// Returns the subjects of the commits in commands that have no result yet.
    pub(super) fn commits(&self) -> Vec<String> {
        let background = self.background.iter().map(|task| &task.call);
        let calls = self.calls.iter().chain(background);
        let steps = calls.flat_map(|call| match &call.meaning {
            CallEffect::Run(command) => command.repository.as_slice(),
            _ => &[],
        });
        let commits = steps.filter_map(|step| step.commit.as_ref());
        commits.filter_map(|commit| commit.subject.clone()).collect()
    }

    /// Removes the call with this id, and returns it.
    pub(super) fn answered(&mut self, id: &str) -> Option<PendingCall> {
        let at = self.calls.iter().position(|waiting| waiting.id == id)?;
        Some(self.calls.remove(at))
    }

    /// Returns the call with this id without removing it.
    pub(super) fn waiting(&self, id: &str) -> Option<&PendingCall> {
        self.calls.iter().find(|waiting| waiting.id == id)
    }

    /// Removes and returns the oldest call that changes files and whose result was lost.
    /// Transcripts lose records, and an agent continues only when it has all results. Therefore, a
    /// result counts as lost if at least four messages followed its call.
    pub(super) fn lost_change(&mut self, messages: u32) -> Option<PendingCall> {
        const MIN_LATER_MESSAGES: u32 = 4;
        let is_lost = |waiting: &PendingCall| {
            matches!(waiting.meaning, CallEffect::Change(_))
                && messages.saturating_sub(waiting.messages) >= MIN_LATER_MESSAGES
        };
        let at = self.calls.iter().position(is_lost)?;
        Some(self.calls.remove(at))
    }

    /// Remembers a message; returns false if it was already remembered.
    pub(super) fn is_new_message(&mut self, id: &str) -> bool {
        if self.messages.iter().any(|known| known == id) {
            return false;
        }
        push_latest(&mut self.messages, id.to_owned(), bounds::MESSAGES_REMEMBERED);
        true
    }

    /// Returns the tokens that were already counted for the message, and remembers `tokens` in
    /// their place.
    pub(super) fn counted_before(&mut self, id: &str, tokens: Tokens) -> Tokens {
        if let Some((_, counted)) = self.usages.iter_mut().find(|(known, _)| known == id) {
            return std::mem::replace(counted, tokens);
        }
        push_latest(&mut self.usages, (id.to_owned(), tokens), bounds::MESSAGES_REMEMBERED);
        Tokens::default()
    }
}
