//! Reads the output of `go test` (plain, `-v` and `-json`), and of gotestsum.
//!
//! Plain output lists the packages that passed, not the tests. In this case, the report counts
//! packages, and its framework is `go test (packages)`.

use serde_json::Value;

use crate::{
    summarize::evidence::test_runs::{RunReport, listed, names, number},
    text::pattern,
};

pub(super) fn go(output: &str) -> Option<RunReport> {
    json(output).or_else(|| gotestsum(output)).or_else(|| lines(output))
}

/// Counts the tests if a line such as `--- PASS: TestX (0.00s)` shows that a test passed.
/// Otherwise, counts the packages by their `ok` and `FAIL` lines. Subtests, whose names contain
/// `/`, count only if there are no other tests. Packages in which no test ran do not count.
fn lines(output: &str) -> Option<RunReport> {
    let ended = pattern!(r"(?m)^\s*--- (PASS|FAIL|SKIP): (\S+) \([\d.]+s\)\s*$");
    let test = |verdict: &'static str| {
        ended
            .captures_iter(output)
            .filter(move |line| &line[1] == verdict)
            .filter_map(|line| line.get(2).map(|name| name.as_str()))
    };
    let passed_packages = pattern!(r"(?m)^ok\s+\S+\s+(?:[\d.]+s|\(cached\)).*$")
        .find_iter(output)
        .filter(|line| !line.as_str().contains("[no tests to run]"))
        .count();
    let failed_packages: Vec<&str> =
        pattern!(r"(?m)^FAIL\s+(\S+)\s+(?:[\d.]+s|\[build failed\]|\[setup failed\])")
            .captures_iter(output)
            .filter_map(|line| line.get(1).map(|name| name.as_str()))
            .collect();
    let failed_tests = names(test("FAIL"));
    let is_parent = |name: &&str| !name.contains('/');
    let has_parents = ["PASS", "FAIL", "SKIP"]
        .into_iter()
        .any(|verdict| test(verdict).any(|name| is_parent(&name)));
    let count = |verdict| test(verdict).filter(|name| !has_parents || is_parent(name)).count();
    let (passed, failed, skipped) = (count("PASS"), count("FAIL"), count("SKIP"));
    // Only verbose output lists tests that passed.
    let verbose = test("PASS").next().is_some();
    if !verbose && passed_packages + failed_packages.len() == 0 {
        return None;
    }
    let broken = names(failed_packages.iter().copied());
    let counts = if verbose {
        (passed, failed.max(usize::from(!broken.is_empty())), skipped)
    } else {
        (passed_packages, failed_packages.len(), 0)
    };
    let size = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Some(RunReport {
        framework: if verbose { "go test" } else { "go test (packages)" },
        passed: size(counts.0),
        failed: size(counts.1),
        skipped: size(counts.2),
        failed_tests: if failed_tests.is_empty() { broken } else { failed_tests },
        coverage_pct: None,
    })
}

/// Reads one JSON object for each line. The actions `pass`, `skip` and `fail` end a test.
fn json(output: &str) -> Option<RunReport> {
    let mut report = RunReport { framework: "go test", ..RunReport::default() };
    let mut failed: Vec<String> = Vec::new();
    for line in output.lines().filter(|line| line.starts_with('{') && line.contains("\"Action\"")) {
        let Ok(event) = serde_json::from_str::<Value>(line) else { continue };
        let Some(test) = event["Test"].as_str() else { continue };
        let counts = u32::from(!test.contains('/'));
        match event["Action"].as_str() {
            Some("pass") => report.passed += counts,
            Some("skip") => report.skipped += counts,
            Some("fail") => {
                report.failed += counts;
                failed.push(test.to_owned());
            }
            _ => {}
        }
    }
    report.failed_tests = names(failed.iter().map(String::as_str));
    (report.passed + report.failed + report.skipped > 0).then_some(report)
}

/// Whether an output has gotestsum's line of totals.
pub(super) fn has_totals(output: &str) -> bool {
    totals(output).is_some()
}

/// Returns the counts of `DONE 120 tests, 1 skipped, 2 failures in 3.4s`.
fn totals(output: &str) -> Option<regex::Captures<'_>> {
    let line = pattern!(
        r"(?m)^DONE (?:\d+ runs, )?(\d+) tests(?:, (\d+) skipped)?(?:, (\d+) failures?)?(?:, (\d+) errors?)? in [\d.]+s"
    );
    line.captures_iter(output).last()
}

fn gotestsum(output: &str) -> Option<RunReport> {
    let line = totals(output)?;
    let (skipped, failed) = (number(&line, 2), number(&line, 3) + number(&line, 4));
    let failed_tests = pattern!(r"(?m)^=== FAIL: \S+ (\S+) \([\d.]+s\)");
    Some(RunReport {
        framework: "go test",
        passed: number(&line, 1).saturating_sub(skipped + failed),
        failed,
        skipped,
        failed_tests: listed(&failed_tests, output),
        coverage_pct: None,
    })
}

#[cfg(test)]
mod tests {
    use crate::summarize::evidence::test_runs::check;

    #[test]
    fn go_test_outputs() {
        check::outputs(&[
            (
                "ok  \texample.org/a\t0.10s\tcoverage: 81.0% of statements\n?   \texample.org/b\t[no test files]\nok  \texample.org/c\t(cached)\n",
                &["go test (packages) 2/0/0 81%"],
            ),
            (
                "--- FAIL: TestParse (0.00s)\n    parse_test.go:12: got 1, want 2\nFAIL\nFAIL\texample.org/a\t0.01s\nok  \texample.org/b\t0.2s\nFAIL\n",
                &["go test (packages) 1/1/0 [TestParse]"],
            ),
            (
                "# example.org/a\na/x.go:3:5: undefined: y\nFAIL\texample.org/a [build failed]\nFAIL\n",
                &["go test (packages) 0/1/0 [example.org/a]"],
            ),
            (
                "=== RUN   TestA\n=== RUN   TestA/one\n--- PASS: TestA (0.00s)\n    --- PASS: TestA/one (0.00s)\n\
                 === RUN   TestB\n--- SKIP: TestB (0.00s)\n--- FAIL: TestC (0.02s)\nFAIL\nFAIL\texample.org/a\t0.3s\n",
                &["go test 1/1/1 [TestC]"],
            ),
            (
                "--- FAIL: TestA (0.00s)\n    --- PASS: TestA/one (0.00s)\n    --- FAIL: TestA/two (0.00s)\n--- PASS: TestB (0.00s)\nFAIL\n",
                &["go test 1/1/0 [TestA, TestA/two]"],
            ),
            (
                "--- FAIL: TestA (0.00s)\n    --- PASS: TestA/one (0.00s)\n    --- PASS: TestA/two (0.00s)\nFAIL\n",
                &["go test 0/1/0 [TestA]"],
            ),
            ("    --- PASS: TestA/one (0.00s)\n", &["go test 1/0/0"]),
            (
                "ok  \texample.org/a\t0.10s [no tests to run]\nok  \texample.org/b\t(cached) [no tests to run]\nok  \texample.org/c\t0.2s\n",
                &["go test (packages) 1/0/0"],
            ),
            ("ok  \texample.org/a\t0.10s\tcoverage: [no statements] [no tests to run]\n", &[]),
            (
                "{\"Action\":\"run\",\"Package\":\"a\",\"Test\":\"TestA\"}\n{\"Action\":\"pass\",\"Package\":\"a\",\"Test\":\"TestA\",\"Elapsed\":0}\n\
                 {\"Action\":\"fail\",\"Package\":\"a\",\"Test\":\"TestB\"}\n{\"Action\":\"fail\",\"Package\":\"a\"}\n",
                &["go test 1/1/0 [TestB]"],
            ),
            (
                "=== FAIL: pkg/a TestX (0.01s)\n\nDONE 120 tests, 1 skipped, 2 failures in 3.412s\n",
                &["go test 117/2/1 [TestX]"],
            ),
        ]);
    }
}
