//! Writes the message of an error that is a failed test run.

use crate::{
    summarize::evidence::{errors::message, test_runs::RunReport},
    text::{around_gap, pattern},
};

/// Returns the names of up to three failed tests. The reason is added if at most one name is known.
/// Names of `go test` that all contain `/` are packages whose build failed. In this case, only the
/// reason is returned, if a reason is known.
pub(super) fn message(report: &RunReport, output: &str) -> String {
    let names: Vec<&str> = report.failed_tests.iter().map(|name| short_name(name)).collect();
    let own = report.failed_tests.first().filter(|_| names.len() == 1);
    let own = own.and_then(|name| of_go_test(output, name));
    let reason = message::of_test(own.unwrap_or(output));
    // A failed package without a failed test could not be built.
    let is_build = report.framework.starts_with("go test")
        && report.failed_tests.iter().all(|name| name.contains('/'));
    match (names.as_slice(), reason) {
        (_, Some(reason)) if is_build && !names.is_empty() => reason,
        ([], Some(reason)) => format!("{} failed: {reason}", tests(report.failed)),
        ([], None) => format!("{} failed", tests(report.failed)),
        ([only], Some(reason)) => format!("{only} failed: {reason}"),
        ([only], None) => format!("{only} failed"),
        (many, _) => {
            let shown = many.iter().take(3).copied().collect::<Vec<_>>().join(", ");
            let more = if many.len() > 3 { ", …" } else { "" };
            let failed = report.failed.max(u32::try_from(many.len()).unwrap_or(u32::MAX));
            format!("{} failed: {shown}{more}", tests(failed))
        }
    }
}

/// Returns the output of one test of Go, if a line says that the test failed: the lines after that
/// line, or with `-v` the lines before it. `None` if there is no such line.
fn of_go_test<'o>(output: &'o str, name: &str) -> Option<&'o str> {
    let mark = format!("--- FAIL: {name} (");
    let at = output.find(&mark)?;
    let (before, after) = (&output[..at], &output[at + mark.len()..]);
    let is_mark = |line: &str| {
        pattern!(
            r"^\s*(?:--- (?:PASS|FAIL|SKIP)|=== (?:RUN|CONT|PAUSE|NAME)|FAIL\b|ok\b|exit status)"
        )
        .is_match(line)
    };
    let end = after.split_inclusive('\n').skip(1).take_while(|line| !is_mark(line));
    let first = after.find('\n').map_or(after.len(), |at| at + 1);
    let after = &after[first..first + end.map(str::len).sum::<usize>()];
    if !after.trim().is_empty() {
        return Some(after);
    }
    let lines = before.split_inclusive('\n').rev().skip_while(|line| line.trim().is_empty());
    let length: usize = lines.take_while(|line| !is_mark(line)).map(str::len).sum();
    Some(&before[before.len() - length..])
}

fn tests(number: u32) -> String {
    if number == 1 { "1 test".to_owned() } else { format!("{number} tests") }
}

/// Returns a test's own name, without its file and class.
fn short_name(name: &str) -> &str {
    let name = name.rsplit("::").next().unwrap_or(name);
    name.rsplit(" > ").next().unwrap_or(name)
}

/// Whether a run includes the failed test `name` according to its command line: a word of at least
/// six bytes, such as a file or a folder, is in the name, and no filter among the arguments that
/// limit the run excludes the test. A filter may match the part that was removed from a long name,
/// so it is not compared with the rest.
pub(super) fn is_requested(name: &str, command: &str, limits: Option<&str>) -> bool {
    let mut words = command.split([' ', '"', '\'', '^', '$', '=', '|', '(', ')']);
    let filters = pattern!(
        r#"(?:^| )(?:(?:-k|-t|-g|-run|--grep|--testNamePattern|--test-name-pattern)|(--deselect|--ignore|--skip|-skip|--grep-invert))[ =](?:"([^"]+)|(\S+))"#
    );
    let excludes = |filter: regex::Captures<'_>| {
        let value = filter.get(2).or(filter.get(3)).map_or("", |value| value.as_str());
        filter_matches(value, name) == filter.get(1).is_some()
    };
    words.any(|word| word.len() >= 6 && name.contains(word))
        && (around_gap(name).is_some()
            || !filters.captures_iter(limits.unwrap_or_default()).any(excludes))
}

/// Whether the value of a filter such as `total or slow` selects a test: each text of one
/// alternative must be in the name.
fn filter_matches(value: &str, name: &str) -> bool {
    let plain = |text: &str| text.replace(" > ", " ").to_lowercase();
    let (name, value) = (plain(name), plain(value).replace(['^', '$', '(', ')'], ""));
    let is_met = |alternative: &str| {
        let mut texts = alternative.split(" and ").flat_map(|text| text.split(".*"));
        texts.all(|text| match text.trim().strip_prefix("not ") {
            Some(excluded) => !name.contains(excluded.trim()),
            None => name.contains(text.trim()),
        })
    };
    value.split('|').flat_map(|part| part.split(" or ")).any(is_met)
}

/// Whether the path of a file shows that the file contains tests.
pub(in crate::summarize) fn is_test_file(path: &str) -> bool {
    pattern!(r"(?i)(?:^|/)(?:tests?|specs?|__tests__|e2e)/|(?:^|/)test_[^/]*\.\w+$|[._-](?:test|tests|spec)\.\w+$|Tests?\.(?:java|kt|cs|swift)$")
        .is_match(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_of_a_go_test_is_found_next_to_its_name() {
        let name = "TestBoth";
        let report =
            RunReport { failed: 2, failed_tests: vec![name.to_owned()], ..RunReport::default() };
        // The name of the first test was cut off.
        let output = "    a_test.go:316: it should mention the way out, got: x\n--- FAIL: TestBoth (0.1s)\n    a_test.go:643: it should have rows\nFAIL\n";
        assert_eq!(message(&report, output), "TestBoth failed: a_test.go:643: it should have rows");
        let verbose = "=== RUN   TestOther\n    a_test.go:1: it should be 1\n--- FAIL: TestOther (0.1s)\n=== RUN   TestBoth\n    a_test.go:7: it should have rows\n--- FAIL: TestBoth (0.1s)\nFAIL\n";
        assert_eq!(message(&report, verbose), "TestBoth failed: a_test.go:7: it should have rows");
        let silent = "    a_test.go:1: it should be 1\n--- FAIL: TestOther (0.1s)\n--- FAIL: TestBoth (0.1s)\nFAIL\n";
        assert_eq!(message(&report, silent), "TestBoth failed");
    }

    #[test]
    fn a_filter_may_exclude_a_failed_test() {
        let (python, script) =
            ("tests/test_cart.py::test_total", "src/components/List.test.tsx > sorts");
        for (name, command, limits, wanted) in [
            (python, "pytest tests/ -k coupon -q", "-k coupon", false),
            (python, "pytest tests/ -k \"not total\"", "-k \"not total\"", false),
            (
                python,
                "pytest tests/ --deselect tests/test_cart.py::test_total",
                "--deselect tests/test_cart.py::test_total",
                false,
            ),
            (
                python,
                "pytest tests/test_cart.py -k 'coupon or total'",
                "tests/test_cart.py -k \"coupon or total\"",
                true,
            ),
            (python, "pytest tests/test_cart.py", "tests/test_cart.py", true),
            (
                python,
                "pytest tests/test_cart.py --ignore=tests/slow",
                "tests/test_cart.py --ignore=tests/slow",
                true,
            ),
            (python, "pytest tests/", "", true),
            (python, "pytest -k test_total", "-k test_total", true),
            (
                python,
                "pytest tests/test_cart.py -k \"not slow\"",
                "tests/test_cart.py -k \"not slow\"",
                true,
            ),
            (
                python,
                "pytest tests/test_cart.py -k \"not slow and not total\"",
                "tests/test_cart.py -k \"not slow and not total\"",
                false,
            ),
            (script, "npx vitest run src/components -t other", "src/components -t other", false),
            (script, "npx vitest run src/components", "src/components", true),
            (
                script,
                "npx vitest run src/components/List.test.tsx -t sorts",
                "src/components/List.test.tsx -t sorts",
                true,
            ),
            (
                "TestTotal/zero",
                "go test -run '^TestTotal$|TestSum' ./cart",
                "-run \"^TestTotal$|TestSum\" ./cart",
                true,
            ),
            (
                "TestTotal/zero",
                "go test -run TestSum ./cart/TestTotal",
                "-run TestSum ./cart/TestTotal",
                false,
            ),
            (
                "src/components/List.test.tsx > sorts … the day",
                "npx vitest src/components/List.test.tsx -t 'rows by the day'",
                "-t \"rows by the day\"",
                true,
            ),
            (
                "src/components/List.test.tsx > sorts … the day",
                "npx vitest src/components/List.test.tsx --skip slow",
                "src/components/List.test.tsx --skip slow",
                true,
            ),
        ] {
            assert_eq!(is_requested(name, command, Some(limits)), wanted, "{command}");
        }
    }

    #[test]
    fn the_path_in_the_name_of_a_test_is_not_a_package() {
        let failed = |framework, name: &str| {
            let failed_tests = vec![name.to_owned()];
            let report = RunReport { framework, failed: 1, failed_tests, ..RunReport::default() };
            message(&report, "AssertionError: expected 1 to be 2\n")
        };
        let name = "src/list.test.ts > sorts the rows";
        assert!(failed("vitest", name).starts_with("sorts the rows failed: "));
        assert!(!failed("go test (packages)", "x.org/list").contains("list failed"));
    }
}
