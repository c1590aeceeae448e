//! Reads the output of `dotnet test`.

use crate::{
    summarize::evidence::test_runs::{RunReport, listed, number},
    text::pattern,
};

/// Reads the `Test summary:` line, or else the last line of each test project, or the older
/// `Total tests:` block.
pub(super) fn dotnet(output: &str) -> Option<RunReport> {
    let mut report = RunReport { framework: "dotnet test", ..RunReport::default() };
    let closing = pattern!(
        r"(?m)^\s*(?:Passed|Failed|Skipped)!\s+- Failed:\s+(\d+), Passed:\s+(\d+), Skipped:\s+(\d+), Total:\s+\d+"
    );
    let newer = pattern!(
        r"(?m)^\s*Test summary: total: \d+, failed: (\d+), succeeded: (\d+), skipped: (\d+)"
    );
    // The summary contains the counts of the projects.
    let counts = if newer.is_match(output) { newer } else { closing };
    for line in counts.captures_iter(output) {
        report.failed += number(&line, 1);
        report.passed += number(&line, 2);
        report.skipped += number(&line, 3);
    }
    if report.failed + report.passed + report.skipped == 0 {
        let block = pattern!(r"(?m)^Total tests: \d+\s*$").find(output)?;
        let rest = &output[block.start()..];
        let of = |pattern: &regex::Regex| pattern.captures(rest).map_or(0, |line| number(&line, 1));
        report.passed = of(&*pattern!(r"(?m)^\s+Passed: (\d+)"));
        report.failed = of(&*pattern!(r"(?m)^\s+Failed: (\d+)"));
        report.skipped = of(&*pattern!(r"(?m)^\s+Skipped: (\d+)"));
    }
    let failed = pattern!(r"(?m)^\s+Failed ([\w.]+\.\w+(?:\(.*\))?) \[[^\]]+\]\s*$");
    report.failed_tests = listed(&failed, output);
    Some(report)
}

#[cfg(test)]
mod tests {
    use crate::summarize::evidence::test_runs::check;

    #[test]
    fn dotnet_outputs() {
        check::outputs(&[
            (
                "  Failed App.Tests.CartTests.Adds [12 ms]\n  Error Message:\n   Assert.Equal() Failure\n\n\
                 Failed!  - Failed:     1, Passed:    11, Skipped:     2, Total:    14, Duration: 40 ms - App.Tests.dll (net8.0)\n\
                 Passed!  - Failed:     0, Passed:     3, Skipped:     0, Total:     3, Duration: 2 ms - Lib.Tests.dll (net8.0)\n",
                &["dotnet test 14/1/2 [App.Tests.CartTests.Adds]"],
            ),
            (
                "Test Run Successful.\nTotal tests: 12\n     Passed: 12\n Total time: 1.2 Seconds\n",
                &["dotnet test 12/0/0"],
            ),
            (
                "Test summary: total: 5, failed: 0, succeeded: 5, skipped: 0, duration: 2.1s\n",
                &["dotnet test 5/0/0"],
            ),
            (
                "Passed!  - Failed:     0, Passed:     3, Skipped:     0, Total:     3, Duration: 2 ms - Lib.Tests.dll (net8.0)\n\
                 Failed!  - Failed:     1, Passed:     4, Skipped:     2, Total:     7, Duration: 2 ms - App.Tests.dll (net8.0)\n\
                 Test summary: total: 10, failed: 1, succeeded: 7, skipped: 2, duration: 2.1s\n",
                &["dotnet test 7/1/2"],
            ),
        ]);
    }
}
