//! Reads the output of Jest, Vitest, Mocha, Bun, Node's own runner and Playwright.

use crate::{
    summarize::evidence::test_runs::{RunReport, listed, names, number, sum, tally_all, total},
    text::pattern,
};

/// Reads `Tests:       1 failed, 2 skipped, 44 passed, 47 total`.
pub(super) fn jest(output: &str) -> Option<RunReport> {
    let line = pattern!(
        r"(?m)^Tests:\s+((?:\d+ (?:failed|passed|skipped|todo|pending|total)(?:, )?)+)\s*$"
    );
    line.find(output)?;
    // One output may contain several runs.
    let tally = |word| tally_all(&line, output, word);
    let failed_suites = tally_all(&*pattern!(r"(?m)^Test Suites:\s+(.*)$"), output, "failed");
    let test = pattern!(r"(?m)^\s*● (.+)$");
    let tests = test.captures_iter(output).filter_map(|line| line.get(1));
    let notes =
        ["Console", "Test suite failed to run", "Validation", "Cannot log after", "Deprecation"];
    let tests = tests
        .map(|name| name.as_str())
        .filter(|name| !notes.iter().any(|note| name.starts_with(note)));
    let failed = tally("failed");
    Some(RunReport {
        framework: "jest",
        passed: tally("passed"),
        failed: if failed == 0 { failed_suites } else { failed },
        skipped: tally("skipped") + tally("pending") + tally("todo"),
        failed_tests: if failed > 0 {
            names(tests)
        } else {
            listed(&*pattern!(r"(?m)^\s*FAIL\s+(\S+\.\w+)"), output)
        },
        coverage_pct: None,
    })
}

/// Reads `      Tests  2 failed | 120 passed | 3 skipped (125)`.
pub(super) fn vitest(output: &str) -> Option<RunReport> {
    let line = pattern!(
        r"(?m)^\s*Tests\s+((?:\d+ (?:failed|passed|skipped|todo|expected fail)(?: \| )?)+)\s*\(\d+\)\s*$"
    );
    let files = pattern!(
        r"(?m)^\s*Test Files\s+((?:\d+ (?:failed|passed|skipped)(?: \| )?)+)\s*\(\d+\)\s*$"
    );
    let tally = |word| tally_all(&line, output, word);
    let failed_files = tally_all(&files, output, "failed");
    if !line.is_match(output) && failed_files == 0 {
        return None;
    }
    let headed = pattern!(
        r"(?m)^\s*FAIL\s+(?:\|[^|\n]+\|\s+)?(\S+(?: \[[^\]]*\])?(?: > .+?)?)(?:\s+\d+ms)?\s*$"
    );
    let crossed = pattern!(r"(?m)^\s*[×✗] (.+?)(?:\s+\d+\s?ms)?\s*$");
    let mut failed_tests = listed(&headed, output);
    if failed_tests.is_empty() {
        failed_tests = listed(&crossed, output);
    }
    Some(RunReport {
        framework: "vitest",
        passed: tally("passed"),
        failed: tally("failed").max(failed_files),
        skipped: tally("skipped") + tally("todo") + tally("expected"),
        failed_tests,
        coverage_pct: None,
    })
}

/// Reads `  12 passing (34ms)`, `  1 pending` and `  2 failing`.
pub(super) fn mocha(output: &str) -> Option<RunReport> {
    let passing = pattern!(r"(?m)^\s+(\d+) passing \([\d.]+ ?(?:ms|s|m|h)\)\s*$");
    let found = passing.find(output)?;
    let failing = pattern!(r"(?m)^\s+(\d+) failing\s*$");
    // The numbered list after the counts has the suite and the test on separate lines.
    let list =
        failing.find(&output[found.start()..]).map_or("", |at| &output[found.start() + at.end()..]);
    let entries =
        pattern!(r"(?m)^\s+\d+\) (.+\n(?:\s+[^\n]+\n){0,4}?[^\n]*):\s*$|^\s+\d+\) (.+):\s*$");
    let joined: Vec<String> = entries
        .captures_iter(list)
        .filter_map(|entry| entry.get(1).or(entry.get(2)))
        .map(|entry| entry.as_str().split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    Some(RunReport {
        framework: "mocha",
        passed: total(&passing, output),
        failed: total(&failing, output),
        skipped: total(&*pattern!(r"(?m)^\s+(\d+) pending\s*$"), output),
        failed_tests: names(joined.iter().map(String::as_str)),
        coverage_pct: None,
    })
}

/// Reads ` 12 pass`, ` 1 fail` and `Ran 13 tests across 3 files.`.
pub(super) fn bun(output: &str) -> Option<RunReport> {
    pattern!(r"(?m)^Ran \d+ tests? across \d+ files?").find(output)?;
    let failed = pattern!(r"(?m)^(?:\(fail\)|✗) (.+?)(?: \[[\d.]+ ?m?s\])?\s*$");
    Some(RunReport {
        framework: "bun test",
        passed: total(&*pattern!(r"(?m)^\s*(\d+) pass\s*$"), output),
        failed: total(&*pattern!(r"(?m)^\s*(\d+) fail\s*$"), output),
        skipped: total(&*pattern!(r"(?m)^\s*(\d+) (?:skip|todo)\s*$"), output),
        failed_tests: listed(&failed, output),
        coverage_pct: None,
    })
}

/// Reads `# tests 3`, `# pass 2` and `# fail 1`, or the same lines with `ℹ`.
pub(super) fn node(output: &str) -> Option<RunReport> {
    let of = |name: &str| -> Option<u32> {
        let lines = pattern!(r"(?m)^(?:#|ℹ) (tests|pass|fail|cancelled|skipped|todo) (\d+)\s*$");
        let found: Vec<u32> = lines
            .captures_iter(output)
            .filter(|line| &line[1] == name)
            .map(|line| number(&line, 2))
            .collect();
        (!found.is_empty()).then(|| found.iter().copied().fold(0, u32::saturating_add))
    };
    let (passed, failed) = (of("pass")?, of("fail")?);
    let names_of =
        pattern!(r"(?m)^\s*(?:not ok \d+ - (.+?)(?: # .*)?|✖ (.+?)(?: \([\d.]+m?s\))?)\s*$");
    let found = names_of.captures_iter(output).filter_map(|line| line.get(1).or(line.get(2)));
    Some(RunReport {
        framework: "node --test",
        passed,
        failed: failed + of("cancelled").unwrap_or(0),
        skipped: of("skipped").unwrap_or(0) + of("todo").unwrap_or(0),
        failed_tests: names(
            found.map(|name| name.as_str()).filter(|name| *name != "failing tests:"),
        ),
        coverage_pct: None,
    })
}

/// Reads `  12 passed (34.5s)`, and `  1 failed` with the names of the failed tests after it.
pub(super) fn playwright(output: &str) -> Option<RunReport> {
    let closing = pattern!(
        r"(?m)^\s+(\d+) (passed|failed|flaky|skipped|did not run|interrupted)(?: \([\d.]+m?s?\))?\s*$"
    );
    let timed = pattern!(r"(?m)^\s+\d+ passed \([\d.]+(?:ms|s|m)\)\s*$").is_match(output);
    if !timed && !pattern!(r"(?m)^Running \d+ tests? using \d+ workers?").is_match(output) {
        return None;
    }
    let of = |name: &str| {
        sum(&closing, output, |line| if &line[2] == name { number(line, 1) } else { 0 })
    };
    let list =
        pattern!(r"(?m)^\s+\d+ failed\s*$").find(output).map_or("", |at| &output[at.end()..]);
    let failed = pattern!(r"(?m)^\s{4,}(?:\[[^\]]+\] › )?(\S+:\d+:\d+ › .+?)[\s─]*$");
    Some(RunReport {
        framework: "playwright",
        passed: of("passed") + of("flaky"),
        failed: of("failed") + of("interrupted"),
        skipped: of("skipped") + of("did not run"),
        failed_tests: listed(&failed, list),
        coverage_pct: None,
    })
}

#[cfg(test)]
mod tests {
    use crate::summarize::evidence::test_runs::check;

    #[test]
    fn jest_outputs() {
        check::outputs(&[
            (
                "FAIL src/sum.test.ts\n  ● sum › adds negative numbers\n\n    expect(received).toBe(expected)\n\n\
                 Test Suites: 1 failed, 2 passed, 3 total\nTests:       1 failed, 2 skipped, 44 passed, 47 total\nSnapshots:   0 total\nTime:        3.2 s\n",
                &["jest 44/1/2 [sum › adds negative numbers]"],
            ),
            (
                "Test Suites: 1 failed, 2 passed, 3 total\nTests:       3 failed, 10 passed, 13 total\nRan all test suites.\nTest Suites: 2 passed, 2 total\nTests:       5 passed, 5 total\n",
                &["jest 15/3/0"],
            ),
            (
                " Test Files  1 failed | 1 passed (2)\n      Tests  2 failed | 3 passed (5)\n\n Test Files  1 passed (1)\n      Tests  5 passed (5)\n",
                &["vitest 8/2/0"],
            ),
            (
                "Tests:       5 passed, 5 total\nSnapshots:   0 total\nTime:        1.2 s\n$ tail -3 log\nTests:       5 passed, 5 total\nSnapshots:   0 total\nTime:        1.2 s\n",
                &["jest 5/0/0"],
            ),
            (
                "Tests:       5 passed, 5 total\nSnapshots:   0 total\nTime:        1.2 s\n\nTests:       5 passed, 5 total\nSnapshots:   0 total\nTime:        0.9 s\n",
                &["jest 10/0/0"],
            ),
            (
                "      Tests  5 passed (5)\n   Start at  10:00:00\n   Duration  1.2s\n      Tests  5 passed (5)\n   Start at  10:00:03\n   Duration  1.2s\n",
                &["vitest 10/0/0"],
            ),
            (
                "FAIL src/a.test.ts\n  ● Test suite failed to run\n\nTest Suites: 1 failed, 1 passed, 2 total\nTests:       4 passed, 4 total\n",
                &["jest 4/1/0 [src/a.test.ts]"],
            ),
            (
                "File      | % Stmts | % Branch |\nAll files |   87.34 |    71.0 |\nTests:       12 passed, 12 total\n",
                &["jest 12/0/0 87.34%"],
            ),
        ]);
    }

    #[test]
    fn vitest_outputs() {
        check::outputs(&[
            ("      Tests  12 passed | 2 expected fail | 1 todo (15)\n", &["vitest 12/0/3"]),
            (
                " ❯ src/a.test.ts (3 tests | 1 failed) 12ms\n   × adds 3ms\n FAIL  src/a.test.ts > math > adds\n\
                  Test Files  1 failed | 2 passed (3)\n      Tests  1 failed | 12 passed | 1 skipped (14)\n   Duration  1.2s\n",
                &["vitest 12/1/1 [src/a.test.ts > math > adds]"],
            ),
            (
                "\x1b[2m Test Files \x1b[22m \x1b[1m\x1b[32m4 passed\x1b[39m\x1b[22m\x1b[90m (4)\x1b[39m\n\x1b[2m      Tests \x1b[22m \x1b[1m\x1b[32m31 passed\x1b[39m\x1b[22m\x1b[90m (31)\x1b[39m\n",
                &["vitest 31/0/0"],
            ),
            (
                " FAIL  src/b.test.ts [ src/b.test.ts ]\n Test Files  1 failed (1)\n      Tests  no tests\n",
                &["vitest 0/1/0 [src/b.test.ts [ src/b.test.ts ]]"],
            ),
        ]);
    }

    #[test]
    fn mocha_outputs() {
        check::outputs(&[
            (
                "  Cart\n    ✓ adds\n    1) removes\n\n  1 passing (12ms)\n  1 pending\n  1 failing\n\n  1) Cart\n       removes:\n     AssertionError: nope\n",
                &["mocha 1/1/1 [Cart removes]"],
            ),
            ("\n\n  104 passing (2s)\n\n", &["mocha 104/0/0"]),
        ]);
    }

    #[test]
    fn bun_outputs() {
        check::outputs(&[
            (
                "bun test v1.2.0\n\na.test.ts:\n(pass) x > y [0.10ms]\n(fail) x > z [1.20ms]\n\n 12 pass\n 2 skip\n 1 fail\n 30 expect() calls\nRan 15 tests across 3 files. [12.00ms]\n",
                &["bun test 12/1/2 [x > z]"],
            ),
            (
                " 1351 pass\n 0 fail\nRan 1351 tests across 70 files. [4.51s]",
                &["bun test 1351/0/0"],
            ),
        ]);
    }

    #[test]
    fn node_outputs() {
        check::outputs(&[
            (
                "TAP version 13\nok 1 - a\nnot ok 2 - b\n1..2\n# tests 2\n# suites 0\n# pass 1\n# fail 1\n# cancelled 0\n# skipped 0\n# todo 0\n",
                &["node --test 1/1/0 [b]"],
            ),
            (
                "✔ a (1.1ms)\nℹ tests 3\nℹ suites 0\nℹ pass 3\nℹ fail 0\nℹ cancelled 0\nℹ skipped 0\n",
                &["node --test 3/0/0"],
            ),
        ]);
    }

    #[test]
    fn playwright_outputs() {
        check::outputs(&[
            (
                "Running 3 tests using 2 workers\n\n  1 failed\n    [chromium] › tests/a.spec.ts:3:1 › logs in ─────\n  1 skipped\n  11 passed (34.5s)\n",
                &["playwright 11/1/1 [tests/a.spec.ts:3:1 › logs in]"],
            ),
            ("  12 passed (1.2m)\n", &["playwright 12/0/0"]),
            ("  1 failed\n  12 passed (1.2m)\n\n  3 passed (8.0s)\n", &["playwright 15/1/0"]),
            ("  12 passed (1.2m)\n$ tail -1 log\n  12 passed (1.2m)\n", &["playwright 12/0/0"]),
        ]);
    }
}
