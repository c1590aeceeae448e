//! Reads the output of PHPUnit and Pest.

use crate::{
    summarize::evidence::test_runs::{RunReport, count, listed, number, sum, tally_all},
    text::pattern,
};

/// Reads `OK (12 tests, 34 assertions)` or `Tests: 12, Assertions: 34, Failures: 1, Skipped: 2.`.
pub(super) fn phpunit(output: &str) -> Option<RunReport> {
    let fine = pattern!(r"(?m)^OK \((\d+) tests?, \d+ assertions?\)");
    let line = pattern!(r"(?m)^Tests: (\d+), Assertions: \d+(.*)\.\s*$");
    if !fine.is_match(output) && !line.is_match(output) {
        return None;
    }
    // One output may contain several runs.
    let tests = |pattern| sum(pattern, output, |line| number(line, 1));
    let named = |name: &str| {
        sum(&line, output, |line| {
            let parts = line[2].split(", ").filter_map(|part| part.split_once(": "));
            parts.filter(|(key, _)| *key == name).map(|(_, value)| count(value)).sum()
        })
    };
    let failed = named("Failures") + named("Errors");
    let skipped = named("Skipped") + named("Incomplete");
    let failed_tests = pattern!(r"(?m)^\d+\) (\S+::\S+(?: with data set .+)?)\s*$");
    Some(RunReport {
        framework: "phpunit",
        passed: tests(&fine) + tests(&line).saturating_sub(failed + skipped),
        failed,
        skipped,
        failed_tests: listed(&failed_tests, output),
        coverage_pct: None,
    })
}

/// Reads `  Tests:    1 failed, 12 passed (34 assertions)`.
pub(super) fn pest(output: &str) -> Option<RunReport> {
    let line = pattern!(r"(?m)^\s*Tests:\s+(.+) \(\d+ assertions?\)\s*$");
    line.find(output)?;
    let tally = |word| tally_all(&line, output, word);
    let failed_tests = pattern!(r"(?m)^\s*FAILED\s+(.+? > .+?)(?:\s{2,}.*)?$");
    Some(RunReport {
        framework: "pest",
        passed: tally("passed"),
        failed: tally("failed"),
        skipped: tally("skipped") + tally("todo"),
        failed_tests: listed(&failed_tests, output),
        coverage_pct: None,
    })
}

#[cfg(test)]
mod tests {
    use crate::summarize::evidence::test_runs::check;

    #[test]
    fn php_outputs() {
        check::outputs(&[
            (
                "PHPUnit 11.0 by Sebastian Bergmann\n\n............ 12 / 12 (100%)\n\nOK (12 tests, 34 assertions)\n",
                &["phpunit 12/0/0"],
            ),
            (
                "OK (12 tests, 34 assertions)\n\nFAILURES!\nTests: 5, Assertions: 9, Failures: 2.\n",
                &["phpunit 15/2/0"],
            ),
            (
                "FAILURES!\nTests: 5, Assertions: 9, Failures: 2.\n\nTests: 4, Assertions: 8, Errors: 1.\n",
                &["phpunit 6/3/0"],
            ),
            (
                "  Tests:    1 failed, 12 passed (34 assertions)\n  Duration: 0.1s\n\n  Tests:    5 passed (9 assertions)\n  Duration: 0.1s\n",
                &["pest 17/1/0"],
            ),
            (
                "There was 1 failure:\n\n1) Tests\\CartTest::testAdds\nFailed asserting\n\nFAILURES!\nTests: 12, Assertions: 34, Failures: 1, Skipped: 2.\n",
                &["phpunit 9/1/2 [Tests\\CartTest::testAdds]"],
            ),
            (
                "   FAILED  Tests\\Feature\\CartTest > it adds   AssertionError\n\n  Tests:    1 failed, 12 passed (34 assertions)\n  Duration: 0.1s\n",
                &["pest 12/1/0 [Tests\\Feature\\CartTest > it adds]"],
            ),
        ]);
    }
}
