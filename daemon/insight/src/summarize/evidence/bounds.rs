//! The limits of the collector: of its lists, of its texts, and of the work for one entry.
//!
//! A test in `scenarios.rs` with a long transcript requires that the JSON of the collector stays
//! smaller than 352 KiB. The length of a stored text counts the bytes of its JSON, with escapes.

/// Number of first prompts that are always kept.
pub(in crate::summarize) const FIRST_PROMPTS: usize = 10;
/// Maximum number of prompts. The oldest prompt after the [`FIRST_PROMPTS`] is dropped first.
pub(super) const PROMPTS: usize = 24;
/// Maximum length, in bytes, of a prompt's text.
pub(super) const PROMPT: usize = 1_000;
/// Maximum number of errors that the user pasted. The oldest is dropped first.
pub(super) const PASTED_ERRORS: usize = 8;
/// Maximum number of reports of tools that changed files without listing them. The oldest is
/// dropped first.
pub(super) const UNNAMED_CHANGES: usize = 6;
/// Maximum number of todo and plan files. The oldest is dropped first.
pub(super) const WORK_NOTES: usize = 6;
/// Maximum length, in bytes, of the text of a todo or plan file.
pub(super) const WORK_NOTE: usize = 1_500;
/// Maximum number of checks of plans. The first ones are kept.
pub(super) const PLANNED_CHECKS: usize = 8;
/// Maximum number of tickets. The first ones are kept.
pub(super) const TICKETS: usize = 4;
/// Maximum length, in bytes, of a ticket's description.
pub(super) const TICKET: usize = 300;
/// Maximum length, in bytes, of the part of an issue tracker's answer that is read.
pub(super) const TICKET_READ: usize = 4_000;
/// Maximum length, in bytes, of the agent's last reply. The middle of a longer reply is removed.
pub(super) const LAST_REPLY: usize = 8_000;
/// Number of first reports of turns that are always kept.
pub(super) const FIRST_REPORTS: usize = 3;
/// Maximum number of reports of turns. The oldest after the [`FIRST_REPORTS`] is dropped first.
pub(super) const REPORTS: usize = 20;
/// Maximum length, in bytes, of the report of a turn without its [`DOCUMENT`]. The middle of a
/// longer report is removed.
pub(super) const TURN_REPORT: usize = 8_000;
/// Maximum length, in bytes, of all reports together. If they are longer, earlier reports are
/// shortened to [`EARLIER_REPORT`], the oldest first; reports with a [`DOCUMENT`] are shortened
/// after the others. The last report is never shortened, so the limit can be exceeded.
pub(super) const REPORT_TEXTS: usize = 52_000;
/// Maximum length, in bytes, of an earlier report with its [`DOCUMENT`], if the reports are too
/// long together, or if a later report has the text of a file that describes the progress.
pub(super) const EARLIER_REPORT: usize = 2_600;
/// Maximum number of environment variables of a test run.
pub(super) const VARIABLES: usize = 4;
/// Maximum length, in bytes, of the reply in a report with a [`DOCUMENT`].
pub(super) const REPLY_BEFORE_DOCUMENT: usize = 800;
/// Maximum length, in bytes, of a file that describes the progress. The middle of a longer file is
/// removed.
pub(super) const DOCUMENT: usize = 3_800;
/// Maximum length, in bytes, of the part of a reply, or of a sub-agent's answer, that is read.
pub(super) const REPLY_READ: usize = 24_000;
/// Maximum number of statements of one kind. The oldest after the first third is dropped first.
pub(super) const STATEMENTS_OF_A_KIND: usize = 14;
/// Maximum length, in bytes, of a statement, of a service error, or of an unanswered call.
pub(super) const STATEMENT: usize = 280;
/// Maximum number of files. Files that were only read are dropped first, then changed files. In
/// both groups, files that a sub-agent read or changed last are dropped before the others, and then
/// the files whose last read or change is the oldest.
pub(super) const FILES: usize = 300;
/// Maximum number of files that were only read.
pub(super) const FILES_READ: usize = 80;
/// Maximum length, in bytes, of all paths together.
pub(super) const PATHS: usize = 24_000;
/// Maximum length, in bytes, of a path.
pub(super) const PATH: usize = 260;
/// Maximum number of commands. Outside of the latest third, the oldest failed run of a command that
/// succeeded later is dropped first, or else the oldest successful command. If there is neither,
/// the oldest command is dropped.
pub(super) const COMMANDS: usize = 36;
/// Maximum number of commands that worked only in another form. The oldest is dropped first.
pub(super) const RETRIES: usize = 6;
/// Maximum number of failed commands that may still work in another form. The oldest is dropped
/// first.
pub(super) const FAILED_COMMANDS: usize = 3;
/// Maximum length, in bytes, of a command that failed or worked in another form.
pub(super) const RETRIED_COMMAND: usize = 160;
/// Maximum number of test runs. The oldest is dropped first.
pub(super) const TEST_RUNS: usize = 12;
/// Maximum number of names of failed tests of the latest run.
pub(super) const FAILED_TESTS: usize = 50;
/// Maximum number of names of failed tests of each earlier run.
pub(super) const FAILED_TESTS_BEFORE: usize = 5;
/// Maximum length, in bytes, of a failed test's name.
pub(super) const TEST_NAME: usize = 120;
/// Maximum number of errors. The oldest unresolved error that was seen once is dropped first, or
/// else the oldest error.
pub(super) const ERRORS: usize = 20;
/// Maximum length, in bytes, of an error's message, of a statement about an error, or of an answer
/// that picks an option in a dialogue.
pub(super) const ERROR_TEXT: usize = 240;
/// Maximum number of files in a resolution.
pub(super) const RESOLUTION_FILES: usize = 6;
/// Maximum number of commands in a resolution.
pub(super) const RESOLUTION_COMMANDS: usize = 3;
/// Maximum number of settings. The oldest is dropped first.
pub(super) const SETTINGS: usize = 48;
/// Maximum number of settings from one change of a file.
pub(super) const SETTINGS_AT_ONCE: usize = 12;
/// Maximum length, in bytes, of a setting's key or value, of a command line in an error, of a shell
/// command of the user, or of the message of a command that may still work in another form.
pub(super) const SETTING: usize = 120;
/// Maximum number of tasks. The oldest completed or dropped task is removed first, or else the
/// oldest task.
pub(super) const TASKS: usize = 60;
/// Maximum length, in bytes, of the key or subject of a task, of the subject of a delegation, of a
/// check of a plan, or of a refused call.
pub(super) const TASK: usize = 180;
/// Maximum number of delegations to sub-agents. The oldest is dropped first.
pub(super) const DELEGATIONS: usize = 24;
/// Maximum length, in bytes, of the report of a sub-agent.
pub(super) const REPORT: usize = 3_000;
/// Maximum length, in bytes, of the full reports of all sub-agents together. Older reports that
/// exceed the limit are shortened to [`REPORT_BEFORE`].
pub(super) const DELEGATION_REPORTS: usize = 24_000;
/// Maximum length, in bytes, of a shortened report.
pub(super) const REPORT_BEFORE: usize = 240;
/// Maximum number of sub-agents whose calls the session's own file reports. The first ones are
/// kept.
pub(super) const SUB_AGENTS: usize = 48;
/// Maximum number of running background tasks. The oldest is dropped first.
pub(super) const BACKGROUND: usize = 12;
/// Maximum number of choices, corrections, or concessions of the agent. The oldest is dropped
/// first.
pub(super) const CHOICES: usize = 26;
/// Maximum length, in bytes, of a choice's question, or of the title or a step of a plan.
pub(super) const QUESTION: usize = 300;
/// Maximum length, in bytes, of an answer that the user typed, of a prompt that makes a choice, of
/// this choice, or of the approach or background of a plan.
pub(super) const TYPED_ANSWER: usize = 400;
/// Maximum length, in bytes, of the explanation of an option.
pub(super) const EXPLANATION: usize = 200;
/// Maximum number of rejected options kept of one choice, and the maximum length of each, in bytes.
pub(super) const ALTERNATIVES: (usize, usize) = (5, 80);
/// Maximum length, in bytes, of the latest recap at a compaction.
pub(super) const RECAP: usize = 8_000;
/// Maximum length, in bytes, of the recap before the latest one, and of the latest note for a user
/// who was away.
pub(super) const RECAP_BEFORE: usize = 2_000;
pub(super) const TITLE: usize = 200;
/// Maximum number of tools that are counted by name. The least used is dropped first.
pub(super) const TOOLS: usize = 80;
/// Maximum length, in bytes, of the name of a tool or sub-agent, of the target of a call, or of the
/// label above a question.
pub(super) const TOOL: usize = 100;
/// Maximum number of commits. The oldest is dropped first.
pub(super) const COMMITS: usize = 40;
/// Maximum length, in bytes, of a commit's first line, or of a title.
pub(super) const SUBJECT: usize = 160;
/// Maximum length, in bytes, of a commit's message below its first line.
pub(super) const COMMIT_BODY: usize = 1_500;
/// Maximum length, in bytes, of the messages of all commits together, without their first lines.
/// Above the limit, older commits keep only their first lines.
pub(super) const COMMIT_BODIES: usize = 24_000;
/// Maximum number of events of the repository. The oldest is dropped first.
pub(super) const GIT_EVENTS: usize = 24;
/// Maximum number of changes outside of the repository. The oldest is dropped first.
pub(super) const OUTSIDE_CHANGES: usize = 24;
/// Maximum length, in bytes, of a change outside of the repository.
pub(super) const OUTSIDE_CHANGE: usize = 120;
/// Maximum number of published texts. The oldest is dropped first.
pub(super) const PUBLICATIONS: usize = 12;
/// Maximum length, in bytes, of a published text.
pub(super) const PUBLICATION: usize = 1_500;
/// Maximum number of waiting calls that keep the texts that they publish and the bodies of their
/// commit messages. Older calls lose these texts. The same limit applies to background tasks.
pub(super) const CALLS_WITH_TEXTS: usize = 3;
/// Maximum number of pull requests. The oldest is dropped first.
pub(super) const PULL_REQUESTS: usize = 12;
/// Maximum number of names in each list: models, branches, versions and directories. The first
/// ones are kept.
pub(super) const NAMES: usize = 12;
/// Maximum length, in bytes, of a name (of a model, a branch, a package), of a URL, of an id, or of
/// the report of a formatter.
pub(super) const NAME: usize = 200;
/// Maximum number of calls without a result. The oldest is dropped first.
pub(super) const CALLS_WAITING: usize = 24;
/// Maximum number of messages whose ids and tokens are remembered, so that no message is counted
/// twice.
pub(super) const MESSAGES_REMEMBERED: usize = 64;
/// Maximum number of errors that may still be resolved. The oldest is dropped first.
pub(super) const ERRORS_OPEN: usize = 20;
/// Maximum number of remembered changes that may resolve an error.
pub(super) const CHANGES_REMEMBERED: usize = 24;
/// Maximum number of remembered edits. They are remembered because a later edit may reverse them.
pub(super) const EDITS_REMEMBERED: usize = 64;
/// Maximum number of remembered sentences about causes and fixes.
pub(super) const WORDS_REMEMBERED: usize = 8;
/// Maximum length, in bytes, of the part of a tool's output that is read.
pub(super) const OUTPUT_READ: usize = 64 * 1024;
