//! Extracts test runs and failing tests.

use std::collections::BTreeSet;

use super::draft::{ClaimDraft, Draft};
use crate::{
    graph::{statement_states, text},
    model::{
        evidence::{
            CommandRun, PACKAGES, TestChoice, TestRun, choices_of, family, is_same_place,
            latest_of_suites, place_name, without_parents,
        },
        graph::{
            Certainty, EntityKind, Observation, Relation, Stance, Subject, Watch, fingerprint,
        },
        transcript::Origin,
    },
};

/// Words in a command that show which kind of tests the command runs.
pub(super) const TEST_KINDS: &[&str] = &["e2e", "integration"];
/// Maximum number of failing tests of one test framework that become facts of a session.
const MAX_FAILING_TESTS: usize = 20;

pub(super) fn read(draft: &mut Draft<'_>) {
    let evidence = draft.evidence;
    for run in &evidence.tests {
        mark(draft, run);
    }
    let families: BTreeSet<&str> =
        evidence.tests.iter().map(|run| family(&run.framework)).collect();
    for one in families {
        let runs: Vec<&TestRun> =
            evidence.tests.iter().filter(|run| family(&run.framework) == one).collect();
        failing(draft, &runs);
    }
    for run in latest_of_suites(&evidence.tests.iter().collect::<Vec<_>>()) {
        result(draft, run);
    }
}

fn mark(draft: &mut Draft<'_>, run: &TestRun) {
    let at = run.at.unwrap_or_else(|| draft.moments.at(run.origin));
    let is_complete_list = run.failed_tests.len() >= run.failed as usize;
    let command = command(run);
    // An incomplete list of failed tests does not show which tests passed.
    if is_complete_list && run.passed > 0 {
        let failed: Vec<u64> = run.failed_tests.iter().map(|name| fingerprint(name)).collect();
        if run.is_part() {
            let (subject, failed) = (part(draft, run), failed.clone());
            draft.mark(subject, at, Observation::Ran { command, total: run.total(), failed });
        }
        // A part of the suite may have other tests than a failed run with fewer tests.
        let total = if run.is_part() { 0 } else { run.total() };
        let subject = suite(draft, &run.framework, run);
        draft.mark(subject, at, Observation::Ran { command, total, failed });
    }
    if has_passed_uncounted(draft, run) {
        // A run without counts ends the failures of earlier runs of the same command, whether these
        // runs counted tests or packages.
        let family = family(&run.framework);
        for framework in [family.to_owned(), format!("{family}{PACKAGES}")] {
            let subject = suite(draft, &framework, run);
            draft.mark(subject, at, Observation::Ran { command, total: 0, failed: Vec::new() });
        }
    }
    if run.failed == 0 && run.passed > 0 {
        let mut passed = Vec::new();
        if !run.is_part() && !run.is_single_test() {
            passed.extend([tested(draft, run), all_tests(draft)]);
        }
        let words = text::words(&run.command);
        let kinds = TEST_KINDS.iter().filter(|kind| words.contains(**kind));
        passed.extend(kinds.map(|kind| tests_of_kind(draft, kind)));
        passed.extend(run.chosen_tests().into_iter().map(|choice| choice_subject(choice, draft)));
        for subject in passed {
            draft.mark(subject, at, Observation::Succeeded);
        }
    }
}

/// Returns the subject of the runs of a suite, whose place is the place of `run`.
fn suite(draft: &Draft<'_>, framework: &str, run: &TestRun) -> Subject {
    draft.subject("tests", &in_place(framework, &run.place))
}

/// Returns the key of `name` in a place. Without a place, the key is the name, as in statements
/// that earlier versions of the daemon stored.
pub(super) fn in_place(name: &str, place: &Option<String>) -> String {
    place_name(place).map_or_else(|| name.to_owned(), |place| format!("{name}\n{place}"))
}

/// Returns the subject of the runs of the same part of a suite as `run`.
fn part(draft: &Draft<'_>, run: &TestRun) -> Subject {
    let limits: Vec<&str> = limits(run).into_iter().collect();
    let suite = in_place(&run.framework, &run.place);
    draft.subject("part of tests", &format!("{suite}\n{}", limits.join(" ")))
}

/// Returns the options, names and files that limit a run. The folder of a file depends on the
/// folder in which the command ran.
fn limits(run: &TestRun) -> BTreeSet<&str> {
    let words = run.limited_to.iter().flat_map(|limit| limit.split(' '));
    words
        .map(|word| {
            let name = word.rsplit('/').next().unwrap_or(word);
            if name.trim_matches('.').contains('.') { name } else { word }
        })
        .collect()
}

/// Returns the subject of the successful runs of all tests of the suite of `run`.
pub(super) fn tested(draft: &Draft<'_>, run: &TestRun) -> Subject {
    draft.subject("tested", &in_place(family(&run.framework), &run.place))
}

/// Returns the subject of the successful runs of all tests of any suite.
pub(super) fn all_tests(draft: &Draft<'_>) -> Subject {
    draft.subject("tested", "")
}

/// Returns the subject of the successful runs of the tests of a kind, one of [`TEST_KINDS`].
pub(super) fn tests_of_kind(draft: &Draft<'_>, kind: &str) -> Subject {
    draft.subject("tested kind", kind)
}

/// Returns the fingerprint of a command and of the place in which it ran.
fn command(run: &TestRun) -> u64 {
    fingerprint(&in_place(&text::command_key(&run.command), &run.place))
}

/// Whether `name`, which failed in `run`, is the name of a package. A Go run that counts packages
/// may also list failed tests in the packages.
fn is_package(run: &TestRun, name: &str) -> bool {
    run.noun() == "packages" && !["Test", "Fuzz", "Example"].iter().any(|go| name.starts_with(go))
}

/// Whether a run has no counts, for example because its output was shortened, and its command did
/// not fail.
fn has_passed_uncounted(draft: &Draft<'_>, run: &TestRun) -> bool {
    let command = draft.command_at(&run.command, run.origin);
    run.total() == 0 && command.is_none_or(CommandRun::has_worked)
}

/// Whether the tests of a failed run passed later in the session, in a run without counts.
fn passes_uncounted(draft: &Draft<'_>, failed: &TestRun) -> bool {
    draft.evidence.tests.iter().any(|later| {
        later.origin.follows(failed.origin)
            && (is_same_command(failed, later) || is_wider(failed, later))
            && has_passed_uncounted(draft, later)
    })
}

fn choice_subject(choice: TestChoice<'_>, draft: &Draft<'_>) -> Subject {
    match choice {
        TestChoice::Whole(name) => draft.subject("test", name),
        TestChoice::Beginning(name) => draft.subject("beginning of tests", name),
    }
}

/// Returns what ends the failure of a test: a run in which the test does not fail, with the same
/// command, or with at least as many tests of the suite or of the same part of the suite; or a
/// successful run whose command contains the name of the test, of its module or of its file. A run
/// without a place includes the tests of all places.
pub(super) fn watches(draft: &Draft<'_>, test: &str, run: &TestRun) -> Vec<Watch> {
    let mut subjects = vec![suite(draft, &run.framework, run)];
    subjects.extend(run.place.is_some().then(|| draft.subject("tests", &run.framework)));
    subjects.extend(run.is_part().then(|| part(draft, run)));
    let (test_name, command, total) = (fingerprint(test), command(run), run.total());
    let mut watches: Vec<Watch> = subjects
        .into_iter()
        .map(|subject| Watch { subject, stance: Stance::Fails { test: test_name, command, total } })
        .collect();
    let broken = |choice| Watch { subject: choice_subject(choice, draft), stance: Stance::Broken };
    watches.extend(choices_of(test).into_iter().map(broken));
    watches
}

/// Adds the result of the suite whose state `run` shows. Skips partial runs and runs without
/// counts.
fn result(draft: &mut Draft<'_>, run: &TestRun) {
    if run.is_part() || run.total() == 0 {
        return;
    }
    let at = run.at.unwrap_or_else(|| draft.moments.at(run.origin));
    let tool = draft.mention(EntityKind::Tool, &run.framework, &run.framework);
    let suite = run.label();
    let subject = draft.subject("test result", &suite);
    let counts = format!("{} passed, {} failed", run.passed, run.failed);
    let skipped =
        if run.skipped > 0 { format!(", {} skipped", run.skipped) } else { String::new() };
    let coverage = run.coverage_pct.map(|share| format!(", {share:.0} % covered"));
    let value = fingerprint(&counts);
    draft.mark(subject, at, Observation::Value(value));
    draft.claim(
        Relation::TestResult,
        draft.project,
        tool,
        ClaimDraft {
            detail: value.to_string(),
            sentence: format!(
                "Tests ({suite}): {counts}{skipped}{}, by `{}`.",
                coverage.unwrap_or_default(),
                text::cut(&text::command_key(&run.command), 120)
            ),
            certainty: Some(Certainty::Verified),
            at: Some(at),
            origins: vec![run.origin],
            watches: vec![Watch { subject, stance: Stance::Value(value) }],
            others: vec![draft.task],
            details: vec![("command".to_owned(), run.command.clone())],
            ..ClaimDraft::default()
        },
    );
}

/// Adds the tests that fail at the end of the session.
fn failing(draft: &mut Draft<'_>, runs: &[&TestRun]) {
    let mut count = 0;
    for (number, run) in runs.iter().enumerate().rev() {
        for test in without_parents(&run.failed_tests) {
            let is_over = runs[number + 1..].iter().any(|later| passes(test, run, later))
                || passes_uncounted(draft, run)
                || is_resolved(draft, test, run);
            if is_over || count == MAX_FAILING_TESTS {
                continue;
            }
            count += 1;
            let watches = watches(draft, test, run);
            let key = format!("{}\n{test}", run.framework);
            let source = draft.mention(EntityKind::Test, &key, test);
            draft.claim(
                Relation::Fails,
                source,
                draft.project,
                ClaimDraft {
                    sentence: format!(
                        "{} `{test}` fails in `{}`.",
                        if is_package(run, test) { "Package" } else { "Test" },
                        text::cut(&text::command_key(&run.command), 120)
                    ),
                    certainty: Some(Certainty::Verified),
                    at: run.at,
                    origins: vec![run.origin],
                    watches,
                    others: vec![draft.task],
                    details: vec![
                        ("framework".to_owned(), run.framework.clone()),
                        (statement_states::TEST.to_owned(), test.clone()),
                    ],
                    ..ClaimDraft::default()
                },
            );
        }
    }
}

/// Whether the error that this test reported was resolved later in the session.
fn is_resolved(draft: &Draft<'_>, test: &str, failed: &TestRun) -> bool {
    draft.evidence.errors.iter().any(|error| {
        let resolved = error.resolution.as_ref().map(|resolution| resolution.origin);
        let is_later = |resolved: Origin| {
            let at = Some(draft.moments.at(resolved));
            resolved.is_after(at, failed.origin, failed.at)
        };
        error.message.contains(test) && resolved.is_some_and(is_later)
    })
}

/// Whether `test`, which failed in a run, passed in a later run of the same framework. If one of
/// the runs counts packages and the other counts tests, their failures have different names, so the
/// later run must have no failures.
fn passes(test: &str, failed: &TestRun, later: &TestRun) -> bool {
    let is_complete_list = later.failed_tests.len() >= later.failed as usize && later.passed > 0;
    let counts_same = later.framework == failed.framework;
    let is_around = later.place.is_none() || is_same_place(&later.place, &failed.place);
    let is_other_part = later.is_part() && later.limited_to != failed.limited_to;
    let has_files = has_files_of(later, failed) && is_same_package(later, failed);
    let is_larger = (is_around && !is_other_part || has_files) && later.total() >= failed.total();
    let covers = is_same_command(failed, later) || counts_same && is_larger;
    let selects = later.failed == 0 && (later.chooses(test) || is_wider(failed, later));
    is_complete_list
        && (counts_same || later.failed == 0)
        && !later.failed_tests.iter().any(|name| name == test)
        && (covers || selects)
}

/// Whether `later` was limited to the files and names of `failed`, and possibly to others.
fn has_files_of(later: &TestRun, failed: &TestRun) -> bool {
    let names = limits(failed);
    !names.is_empty() && names.is_subset(&limits(later))
}

/// Whether two runs are of the same package or folder. One of the runs may have been started as a
/// task of the package.
fn is_same_package(one: &TestRun, other: &TestRun) -> bool {
    let package = |run: &TestRun| {
        let place = place_name(&run.place)?;
        place.split(' ').next().map(str::to_owned)
    };
    package(one) == package(other)
}

/// Whether `later` includes the tests of `failed`, in the same place.
fn is_wider(failed: &TestRun, later: &TestRun) -> bool {
    later.is_of_suite(failed) && later.includes(failed)
}

fn is_same_command(one: &TestRun, other: &TestRun) -> bool {
    command(one) == command(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a run from `framework -run=limit passed`, in which the tests of `failed` fail.
    fn run(text: &str, failed: &[&str]) -> TestRun {
        let (framework, rest) = text.split_once(" -run=").unwrap();
        let (limit, passed) = rest.split_once(' ').unwrap();
        TestRun {
            framework: framework.to_owned(),
            command: format!("mise run test -- -run {limit}"),
            limited_to: Some(format!("-run={limit}")),
            passed: passed.parse().unwrap(),
            failed: u32::try_from(failed.len()).unwrap(),
            failed_tests: failed.iter().map(|&name| name.to_owned()).collect(),
            ..TestRun::default()
        }
    }

    #[test]
    fn a_failed_package_passes_in_a_wider_run_that_counts_tests() {
        let package = "entire.io/cli/integration_test";
        let failed = run("go test (packages) -run=TestGemini_Twice 0", &[package]);
        for (later, failed_later, wanted) in [
            ("go test -run=TestGemini 4", &[][..], true),
            ("go test -run=TestGemini 4", &["TestGemini_Once"], false),
            ("go test -run=TestOther 4", &[], false),
            ("go test (packages) -run=TestGemini 1", &[], true),
        ] {
            assert_eq!(passes(package, &failed, &run(later, failed_later)), wanted, "{later}");
        }
    }

    #[test]
    fn a_failed_test_passes_in_a_run_of_its_file_from_another_folder() {
        let test = "tests/sharing.spec.ts:401:3 › Sharing › Bob sees the file";
        let of = |place: &str, limit: &str, passed, failed: &[&str]| TestRun {
            place: Some(place.to_owned()),
            limited_to: Some(limit.to_owned()),
            passed,
            ..run("playwright -run=x 0", failed)
        };
        let failed = of("tests/e2e", "tests/sharing.spec.ts", 13, &[test]);
        for (place, limit, passed, wanted) in [
            ("e2e test", "tests/e2e/tests/sharing.spec.ts", 20, true),
            ("tests/e2e", "sharing.spec.ts login.spec.ts", 30, true),
            ("e2e test", "tests/e2e/tests/login.spec.ts", 20, false),
            ("e2e test", "tests/e2e/tests/sharing.spec.ts", 1, false),
            ("web test", "tests/sharing.spec.ts", 20, false),
        ] {
            let later = TestRun { command: limit.to_owned(), ..of(place, limit, passed, &[]) };
            assert_eq!(passes(test, &failed, &later), wanted, "{place} {limit}");
        }
    }
}
