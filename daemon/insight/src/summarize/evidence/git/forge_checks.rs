//! Reads the checks of the forge: the rows of `gh pr checks`, the jobs of a run, and the failed
//! tests in the logs of failed jobs.

use crate::{
    model::evidence::{CheckoutState, ForgeChecks, GitView},
    summarize::evidence::{bounds, moment::EntryPosition, shell::CommandLine, test_runs},
    text::{kept, pattern},
};

/// Maximum number of failed checks that are kept, and also of failed tests.
const FAILED: usize = 12;

/// Records the checks of a pull request that the output of a command shows. The command may run in
/// any directory.
pub(in crate::summarize::evidence) fn observe_checks(
    state: &mut CheckoutState,
    command: &CommandLine,
    output: &str,
    moment: EntryPosition,
) {
    let known = state.checks.as_ref().map(|checks| &checks.value);
    if let Some(value) = read(known, command, output) {
        state.checks = Some(GitView { value, origin: moment.origin, at: moment.at });
    }
}

/// Returns the checks that `output` shows; `None` if the output shows no checks. `known` contains
/// the checks that an earlier output showed.
fn read(known: Option<&ForgeChecks>, command: &CommandLine, output: &str) -> Option<ForgeChecks> {
    match command.shown.as_str() {
        line if line.contains("gh pr checks") && !is_of_several(line) => rows(number(line), output),
        line if line.contains("gh run view") && line.contains("--log-failed") => {
            failed_jobs(known, output)
        }
        line if pattern!(r"\bgh run (?:watch|view)\b").is_match(line) => jobs(output),
        _ => None,
    }
}

/// Whether a command shows the checks of several pull requests: `gh pr checks "$number"` in a loop.
fn is_of_several(command: &str) -> bool {
    pattern!(r#"\bgh pr checks (?:-\S+ )*"?\$"#).is_match(command)
        || command.matches("gh pr checks").count() > 1
}

/// Returns the number of the pull request in a command.
fn number(command: &str) -> Option<u64> {
    pattern!(r"\bgh pr checks (?:-\S+ )*#?([0-9]{1,9})\b").captures(command)?[1].parse().ok()
}

/// Reads the rows of `gh pr checks`. A filter such as `grep` may have removed some rows.
fn rows(pull_request: Option<u64>, output: &str) -> Option<ForgeChecks> {
    let row = pattern!(r"(?m)^([^\t\n]+)\t(pass|fail|pending|skipping|cancel)\t");
    let mut checks = ForgeChecks { pull_request, ..ForgeChecks::default() };
    let mut is_seen = false;
    for found in row.captures_iter(output) {
        is_seen = true;
        if &found[2] == "fail" {
            add(&mut checks.failed, &found[1]);
        }
    }
    is_seen.then_some(checks)
}

/// Reads the jobs of a run that has ended, as `gh run watch` and `gh run view` print them.
fn jobs(output: &str) -> Option<ForgeChecks> {
    let job = pattern!(r"(?m)^ *([✓X]) (.+?) in (?:[0-9]+[hms])+(?: \(ID [0-9]+\))?$");
    let mut checks = ForgeChecks::default();
    let mut is_seen = false;
    for found in job.captures_iter(output) {
        is_seen = true;
        if &found[1] == "X" {
            add(&mut checks.failed, &found[2]);
        }
    }
    if !checks.failed.is_empty() {
        let lines: Vec<&str> = output.lines().map(str::trim_start).collect();
        let reports = test_runs::reports(&lines.join("\n"));
        let tests = reports.iter().flat_map(|report| &report.failed_tests);
        tests.for_each(|test| add(&mut checks.tests, test));
    }
    is_seen.then_some(checks)
}

/// Reads a log in which each line begins with the job, the step and the time. If a filter removed
/// the names of the tests, the earlier names for the same jobs are kept.
fn failed_jobs(known: Option<&ForgeChecks>, output: &str) -> Option<ForgeChecks> {
    let prefix = pattern!(r"(?m)^([^\t\n]+)\t[^\t\n]+\t[0-9-]+T[0-9:.]+Z ?");
    let mut checks = ForgeChecks::default();
    prefix.captures_iter(output).for_each(|line| add(&mut checks.failed, &line[1]));
    if checks.failed.is_empty() {
        return None;
    }
    let plain = prefix.replace_all(output, "");
    for report in test_runs::reports(&plain) {
        report.failed_tests.iter().for_each(|test| add(&mut checks.tests, test));
    }
    checks.pull_request = known.and_then(|known| known.pull_request);
    let same = known.filter(|known| checks.tests.is_empty() && known.failed == checks.failed);
    if let Some(known) = same {
        checks.tests.clone_from(&known.tests);
    }
    Some(checks)
}

fn add(names: &mut Vec<String>, name: &str) {
    let name = kept(name.trim(), bounds::NAME);
    if !names.contains(&name) && names.len() < FAILED {
        names.push(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_log(known: Option<&ForgeChecks>, log: &str) -> Option<ForgeChecks> {
        let lines =
            log.lines().map(|line| format!("Browser\tRun tests\t2026-02-22T01:41:26.49Z {line}\n"));
        read(
            known,
            &CommandLine::read("gh run view 7 --log-failed | tail -80", "/app"),
            &lines.collect::<String>(),
        )
    }

    #[test]
    fn the_jobs_of_a_run_show_which_failed() {
        let watched = CommandLine::read("gh run watch --exit-status 2>&1 | tail -12", "/app");
        let red = "X main test · 5120\n  ✓ test (ubuntu-latest) in 48s\n  X test (windows-latest) in 1m32s\n    --- FAIL: TestPlanRelative (0.00s)\n    FAIL\texample.org/app/sync\t0.1s\nRun test (5120) completed with 'failure'\n";
        let seen = read(None, &watched, red).unwrap();
        assert_eq!(seen.failed, ["test (windows-latest)"]);
        assert_eq!(seen.tests, ["TestPlanRelative"]);
        let green = "✓ main test · 5131\n  ✓ test (windows-latest) in 1m40s (ID 12)\n";
        assert_eq!(read(Some(&seen), &watched, green), Some(ForgeChecks::default()));
        assert_eq!(read(Some(&seen), &watched, "Refreshing run status\n"), None);
    }

    #[test]
    fn the_log_of_a_failed_job_shows_its_failed_tests() {
        let log = "  1 failed\n    [chromium] › tests/a.spec.ts:269:3 › Lists › 4.2 Bob sees it\n  3 did not run\n  80 passed (1.9m)";
        let seen = read_log(None, log).unwrap();
        let tests = ["tests/a.spec.ts:269:3 › Lists › 4.2 Bob sees it"];
        assert_eq!(
            (&seen.failed[..], &seen.tests[..]),
            (&["Browser".to_owned()][..], &tests.map(str::to_owned)[..])
        );
        assert_eq!(read_log(Some(&seen), "statusCode 404").unwrap(), seen);
        assert_eq!(read_log(None, "statusCode 404").unwrap().tests, [""; 0]);
        let rows = CommandLine::read("gh pr checks 7", "/app");
        let passed = read(Some(&seen), &rows, "Lint\tpass\t1m\n").unwrap();
        assert_eq!((passed.pull_request, passed.failed.len()), (Some(7), 0));
        assert_eq!(read_log(Some(&passed), log).unwrap().pull_request, Some(7));
        assert_eq!(read(Some(&seen), &rows, "no checks\n"), None);
        let looped = "for n in 7 8; do gh pr checks \"$n\"; done";
        assert_eq!(read(None, &CommandLine::read(looped, "/app"), "Lint\tfail\t1m\n"), None);
    }
}
