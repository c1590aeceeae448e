//! Facts read from a transcript, as opposed to prose written about it.
//!
//! [`Evidence`] is what a summary may state without a model, and what a model's claims are held
//! against. It is bounded: each list says what it keeps when it is full, so that a transcript of
//! gigabytes leaves evidence of kilobytes. It is saved as one JSON document beside the cursor of
//! its file; a field added later reads as its default from an older document.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};

pub use super::{
    dialogue::{Choice, Correction},
    work_notes::{NotePurpose, Ticket, WorkNote},
};
use crate::model::{
    time::Timestamp,
    transcript::{Origin, Outcome, RecapKind, Task, TitleSource, Tokens},
};

/// Everything that one file of a session (the session's own, or a sub-agent's) gives away.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Evidence {
    /// When it happened.
    pub span: TimeSpan,
    /// How much happened.
    pub counts: EventCounts,
    /// What the user asked: the first ones and the latest ones.
    pub prompts: Vec<Quote>,
    /// How many prompts between those are not kept.
    pub prompts_left_out: u32,
    /// The agent's last words.
    pub last_reply: Option<Quote>,
    /// Where the last tool's result stands: behind the last words, nothing was concluded from it.
    pub last_result: Option<Origin>,
    /// The last call of a tool behind the last words, as long as it has no result: where a session
    /// ends with it, the agent was cut off.
    pub unanswered_call: Option<Quote>,
    /// Errors in terminal output that the user pasted into prompts.
    pub pasted_errors: Vec<Quote>,
    /// Todo and plan files that the session wrote.
    pub work_notes: Vec<WorkNote>,
    /// What a plan that the user gave asks to verify, item by item.
    pub planned_checks: Vec<Quote>,
    /// Tickets that the prompts name, as their tracker describes them.
    pub tickets: Vec<Ticket>,
    /// What the agent said it found, decided or left open, sentence by sentence.
    pub statements: Vec<Statement>,
    /// The same of its last words, read as the report that ends its turn; once the user goes on
    /// they join the others.
    pub report: Vec<Statement>,
    /// What the agent reported at the end of each turn, in order: the first ones and the latest.
    pub reports: Vec<TurnReport>,
    /// Reports beyond those kept.
    pub reports_left_out: u32,
    /// Texts that the session published beside its commits: descriptions of pull requests, and
    /// comments on them.
    pub publications: Vec<Publication>,
    /// What happened to the repository, in order, the latest ones kept.
    pub git_events: Vec<GitEvent>,
    /// Where the user last stopped the agent.
    pub interrupted_at: Option<Origin>,
    /// What the agent's own service said when it failed, as long as no word of the agent follows.
    pub service_failure: Option<Quote>,
    /// Files by path as the transcript names them.
    pub files: BTreeMap<String, FileWork>,
    /// Files beyond those kept.
    pub files_left_out: u32,
    /// Commands, the failing and the latest ones first to be kept.
    pub commands: Vec<CommandRun>,
    /// Commands beyond those kept.
    pub commands_left_out: u32,
    /// Test runs, the latest ones kept.
    pub tests: Vec<TestRun>,
    /// Errors and what became of them.
    pub errors: Vec<ErrorSeen>,
    /// Settings that were changed.
    pub settings: Vec<SettingChange>,
    /// The agent's task list, each task in its last state.
    pub tasks: Vec<Task>,
    /// Work handed to sub-agents.
    pub delegations: Vec<Delegation>,
    /// Sub-agents whose calls stand in this file too, by their ids: their own files say nothing
    /// that is not counted here.
    pub reported_sub_agents: Vec<String>,
    /// Choices made by the user's word: answers, accepted and refused plans.
    pub choices: Vec<Choice>,
    /// Prompts that corrected the agent: the latest ones.
    pub corrections: Vec<Correction>,
    /// The agent's own summaries of the session.
    pub recaps: Vec<Recap>,
    /// The session's names.
    pub titles: Vec<Title>,
    /// Tools by name.
    pub tools: BTreeMap<String, ToolUse>,
    /// Commits made, as the version control printed them.
    pub commits: Vec<Commit>,
    /// Pull requests, by address.
    pub pull_requests: Vec<PullRequest>,
    /// Models that answered, in the order they first did.
    pub models: Vec<String>,
    /// Branches worked on, in the order they were first seen.
    pub branches: Vec<String>,
    /// Versions of the agent, in the order they were first seen.
    pub agent_versions: Vec<String>,
    /// Working directories, in the order they were first seen.
    pub directories: Vec<String>,
    /// What it cost.
    pub tokens: Tokens,
}

/// When something happened.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TimeSpan {
    /// The earliest time in it.
    pub first: Option<Timestamp>,
    /// The latest time in it.
    pub last: Option<Timestamp>,
    /// Time without the pauses of more than five minutes.
    #[serde(with = "micros")]
    pub active: Duration,
}

/// How much happened.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EventCounts {
    /// Messages: prompts and whole messages of the agent.
    pub messages: u32,
    /// Of these, what the user typed.
    pub prompts: u32,
    /// Tool calls.
    pub tool_calls: u32,
    /// Tool calls that failed.
    pub tool_errors: u32,
    /// Times the user stopped the agent.
    pub interruptions: u32,
    /// Times the context was compacted.
    pub compactions: u32,
    /// Times the agent's own service failed.
    pub service_errors: u32,
}

/// Something that someone said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quote {
    /// The words, cut when long.
    pub text: String,
    /// Where.
    pub origin: Origin,
    /// When.
    pub at: Option<Timestamp>,
}

/// The words that ended a turn: what the agent told the user before the user spoke again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TurnReport {
    /// The Markdown, without its middle when it is long.
    pub text: String,
    /// The line of its last piece.
    pub origin: Origin,
    /// When it was said.
    pub at: Option<Timestamp>,
    /// Whether the turn changed files or made a commit.
    pub changed: bool,
    /// Whether the user asked a question rather than for work.
    pub answers: bool,
}

/// A text that was published with a command, such as the description of a pull request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Publication {
    /// Its title, where it has one.
    pub title: Option<String>,
    /// Its text, cut when long.
    pub body: String,
    /// What it is.
    pub kind: PublicationKind,
    /// Where.
    pub origin: Origin,
}

/// What a [`Publication`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PublicationKind {
    /// The description of a pull or merge request.
    PullRequest,
    /// A comment on a pull request, an issue or a review thread.
    Comment,
    /// An issue that was opened.
    Issue,
    /// The notes of a release.
    Release,
}

/// Something that happened to the repository.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GitEvent {
    /// What was done.
    pub step: GitStep,
    /// Whether it worked.
    pub succeeded: bool,
    /// The branch it was done to, or the branch that it led to, where known.
    pub branch: Option<String>,
    /// What git or the forge said when it failed: the line with the error.
    pub error: Option<String>,
    /// Where.
    pub origin: Origin,
    /// When.
    pub at: Option<Timestamp>,
}

/// The steps that decide in which state a session leaves the repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GitStep {
    /// Changes were staged.
    Stage,
    /// A commit was made.
    Commit,
    /// Commits were pushed.
    Push,
    /// Another branch was checked out or made.
    Switch,
    /// A branch was merged into this one.
    Merge,
    /// Commits were put on another base, also by `pull --rebase`.
    Rebase,
    /// Commits or changes were thrown away (`reset`, `checkout -- file`, `restore`).
    Reset,
    /// Changes were put aside.
    Stash,
    /// A pull request was opened.
    OpenPullRequest,
    /// A pull request was merged or closed.
    ClosePullRequest,
}

/// A sentence of the agent that says something lasting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Statement {
    /// What it says.
    pub kind: StatementKind,
    /// The sentence.
    pub text: String,
    /// Where.
    pub origin: Origin,
    /// Whether it stood in the words that ended a turn: what an agent says on the way there is
    /// often overtaken.
    #[serde(default)]
    pub reported: bool,
}

/// What a [`Statement`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StatementKind {
    /// A way was chosen.
    Decision,
    /// Why something went wrong.
    Cause,
    /// Something was found out.
    Discovery,
    /// Something is left to be done.
    OpenEnd,
    /// A way was tried and given up.
    DeadEnd,
    /// Something was done, as the report at the end of a turn says.
    Done,
}

/// What was done with a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileWork {
    /// Times it was read.
    pub reads: u32,
    /// Times it was edited.
    pub edits: u32,
    /// Times it was written whole.
    pub writes: u32,
    /// Lines added by edits and writes.
    pub lines_added: u32,
    /// Lines removed by edits.
    pub lines_removed: u32,
    /// Whether it was not there before.
    pub created: bool,
    /// Whether it was removed in the end.
    pub deleted: bool,
    /// The path it was moved from.
    pub moved_from: Option<String>,
    /// Where it was changed last, or read last when it was never changed.
    pub last: Origin,
}

impl FileWork {
    /// Whether the session changed the file.
    pub fn changed(&self) -> bool {
        self.edits + self.writes > 0 || self.deleted || self.moved_from.is_some()
    }
}

/// A command that was run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommandRun {
    /// The command line, cut when long.
    pub command: String,
    /// How it ended.
    pub outcome: Outcome,
    /// Where.
    pub origin: Origin,
    /// When.
    pub at: Option<Timestamp>,
}

/// One run of a test suite, as its output reports it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestRun {
    /// The framework: `pytest`, `cargo test`, `go test`, `jest`, …
    pub framework: String,
    /// The command line, cut when long.
    pub command: String,
    /// Tests that passed.
    pub passed: u32,
    /// Tests that failed or broke.
    pub failed: u32,
    /// Tests that were skipped or ignored.
    pub skipped: u32,
    /// Names of failed tests, at most fifty.
    pub failed_tests: Vec<String>,
    /// Coverage in percent, when reported.
    pub coverage_pct: Option<f64>,
    /// Where.
    pub origin: Origin,
    /// When.
    pub at: Option<Timestamp>,
}

/// An error that a command or tool reported.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErrorSeen {
    /// The line that says what went wrong.
    pub message: String,
    /// What failed: the command line, or the tool and its target.
    pub attempt: String,
    /// Where it was first seen.
    pub origin: Origin,
    /// When it was first seen.
    pub at: Option<Timestamp>,
    /// How many times it was seen.
    pub times: u32,
    /// How many times it came back after it was resolved.
    #[serde(default)]
    pub returns: u32,
    /// Why it is no work of this session, in the agent's words, such as that it was there before.
    #[serde(default)]
    pub known: Option<String>,
    /// What the agent said of its cause, when it did.
    pub cause: Option<String>,
    /// What made it go away, when something did.
    pub resolution: Option<Resolution>,
}

/// What made an error go away.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resolution {
    /// Files changed between the failure and the success.
    pub files: Vec<String>,
    /// Commands between the two that can have changed something, such as an installation.
    pub commands: Vec<String>,
    /// What the agent said it did.
    pub said: Option<String>,
    /// The command or tool that succeeds now.
    pub verified_by: String,
    /// Where it succeeded.
    pub origin: Origin,
}

/// A setting that was changed in a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SettingChange {
    /// The file's path as the transcript names it.
    pub file: String,
    /// The setting's key, nested ones joined with dots.
    pub setting: String,
    /// Its value before, `None` when it was not there.
    pub old_value: Option<String>,
    /// Its value after, `None` when it was taken out.
    pub new_value: Option<String>,
    /// Where.
    pub origin: Origin,
    /// When.
    pub at: Option<Timestamp>,
}

/// Work handed to a sub-agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Delegation {
    /// What kind of sub-agent.
    pub agent: Option<String>,
    /// The work in a few words.
    pub subject: String,
    /// What it reported back, cut.
    pub report: Option<String>,
    /// How it ended.
    pub outcome: Option<Outcome>,
    /// Where.
    pub origin: Origin,
}

/// A summary of the session by the agent itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recap {
    /// What occasion it was written at.
    pub kind: RecapKind,
    /// Its text, cut when very long.
    pub text: String,
    /// Where.
    pub origin: Origin,
    /// When.
    pub at: Option<Timestamp>,
}

/// A name of the session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Title {
    /// Who gave it.
    pub by: TitleSource,
    /// The name.
    pub text: String,
}

/// How often a tool was used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolUse {
    /// Calls.
    pub calls: u32,
    /// Calls that failed.
    pub errors: u32,
}

/// A commit that was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Commit {
    /// Its abbreviated hash.
    pub hash: String,
    /// Its first line.
    pub subject: String,
    /// The text under its first line, without trailers, cut when long.
    #[serde(default)]
    pub body: String,
    /// Where.
    pub origin: Origin,
    /// When.
    #[serde(default)]
    pub at: Option<Timestamp>,
}

/// A pull request that was made or named.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PullRequest {
    /// Its address.
    pub url: String,
    /// Its number, when known.
    pub number: Option<u64>,
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
