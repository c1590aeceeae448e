//! The limits of evidence. Together they limit the JSON of a transcript of any size to about 340 KB
//! (a test that fills every list measures this), and the work for one entry.
//!
//! Numbers ending in no unit count items; the others are bytes of JSON.

/// Prompts from the beginning that are kept; the rest of [`PROMPTS`] are the latest.
pub(super) const FIRST_PROMPTS: usize = 10;
/// Maximum number of prompts. The oldest after the first ones is dropped first.
pub(super) const PROMPTS: usize = 24;
/// A prompt's text.
pub(super) const PROMPT: usize = 1_000;
/// Errors that the user pasted, the latest ones.
pub(super) const PASTED_ERRORS: usize = 8;
/// Reports of tools on files that they changed.
pub(super) const UNNAMED_CHANGES: usize = 6;
/// Todo and plan files, the latest ones.
pub(super) const WORK_NOTES: usize = 6;
/// Maximum bytes of one prompt.
pub(super) const WORK_NOTE: usize = 1_500;
/// Checks of plans, the first ones.
pub(super) const PLANNED_CHECKS: usize = 8;
/// Tickets, the first ones.
pub(super) const TICKETS: usize = 4;
/// A ticket's description.
pub(super) const TICKET: usize = 300;
/// Bytes of a tracker's answer that are read.
pub(super) const TICKET_READ: usize = 4_000;
/// The agent's last words: their beginning and end.
pub(super) const LAST_REPLY: usize = 4_000;
/// Reports of turns kept from the beginning; the rest of [`REPORTS`] are the latest.
pub(super) const FIRST_REPORTS: usize = 3;
/// Reports of turns kept in all.
pub(super) const REPORTS: usize = 20;
/// One report: its beginning and end.
pub(super) const TURN_REPORT: usize = 2_600;
/// Bytes of one reply that are read for statements.
pub(super) const REPLY_READ: usize = 24_000;
/// Statements of one kind. The oldest after the first third is dropped first.
pub(super) const STATEMENTS_OF_A_KIND: usize = 14;
/// A statement's text.
pub(super) const STATEMENT: usize = 280;
/// Files. The file whose read is the oldest is dropped first, then the one whose change is the
/// oldest.
pub(super) const FILES: usize = 300;
/// Files only read among them.
pub(super) const FILES_READ: usize = 80;
/// All paths together.
pub(super) const PATHS: usize = 24_000;
/// One path.
pub(super) const PATH: usize = 260;
/// Commands. The oldest that only read is dropped first, then the oldest that did the main work,
/// then the oldest.
pub(super) const COMMANDS: usize = 36;
/// Test runs. The oldest is dropped first.
pub(super) const TEST_RUNS: usize = 12;
/// Names of failed tests kept of the latest run.
pub(super) const FAILED_TESTS: usize = 50;
/// Names of failed tests kept of each run before.
pub(super) const FAILED_TESTS_BEFORE: usize = 5;
/// A failed test's name.
pub(super) const TEST_NAME: usize = 120;
/// Errors. The oldest without a resolution that was seen once is dropped first, then the oldest.
pub(super) const ERRORS: usize = 20;
/// An error's message, or the words about its cause or fix.
pub(super) const ERROR_TEXT: usize = 240;
/// Files named in a resolution.
pub(super) const RESOLUTION_FILES: usize = 6;
/// Commands named in a resolution.
pub(super) const RESOLUTION_COMMANDS: usize = 3;
/// Settings. The oldest is dropped first.
pub(super) const SETTINGS: usize = 48;
/// Maximum number of settings from one change of a file.
pub(super) const SETTINGS_AT_ONCE: usize = 12;
/// A setting's key or value.
pub(super) const SETTING: usize = 120;
/// Tasks. The oldest that is done or dropped is removed first, then the oldest.
pub(super) const TASKS: usize = 60;
/// A task's wording.
pub(super) const TASK: usize = 180;
/// Delegations. The oldest is dropped first.
pub(super) const DELEGATIONS: usize = 24;
/// The report of a sub-agent.
pub(super) const REPORT: usize = 3_000;
/// The reports of all sub-agents together; of the oldest ones beyond this limit one line each is
/// kept.
pub(super) const DELEGATION_REPORTS: usize = 24_000;
/// Such a line.
pub(super) const REPORT_BEFORE: usize = 240;
/// Sub-agents whose calls the session's own file reports. The first ones are kept.
pub(super) const SUB_AGENTS: usize = 48;
/// Running tasks in the background. The oldest is dropped first.
pub(super) const BACKGROUND: usize = 12;
/// Choices. The oldest is dropped first.
pub(super) const CHOICES: usize = 20;
/// A choice's question.
pub(super) const QUESTION: usize = 300;
/// An answer that the user typed, or that accepts a proposal of the agent.
pub(super) const TYPED_ANSWER: usize = 400;
/// What an option means.
pub(super) const EXPLANATION: usize = 200;
/// Alternatives kept of one choice, and their size.
pub(super) const ALTERNATIVES: (usize, usize) = (5, 80);
/// The latest recap at a compaction.
pub(super) const RECAP: usize = 8_000;
/// The recap before that, and the latest of the user's absence.
pub(super) const RECAP_BEFORE: usize = 2_000;
pub(super) const TITLE: usize = 200;
/// Tools by name. The least used is dropped first.
pub(super) const TOOLS: usize = 80;
/// A tool's name.
pub(super) const TOOL: usize = 100;
/// Commits. The oldest is dropped first.
pub(super) const COMMITS: usize = 40;
/// A commit's first line, or a title.
pub(super) const SUBJECT: usize = 160;
/// A commit's message under its first line.
pub(super) const COMMIT_BODY: usize = 1_500;
/// The messages of all commits together. The oldest is shortened to its first line first.
pub(super) const COMMIT_BODIES: usize = 24_000;
/// Events of the repository. The oldest is dropped first.
pub(super) const GIT_EVENTS: usize = 24;
/// Published texts. The oldest is dropped first.
pub(super) const PUBLICATIONS: usize = 12;
/// One of these texts.
pub(super) const PUBLICATION: usize = 1_500;
/// Calls that wait for their result with the texts in them; older ones wait without.
pub(super) const CALLS_WITH_TEXTS: usize = 3;
/// Pull requests. The oldest is dropped first.
pub(super) const PULL_REQUESTS: usize = 12;
/// Models, branches, versions and directories, each. The first ones are kept.
pub(super) const NAMES: usize = 12;
/// One of these names, an address or a message's id.
pub(super) const NAME: usize = 200;
/// Calls without a result. The oldest is dropped first.
pub(super) const CALLS_WAITING: usize = 24;
/// Maximum number of remembered messages, so that each is counted once.
pub(super) const MESSAGES_REMEMBERED: usize = 64;
/// Errors that may still be resolved, and the changes and words remembered for that.
pub(super) const ERRORS_OPEN: usize = 20;
/// Changes remembered for resolutions.
pub(super) const CHANGES_REMEMBERED: usize = 24;
/// Edits remembered, in case a later one takes them back.
pub(super) const EDITS_REMEMBERED: usize = 64;
/// Sentences remembered for resolutions.
pub(super) const WORDS_REMEMBERED: usize = 8;
/// Bytes of a tool's output that are read.
pub(super) const OUTPUT_READ: usize = 64 * 1024;
