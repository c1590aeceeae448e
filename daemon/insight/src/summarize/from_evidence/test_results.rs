//! The last run of the main test suite.

use crate::{
    model::{
        evidence::{Evidence, TestRun},
        summary::TestSummary,
        transcript::Outcome,
    },
    summarize::{from_evidence::entries::Entries, text::pattern},
};

/// How the main suite stood in the end.
pub(super) fn test_results(entries: &Entries<'_>) -> Option<TestSummary> {
    // One test that passed was run by its name: it says nothing of the suite. Where only a part of
    // the output was printed, it is known that all passed, and not how many.
    let run = main_run(entries.evidence).filter(|run| run.failed > 0 || run.passed != 1)?;
    if is_stale(entries.evidence, run) || failed_later(entries.evidence, run) {
        return None;
    }
    Some(TestSummary {
        framework: run.framework.clone(),
        total: run.passed.saturating_add(run.failed).saturating_add(run.skipped),
        passed: run.passed,
        failed: run.failed,
        skipped: run.skipped,
        coverage_pct: run.coverage_pct,
        failed_tests: (!run.failed_tests.is_empty()).then(|| run.failed_tests.clone()),
    })
}

/// Whether a run of a sub-agent is older than what the session itself changed last.
fn is_stale(evidence: &Evidence, run: &TestRun) -> bool {
    let changed =
        evidence.reports.iter().filter(|report| report.changed && report.origin.source == 0);
    run.origin.source != 0
        && changed.filter_map(|report| report.at).any(|at| run.at.is_some_and(|ran| at > ran))
}

/// Whether the same command ended with an error at that run or later, though its output counts no
/// failure: the exit code decides.
fn failed_later(evidence: &Evidence, run: &TestRun) -> bool {
    let is_assignment = |word: &&str| word.contains('=') && !word.starts_with('-');
    let plain: Vec<&str> = run.command.split_whitespace().skip_while(is_assignment).collect();
    let plain = plain.join(" ");
    let same = evidence.commands.iter().rfind(|one| one.command.ends_with(&plain));
    run.failed == 0
        && same.is_some_and(|one| matches!(one.outcome, Outcome::Failed(_)))
        && !goes_on_behind_tests(&run.command)
}

/// Whether another command follows the tests, as in `make test && make lint`: then its exit code may
/// be that one's.
fn goes_on_behind_tests(line: &str) -> bool {
    let parts: Vec<&str> = line.split("&&").flat_map(|part| part.split(';')).collect();
    let runs_tests =
        |part: &&str| pattern!(r"(?i)\b(?:tests?|pytest|jest|vitest|rspec|spec)\b").is_match(part);
    let last = parts.iter().rposition(runs_tests);
    last.is_some_and(|at| parts[at + 1..].iter().any(|part| !part.trim().is_empty()))
}

/// The latest run that is no mere part of the suite: at least half as many tests as the largest
/// run of its framework; of several frameworks the one that ran last.
pub(super) fn main_run(evidence: &Evidence) -> Option<&TestRun> {
    let size = |run: &TestRun| run.passed.saturating_add(run.failed);
    let last = evidence.tests.last()?;
    let same = || evidence.tests.iter().filter(|run| run.framework == last.framework);
    let largest = same().map(size).max()?;
    let main = same().rfind(|run| size(run) == 0 || size(run).saturating_mul(2) >= largest)?;
    // A commit after a failure tells that the failure was mended, or was no obstacle.
    let was_committed = evidence
        .commits
        .iter()
        .any(|commit| commit.origin.source == main.origin.source && commit.origin > main.origin);
    (main.failed == 0 || !was_committed).then_some(main)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::evidence::CommandRun;
    use crate::model::transcript::Origin;
    use crate::summarize::report::Reports;

    fn run(framework: &str, passed: u32, failed: u32) -> TestRun {
        TestRun {
            framework: framework.to_owned(),
            command: "make test".to_owned(),
            passed,
            failed,
            skipped: 0,
            failed_tests: Vec::new(),
            coverage_pct: None,
            origin: Origin::default(),
            at: None,
        }
    }

    #[test]
    fn a_single_test_run_last_is_not_the_suite() {
        let evidence = Evidence {
            tests: vec![run("pytest", 40, 2), run("pytest", 45, 0), run("pytest", 1, 0)],
            ..Evidence::default()
        };
        assert_eq!(main_run(&evidence).unwrap().passed, 45);
    }

    #[test]
    fn a_run_of_which_only_a_part_was_printed_has_no_number() {
        let evidence = Evidence {
            tests: vec![run("go test (packages)", 17, 1), run("go test (packages)", 0, 0)],
            ..Evidence::default()
        };
        assert_eq!(main_run(&evidence).unwrap().failed, 0);
        let reports = Reports::default();
        let entries = Entries { evidence: &evidence, reports: &reports, project: None };
        let told = test_results(&entries).unwrap();
        assert_eq!((told.total, told.failed), (0, 0));
    }

    #[test]
    fn a_command_that_ended_with_an_error_has_not_passed() {
        let told = |outcome| {
            let evidence = Evidence {
                tests: vec![run("go test (packages)", 15, 0)],
                commands: vec![CommandRun {
                    command: "make test".to_owned(),
                    outcome,
                    origin: Origin::default(),
                    at: None,
                }],
                ..Evidence::default()
            };
            let reports = Reports::default();
            test_results(&Entries { evidence: &evidence, reports: &reports, project: None })
        };
        assert!(told(Outcome::Succeeded).is_some());
        assert!(told(Outcome::Failed(Some(1))).is_none());
    }

    #[test]
    fn of_tests_with_another_check_behind_them_the_exit_code_says_nothing() {
        for (line, told) in [
            ("make test && make lint", true),
            ("npm test; npm run lint", true),
            ("cd app && make test", false),
            ("make test", false),
        ] {
            assert_eq!(goes_on_behind_tests(line), told, "{line}");
        }
    }

    #[test]
    fn the_framework_that_ran_last_counts() {
        let evidence = Evidence {
            tests: vec![run("pytest", 40, 0), run("jest", 12, 1)],
            ..Evidence::default()
        };
        let summary = test_results(&Entries {
            evidence: &evidence,
            reports: &Reports::of(&evidence),
            project: None,
        })
        .unwrap();
        assert_eq!((summary.framework.as_str(), summary.total, summary.failed), ("jest", 13, 1));
    }
}
