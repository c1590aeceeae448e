//! Keeps the commands with their outcomes, and records what their outputs show: the state of the
//! repository, reports of formatters, test runs and errors.

use crate::{
    model::{
        evidence::{CommandRun, Evidence, Statement, StatementKind, TestRun},
        project::Project,
        transcript::{Outcome, without_middle},
        wording::RAN_NO_TESTS,
    },
    summarize::{
        evidence::{
            bounds,
            collector::Collector,
            errors::{self, Attempt, Changed, Event},
            formatters, git,
            moment::EntryPosition,
            outside,
            run::Run,
            shell::{CommandLine, GitCall, below},
            statements,
            test_runs::{self, RunReport},
        },
        lists::push_latest,
    },
    text::{before_gap, pattern},
};

/// Maximum length, in bytes, of an output that says that there was nothing to do, or that no tests
/// were found.
const SHORT_OUTPUT: usize = 400;

impl Collector {
    /// Records what the output of a command shows: effects on the repository, reports of
    /// formatters, test runs and errors.
    pub(super) fn command_printed(
        &mut self,
        command: &CommandLine,
        outcome: Outcome,
        output: &str,
        moment: EntryPosition,
    ) {
        let run = Run { command, outcome, output, moment };
        self.pending.turn_changed |= git::note(&mut self.evidence, &run);
        outside::note(&mut self.evidence, &run);
        self.git_printed(command, output, moment);
        for report in formatters::reports(output) {
            let quote = moment.quote(&report, bounds::NAME);
            push_latest(&mut self.evidence.unnamed_changes, quote, bounds::UNNAMED_CHANGES);
        }
        let reports = if command.runs_no_tests { Vec::new() } else { test_runs::reports(output) };
        if command.runs_tests() && reports.is_empty() && outcome.succeeded() {
            self.note_missing_tests(command, output, moment);
        }
        let is_deliberate = reports.iter().any(|report| report.failed > 0)
            && self.pending.errors.take_expectation();
        // Test runs say nothing about the session's changes if the tests could not run, were
        // expected to fail, or ran without these changes.
        if !self.hides_changes(&run)
            && !is_deliberate
            && !reports.iter().any(|report| test_runs::could_not_run(output, report.failed))
        {
            self.record_result(&run, &reports);
            for report in reports {
                self.keep_test_run(report, &run);
            }
        }
        // A build replaces stale output, which may fix an error.
        let changes =
            command.changes || pattern!(r"\b(?:build|compile|codegen)\b").is_match(&command.shown);
        if changes && outcome.succeeded() && !changed_nothing(output) {
            let changed = Changed::Command(command.shown.clone());
            self.pending.errors.changed(moment.origin.line, changed);
        }
    }

    /// Records that a test command found no tests, if its output says so.
    fn note_missing_tests(&mut self, command: &CommandLine, output: &str, moment: EntryPosition) {
        let found_none = pattern!(
            r"(?m)^\s*(?:No tests found\b|no tests ran\b|No test files found\b|testing: warning: no tests to run|=+ no tests ran\b)"
        );
        if output.len() <= SHORT_OUTPUT && found_none.is_match(output) {
            let text = format!("`{}`{RAN_NO_TESTS}", before_gap(&command.shown));
            let (kind, origin) = (StatementKind::Discovery, moment.origin);
            let found = Statement { kind, text, origin, reported: false };
            statements::add(&mut self.evidence.statements, found);
        }
    }

    /// Determines whether the command or its tests failed. Adds new errors, resolves earlier ones,
    /// and marks the kept command if its exit code hides a failure.
    fn record_result(&mut self, run: &Run<'_>, reports: &[RunReport]) {
        let event =
            Event { origin: run.moment.origin, at: run.moment.at, shown: &run.command.shown };
        let (tracker, known) = (&mut self.pending.errors, &mut self.evidence.errors);
        for report in reports {
            let scope = test_runs::scope_of(report, run, self.evidence.directories.first());
            tracker.tests_ran(known, report, &scope, event);
            if report.failed > 0 {
                tracker.tests_failed(known, report, scope, run.output, event);
            }
        }
        let tests_failed = reports.iter().any(|report| report.failed > 0);
        let hides_failure = run.command.unproven && reports.is_empty();
        let code = run
            .command
            .exit_code
            .as_ref()
            .filter(|_| hides_failure && run.command.attempt.is_some());
        let prints_failure = code.and_then(|code| code.shows_failure(run.output));
        let shows_failure =
            hides_failure && prints_failure != Some(false) && errors::shows_failure(run.output);
        let prints_failure = prints_failure == Some(true);
        if let Some(kept) = self.evidence.commands.last_mut()
            && run.outcome.succeeded()
            && kept.command == run.command.shown
        {
            kept.shows_failure = shows_failure || prints_failure || tests_failed;
        }
        let Some(attempt) = &run.command.attempt else { return };
        let attempt = Attempt::Command(attempt.clone());
        let failed = match run.outcome {
            Outcome::Failed(_) => true,
            // `shows_failure` is false for reported tests, because their log may look like errors.
            // Without a message, a printed exit code neither proves a success nor describes an
            // error.
            Outcome::Succeeded if prints_failure && !shows_failure => return,
            Outcome::Succeeded => shows_failure,
            Outcome::Rejected | Outcome::Interrupted => return,
        };
        if tests_failed {
            tracker.failed_differently(&attempt, event);
            return;
        }
        if !failed {
            tracker.succeeded(known, &attempt, event);
            return;
        }
        // If the failure is already known, an output that was cut (`| tail`) adds nothing.
        let is_excerpt = run.command.unproven && tracker.is_open(&attempt);
        if !is_excerpt && !errors::is_slip_of_command(run.output) {
            tracker.failed(known, attempt, run.output, event);
        }
    }

    /// Records a test run whose command line and output the user pasted into a prompt.
    pub(super) fn pasted_test_run(&mut self, prompt: &str, moment: EntryPosition) {
        let typed = pattern!(r"(?m)^[ \t]*(?:[❯➜$%]|[a-z0-9@~/._:-]+[$%#]) +([a-z][^\n]+)$")
            .captures(prompt);
        let Some(typed) = typed.and_then(|found| found.get(1)) else { return };
        let command = CommandLine::read(typed.as_str().trim_end(), &self.pending.directory);
        let output = &without_middle(&prompt[typed.end()..], bounds::OUTPUT_READ);
        let reports = if command.runs_tests() { test_runs::reports(output) } else { Vec::new() };
        if reports.is_empty() {
            return;
        }
        let has_failed = reports.iter().any(|report| report.failed > 0);
        let outcome = if has_failed { Outcome::Failed(None) } else { Outcome::Succeeded };
        let run = Run { command: &command, outcome, output, moment };
        self.record_result(&run, &reports);
        reports.into_iter().for_each(|report| self.keep_test_run(report, &run));
    }

    /// Records the checks of a pull request that the output shows. If the command may have run in a
    /// folder of the session, also records the state of the repository and the commits of a history
    /// that git prints.
    pub(super) fn git_printed(
        &mut self,
        command: &CommandLine,
        output: &str,
        moment: EntryPosition,
    ) {
        let home = &self.evidence.directories;
        let is_within = |folder: &String| Project::new(folder).contains(&command.directory);
        let is_own = home.is_empty() || command.directory.is_empty() || home.iter().any(is_within);
        git::observe_checks(&mut self.evidence.checkout, command, output, moment);
        if is_own {
            if command.git.iter().any(|call| call.subcommand() == "status") {
                git::note_branch(&mut self.evidence.branches, output);
            }
            let before = self.evidence.checkout.head.clone();
            git::observe(&mut self.evidence.checkout, command, output, moment);
            let waiting = self.pending.commits();
            let unrecorded = git::UnrecordedCommits { before: before.as_ref(), waiting: &waiting };
            git::add_shown_commits(&mut self.evidence, command, output, &unrecorded, moment);
        }
    }

    /// Whether a command ran while the changes were stashed, for example `git stash && npm test`.
    /// Updates `stashed` of the pending state for later commands.
    fn hides_changes(&mut self, run: &Run<'_>) -> bool {
        let was_stashed = self.pending.stashed;
        let calls = run.command.git.iter().filter(|call| call.subcommand() == "stash");
        let stashes: Vec<bool> = calls
            .filter(|call| !call.has("list") && !call.has("show"))
            .map(git::makes_stash)
            .collect();
        let has_stashed = stashes.contains(&true) && !run.output.contains("No local changes");
        let last = run.command.git.iter().rfind(|call| call.subcommand() == "stash");
        let is_left =
            last.is_some_and(GitCall::reports_dropped_stash) && git::restores_nothing(run.output);
        self.pending.stashed =
            stashes.last().map_or(was_stashed, |last| has_stashed && (*last || is_left));
        has_stashed || was_stashed && stashes.is_empty()
    }

    pub(super) fn keep_command(
        &mut self,
        command: &CommandLine,
        outcome: Outcome,
        moment: EntryPosition,
    ) {
        let home = self.evidence.directories.first();
        let folder = home.and_then(|home| below(&command.directory, home));
        self.evidence.commands.push(CommandRun {
            command: command.shown.clone(),
            place: command.package.clone().or(folder),
            outcome,
            shows_failure: false,
            origin: moment.origin,
            at: moment.at,
        });
        bound_commands(&mut self.evidence);
    }

    pub(super) fn keep_test_run(&mut self, report: RunReport, run: &Run<'_>) {
        let runs = &mut self.evidence.tests;
        if let Some(before) = runs.last_mut() {
            before.failed_tests.truncate(bounds::FAILED_TESTS_BEFORE);
        }
        let command = run.command;
        // If the tests were counted by the lines of the output, and the command shows only a part
        // of the output, the number of passed tests is unknown.
        let is_partial = command.shows_part
            && report.failed == 0
            && report.counts_lines(&command.shown, run.output);
        let scope = test_runs::scope_of(&report, run, self.evidence.directories.first());
        let test_run = TestRun {
            framework: report.framework.to_owned(),
            command: command.shown.clone(),
            place: scope.place,
            limited_to: scope.limited_to,
            passed: if is_partial { 0 } else { report.passed },
            failed: report.failed,
            skipped: report.skipped,
            not_run: scope.not_run,
            failed_tests: report.failed_tests,
            coverage_pct: report.coverage_pct,
            origin: run.moment.origin,
            at: run.moment.at,
        };
        push_latest(runs, test_run, bounds::TEST_RUNS);
    }
}

/// While there are too many commands, removes one of the commands outside of the latest third: the
/// oldest failed run of a command that succeeded later, or else the oldest successful command, or
/// else the oldest command.
pub(super) fn bound_commands(evidence: &mut Evidence) {
    let commands = &mut evidence.commands;
    while commands.len() > bounds::COMMANDS {
        let old = commands.len() - bounds::COMMANDS / 3;
        let repaired = (0..old).find(|at| is_repaired(&commands[*at], &commands[at + 1..]));
        let fine = || commands[..old].iter().position(|run| run.outcome.succeeded());
        let removed = repaired.or_else(fine).unwrap_or(0);
        commands.remove(removed);
        evidence.commands_left_out = evidence.commands_left_out.saturating_add(1);
    }
}

fn is_repaired(failed: &CommandRun, later: &[CommandRun]) -> bool {
    let repairs = |run: &CommandRun| {
        run.command == failed.command
            && run.place == failed.place
            && run.origin.follows(failed.origin)
            && run.has_worked()
    };
    matches!(failed.outcome, Outcome::Failed(_)) && later.iter().any(repairs)
}

/// Whether the output of a command reports that there was nothing to do.
fn changed_nothing(output: &str) -> bool {
    output.len() <= SHORT_OUTPUT
        && pattern!(r"(?i)\b(?:up[- ]to[- ]date|nothing to (?:do|commit|install)|already (?:installed|satisfied|exists)|no changes)\b")
            .is_match(output)
}
