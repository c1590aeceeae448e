//! Describes how the last run of each test suite of a session ended.

use super::draft::Draft;
use crate::{
    graph::text,
    model::{
        Timestamp,
        evidence::{TestRun, latest_of_suites, other_parts},
        transcript::Outcome,
    },
    pattern::pattern,
};

const MAX_SUITES: usize = 3;
/// Maximum number of partial runs that are described after the last run of a suite.
const MAX_PARTIAL_RUNS: usize = 3;
/// Maximum length, in characters, of the name of a suite.
const MAX_NAME_CHARS: usize = 90;

/// Returns the result of the last run of each suite, the latest first. Also states what limited a
/// partial run, and whether a file was changed after the run. Returns `None` if there is no run, if
/// the command of a run failed although no test failed, or if `report` contradicts the runs.
pub(super) fn describe(draft: &Draft<'_>, report: &str) -> Option<String> {
    let evidence = draft.evidence;
    let moment = |run: &TestRun| run.at.unwrap_or_else(|| draft.moments.at(run.origin));
    let mut runs: Vec<&TestRun> = evidence.tests.iter().collect();
    runs.sort_by_key(|run| moment(run));
    let changed = evidence.changed_files().filter(|(path, _)| !is_text(path));
    let changed: Option<Timestamp> = changed.map(|(_, work)| draft.moments.at(work.last)).max();
    let is_old = |run: &TestRun| changed.is_some_and(|changed| changed > moment(run));
    let mut last: Vec<&TestRun> = latest_of_suites(&runs);
    // If there are complete runs, a partial run with at most one passed test and no failed test is
    // left out. It is kept if only partial runs followed the last edit.
    if last.iter().any(|run| !run.is_part()) {
        let has_fresh = last.iter().any(|run| !run.is_part() && !is_old(run));
        last.retain(|run| {
            !run.is_part() || run.failed > 0 || run.passed > 1 || !has_fresh && !is_old(run)
        });
    }
    last.reverse();
    let more = last.len().saturating_sub(MAX_SUITES);
    last.truncate(MAX_SUITES);
    let is_clear = last.iter().all(|run| !failed_without_failed_test(draft, run));
    if last.is_empty() || !is_clear || contradicts(report, &last, &runs) {
        return None;
    }
    let suites = last.iter().map(|run| {
        let name = text::cut(&run.label().replace('`', "'"), MAX_NAME_CHARS);
        let is_old = is_old(run);
        let age = if is_old { ", before its last edit" } else { "" };
        format!("{} (`{name}`){age}{}", result(run), parts(&runs, run, is_old, changed, moment))
    });
    let suites = suites.collect::<Vec<_>>().join("; ");
    let is_partial = last.iter().all(|run| run.is_part());
    let note = if is_partial { "; the whole suite was not seen to pass" } else { "" };
    let more = if more > 0 { format!("; +{more} more") } else { String::new() };
    Some(format!("{suites}{more}{note}"))
}

/// Describes other successful runs of parts of the suite. If a file was edited after `run`
/// (`is_old`), these are the runs after `run`. Otherwise, if `run` is partial, these are the runs
/// after the last edit. If `run` is complete and no edit followed, the result is empty.
fn parts(
    runs: &[&TestRun],
    run: &TestRun,
    is_old: bool,
    changed: Option<Timestamp>,
    moment: impl Fn(&TestRun) -> Timestamp,
) -> String {
    let is_fresh = |part: &TestRun| changed.is_none_or(|changed| moment(part) >= changed);
    let found = other_parts(runs, run, |part| match is_old {
        true => moment(part) > moment(run),
        false => run.is_part() && is_fresh(part),
    });
    let mut found: Vec<String> = found.iter().rev().map(|part| with_limit(part)).collect();
    let more = found.len().saturating_sub(MAX_PARTIAL_RUNS);
    found.truncate(MAX_PARTIAL_RUNS);
    found.extend((more > 0).then(|| format!("+{more} more")));
    let link = if is_old { "then" } else { "also" };
    if found.is_empty() { String::new() } else { format!(", {link} {}", found.join(", ")) }
}

fn with_limit(part: &TestRun) -> String {
    let limit = part.limited_to.as_ref().map_or(String::new(), |limit| {
        format!(" with `{}`", text::cut(&limit.replace('`', "'"), MAX_NAME_CHARS))
    });
    format!("{}{limit}", result(part))
}

fn result(run: &TestRun) -> String {
    let not_run =
        if run.not_run > 0 { format!(", {} not run", run.not_run) } else { String::new() };
    format!("{}{not_run}", counted(run))
}

fn counted(run: &TestRun) -> String {
    let all = run.total();
    let noun = match run.noun() {
        "tests" => String::new(),
        noun => format!(" {noun}"),
    };
    match (run.failed, run.skipped) {
        _ if all == 0 => "passed".to_owned(),
        (0, 0) => format!("{} of {all}{noun} passed", run.passed),
        (0, skipped) => format!("{} of {all}{noun} passed, {skipped} skipped", run.passed),
        (failed, _) => format!("{failed} of {all}{noun} failed"),
    }
}

/// Whether the command of a run ended with an error although no test of the run failed.
fn failed_without_failed_test(draft: &Draft<'_>, run: &TestRun) -> bool {
    let command = draft.command_at(&run.command, run.origin);
    let has_failed = command.is_some_and(|command| matches!(command.outcome, Outcome::Failed(_)));
    run.failed == 0 && has_failed
}

/// Whether a file is documentation or an example, which no test reads.
fn is_text(path: &str) -> bool {
    [".md", ".txt", ".org", ".rst", ".adoc", ".example"].iter().any(|end| path.ends_with(end))
}

/// Whether a report contradicts the last `runs`. It does if it claims that all tests pass although
/// some failed. It also does if it states numbers of tests, but no number is the count of passed,
/// failed or all tests of a run, or the sum of the passed tests. The sum may include the runs of
/// other parts of the suites, which are in `all`.
fn contradicts(report: &str, runs: &[&TestRun], all: &[&TestRun]) -> bool {
    let counted = pattern!(
        r"(?i)\b([0-9]{1,6})(?:/([0-9]{1,6}))? (?:\*\*)?(?:[a-z-]+ )?(?:tests?|specs?|passed|passing|pass)\b"
    );
    let added = pattern!(
        r"(?i)\b[0-9]{1,6} (?:new|added|additional|more|extra|further|other|failing|failed) (?:[a-z-]+ )?(?:tests?|specs?)\b|\b(?:add(?:ed|s)?|wrote|with) [0-9]{1,6} (?:[a-z-]+ )?(?:tests?|specs?)\b"
    );
    let report = added.replace_all(report, "");
    let report: &str = &report;
    let all_pass = pattern!(
        r"(?i)\ball (?:\d+ )?(?:[a-z-]+ )?(?:tests?|specs?|suites?)(?: \w+)? (?:pass|passed|passing|green)\b"
    );
    let mut numbers = counted
        .captures_iter(report)
        .flat_map(|found| [found.get(1), found.get(2)])
        .flatten()
        .filter_map(|number| number.as_str().parse::<u32>().ok())
        .peekable();
    let parts = runs.iter().flat_map(|run| other_parts(all, run, |_| true));
    let add = |sum: u32, run: &TestRun| sum.saturating_add(run.passed);
    let sum = runs.iter().fold(0, |sum, run| add(sum, run));
    let sums = [sum, parts.fold(sum, add)];
    let is_of_run = |number: u32| {
        sums.contains(&number)
            || runs.iter().any(|run| [run.passed, run.failed, run.total()].contains(&number))
    };
    let has_others = numbers.peek().is_some() && !numbers.any(is_of_run);
    let has_counts = runs.iter().any(|run| run.total() > 0);
    let has_failed = runs.iter().any(|run| run.failed > 0);
    has_counts && has_others || has_failed && all_pass.is_match(report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::extract::scenarios::{SessionFixture, line};

    fn run(framework: &str, at: u64, passed: u32, failed: u32) -> TestRun {
        TestRun {
            framework: framework.to_owned(),
            command: "make test".to_owned(),
            passed,
            failed,
            skipped: 0,
            failed_tests: Vec::new(),
            coverage_pct: None,
            origin: line(at),
            at: None,
            ..TestRun::default()
        }
    }

    fn part(framework: &str, at: u64, passed: u32) -> TestRun {
        let limited_to = Some("-t login".to_owned());
        TestRun { limited_to, not_run: 9, ..run(framework, at, passed, 0) }
    }

    #[test]
    fn the_sum_of_many_runs_does_not_overflow() {
        let runs = [run("jest", 1, u32::MAX, 0), run("pytest", 2, 2, 0)];
        let runs: Vec<&TestRun> = runs.iter().collect();
        assert!(contradicts("All 12 tests pass.", &runs, &runs));
    }

    fn part_of(limit: &str, at: u64, passed: u32) -> TestRun {
        TestRun { limited_to: Some(limit.to_owned()), ..run("jest", at, passed, 0) }
    }

    #[test]
    fn the_last_run_of_each_suite_is_described_and_whether_an_edit_followed() {
        let session = |runs: &[TestRun]| {
            let mut session = SessionFixture::new(10, "Fix the parser");
            session.change("/srv/app/src/keys.rs");
            session.evidence.tests = runs.to_vec();
            session
        };
        let edit = session(&[]).evidence.files.values().next().unwrap().last.line;
        let late = edit + 3;
        for (runs, report, wanted) in [
            (
                vec![run("jest", 1, 4, 2), run("jest", late, 6, 0)],
                "",
                Some("6 of 6 passed (`jest`)"),
            ),
            (vec![run("jest", 1, 6, 0)], "", Some("6 of 6 passed (`jest`), before its last edit")),
            (
                vec![run("jest", late, 60, 0), run("jest", late + 1, 5, 0)],
                "",
                Some("60 of 60 passed (`jest`)"),
            ),
            (
                vec![run("jest", 1, 60, 0), part("jest", late, 5)],
                "",
                Some(
                    "60 of 60 passed (`jest`), before its last edit, then 5 of 5 passed, 9 not run with `-t login`",
                ),
            ),
            (
                vec![run("go test (packages)", late, 9, 0)],
                "",
                Some("9 of 9 packages passed (`go test`)"),
            ),
            (
                vec![part_of("keys", late, 72), part("jest", late + 1, 5)],
                "",
                Some(
                    "5 of 5 passed, 9 not run (`jest -t login`), also 72 of 72 passed with `keys`; the whole suite was not seen to pass",
                ),
            ),
            (
                vec![part("jest", late, 5)],
                "",
                Some(
                    "5 of 5 passed, 9 not run (`jest -t login`); the whole suite was not seen to pass",
                ),
            ),
            (
                vec![run("pytest", 1, 3, 1), run("jest", late, 6, 0)],
                "",
                Some("6 of 6 passed (`jest`); 1 of 4 failed (`pytest`), before its last edit"),
            ),
            (vec![run("jest", late, 6, 0)], "All 12 tests pass.", None),
            (vec![run("jest", late, 6, 0)], "All 6 tests pass.", Some("6 of 6 passed (`jest`)")),
            (vec![run("jest", late, 5, 1)], "All tests pass now.", None),
            (
                vec![run("jest", late, 52, 0)],
                "Added 4 tests. 49 new tests.",
                Some("52 of 52 passed (`jest`)"),
            ),
            (
                vec![part_of("keys", late, 72), part_of("login", late + 1, 26)],
                "All 98 tests pass.",
                Some(
                    "26 of 26 passed (`jest login`), also 72 of 72 passed with `keys`; the whole suite was not seen to pass",
                ),
            ),
            (
                vec![
                    run("jest", 1, 60, 0),
                    TestRun { framework: "cargo".to_owned(), ..part("", late, 1) },
                ],
                "",
                Some(
                    "1 of 1 passed, 9 not run (`cargo -t login`); 60 of 60 passed (`jest`), before its last edit",
                ),
            ),
            (vec![], "", None),
        ] {
            let session = session(&runs);
            let draft = Draft::new(&session.episode, &session.evidence);
            assert_eq!(describe(&draft, report).as_deref(), wanted, "{runs:?} {report}");
        }
        let mut noted = session(&[run("jest", late, 6, 0)]);
        noted.change("/app/notes.md").last = line(late + 2);
        let draft = Draft::new(&noted.episode, &noted.evidence);
        assert_eq!(describe(&draft, "").as_deref(), Some("6 of 6 passed (`jest`)"));
    }
}
