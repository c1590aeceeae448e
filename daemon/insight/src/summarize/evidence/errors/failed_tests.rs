//! Writes the message of an error that is a failed test run.

use crate::{
    summarize::evidence::{errors::message, test_runs::RunReport},
    text::pattern,
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
