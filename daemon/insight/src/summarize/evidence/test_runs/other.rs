//! Reads the output of CTest, Deno, Swift and ExUnit, and of all tools that print TAP.

use crate::{
    summarize::evidence::test_runs::{RunReport, listed, names, number},
    text::pattern,
};

/// Reads `98% tests passed, 1 tests failed out of 50`.
pub(super) fn ctest(output: &str) -> Option<RunReport> {
    let line = pattern!(r"(?m)^\d+% tests passed, (\d+) tests? failed out of (\d+)")
        .captures_iter(output)
        .last()?;
    let failed = number(&line, 1);
    let list = pattern!(
        r"(?m)^\s+\d+ - (\S+) \((?:Failed|Timeout|SEGFAULT|Exception|Not Run|Subprocess aborted|ILLEGAL|OTHER_FAULT).*\)"
    );
    Some(RunReport {
        framework: "ctest",
        passed: number(&line, 2).saturating_sub(failed),
        failed,
        failed_tests: listed(&list, output),
        ..RunReport::default()
    })
}

/// Reads `FAILED | 12 passed | 1 failed | 2 ignored (34ms)`.
pub(super) fn deno(output: &str) -> Option<RunReport> {
    let line = pattern!(
        r"(?m)^(?:ok|FAILED) \| (\d+) passed(?: \(\d+ steps?\))? \| (\d+) failed(?: \(\d+ steps?\))?(?: \| (\d+) ignored)?"
    )
    .captures_iter(output)
    .last()?;
    let failed = pattern!(r"(?m)^(\S.*?) \.\.\. FAILED(?: \([^)]*\))?\s*$");
    Some(RunReport {
        framework: "deno test",
        passed: number(&line, 1),
        failed: number(&line, 2),
        skipped: number(&line, 3),
        failed_tests: listed(&failed, output),
        coverage_pct: None,
    })
}

/// Reads `Executed 12 tests, with 1 test skipped and 1 failure (0 unexpected) in 0.1 seconds`. The
/// line of the outermost suite is the last one.
pub(super) fn swift(output: &str) -> Option<RunReport> {
    let line = pattern!(
        r"(?m)^\s*Executed (\d+) tests?, with (?:(\d+) tests? skipped and )?(\d+) failures? \(\d+ unexpected\)"
    )
    .captures_iter(output)
    .last()?;
    let (skipped, failed) = (number(&line, 2), number(&line, 3));
    let list = pattern!(r"(?m)^Test Case '-?\[?([^'\]]+)\]?' failed");
    Some(RunReport {
        framework: "swift test",
        passed: number(&line, 1).saturating_sub(skipped + failed),
        failed,
        skipped,
        failed_tests: listed(&list, output),
        coverage_pct: None,
    })
}

/// Reads `3 doctests, 12 tests, 1 failure, 2 excluded`, after `Finished in 0.1 seconds`.
pub(super) fn exunit(output: &str) -> Option<RunReport> {
    pattern!(r"(?m)^Finished in [\d.]+ seconds").find(output)?;
    let line = pattern!(
        r"(?m)^(?:(\d+) doctests?, )?(\d+) tests?, (\d+) failures?(?:, \d+ excluded)?(?:, (\d+) skipped)?\s*$"
    )
    .captures_iter(output)
    .last()?;
    let (failed, skipped) = (number(&line, 3), number(&line, 4));
    let list = pattern!(r"(?m)^\s+\d+\) test (.+) \([\w.]+\)\s*$");
    Some(RunReport {
        framework: "exunit",
        passed: (number(&line, 1) + number(&line, 2)).saturating_sub(failed + skipped),
        failed,
        skipped,
        failed_tests: listed(&list, output),
        coverage_pct: None,
    })
}

/// Reads a plan `1..N` and a line for each test, as bats, prove and others print them. Returns
/// `None` for output of Node, whose counts are read instead, and for more tests than planned.
pub(super) fn tap(output: &str) -> Option<RunReport> {
    let plan = pattern!(r"(?m)^1\.\.(\d+)\s*$").captures(output)?;
    if pattern!(r"(?m)^# pass \d+\s*$").is_match(output) {
        return None;
    }
    let lines = pattern!(r"(?m)^(not )?ok \d+(?: -)? ?([^#\n]*?)\s*(# (?i:skip|todo).*)?$");
    let mut report = RunReport { framework: "tap", ..RunReport::default() };
    let mut failed = Vec::new();
    for line in lines.captures_iter(output) {
        match (line.get(1), line.get(3)) {
            (_, Some(_)) => report.skipped += 1,
            (None, None) => report.passed += 1,
            (Some(_), None) => {
                report.failed += 1;
                failed.extend(line.get(2).map(|name| name.as_str()));
            }
        }
    }
    report.failed_tests = names(failed.into_iter());
    (report.passed + report.failed + report.skipped <= number(&plan, 1)).then_some(report)
}

#[cfg(test)]
mod tests {
    use crate::summarize::evidence::test_runs::check;

    #[test]
    fn other_outputs() {
        check::outputs(&[
            (
                "98% tests passed, 1 tests failed out of 50\n\nThe following tests FAILED:\n\t 12 - parse_test (Failed)\n",
                &["ctest 49/1/0 [parse_test]"],
            ),
            (
                "adds ... FAILED (2ms)\n\nFAILED | 12 passed | 1 failed | 2 ignored (34ms)\n",
                &["deno test 12/1/2 [adds]"],
            ),
            (
                "Test Case '-[AppTests.CartTests testAdds]' failed (0.1 seconds).\n\t Executed 5 tests, with 1 failure (0 unexpected) in 0.1 (0.1) seconds\n\
                 \t Executed 12 tests, with 1 test skipped and 1 failure (0 unexpected) in 0.2 (0.2) seconds\n",
                &["swift test 10/1/1 [AppTests.CartTests testAdds]"],
            ),
            (
                "  1) test adds items (App.CartTest)\n     test/cart_test.exs:5\n\nFinished in 0.1 seconds (0.05s async, 0.05s sync)\n2 doctests, 12 tests, 1 failure\n",
                &["exunit 13/1/0 [adds items]"],
            ),
            (
                "1..3\nok 1 adds\nnot ok 2 removes\nok 3 moves # skip slow\n",
                &["tap 1/1/1 [removes]"],
            ),
        ]);
    }
}
