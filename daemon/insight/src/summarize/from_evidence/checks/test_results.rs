//! Determines the final results of the test suites from their last runs.

use crate::{
    model::{
        evidence::{CommandRun, Evidence, GitStep, PACKAGES, TestRun, latest_of_suites},
        summary::TestSummary,
        time::Timestamp,
        transcript::{Origin, Outcome},
    },
    summarize::{
        evidence::runs_tests,
        from_evidence::{checks::parts, entries::Entries, repository::pull_request},
    },
    text::pattern,
};

/// A run that ended more than this number of seconds before the session is shown with its date.
const HALF_A_DAY: u64 = 12 * 60 * 60;

/// Returns the final result of the main suite, from its [`main_run`]. `None` if this run is a
/// single test, if a sub-agent made it before a change of the session, or if the exit code
/// contradicts the output.
pub(crate) fn test_results(entries: &Entries<'_>) -> Option<TestSummary> {
    let evidence = entries.evidence;
    let run = main_run(evidence).filter(|run| !run.is_single_test())?;
    if is_stale(evidence, run) || failed_later(evidence, run) {
        return None;
    }
    Some(TestSummary {
        framework: run.framework.clone(),
        total: run.total(),
        passed: run.passed,
        failed: run.failed,
        skipped: run.skipped,
        place: run.place.clone(),
        limited_to: run.limited_to.clone(),
        not_run: run.not_run,
        age: age(evidence, run),
        coverage_pct: run.coverage_pct,
        failed_tests: (!run.failed_tests.is_empty()).then(|| run.failed_tests.clone()),
    })
}

/// Returns a phrase that says what happened to the code after a run, such as
/// `before the last change`, with the date of an old run.
pub(crate) fn age(evidence: &Evidence, run: &TestRun) -> Option<String> {
    let later = |at: Option<Timestamp>| run.at.is_some_and(|ran| at.is_some_and(|at| at > ran));
    let took_over = |step| matches!(step, GitStep::Merge | GitStep::Rebase);
    // If the session or the user merged the session's own pull request, a later pull brings only
    // code that was tested.
    let mut events = evidence.git_events.iter().filter(|event| event.succeeded && later(event.at));
    let moved = events
        .find(|event| took_over(event.step) || event.step == GitStep::MergePullRequest)
        .filter(|event| took_over(event.step));
    let moved = moved.is_some_and(|event| {
        let mut prompts = evidence.prompts.iter().filter(|one| later(one.at) && one.at < event.at);
        !prompts.any(|one| pull_request::states_merge(&one.text))
    });
    let changed = code_changed_after(evidence, run.origin, run.at);
    let end = evidence.span.last.zip(run.at);
    let is_old = end.is_some_and(|(end, ran)| end.since(ran).as_secs() > HALF_A_DAY);
    let date = run.at.filter(|_| is_old).map(|at| at.to_string().chars().take(10).collect());
    let state = match (changed, moved) {
        (true, _) => Some(match unread_run(evidence, run) {
            Some(later) => {
                format!("before the last change; `{later}` ran later, its result was not shown")
            }
            None => "before the last change".to_owned(),
        }),
        (false, true) => Some("before other commits came in".to_owned()),
        (false, false) => None,
    };
    let date = date.map(|date: String| format!("on {date}"));
    let parts: Vec<String> = date.into_iter().chain(state).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Whether a file that may affect checks was changed after the run at `origin` and the time `at`,
/// also by a sub-agent.
pub(super) fn code_changed_after(
    evidence: &Evidence,
    origin: Origin,
    at: Option<Timestamp>,
) -> bool {
    evidence.changed_files().any(|(path, work)| {
        work.last.is_after(work.changed_at, origin, at) && may_affect_checks(path)
    })
}

/// Whether a change to a file may change the result of a test or another check. A change to a
/// document, an example of settings or a workflow of the forge does not; a change to a list of
/// dependencies or a build file may.
fn may_affect_checks(path: &str) -> bool {
    pattern!(r"(?i)(?:^|/)(?:[\w.-]*requirements[\w.-]*|constraints|CMakeLists)\.txt$").is_match(path)
        || !pattern!(r"(?i)\.(?:mdx?|txt|rst|adoc|svg|png|jpe?g|gif|example|sample)$|(?:^|/)(?:\.github|\.gitlab|\.circleci|\.planning)/|(?:^|/)(?:LICENSE|CODEOWNERS|\.gitignore|\.gitattributes|\.editorconfig)$")
        .is_match(path)
}

/// Returns the last command after `run` that ran tests successfully but printed no numbers. `None`
/// if a file was changed after this command.
fn unread_run<'e>(evidence: &'e Evidence, run: &TestRun) -> Option<&'e str> {
    let is_later = |one: &&CommandRun| one.origin.follows(run.origin);
    let later = evidence.commands.iter().filter(is_later);
    let mut later = later.filter(|one| one.has_worked());
    let last = later.rfind(|one| runs_tests(&one.command))?;
    let changed = code_changed_after(evidence, last.origin, last.at);
    // A test run has the line of its output; a command has the line of its call.
    let is_read = evidence
        .tests
        .iter()
        .any(|one| one.command == last.command && one.origin.follows(last.origin));
    let part = parts(&last.command).find(|part| runs_tests(part));
    part.filter(|_| !changed && !is_read)
}

/// Whether a run of a sub-agent is older than a change of the session itself.
fn is_stale(evidence: &Evidence, run: &TestRun) -> bool {
    let changed =
        evidence.reports.iter().filter(|report| report.changed && report.origin.source == 0);
    run.origin.source != 0
        && changed.filter_map(|report| report.at).any(|at| run.at.is_some_and(|ran| at > ran))
}

/// Whether the last run of the same command ended with an error, although the output of `run`
/// counts no failure. The exit code takes precedence.
fn failed_later(evidence: &Evidence, run: &TestRun) -> bool {
    let is_assignment = |word: &&str| word.contains('=') && !word.starts_with('-');
    let plain: Vec<&str> = run.command.split_whitespace().skip_while(is_assignment).collect();
    let plain = plain.join(" ");
    let same = evidence.commands.iter().rfind(|one| one.command.ends_with(&plain));
    run.failed == 0
        && same.is_some_and(|one| matches!(one.outcome, Outcome::Failed(_)))
        && !another_command_follows_tests(&run.command)
}

/// Whether another command follows the tests, as in `make test && make lint`. Then the exit code
/// may belong to that command.
fn another_command_follows_tests(line: &str) -> bool {
    let parts: Vec<&str> = line.split("&&").flat_map(|part| part.split(';')).collect();
    let runs_tests =
        |part: &&str| pattern!(r"(?i)\b(?:tests?|pytest|jest|vitest|rspec|spec)\b").is_match(part);
    let last = parts.iter().rposition(runs_tests);
    last.is_some_and(|at| parts[at + 1..].iter().any(|part| !part.trim().is_empty()))
}

/// Returns for each suite the run that shows its state, in the order of the runs.
pub(crate) fn suites(evidence: &Evidence) -> Vec<&TestRun> {
    latest_of_suites(&evidence.tests.iter().collect::<Vec<_>>())
}

/// Returns the last run that failed or covers a whole suite, or else the last run of a part. A
/// [`larger_part`] replaces a run of a single test. If the run failed and a commit followed it,
/// returns [`other_part_since`] instead, which may be `None`.
pub(crate) fn main_run(evidence: &Evidence) -> Option<&TestRun> {
    let suites = suites(evidence);
    let says_most = |run: &&&TestRun| run.failed > 0 || !run.is_part() && !run.is_single_test();
    let main = suites.iter().rfind(says_most).or(suites.last()).copied()?;
    let main = larger_part(evidence, main).unwrap_or(main);
    // If a commit followed a failure, the failure was fixed or did not matter.
    let was_committed = evidence.commits.iter().any(|commit| commit.origin.follows(main.origin));
    match main.failed > 0 && was_committed {
        true => other_part_since(evidence, main),
        false => Some(main),
    }
}

/// Returns the latest runs of suites with failures: [`main_run`], and runs of other suites, which
/// no commit and no whole run of all places followed.
pub(crate) fn failing_runs(evidence: &Evidence) -> Vec<&TestRun> {
    let main = main_run(evidence).filter(|run| run.failed > 0);
    let is_over = |run: &TestRun| {
        let includes = |later: &TestRun| {
            later.origin.follows(run.origin)
                && later.framework == run.framework
                && later.failed == 0
                && !later.is_part()
                && (later.place.is_none() || run.place.is_none())
                && later.total() >= run.total()
        };
        evidence.commits.iter().any(|commit| commit.origin.follows(run.origin))
            || evidence.tests.iter().any(includes)
    };
    let others = suites(evidence).into_iter().filter(|run| {
        run.failed > 0 && run.origin.source == 0 && main != Some(*run) && !is_over(run)
    });
    main.into_iter().chain(others).collect()
}

/// Returns the last successful run after `failed` of another part of the same suite, if it has at
/// least as many tests. `None` if `failed` is no run of a part.
fn other_part_since<'e>(evidence: &'e Evidence, failed: &TestRun) -> Option<&'e TestRun> {
    let tests = failed.passed.saturating_add(failed.failed);
    let is_later = |run: &&TestRun| {
        run.is_of_suite(failed)
            && run.failed == 0
            && run.passed >= tests
            && run.origin.follows(failed.origin)
    };
    evidence.tests.iter().rfind(is_later).filter(|_| failed.is_part())
}

/// Returns the last successful run of several tests of the same suite, if `run` is a run of a
/// single test and both runs tested the same code.
fn larger_part<'e>(evidence: &'e Evidence, run: &TestRun) -> Option<&'e TestRun> {
    // One package may contain many tests.
    if !run.is_part() || run.failed > 0 || run.passed > 1 || run.framework.ends_with(PACKAGES) {
        return None;
    }
    let larger = evidence
        .tests
        .iter()
        .rfind(|one| one.is_of_suite(run) && one.failed == 0 && one.passed > 1)?;
    (age(evidence, larger) == age(evidence, run)).then_some(larger)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::evidence::{Commit, FileWork, GitEvent, Quote};
    use crate::report::Reports;

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
            ..TestRun::default()
        }
    }

    fn commit() -> Commit {
        Commit {
            hash: "1a2b3c4".to_owned(),
            subject: "One".to_owned(),
            body: String::new(),
            origin: Origin { source: 0, line: 9 },
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
    fn the_larger_of_two_passed_parts_is_the_main_run() {
        let part = |limit: &str, passed| TestRun {
            limited_to: Some(limit.to_owned()),
            ..run("pytest", passed, 0)
        };
        let evidence = Evidence {
            tests: vec![part("tests/a.py", 6), part("tests/b.py::one", 1)],
            ..Evidence::default()
        };
        assert_eq!(main_run(&evidence).unwrap().passed, 6);
        let evidence = Evidence { tests: vec![part("tests/b.py::one", 1)], ..Evidence::default() };
        assert_eq!(main_run(&evidence).unwrap().passed, 1);
    }

    #[test]
    fn after_a_failure_that_was_committed_a_later_part_is_the_main_run() {
        let part = |line, limit: Option<&str>, passed, failed| TestRun {
            limited_to: limit.map(str::to_owned),
            origin: Origin { source: 0, line },
            ..run("pytest", passed, failed)
        };
        let (a, b) = (Some("tests/a.py"), Some("tests/b.py"));
        for (tests, commits, wanted) in [
            (vec![part(1, a, 3, 1), part(2, b, 9, 0)], 1, Some(9)),
            (vec![part(1, a, 3, 1), part(2, b, 9, 0)], 0, Some(3)),
            (vec![part(1, b, 9, 0), part(2, a, 3, 1)], 1, None),
            (vec![part(1, a, 3, 1), part(2, b, 2, 0)], 1, None),
            (vec![part(1, None, 30, 1), part(2, b, 31, 0)], 1, None),
        ] {
            let commits = vec![commit(); commits];
            let evidence = Evidence { tests, commits, ..Evidence::default() };
            assert_eq!(main_run(&evidence).map(|run| run.passed), wanted);
        }
    }

    #[test]
    fn a_suite_that_fails_stays_failing_when_another_suite_passes() {
        let at = |line, place: Option<&str>, run: TestRun| TestRun {
            origin: Origin { source: 0, line },
            place: place.map(str::to_owned),
            ..run
        };
        let failed = at(1, Some("backend"), run("pytest", 40, 2));
        for (later, commits, wanted) in [
            (at(2, Some("frontend"), run("jest", 12, 0)), 0, 1),
            (at(2, Some("frontend"), run("jest", 12, 1)), 0, 2),
            (at(2, Some("frontend"), run("jest", 12, 0)), 1, 0),
            (at(2, Some("backend"), run("pytest", 42, 0)), 0, 0),
            (at(2, None, run("pytest", 90, 0)), 0, 0),
            (at(2, None, run("pytest", 9, 0)), 0, 1),
        ] {
            let tests = vec![failed.clone(), later];
            let commits = vec![commit(); commits];
            let evidence = Evidence { tests, commits, ..Evidence::default() };
            assert_eq!(failing_runs(&evidence).len(), wanted, "{:?}", evidence.tests[1]);
        }
    }

    #[test]
    fn a_run_of_a_package_is_larger_than_a_run_of_its_chosen_tests() {
        let part = |framework: &str, limit: &str, passed| TestRun {
            limited_to: Some(limit.to_owned()),
            ..run(framework, passed, 0)
        };
        let tests = vec![
            part("go test", "./list/ -run TestSort", 2),
            part("go test (packages)", "./list/", 1),
        ];
        let evidence = Evidence { tests, ..Evidence::default() };
        assert_eq!(main_run(&evidence).unwrap().limited_to.as_deref(), Some("./list/"));
    }

    #[test]
    fn a_pull_after_a_merge_by_the_user_brings_only_tested_code() {
        let at = |second| Some(Timestamp::from_seconds(second));
        let ran = TestRun { at: at(10), ..run("go test", 12, 0) };
        let pull = GitEvent {
            step: GitStep::Merge,
            succeeded: true,
            branch: None,
            error: None,
            origin: Origin { source: 0, line: 9 },
            at: at(30),
        };
        let mut evidence =
            Evidence { tests: vec![ran.clone()], git_events: vec![pull], ..Evidence::default() };
        assert_eq!(age(&evidence, &ran).as_deref(), Some("before other commits came in"));
        let text = "ok, merged. can we tag it please?".to_owned();
        evidence.prompts.push(Quote { text, origin: Origin { source: 0, line: 7 }, at: at(20) });
        assert_eq!(age(&evidence, &ran), None);
    }

    #[test]
    fn an_integration_task_that_ran_last_is_the_main_run() {
        let task = TestRun {
            place: Some("test:integration".to_owned()),
            ..run("go test (packages)", 1, 0)
        };
        let evidence =
            Evidence { tests: vec![run("go test (packages)", 15, 0), task], ..Evidence::default() };
        let reports = Reports::default();
        let entries = Entries { evidence: &evidence, reports: &reports, project: None };
        let result = test_results(&entries).unwrap();
        assert_eq!(result.place.as_deref(), Some("test:integration"));
        assert_eq!(suites(&evidence).len(), 2);
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
        let result = test_results(&entries).unwrap();
        assert_eq!((result.total, result.failed), (0, 0));
    }

    #[test]
    fn a_command_that_ended_with_an_error_has_not_passed() {
        let result = |outcome| {
            let evidence = Evidence {
                tests: vec![run("go test (packages)", 15, 0)],
                commands: vec![CommandRun {
                    command: "make test".to_owned(),
                    place: None,
                    shows_failure: false,
                    outcome,
                    origin: Origin::default(),
                    at: None,
                }],
                ..Evidence::default()
            };
            let reports = Reports::default();
            test_results(&Entries { evidence: &evidence, reports: &reports, project: None })
        };
        assert!(result(Outcome::Succeeded).is_some());
        assert!(result(Outcome::Failed(Some(1))).is_none());
    }

    #[test]
    fn another_command_after_the_tests_is_found() {
        for (line, result) in [
            ("make test && make lint", true),
            ("npm test; npm run lint", true),
            ("cd app && make test", false),
            ("make test", false),
        ] {
            assert_eq!(another_command_follows_tests(line), result, "{line}");
        }
    }

    #[test]
    fn a_partial_run_is_called_partial_if_there_is_no_complete_run() {
        let part = TestRun {
            limited_to: Some("-m browser".to_owned()),
            not_run: 208,
            ..run("pytest", 20, 0)
        };
        let result = |tests: Vec<TestRun>| {
            let evidence = Evidence { tests, ..Evidence::default() };
            let reports = Reports::default();
            test_results(&Entries { evidence: &evidence, reports: &reports, project: None })
        };
        let found = result(vec![part.clone()]).unwrap();
        assert_eq!((found.limited_to.as_deref(), found.not_run), (Some("-m browser"), 208));
        let found = result(vec![run("pytest", 228, 0), part]).unwrap();
        assert_eq!((found.limited_to, found.passed), (None, 228));
    }

    #[test]
    fn documents_and_workflows_do_not_change_the_result_of_tests() {
        for path in ["/app/README.md", "/app/.env.example", "/app/.github/workflows/ci.yml"] {
            assert!(!may_affect_checks(path), "{path}");
        }
        for path in [
            "/app/a.rs",
            "/app/config.yml",
            "/app/.env",
            "/app/docs/example.ts",
            "/app/requirements.txt",
            "/app/CMakeLists.txt",
        ] {
            assert!(may_affect_checks(path), "{path}");
        }
    }

    #[test]
    fn an_old_run_has_its_date_and_the_change_that_followed() {
        let at = |hour: i64| Some(Timestamp::from_seconds(1_700_000_000 + hour * 3600));
        let ran = TestRun { at: at(0), ..run("jest", 12, 0) };
        let mut evidence = Evidence { tests: vec![ran.clone()], ..Evidence::default() };
        assert_eq!(age(&evidence, &ran), None);
        evidence.span.last = at(30);
        assert_eq!(age(&evidence, &ran).as_deref(), Some("on 2023-11-14"));
        let last = Origin { source: 0, line: 9 };
        let work = FileWork { edits: 1, last, ..FileWork::default() };
        evidence.files.insert("/app/a.ts".to_owned(), work);
        let result = age(&evidence, &ran);
        assert_eq!(result.as_deref(), Some("on 2023-11-14, before the last change"));
        evidence.commands.push(CommandRun {
            command: "git diff | head -5 && npx jest".to_owned(),
            place: None,
            shows_failure: false,
            outcome: Outcome::Succeeded,
            origin: Origin { source: 0, line: 12 },
            at: at(1),
        });
        let result = age(&evidence, &ran).unwrap();
        let wanted = "before the last change; `npx jest` ran later, its result was not shown";
        assert!(result.ends_with(wanted), "{result}");
        // The line numbers of another transcript say nothing about the order.
        let last = Origin { source: 1, line: 20 };
        let work = FileWork { edits: 1, last, ..FileWork::default() };
        evidence.files.insert("/app/b.ts".to_owned(), work);
        assert_eq!(age(&evidence, &ran), Some(result));
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
