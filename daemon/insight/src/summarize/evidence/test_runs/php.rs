//! Reads the output of PHPUnit and Pest.

use crate::{
    summarize::evidence::test_runs::{RunReport, count, listed, number, tally, total},
    text::pattern,
};

/// Reads `OK (12 tests, 34 assertions)` or `Tests: 12, Assertions: 34, Failures: 1, Skipped: 2.`.
pub(super) fn phpunit(output: &str) -> Option<RunReport> {
    let fine = pattern!(r"(?m)^OK \((\d+) tests?, \d+ assertions?\)");
    let fine = fine.is_match(output).then(|| total(&fine, output));
    let line =
        pattern!(r"(?m)^Tests: (\d+), Assertions: \d+(.*)\.\s*$").captures_iter(output).last();
    let Some(line) = line else {
        return fine.map(|passed| RunReport {
            framework: "phpunit",
            passed,
            ..RunReport::default()
        });
    };
    let named = |name: &str| -> u32 {
        line[2]
            .split(", ")
            .filter_map(|part| part.split_once(": "))
            .filter(|(key, _)| *key == name)
            .map(|(_, value)| count(value))
            .sum()
    };
    let failed = named("Failures") + named("Errors");
    let skipped = named("Skipped") + named("Incomplete");
    let failed_tests = pattern!(r"(?m)^\d+\) (\S+::\S+(?: with data set .+)?)\s*$");
    Some(RunReport {
        framework: "phpunit",
        // One output may contain several runs.
        passed: number(&line, 1).saturating_sub(failed + skipped) + fine.unwrap_or(0),
        failed,
        skipped,
        failed_tests: listed(&failed_tests, output),
        coverage_pct: None,
    })
}

/// Reads `  Tests:    1 failed, 12 passed (34 assertions)`.
pub(super) fn pest(output: &str) -> Option<RunReport> {
    let line =
        pattern!(r"(?m)^\s*Tests:\s+(.+) \(\d+ assertions?\)\s*$").captures_iter(output).last()?;
    let failed_tests = pattern!(r"(?m)^\s*FAILED\s+(.+? > .+?)(?:\s{2,}.*)?$");
    Some(RunReport {
        framework: "pest",
        passed: tally(&line[1], "passed"),
        failed: tally(&line[1], "failed"),
        skipped: tally(&line[1], "skipped") + tally(&line[1], "todo"),
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
