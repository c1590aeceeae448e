//! Reads the outputs of `cargo test` and of cargo-nextest. In the output of `cargo test`, each test
//! binary has its own report.

use crate::{
    summarize::evidence::test_runs::{RunReport, listed, number, tally_all},
    text::pattern,
};

/// Reads `test result: FAILED. 12 passed; 1 failed; 2 ignored; …`, once for each test binary.
pub(super) fn cargo(output: &str) -> Option<RunReport> {
    let mut report = RunReport { framework: "cargo test", ..RunReport::default() };
    let closing =
        pattern!(r"(?m)^test result: [A-Za-z]+\. (\d+) passed; (\d+) failed; (\d+) ignored;");
    for line in closing.captures_iter(output) {
        report.passed += number(&line, 1);
        report.failed += number(&line, 2);
        report.skipped += number(&line, 3);
    }
    let failed = pattern!(r"(?m)^(?:test (\S.*?) \.\.\. FAILED|---- (\S.*?) stdout ----)$");
    report.failed_tests = listed(&failed, output);
    Some(report)
}

/// Reads `Summary [   0.123s] 12 tests run: 11 passed, 1 failed, 2 skipped`.
pub(super) fn nextest(output: &str) -> Option<RunReport> {
    let line = pattern!(r"(?m)^\s*Summary \[\s*[\d.]+s\]\s+\d+(?:/\d+)? tests? run: (.*)$");
    line.find(output)?;
    let tally = |word| tally_all(&line, output, word);
    let failed = pattern!(
        r"(?m)^\s*(?:FAIL|TIMEOUT|ABORT|SIG[A-Z]+) \[\s*[\d.]+s\](?: \([^)]*\))? (\S+ .+)$"
    );
    Some(RunReport {
        framework: "cargo nextest",
        passed: tally("passed"),
        failed: tally("failed") + tally("timed"),
        skipped: tally("skipped"),
        failed_tests: listed(&failed, output),
        coverage_pct: None,
    })
}

#[cfg(test)]
mod tests {
    use crate::summarize::evidence::test_runs::check;

    #[test]
    fn cargo_test_outputs() {
        check::outputs(&[
            (
                "running 3 tests\ntest a::b ... ok\ntest a::c ... FAILED\ntest a::d ... ignored\n\nfailures:\n\n\
                 ---- a::c stdout ----\nthread 'a::c' panicked at src/lib.rs:3:5:\nassertion failed\n\n\
                 test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s\n\n\
                 error: test failed, to rerun pass `--lib`\n",
                &["cargo test 1/1/1 [a::c]"],
            ),
            (
                "test result: ok. 40 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.31s\n\
                 \x1b[32m   Doc-tests\x1b[0m x\n\
                 test result: \x1b[32mok\x1b[m. 5 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out; finished in 1.0s\n",
                &["cargo test 45/0/2"],
            ),
            (
                "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out; finished in 0.0s",
                &[],
            ),
            (
                "[... 9000 bytes left out ...]\nest a ... ok\ntest result: ok. 7 passed; 0 failed; 0 ignored; 0 measured",
                &["cargo test 7/0/0"],
            ),
        ]);
    }

    #[test]
    fn nextest_outputs() {
        check::outputs(&[
            (
                "        PASS [   0.004s] app tests::a\n        FAIL [   0.101s] app tests::b\n────────────\n\
                      Summary [   0.123s] 2 tests run: 1 passed, 1 failed, 3 skipped\n        FAIL [   0.101s] app tests::b\n",
                &["cargo nextest 1/1/3 [app tests::b]"],
            ),
            (
                "     Summary [   1.2s] 4 tests run: 3 passed, 1 failed, 0 skipped\n     Summary [   0.4s] 5 tests run: 5 passed, 2 skipped\n",
                &["cargo nextest 8/1/2"],
            ),
            (
                "     Summary [   1.2s] 212 tests run: 212 passed (1 slow), 0 skipped\n",
                &["cargo nextest 212/0/0"],
            ),
        ]);
    }
}
