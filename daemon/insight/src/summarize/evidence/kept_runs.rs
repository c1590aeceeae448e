//! Keeps the commands with their outcomes, the test runs, and the state of the repository that git
//! printed.

use crate::{
    model::{
        evidence::{CommandRun, TestRun},
        transcript::Outcome,
    },
    summarize::evidence::{
        bounds,
        collector::Collector,
        git,
        lists::push_latest,
        moment::Moment,
        run::Run,
        shell::{CommandLine, below},
        test_runs::{self, RunReport},
    },
};

impl Collector {
    /// Records the branch that `git status` prints. If the command may have run in a folder of the
    /// session, also records the state of the repository, and commits that git's history shows.
    pub(super) fn git_printed(&mut self, command: &CommandLine, output: &str, moment: Moment) {
        let home = &self.evidence.directories;
        let is_within = |folder: &String| {
            command.directory == *folder || below(&command.directory, folder).is_some()
        };
        if command.git.iter().any(|call| call.subcommand() == "status") {
            git::note_branch(&mut self.evidence.branches, output);
        }
        if home.is_empty() || command.directory.is_empty() || home.iter().any(is_within) {
            let before = self.evidence.checkout.head.clone();
            git::observe(&mut self.evidence.checkout, command, output, moment);
            let waiting = self.pending.commits();
            let evidence = &mut self.evidence;
            git::take_up(evidence, command, output, before.as_ref(), &waiting, moment);
        }
    }

    /// Whether a command ran while the changes were stashed away: `git stash && npm test`. Updates
    /// `stashed` for later commands.
    pub(super) fn hides_changes(&mut self, run: &Run<'_>) -> bool {
        let was_stashed = self.pending.stashed;
        let calls = run.command.git.iter().filter(|call| call.subcommand() == "stash");
        let stashes: Vec<bool> = calls
            .filter(|call| !call.has("list") && !call.has("show"))
            .map(|call| matches!(call.operands().next(), None | Some("push" | "save")))
            .collect();
        let has_stashed = stashes.contains(&true) && !run.output.contains("No local changes");
        self.pending.stashed = stashes.last().map_or(was_stashed, |last| *last && has_stashed);
        has_stashed || was_stashed && stashes.is_empty()
    }

    /// Keeps a command with its outcome.
    pub(super) fn keep_command(&mut self, command: &CommandLine, outcome: Outcome, moment: Moment) {
        let home = self.evidence.directories.first();
        let folder = home.and_then(|home| below(&command.directory, home));
        let commands = &mut self.evidence.commands;
        commands.push(CommandRun {
            command: command.shown.clone(),
            place: command.package.clone().or(folder),
            outcome,
            shows_failure: false,
            origin: moment.origin,
            at: moment.at,
        });
        if commands.len() > bounds::COMMANDS {
            let old = commands.len() - bounds::COMMANDS / 3;
            let fine = commands[..old].iter().position(|run| run.outcome.succeeded());
            commands.remove(fine.unwrap_or(0));
            self.evidence.commands_left_out = self.evidence.commands_left_out.saturating_add(1);
        }
    }

    /// Keeps a test run with its scope.
    pub(super) fn keep_test_run(&mut self, report: RunReport, run: &Run<'_>) {
        let runs = &mut self.evidence.tests;
        if let Some(before) = runs.last_mut() {
            before.failed_tests.truncate(bounds::FAILED_TESTS_BEFORE);
        }
        let command = run.command;
        // If the numbers are sums over the lines of an output, a part of the output shows that the
        // tests passed, but not how many there are.
        let is_partial =
            command.shows_part && report.failed == 0 && report.counts_lines(&command.shown);
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
