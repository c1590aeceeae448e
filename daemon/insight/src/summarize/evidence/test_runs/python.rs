//! Reads the output of pytest and unittest. Django's runner prints the same lines as unittest.

use crate::{
    summarize::evidence::test_runs::{RunReport, listed, names, number, tally},
    text::pattern,
};

/// Reads `=== 2 failed, 45 passed, 1 skipped in 3.21s ===`. With `-q`, the line has no `=` signs.
pub(super) fn pytest(output: &str) -> Option<RunReport> {
    let mut report = RunReport { framework: "pytest", ..RunReport::default() };
    let closing = pattern!(
        r"(?m)^(?:=+ )?((?:\d+ (?:(?:subtests )?(?:failed|passed|skipped)|deselected|xfailed|xpassed|warnings?|errors?|rerun)(?:, )?)+) in [\d.]+ ?s(?:econds)?(?: \([\d:]+\))?(?: =+)?\s*$"
    );
    for line in closing.captures_iter(output) {
        // pytest counts a test as failed if one of its subtests fails, so subtests are left out.
        let list = &*pattern!(r"\d+ subtests \w+").replace_all(&line[1], "");
        report.passed += tally(list, "passed") + tally(list, "xpassed");
        report.failed += tally(list, "failed") + tally(list, "error") + tally(list, "errors");
        report.skipped += tally(list, "skipped") + tally(list, "xfailed");
    }
    let failed = pattern!(r"(?m)^(?:FAILED|ERROR) ([^\s].*?(?:::|\.py).*?)(?: - .*)?$");
    report.failed_tests = listed(&failed, output);
    if report.failed_tests.is_empty() {
        // The options `-v` and `-n` print a line for each test, and `-rN` omits the summary.
        let line = pattern!(
            r"(?m)^(?:\[gw\d+\] \[ *\d+%\] (?:FAILED|ERROR) (\S+\.py::\S.*?)|(\S+\.py::\S.*?) (?:FAILED|ERROR)(?: +\[ *\d+%\])?)\s*$"
        );
        report.failed_tests = listed(&line, output);
    }
    Some(report)
}

/// Reads `Ran 12 tests in 0.003s`, then `OK (skipped=1)` or `FAILED (failures=1, errors=2)`.
pub(super) fn unittest(output: &str) -> Option<RunReport> {
    let mut report = RunReport { framework: "unittest", ..RunReport::default() };
    let closing =
        pattern!(r"(?m)^Ran (\d+) tests? in [\d.]+s\s*\n\s*(?:OK|FAILED)(?: \((.*)\))?\s*$");
    for run in closing.captures_iter(output) {
        let list = run.get(2).map_or("", |list| list.as_str());
        let named = |name: &str| -> u32 {
            list.split(", ")
                .filter_map(|part| part.split_once('='))
                .filter(|(key, _)| *key == name)
                .map(|(_, value)| super::count(value))
                .sum()
        };
        let failed = named("failures") + named("errors") + named("unexpected successes");
        let skipped = named("skipped") + named("expected failures");
        report.passed += number(&run, 1).saturating_sub(failed + skipped);
        report.failed += failed;
        report.skipped += skipped;
    }
    let failed = pattern!(r"(?m)^(?:FAIL|ERROR): (\S+) \(([^)]*)\)");
    let full: Vec<String> = failed
        .captures_iter(output)
        .map(|line| {
            let (name, class) = (&line[1], &line[2]);
            if class.ends_with(name) { class.to_owned() } else { format!("{class}.{name}") }
        })
        .collect();
    report.failed_tests = names(full.iter().map(String::as_str));
    Some(report)
}

#[cfg(test)]
mod tests {
    use crate::summarize::evidence::test_runs::check;

    #[test]
    fn pytest_outputs() {
        check::outputs(&[
            (
                "============ test session starts ============\nplatform linux -- Python 3.12\ncollected 48 items\n\n\
                 tests/test_auth.py ..F.s   [100%]\n\n=========== FAILURES ===========\n\
                 E       assert 1 == 2\n======= short test summary info =======\n\
                 FAILED tests/test_auth.py::test_timeout - AssertionError: assert 1 == 2\n\
                 FAILED tests/test_auth.py::test_name[a b] - KeyError: 'x'\n\
                 ======= 2 failed, 45 passed, 1 skipped in 3.21s =======\n",
                &[
                    "pytest 45/2/1 [tests/test_auth.py::test_timeout, tests/test_auth.py::test_name[a b]]",
                ],
            ),
            (
                "5 passed, 3 subtests passed in 0.12s\n1 failed, 4 passed, 2 subtests failed in 0.12s\n",
                &["pytest 9/1/0"],
            ),
            (
                "\x1b[32m\x1b[32m\x1b[1m12 passed\x1b[0m\x1b[32m in 0.12s\x1b[0m\x1b[0m\n",
                &["pytest 12/0/0"],
            ),
            (
                "TOTAL                   412     52    87%\n=== 12 passed, 3 warnings in 65.20s (0:01:05) ===",
                &["pytest 12/0/0 87%"],
            ),
            (
                "ERROR tests/test_x.py\n!!!!! Interrupted: 1 error during collection !!!!!\n== 1 error in 0.30s ==",
                &["pytest 0/1/0 [tests/test_x.py]"],
            ),
            (
                "tests/test_a.py::test_x PASSED  [ 33%]\ntests/test_a.py::test_y[a b] FAILED [ 66%]\n\
                 tests/test_a.py::test_z ERROR\ntests/test_a.py::test_FAILED SKIPPED [100%]\n\
                 E   TimeoutError: no answer from tests/test_a.py::test_x FAILED twice\n\
                 1 failed, 1 passed, 1 skipped, 1 error in 1.20s",
                &["pytest 1/2/1 [tests/test_a.py::test_y[a b], tests/test_a.py::test_z]"],
            ),
            (
                "[gw0] [ 50%] FAILED tests/test_a.py::test_x \n[gw1] [100%] PASSED tests/test_a.py::test_y \n\
                 1 failed, 1 passed in 1.20s",
                &["pytest 1/1/0 [tests/test_a.py::test_x]"],
            ),
            ("=== no tests ran in 0.01s ===", &[]),
            ("collected 3 items\ntests/test_a.py ...", &[]),
        ]);
    }

    #[test]
    fn unittest_outputs() {
        check::outputs(&[
            ("....s\n------\nRan 5 tests in 0.003s\n\nOK (skipped=1)\n", &["unittest 4/0/1"]),
            (
                "FAIL: test_b (app.tests.CartTest)\n----\nTraceback\nERROR: test_c (app.tests.CartTest.test_c)\n\
                 Ran 3 tests in 1.2s\n\nFAILED (failures=1, errors=1)\n",
                &["unittest 1/2/0 [app.tests.CartTest.test_b, app.tests.CartTest.test_c]"],
            ),
            ("Ran 0 tests in 0.000s\n\nOK\n", &[]),
        ]);
    }
}
