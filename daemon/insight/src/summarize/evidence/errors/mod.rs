//! Follows errors to their resolutions.
//!
//! An error stays open until the same attempt succeeds. The changes and statements in between are
//! the resolution of the error. The number of open errors is limited: the oldest error is dropped
//! first, and is then never resolved.

mod attempt;
mod failed_tests;
mod known;
mod list;
mod message;
mod slips;

use serde::{Deserialize, Serialize};

pub(in crate::summarize) use self::failed_tests::is_test_file;
use self::list::{find, push_error};
pub(super) use self::{
    attempt::Attempt,
    known::note_known,
    list::bound,
    message::{of as message_of, of_prompt as message_of_prompt, shows_failure},
    slips::{is_slip, is_slip_of_command},
};
use crate::{
    model::{
        evidence::{ErrorSeen, Resolution, family, is_same_place},
        time::Timestamp,
        transcript::Origin,
    },
    summarize::{
        evidence::{
            bounds, statements,
            test_runs::{RunReport, TestScope},
        },
        lists::push_latest,
    },
    text::{kept, kept_words, pattern, words},
};

/// The position and time of an event, and the command line or tool.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event<'e> {
    pub(super) origin: Origin,
    pub(super) at: Option<Timestamp>,
    pub(super) shown: &'e str,
}

/// The open errors, and the changes and statements that may belong to their resolutions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Tracker {
    open: Vec<Open>,
    changes: Vec<Change>,
    words: Vec<TrackedStatement>,
    /// Sentences that may explain an open error, with their lines; see [`Tracker::diagnosis`].
    diagnoses: Vec<(u64, String)>,
    /// Whether the agent announced that it expects the next tests to fail.
    expects_failure: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Open {
    attempt: Attempt,
    /// The line where the error was first seen. `first_line` and `shape` together identify the
    /// error in the list.
    first_line: u64,
    /// The message of the error, as [`message::comparison_key`] returns it.
    shape: String,
    /// The line where the error was last seen. A later change may be the fix.
    last_line: u64,
    /// The line where the attempt failed in another way. The error was probably fixed before this
    /// line.
    superseded: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Change {
    line: u64,
    what: Changed,
}

/// An action that can have fixed an error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Changed {
    /// A file, by its path.
    File(String),
    /// A command line, as summaries show it.
    Command(String),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct TrackedStatement {
    line: u64,
    about: StatementSubject,
    text: String,
}

/// The subject of a statement of the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StatementSubject {
    Cause,
    /// A change that the agent announces.
    Fix,
}

impl Tracker {
    /// Records a change that may fix an error.
    pub(super) fn changed(&mut self, line: u64, what: Changed) {
        if self.changes.last().is_some_and(|last| last.what == what && last.line == line) {
            return;
        }
        push_latest(&mut self.changes, Change { line, what }, bounds::CHANGES_REMEMBERED);
    }

    /// Records a statement of the agent about a cause or a fix.
    pub(super) fn record_statement(&mut self, line: u64, about: StatementSubject, text: &str) {
        let text = kept_words(text, bounds::ERROR_TEXT);
        push_latest(
            &mut self.words,
            TrackedStatement { line, about, text },
            bounds::WORDS_REMEMBERED,
        );
    }

    /// Records the sentence of the agent's text that may explain an open error, if there is one.
    pub(super) fn record_diagnosis(&mut self, line: u64, text: &str) {
        if self.open.is_empty() {
            return;
        }
        if let Some(said) = statements::diagnosis(text) {
            let diagnosis = (line, kept(&said, bounds::ERROR_TEXT));
            push_latest(&mut self.diagnoses, diagnosis, bounds::WORDS_REMEMBERED);
        }
    }

    /// Reads from the latest text of the agent whether it expects the next tests to fail. For
    /// example, the agent reverts its fix to see whether the new test detects the fault.
    pub(super) fn read_expectation(&mut self, text: &str) {
        let announces = |sentence: &str| {
            pattern!(
                r"(?i)\b(?:confirm|ensure|make sure|prove|verify)\b(?: that)? (?:the|this|our|my) (?:\w+ ){0,3}?tests? (?:(?:actually|do|does|genuinely|really|would) )*(?:catch(?:es)?|detects?|fails?)\b.*\b(?:before|bug|if|regression|revert\w*|without)\b"
            )
            .is_match(sentence)
        };
        self.expects_failure = text.split(['.', '?', ';', '\n']).any(announces);
    }

    /// Returns whether the agent expected the tests that just ran to fail. Resets the expectation.
    pub(super) fn take_expectation(&mut self) -> bool {
        std::mem::take(&mut self.expects_failure)
    }

    /// Records that a command or tool failed and printed `output`. No error is added if the output
    /// contains no error message.
    pub(super) fn failed(
        &mut self,
        errors: &mut Vec<ErrorSeen>,
        attempt: Attempt,
        output: &str,
        event: Event<'_>,
    ) {
        match message::ErrorMessage::read(output) {
            Some(message) => self.note(errors, attempt, message, event),
            // The message is unknown. Later changes belong to this failure, not to earlier errors.
            None => self.failed_differently(&attempt, event),
        }
    }

    pub(super) fn tests_failed(
        &mut self,
        errors: &mut Vec<ErrorSeen>,
        report: &RunReport,
        scope: TestScope,
        output: &str,
        event: Event<'_>,
    ) {
        let text = kept_words(&failed_tests::message(report, output), bounds::ERROR_TEXT);
        let attempt = Attempt::Tests {
            framework: family(report.framework).to_owned(),
            names: report.failed_tests.iter().take(12).map(|name| kept(name, 60)).collect(),
            total: report.passed + report.failed,
            scope,
        };
        self.note(errors, attempt, message::ErrorMessage { text, remedy: None }, event);
    }

    /// Records a test run. If no test failed, the run resolves two kinds of earlier failures of the
    /// same framework in the same place:
    /// - failures in a scope that the run covers, if the run has at least 90% as many tests or if
    ///   its report counts packages
    /// - failures of tests that the command line names; see [`failed_tests::is_requested`]
    pub(super) fn tests_ran(
        &mut self,
        errors: &mut Vec<ErrorSeen>,
        report: &RunReport,
        scope: &TestScope,
        event: Event<'_>,
    ) {
        let ran = report.passed + report.failed;
        let counts_packages = report.framework != family(report.framework);
        let is_requested = |name: &String| {
            failed_tests::is_requested(name, event.shown, scope.limited_to.as_deref())
        };
        self.resolve(errors, event, |attempt| match attempt {
            Attempt::Tests { framework, names, total, scope: failed } => {
                framework == family(report.framework)
                    && report.failed == 0
                    && is_same_place(&scope.place, &failed.place)
                    && (scope.covers(failed) && (ran * 10 >= *total * 9 || counts_packages)
                        || (!names.is_empty() && names.iter().all(is_requested)))
            }
            Attempt::Command(_) | Attempt::Tool(_) => false,
        });
    }

    /// Whether an attempt failed and has not succeeded since.
    pub(super) fn is_open(&self, attempt: &Attempt) -> bool {
        self.open.iter().any(|open| open.attempt == *attempt)
    }

    /// Records an attempt that succeeded, which resolves its open errors.
    pub(super) fn succeeded(
        &mut self,
        errors: &mut Vec<ErrorSeen>,
        done: &Attempt,
        event: Event<'_>,
    ) {
        self.resolve(errors, event, |attempt| attempt == done);
    }

    /// Records that an attempt failed in another way than before. The agent probably fixed the
    /// earlier error, but this is not verified yet.
    pub(super) fn failed_differently(&mut self, attempt: &Attempt, event: Event<'_>) {
        for open in self.open.iter_mut().filter(|open| open.attempt == *attempt) {
            open.superseded.get_or_insert(event.origin.line);
        }
    }

    /// Counts a failure for the open error of the same attempt with the same message, or else for
    /// such an error that was resolved before. Otherwise adds a new error.
    fn note(
        &mut self,
        errors: &mut Vec<ErrorSeen>,
        attempt: Attempt,
        message: message::ErrorMessage,
        event: Event<'_>,
    ) {
        let shape = message::comparison_key(&message.text);
        let line = event.origin.line;
        let same_attempt = |open: &Open| open.attempt.is_same(&attempt);
        if let Some(open) =
            self.open.iter_mut().find(|open| same_attempt(open) && open.shape == shape)
        {
            open.last_line = line;
            open.superseded = None;
            open.attempt = attempt;
            let (first_line, shape) = (open.first_line, open.shape.clone());
            if let Some(error) = find(errors, first_line, &shape) {
                error.times = error.times.saturating_add(1);
            }
            return;
        }
        for open in self.open.iter_mut().filter(|open| same_attempt(open)) {
            open.superseded.get_or_insert(line);
        }
        let shown = kept(event.shown, bounds::SETTING);
        let before = errors.iter_mut().find(|error| {
            error.resolution.is_some()
                && error.attempt == shown
                && message::comparison_key(&error.message) == shape
        });
        let first_line = before.as_ref().map_or(line, |error| error.origin.line);
        let open = Open { attempt, first_line, shape, last_line: line, superseded: None };
        push_latest(&mut self.open, open, bounds::ERRORS_OPEN);
        if let Some(error) = before {
            error.resolution = None;
            error.times = error.times.saturating_add(1);
            error.returns = error.returns.saturating_add(1);
            return;
        }
        let error = ErrorSeen {
            message: message.text,
            remedy: message.remedy,
            attempt: shown,
            origin: event.origin,
            at: event.at,
            times: 1,
            returns: 0,
            known: None,
            cause: None,
            resolution: None,
        };
        push_error(errors, error);
    }

    fn resolve(
        &mut self,
        errors: &mut Vec<ErrorSeen>,
        event: Event<'_>,
        is_done: impl Fn(&Attempt) -> bool,
    ) {
        let open = std::mem::take(&mut self.open);
        let (done, open): (Vec<Open>, Vec<Open>) =
            open.into_iter().partition(|open| is_done(&open.attempt));
        self.open = open;
        for open in done {
            let resolution = self.resolution(&open, event);
            // Statements of the agent after another failure are about that failure.
            let end = open.superseded.unwrap_or(event.origin.line);
            let cause = self.last_words(StatementSubject::Cause, open.first_line, end);
            let cause = cause.or_else(|| self.diagnosis(&open, &resolution, end));
            if let Some(error) = find(errors, open.first_line, &open.shape) {
                let is_command = matches!(open.attempt, Attempt::Command(_));
                if is_command
                    && error.known.is_some()
                    && !slips::changed_file_of(error, &resolution)
                {
                    self.open.push(open);
                    continue;
                }
                error.resolution = Some(resolution);
                error.cause = cause;
                if slips::is_slip_of_an_edit(error, event) {
                    errors.retain(|error| {
                        error.origin.line != open.first_line
                            || message::comparison_key(&error.message) != open.shape
                    });
                }
            }
        }
    }

    fn resolution(&self, open: &Open, event: Event<'_>) -> Resolution {
        let end = open.superseded.unwrap_or(event.origin.line);
        let mut files: Vec<String> = Vec::new();
        let mut commands: Vec<String> = Vec::new();
        for change in
            self.changes.iter().filter(|change| (open.last_line..=end).contains(&change.line))
        {
            match &change.what {
                Changed::File(path) if !files.contains(path) => files.push(path.clone()),
                Changed::Command(line) if !commands.contains(line) => commands.push(line.clone()),
                _ => {}
            }
        }
        files.truncate(bounds::RESOLUTION_FILES);
        commands.truncate(bounds::RESOLUTION_COMMANDS);
        Resolution {
            files,
            commands,
            said: self.last_announced_fix(open.last_line, end),
            verified_by: kept(event.shown, bounds::SETTING),
            origin: event.origin,
        }
    }

    /// Returns the last fix that was announced before the first change between `from` and `to`, or
    /// else the last fix that was announced between them.
    fn last_announced_fix(&self, from: u64, to: u64) -> Option<String> {
        let within = |line: u64| (from..=to).contains(&line);
        let first = self.changes.iter().find(|change| within(change.line));
        let first =
            first.and_then(|change| self.last_words(StatementSubject::Fix, from, change.line));
        first.or_else(|| self.last_words(StatementSubject::Fix, from, to))
    }

    /// Returns the agent's last sentence before the first change, if it shares a word with the
    /// failure or with the names of the changed files. Returns `None` unless one or two files were
    /// changed, and at least one of them contains no tests.
    fn diagnosis(&self, open: &Open, resolution: &Resolution, end: u64) -> Option<String> {
        let files = &resolution.files;
        let is_direct = (1..=2).contains(&files.len())
            && !matches!(open.attempt, Attempt::Tool(_))
            && !files.iter().all(|path| is_test_file(path));
        let within = |change: &&Change| (open.last_line..=end).contains(&change.line);
        let first = self.changes.iter().find(within).filter(|_| is_direct)?;
        let mut failure = words(&open.shape);
        failure
            .extend(files.iter().flat_map(|path| words(path.rsplit('/').next().unwrap_or(path))));
        let before = |(line, _): &&(u64, String)| (open.last_line..=first.line).contains(line);
        let (_, said) = self.diagnoses.iter().rev().find(before)?;
        (!words(said).is_disjoint(&failure)).then(|| said.clone())
    }

    fn last_words(&self, about: StatementSubject, from: u64, to: u64) -> Option<String> {
        let within =
            |words: &&TrackedStatement| words.about == about && (from..=to).contains(&words.line);
        self.words.iter().rev().find(within).map(|words| words.text.clone())
    }
}
