//! Extracts test runs and failing tests.

use std::collections::BTreeSet;

use super::draft::{ClaimDraft, Draft};
use crate::{
    graph::{statement_states, text},
    model::{
        evidence::{PACKAGES, TestRun, family, latest_of_suites},
        graph::{
            Certainty, EntityKind, Observation, Relation, Stance, Subject, Watch, fingerprint,
        },
        transcript::Origin,
    },
};

/// Maximum number of failing tests of one test framework that become facts of a session.
const MAX_FAILING_TESTS: usize = 20;

pub(super) fn read(draft: &mut Draft<'_>) {
    let evidence = draft.evidence;
    for run in &evidence.tests {
        mark(draft, run);
    }
    let frameworks: BTreeSet<&str> =
        evidence.tests.iter().map(|run| run.framework.as_str()).collect();
    for framework in frameworks {
        let runs: Vec<&TestRun> =
            evidence.tests.iter().filter(|run| run.framework == framework).collect();
        failing(draft, &runs);
    }
    for run in latest_of_suites(&evidence.tests.iter().collect::<Vec<_>>()) {
        result(draft, run);
    }
}

fn total(run: &TestRun) -> u32 {
    run.passed.saturating_add(run.failed).saturating_add(run.skipped)
}

fn mark(draft: &mut Draft<'_>, run: &TestRun) {
    let at = run.at.unwrap_or_else(|| draft.moments.at(run.origin));
    let is_complete_list = run.failed_tests.len() >= run.failed as usize;
    let command = fingerprint(&text::command_key(&run.command));
    // An incomplete list of failed tests does not show which tests passed.
    if is_complete_list && run.passed > 0 {
        let subject = draft.subject("tests", &run.framework);
        let failed = run.failed_tests.iter().map(|name| fingerprint(name)).collect();
        draft.mark(subject, at, Observation::Ran { command, total: total(run), failed });
    }
    if has_passed_uncounted(draft, run) {
        // A run without counts ends the failures of earlier runs that counted tests, and of those
        // that counted packages.
        let family = family(&run.framework);
        for framework in [family.to_owned(), format!("{family}{PACKAGES}")] {
            let subject = draft.subject("tests", &framework);
            draft.mark(subject, at, Observation::Ran { command, total: 0, failed: Vec::new() });
        }
    }
    if run.failed == 0 && run.passed > 0 {
        let subject = draft.subject("tested", "");
        draft.mark(subject, at, Observation::Succeeded);
        for name in names_in(run) {
            let subject = name.subject(draft);
            draft.mark(subject, at, Observation::Succeeded);
        }
    }
}

/// Whether `name`, which failed in `run`, is the name of a package. A Go run that counts packages
/// may also list failed tests in the packages.
fn is_package(run: &TestRun, name: &str) -> bool {
    run.noun() == "packages" && !["Test", "Fuzz", "Example"].iter().any(|go| name.starts_with(go))
}

/// Whether a run has no counts, for example because its output was shortened, and its command did
/// not fail.
fn has_passed_uncounted(draft: &Draft<'_>, run: &TestRun) -> bool {
    let command = draft.command_of(run);
    total(run) == 0 && command.is_none_or(|command| command.outcome.succeeded())
}

/// Whether the command of a failed run passed later in the session, in a run without counts.
fn passes_uncounted(draft: &Draft<'_>, failed: &TestRun) -> bool {
    draft.evidence.tests.iter().any(|later| {
        later.origin.follows(failed.origin)
            && is_same_command(failed, later)
            && has_passed_uncounted(draft, later)
    })
}

/// A name by which a command selects tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TestChoice<'n> {
    /// The name of a test, or of the module, file or parent test that contains the test.
    Whole(&'n str),
    /// The beginning of the names of Go tests.
    Beginning(&'n str),
}

impl TestChoice<'_> {
    fn subject(self, draft: &Draft<'_>) -> Subject {
        match self {
            TestChoice::Whole(name) => draft.subject("test", name),
            TestChoice::Beginning(name) => draft.subject("beginning of tests", name),
        }
    }
}

/// Returns the names by which the command of a run may select tests.
fn names_in(run: &TestRun) -> Vec<TestChoice<'_>> {
    let words: Vec<&str> =
        run.command.split(|c: char| c.is_whitespace() || "'\"=,;".contains(c)).collect();
    let is_name = |word: &&&str| {
        word.len() > 3 && !word.starts_with('-') && word.contains(['_', '.', ':', '/'])
    };
    let mut names: Vec<_> =
        words.iter().filter(is_name).map(|word| TestChoice::Whole(word)).collect();
    let is_go = family(&run.framework) == "go test";
    let is_run = |word: &str| matches!(word, "-run" | "--run" | "-test.run");
    let patterns = words.iter().skip_while(|word| !is_run(word)).skip(1);
    // Quotes and `=` may leave empty words.
    let pattern = patterns.copied().find(|word| !word.is_empty()).filter(|_| is_go);
    names.extend(pattern.into_iter().flat_map(|pattern| pattern.split('|')).filter_map(|name| {
        let name = name.trim_start_matches(['^', '(']).trim_end_matches(')');
        match name.strip_suffix('$') {
            Some(whole) => Some(TestChoice::Whole(whole)),
            None => name.starts_with("Test").then_some(TestChoice::Beginning(name)),
        }
    }));
    names
}

/// Returns what ends the failure of a test: a run in which the test does not fail, with the same
/// command or with at least as many tests; or a successful run whose command contains the name of
/// the test, of its module or of its file.
pub(super) fn watches(draft: &Draft<'_>, test: &str, run: &TestRun) -> Vec<Watch> {
    let stance = Stance::Fails {
        test: fingerprint(test),
        command: fingerprint(&text::command_key(&run.command)),
        total: total(run),
    };
    let mut watches = vec![Watch { subject: draft.subject("tests", &run.framework), stance }];
    let broken =
        |name: TestChoice<'_>| Watch { subject: name.subject(draft), stance: Stance::Broken };
    watches.extend(names_of(test).into_iter().map(broken));
    watches
}

/// Returns the full name of a test, the names of its module, file and parent tests, and the last
/// part of the name: `a.py::Suite::test`, `a.py::Suite`, `a.py`, `test`. For a possible Go test,
/// also returns the beginnings by which `-run` may select the test, such as `TestSaveAll` for
/// `TestSaveAll_Twice`. Beginnings of one word, such as `TestSave`, are excluded, because tests of
/// other packages may share them.
fn names_of(test: &str) -> Vec<TestChoice<'_>> {
    let mut names = vec![test];
    names.extend(test.match_indices("::").map(|(at, _)| &test[..at]));
    names.extend(test.rsplit("::").next());
    let is_of_go = test.starts_with("Test");
    let groups: Vec<&str> =
        test.match_indices('/').filter(|_| is_of_go).map(|(at, _)| &test[..at]).collect();
    names.extend(&groups);
    names.sort_unstable();
    names.dedup();
    names.retain(|name| name.len() > 3);
    let mut names: Vec<_> = names.into_iter().map(TestChoice::Whole).collect();
    if is_of_go {
        let first = test.split('/').next().unwrap_or(test);
        let is_word_end = |at: usize| {
            let (before, after) = (first[..at].chars().next_back(), first[at..].chars().next());
            let is_small = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
            after == Some('_')
                || before.is_some_and(is_small) && after.is_some_and(|c| c.is_ascii_uppercase())
        };
        let ends = first.char_indices().map(|(at, _)| at);
        let ends = ends.filter(|at| *at > "Test".len() && is_word_end(*at)).skip(1);
        let beginnings = ends.map(|at| &first[..at]).chain(groups).chain([test]);
        names.extend(beginnings.map(TestChoice::Beginning));
    }
    names
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
        (draft.project, tool),
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
        for test in &run.failed_tests {
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
                (source, draft.project),
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
            resolved.is_after(at, (failed.origin, failed.at))
        };
        error.message.contains(test) && resolved.is_some_and(is_later)
    })
}

fn passes(test: &str, failed: &TestRun, later: &TestRun) -> bool {
    let is_complete_list = later.failed_tests.len() >= later.failed as usize && later.passed > 0;
    let same_command = is_same_command(failed, later);
    let names = names_of(test);
    let selects_test = later.failed == 0 && names_in(later).iter().any(|name| names.contains(name));
    is_complete_list
        && !later.failed_tests.iter().any(|name| name == test)
        && (same_command || total(later) >= total(failed) || selects_test)
}

fn is_same_command(one: &TestRun, other: &TestRun) -> bool {
    text::command_key(&one.command) == text::command_key(&other.command)
}
