//! The state of the collector between entries: saved with the evidence, and bounded like it.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::{
    model::{
        time::Timestamp,
        transcript::{Origin, Tokens},
    },
    summarize::evidence::{
        background::BackgroundTask,
        bounds,
        errors::Tracker,
        files::{EditMade, PlannedChange},
        shell::CommandLine,
    },
};

/// Everything that the next entry's meaning depends on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Pending {
    /// Calls that have no result yet, oldest first.
    pub(super) calls: VecDeque<Waiting>,
    /// The line of the last result before the last call: all calls before it have ended.
    pub(super) settled: u64,
    /// Tasks in the background that are not over, oldest first.
    pub(super) background: VecDeque<BackgroundTask>,
    /// The question that the user refused last, until the next prompt.
    pub(super) refused: Option<Asked>,
    /// The call that the user refused or stopped last, until the next prompt; empty where none is
    /// known.
    pub(super) corrects: Option<String>,
    /// Messages counted lately, by the agent's ids.
    pub(super) messages: VecDeque<String>,
    /// The usage counted for messages lately, by the agent's ids.
    pub(super) usages: VecDeque<(String, Tokens)>,
    /// The latest time seen; earlier times add no working time.
    pub(super) clock: Option<Timestamp>,
    /// The model that answers.
    pub(super) model: String,
    /// The working directory.
    pub(super) directory: String,
    /// Errors that may still be resolved.
    pub(super) errors: Tracker,
    /// The message that the last reply is a part of.
    pub(super) replying: Option<String>,
    /// The shell command that the user ran last, until the next prompt.
    pub(super) shell_of_user: String,
    /// Whether the last report is that of the present turn.
    pub(super) reporting: bool,
    /// Whether the program notified the agent of a task in the background, and no action followed
    /// yet.
    pub(super) notified: bool,
    /// Whether the turn changed anything since the user spoke.
    pub(super) turn_changed: bool,
    /// The latest edits, oldest first.
    pub(super) edits: VecDeque<EditMade>,
}

/// A call that waits for its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Waiting {
    /// The call's id.
    pub(super) id: String,
    /// The tool's name.
    pub(super) tool: String,
    /// The position of the call.
    pub(super) origin: Origin,
    /// When the call was made.
    pub(super) at: Option<Timestamp>,
    /// The number of messages when the call was made.
    pub(super) messages: u32,
    /// The effect of its success.
    pub(super) meaning: Meaning,
}

/// The effect of a call once its result arrives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Meaning {
    /// A command was run.
    Run(CommandLine),
    /// A file was read.
    Read(String),
    /// Files were changed.
    Change(Vec<PlannedChange>),
    /// A task was added.
    AddTask(String),
    /// A sub-agent reported.
    Delegate,
    /// Questions as older versions stored them.
    Ask(Vec<(String, Vec<String>)>),
    /// The user answered questions.
    Questions(Vec<Asked>),
    /// The output of a task in the background.
    Background(String),
    /// The user accepted or refused a plan.
    Plan(String),
    /// The result of a tool that is known by its name and target only.
    Other(String),
    /// No effect on evidence.
    Nothing,
}

impl Waiting {
    /// Whether the call is one of graphiti's own tools: its result is not part of the work.
    pub(super) fn is_ours(&self) -> bool {
        is_our_tool(&self.tool)
            || matches!(&self.meaning, Meaning::Run(command) if command.shown.starts_with("graphiti "))
    }

    /// The call in a few words.
    pub(super) fn shown(&self) -> String {
        let target = match &self.meaning {
            Meaning::Run(command) => return command.shown.clone(),
            Meaning::Read(path) => path.as_str(),
            Meaning::Change(changes) => changes.first().map_or("", |change| change.path.as_str()),
            Meaning::Other(target) => target.as_str(),
            Meaning::AddTask(_)
            | Meaning::Delegate
            | Meaning::Ask(_)
            | Meaning::Questions(_)
            | Meaning::Background(_)
            | Meaning::Plan(_)
            | Meaning::Nothing => "",
        };
        format!("{} {target}", self.tool).trim_end().to_owned()
    }
}

/// Whether a tool is one of graphiti's own, by the agent's name of it: set up by itself, or as a
/// plugin.
pub(super) fn is_our_tool(tool: &str) -> bool {
    tool.starts_with("mcp__graphiti__") || tool.starts_with("mcp__plugin_graphiti_graphiti__")
}

/// A question to the user.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Asked {
    pub(super) question: String,
    pub(super) options: Vec<String>,
    #[serde(default)]
    pub(super) explanations: Vec<String>,
    /// The label above it.
    pub(super) header: Option<String>,
}

impl Asked {
    /// What the only option means that an answer contains.
    pub(super) fn explanation(&self, answer: &str) -> Option<String> {
        let mut taken = (0..self.options.len()).filter(|at| answer.contains(&self.options[*at]));
        let at = taken.next().filter(|_| taken.next().is_none())?;
        self.explanations.get(at).filter(|text| !text.is_empty()).cloned()
    }
}

/// The options that an answer contains, in their order.
pub(super) struct TakenOptions<'o> {
    pub(super) options: Vec<&'o String>,
    /// Whether the answer contains nothing else.
    pub(super) is_list: bool,
}

/// Reads the options in an answer; one that is only a part of another one is not taken by it.
pub(super) fn taken<'o>(options: &'o [String], answer: &str) -> TakenOptions<'o> {
    let mut by_length: Vec<&String> = options.iter().filter(|one| !one.is_empty()).collect();
    by_length.sort_by_key(|one| std::cmp::Reverse(one.len()));
    let mut rest = answer.to_owned();
    let mut found = Vec::new();
    for option in by_length {
        if let Some(at) = rest.find(option.as_str()) {
            rest.replace_range(at..at + option.len(), "\n");
            found.push(option);
        }
    }
    let options: Vec<&String> = options.iter().filter(|one| found.contains(one)).collect();
    TakenOptions { options, is_list: !rest.contains(char::is_alphanumeric) }
}

impl Pending {
    /// Remembers a call; the oldest is forgotten when too many wait.
    pub(super) fn wait(&mut self, waiting: Waiting) {
        self.calls.push_back(waiting);
        if self.calls.len() > bounds::CALLS_WAITING {
            self.calls.pop_front();
        }
        if let Some(at) = self.calls.len().checked_sub(bounds::CALLS_WITH_TEXTS + 1)
            && let Meaning::Run(command) = &mut self.calls[at].meaning
        {
            command.forget_texts();
        }
    }

    /// The call with this id, which waits no longer.
    pub(super) fn answered(&mut self, id: &str) -> Option<Waiting> {
        let at = self.calls.iter().position(|waiting| waiting.id == id)?;
        self.calls.remove(at)
    }

    /// Returns the call with this id, which stays pending.
    pub(super) fn waiting(&self, id: &str) -> Option<&Waiting> {
        self.calls.iter().find(|waiting| waiting.id == id)
    }

    /// Returns the oldest call that changes files and whose result must have been lost, because an
    /// agent continues only when it has its results: transcripts lose records.
    pub(super) fn lost_change(&mut self, messages: u32) -> Option<Waiting> {
        const PATIENCE: u32 = 4;
        let is_lost = |waiting: &Waiting| {
            matches!(waiting.meaning, Meaning::Change(_))
                && messages.saturating_sub(waiting.messages) >= PATIENCE
        };
        let at = self.calls.iter().position(is_lost)?;
        self.calls.remove(at)
    }

    /// Whether the message is seen for the first time, as far as it is remembered.
    pub(super) fn is_new_message(&mut self, id: &str) -> bool {
        if self.messages.iter().any(|known| known == id) {
            return false;
        }
        self.messages.push_back(id.to_owned());
        if self.messages.len() > bounds::MESSAGES_REMEMBERED {
            self.messages.pop_front();
        }
        true
    }

    /// The usage that was counted for the message so far; `tokens` replaces it.
    pub(super) fn counted_before(&mut self, id: &str, tokens: Tokens) -> Tokens {
        if let Some((_, counted)) = self.usages.iter_mut().find(|(known, _)| known == id) {
            return std::mem::replace(counted, tokens);
        }
        self.usages.push_back((id.to_owned(), tokens));
        if self.usages.len() > bounds::MESSAGES_REMEMBERED {
            self.usages.pop_front();
        }
        Tokens::default()
    }
}
