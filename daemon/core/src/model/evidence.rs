//! Facts read from a transcript, as opposed to prose written about it.
//!
//! A summary without a model states only [`Evidence`], and a model's claims are checked against it.
//! Each list has a maximum length, so that a transcript of gigabytes leads to evidence of
//! kilobytes. The evidence is saved as one JSON document, together with the cursor of its file. A
//! field that is missing in an older document gets its default.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};

pub use super::{
    command_run::{CommandRun, Retry},
    dialogue::{Choice, Correction, Recap},
    repository::{
        ChangedFiles, CheckoutState, Commit, ForgeChecks, GitEvent, GitStep, GitView, HeadCommit,
        OutsideChange, OutsideKind, Publication, PublicationKind, PullRequest,
    },
    test_choice::{TestChoice, choices_of},
    test_run::{
        PACKAGES, TestRun, counted_noun, family, is_same_place, latest_of_suites, other_parts,
        place_name, without_parents,
    },
    work_notes::{NotePurpose, Ticket, WorkNote},
};
use crate::model::{
    time::Timestamp,
    token_use::TokenUse,
    transcript::{Origin, Outcome, Task, TitleSource, Tokens},
};

/// The evidence in one file of a session: the session's own file, or the file of a sub-agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Evidence {
    /// The time span of the evidence.
    pub span: TimeSpan,
    /// Numbers of events.
    pub counts: EventCounts,
    /// The user's requests: the first ones and the latest ones.
    pub prompts: Vec<Quote>,
    /// Number of dropped prompts between the first and the latest ones.
    pub prompts_left_out: u32,
    /// The agent's last text.
    pub last_reply: Option<Quote>,
    /// The position of the last result of a tool that is not a tool of Graphiti. If this result is
    /// after the agent's last words, the agent wrote nothing about the result.
    pub last_result: Option<Origin>,
    /// The last tool call after the agent's last words, as long as the call has no result. If the
    /// session ends with such a call, the agent was interrupted.
    pub unanswered_call: Option<Quote>,
    /// Whether this is a sub-agent's file that is read as a session, because the parent's file is
    /// missing. In such a file, another agent wrote the prompts, not the user.
    pub is_instructed: bool,
    /// Errors in terminal output that the user pasted into prompts.
    pub pasted_errors: Vec<Quote>,
    /// Todo and plan files that the session wrote.
    pub work_notes: Vec<WorkNote>,
    /// The items that a plan of the user asks to verify.
    pub planned_checks: Vec<Quote>,
    /// Tickets that the prompts mention, with the texts of the issue tracker.
    pub tickets: Vec<Ticket>,
    /// Findings, decisions and open tasks of the agent, and statements of the user that the agent
    /// agreed with.
    pub statements: Vec<Statement>,
    /// The statements in the agent's last message, which is treated as the report at the end of its
    /// turn. When the user continues, these statements are added to `statements`.
    pub report: Vec<Statement>,
    /// The agent's reports at the end of each turn, in order: the first ones and the latest.
    pub reports: Vec<TurnReport>,
    /// Number of dropped reports.
    pub reports_left_out: u32,
    /// Published texts besides commits: pull requests, comments, issues and notes of releases.
    pub publications: Vec<Publication>,
    /// Successful changes outside of the repository, in order. Of each object, only the latest
    /// change is kept.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outside_changes: Vec<OutsideChange>,
    /// The changes of the repository, in order; the latest ones are kept.
    pub git_events: Vec<GitEvent>,
    /// The state of the repository in git's latest output.
    pub checkout: CheckoutState,
    /// The position where the user last stopped the agent.
    pub interrupted_at: Option<Origin>,
    /// The error of the model's service, if no text of the agent follows the error.
    pub service_failure: Option<Quote>,
    /// Files by path. Relative paths in the transcript are resolved against the working directory.
    pub files: BTreeMap<String, FileWork>,
    /// Number of dropped files.
    pub files_left_out: u32,
    /// Output of tools that changed files without printing their names: `6 files reformatted`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unnamed_changes: Vec<Quote>,
    /// Commands; the failed and the latest ones are kept.
    pub commands: Vec<CommandRun>,
    /// Number of dropped commands.
    pub commands_left_out: u32,
    /// Commands that failed and then worked in another form; the latest ones are kept.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub retries: Vec<Retry>,
    /// Test runs; the latest ones are kept.
    pub tests: Vec<TestRun>,
    /// Errors, their causes and fixes.
    pub errors: Vec<ErrorSeen>,
    /// Settings that were changed.
    pub settings: Vec<SettingChange>,
    /// The agent's task list, each task in its last state.
    pub tasks: Vec<Task>,
    /// The position where the agent last wrote or updated its task list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks_at: Option<Origin>,
    /// Work handed to sub-agents.
    pub delegations: Vec<Delegation>,
    /// Ids of sub-agents whose calls are in this file. Their own files add tokens, models and
    /// times.
    pub reported_sub_agents: Vec<String>,
    /// Choices of the user: answers, accepted and refused plans.
    pub choices: Vec<Choice>,
    /// Prompts that corrected the agent: the latest ones.
    pub corrections: Vec<Correction>,
    /// The beginnings of the agent's answers that agree with an objection of the user. Each has the
    /// position of the user's prompt. The latest ones are kept.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub concessions: Vec<Quote>,
    /// The agent's own summaries of the session.
    pub recaps: Vec<Recap>,
    /// The session's names.
    pub titles: Vec<Title>,
    /// Tools by name.
    pub tools: BTreeMap<String, ToolUse>,
    /// Commits, as the version control printed them.
    pub commits: Vec<Commit>,
    /// Pull requests, in the order in which they were first seen. Each address occurs once.
    pub pull_requests: Vec<PullRequest>,
    /// Models that answered, in the order of their first answers.
    pub models: Vec<String>,
    /// Branches of the session. `git status` moves the branch that it prints to the end.
    pub branches: Vec<String>,
    /// Versions of the agent, in the order they were first seen.
    pub agent_versions: Vec<String>,
    /// Working directories, in the order they were first seen.
    pub directories: Vec<String>,
    /// The tokens that were used.
    pub tokens: Tokens,
    /// The tokens by day and model, without the tokens that older versions of the daemon counted.
    pub token_uses: Vec<TokenUse>,
}

impl Evidence {
    /// Returns the files that the session changed, by path.
    pub fn changed_files(&self) -> impl DoubleEndedIterator<Item = (&String, &FileWork)> + Clone {
        self.files.iter().filter(|(_, work)| work.changed())
    }

    /// Whether the session changed a file.
    pub fn changes_files(&self) -> bool {
        self.changed_files().next().is_some()
    }
}

/// The time span of events.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TimeSpan {
    /// The earliest time.
    pub first: Option<Timestamp>,
    /// The latest time.
    pub last: Option<Timestamp>,
    /// The duration without pauses of more than five minutes.
    #[serde(with = "micros")]
    pub active: Duration,
}

/// Numbers of events.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EventCounts {
    /// Number of messages: prompts, and whole messages of the agent.
    pub messages: u32,
    /// Messages that the user typed.
    pub prompts: u32,
    pub tool_calls: u32,
    /// Tool calls that failed.
    pub tool_errors: u32,
    /// Times the user stopped the agent.
    pub interruptions: u32,
    /// Times the context was compacted.
    pub compactions: u32,
    /// Times the service that runs the agent's model failed.
    pub service_errors: u32,
}

/// A text from the transcript, or a short description of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quote {
    /// The words, cut when long.
    pub text: String,
    /// The position in the transcript.
    pub origin: Origin,
    pub at: Option<Timestamp>,
}

/// The report that ended a turn: the agent's text before the user's next prompt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TurnReport {
    /// The Markdown, without its middle when it is long.
    pub text: String,
    /// The position of the report's last piece.
    pub origin: Origin,
    pub at: Option<Timestamp>,
    /// Whether the turn changed files or made a commit.
    pub changed: bool,
    /// Whether the user's prompt was a question, not a request for work.
    pub answers: bool,
    /// Whether the text ends with the content of a file about the progress. The turn wrote this
    /// file.
    pub has_document: bool,
}

/// A lasting statement of the agent, or of the user if the agent agreed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Statement {
    pub kind: StatementKind,
    /// The sentence.
    pub text: String,
    /// The position in the transcript.
    pub origin: Origin,
    /// Whether the statement is from the report that ended a turn. Other statements are often
    /// outdated.
    #[serde(default)]
    pub reported: bool,
}

/// The kinds of a [`Statement`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StatementKind {
    Decision,
    /// The cause of an error.
    Cause,
    Discovery,
    /// A note of the agent in its own memory for later sessions.
    Remembered,
    /// A task that is not done.
    OpenEnd,
    /// An attempt that was abandoned.
    DeadEnd,
    /// Completed work, from the report at the end of a turn.
    Done,
}

/// The changes and reads of a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileWork {
    /// Number of times the file was read.
    pub reads: u32,
    /// Number of times the file was edited.
    pub edits: u32,
    /// Number of times the file was written as a whole.
    pub writes: u32,
    /// Lines added by edits and writes.
    pub lines_added: u32,
    /// Lines removed by edits.
    pub lines_removed: u32,
    pub created: bool,
    /// Whether the session deleted the file and did not write it again.
    pub deleted: bool,
    pub moved_from: Option<String>,
    /// The position of the last change, or of the last read if the file was never changed.
    pub last: Origin,
    /// The time of the last change.
    pub changed_at: Option<Timestamp>,
}

impl FileWork {
    /// Whether the session changed the file.
    pub fn changed(&self) -> bool {
        self.edits + self.writes > 0 || self.deleted || self.moved_from.is_some()
    }
}

/// An error that a command or tool reported.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErrorSeen {
    /// The line with the error message.
    pub message: String,
    /// The command that the output recommends.
    #[serde(default)]
    pub remedy: Option<String>,
    /// The source of the error: the command line, or the tool and its target.
    pub attempt: String,
    /// The position where the error was first seen.
    pub origin: Origin,
    /// When the error was first seen.
    pub at: Option<Timestamp>,
    /// Number of times the error was seen.
    pub times: u32,
    /// Number of times the error occurred again after it was resolved.
    #[serde(default)]
    pub returns: u32,
    /// The agent's reason why the failure is unrelated to this session: `it failed before`.
    #[serde(default)]
    pub known: Option<String>,
    /// The cause, if the agent stated it.
    pub cause: Option<String>,
    /// The fix, if there was one.
    pub resolution: Option<Resolution>,
}

/// The fix of an error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resolution {
    /// Files changed between the failure and the success.
    pub files: Vec<String>,
    /// Commands between the failure and the success that may have changed something, such as an
    /// installation.
    pub commands: Vec<String>,
    /// The agent's description.
    pub said: Option<String>,
    /// The command or tool that succeeds now.
    pub verified_by: String,
    /// The position of the success.
    pub origin: Origin,
}

/// A setting that was changed in a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SettingChange {
    /// The file's path in the transcript.
    pub file: String,
    /// The setting's key. The parts of a nested key are joined with dots.
    pub setting: String,
    /// The value before; `None` when the setting did not exist.
    pub old_value: Option<String>,
    /// The value after; `None` when the setting was removed.
    pub new_value: Option<String>,
    /// The position in the transcript.
    pub origin: Origin,
    pub at: Option<Timestamp>,
}

/// Work handed to a sub-agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Delegation {
    /// The kind of sub-agent.
    pub agent: Option<String>,
    /// The work in a few words.
    pub subject: String,
    /// The report of the sub-agent, shortened.
    pub report: Option<String>,
    /// How the work ended.
    pub outcome: Option<Outcome>,
    /// Files that the sub-agent changed after its last commit. Empty if the session's own file does
    /// not contain the calls of sub-agents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The subjects of the sub-agent's commits. Empty if the session's own file does not contain
    /// the calls of sub-agents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commits: Vec<String>,
    /// The position in the transcript.
    pub origin: Origin,
}

/// A name of the session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Title {
    /// The author.
    pub by: TitleSource,
    /// The name.
    pub text: String,
}

/// The numbers of a tool's calls and failures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolUse {
    pub calls: u32,
    /// Calls that failed.
    pub errors: u32,
}

mod micros {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(span: &Duration, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_u64(u64::try_from(span.as_micros()).unwrap_or(u64::MAX))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        Ok(Duration::from_micros(u64::deserialize(from)?))
    }
}
