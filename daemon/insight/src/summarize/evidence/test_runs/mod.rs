//! Recognises test runs by their output, with one file per family of frameworks.
//!
//! The command often does not show the framework (`make check`, `npm test 2>&1 | tail -60`), but
//! the output does. Most frameworks are recognised by their closing line, which has the totals. An
//! output without this line is ignored, because the numbers would be wrong. A new family needs a
//! file, and a new framework needs a line in `PARSERS`.

mod coverage;
mod dotnet;
mod go;
mod javascript;
mod jvm;
mod other;
mod part;
mod php;
mod python;
mod ruby;
mod rust;
mod scope;

use std::collections::HashSet;

pub(super) use self::{part::TestScope, scope::of as scope_of};
use crate::{
    summarize::evidence::bounds,
    text::{kept, pattern},
};

/// The report of one framework about one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RunReport {
    pub(super) framework: &'static str,
    pub(super) passed: u32,
    /// Tests that failed or ended with an error.
    pub(super) failed: u32,
    pub(super) skipped: u32,
    /// Names of failed tests, limited in number.
    pub(super) failed_tests: Vec<String>,
    pub(super) coverage_pct: Option<f64>,
}

impl RunReport {
    /// Whether the numbers are sums over the lines of packages or test binaries in `output`. If
    /// some of these lines were cut off, the numbers are too small.
    pub(super) fn counts_lines(&self, command: &str, output: &str) -> bool {
        let runs_all =
            command.split_whitespace().any(|word| matches!(word, "--workspace" | "--all"));
        self.framework.starts_with("go test") && !go::has_totals(output)
            || self.framework == "cargo test" && runs_all
    }
}

/// A function that reads the report of one framework from an output without terminal colours.
type Parser = fn(&str) -> Option<RunReport>;

/// All parsers. One output may contain the reports of several frameworks (`make test`).
const PARSERS: &[Parser] = &[
    python::pytest,
    python::unittest,
    rust::cargo,
    rust::nextest,
    go::go,
    javascript::jest,
    javascript::vitest,
    javascript::mocha,
    javascript::bun,
    javascript::node,
    javascript::playwright,
    ruby::rspec,
    ruby::minitest,
    php::phpunit,
    php::pest,
    dotnet::dotnet,
    jvm::surefire,
    jvm::gradle,
    jvm::junit_xml,
    other::ctest,
    other::deno,
    other::swift,
    other::exunit,
    other::tap,
];

/// Returns the test runs that `output` reports. The caller has removed terminal colours.
pub(super) fn reports(output: &str) -> Vec<RunReport> {
    let mut found = parsed(output);
    if found.is_empty() {
        // Task runners print the name of the task before each line: `[test] `, `app:test: `.
        let name = pattern!(
            r"(?m)^(?:\[[A-Za-z0-9_:.@/-]{1,60}\]|[A-Za-z0-9_.@/-]{1,60}:[A-Za-z0-9_.:-]{1,30}:) "
        );
        found = parsed(&name.replace_all(output, ""));
    }
    if let [only] = found.as_mut_slice() {
        only.coverage_pct = coverage::of(output);
    }
    found
}

fn parsed(output: &str) -> Vec<RunReport> {
    let found = PARSERS.iter().filter_map(|parse| parse(output));
    found.filter(|report| report.passed + report.failed + report.skipped > 0).collect()
}

/// Whether the environment, such as a sandbox without a network, prevented tests from running.
/// Such failures say nothing about the code. Fewer messages are recognised than in
/// [`lang::environment`](crate::lang::environment), because a refused connection may be a failure
/// of the project's own server. A single message may come from a test that expects the message, so
/// there must be a message for at least half of the failures.
pub(super) fn could_not_run(output: &str, failed: u32) -> bool {
    let refusals = pattern!(
        r"(?im)^.*(?:\b(?:operation not permitted|read-only file system|temporary failure in name resolution|could not resolve host|network is unreachable|exec format error|cannot execute binary file|cannot connect to the docker daemon)\b|\b(?:EPERM|EROFS|ENETUNREACH|EAI_AGAIN)\b|permission denied.*(?:[./]cache|go-build|/var/folders|docker\.sock)).*$"
    );
    let seen = refusals.find_iter(output).take(failed as usize).count();
    failed > 0 && seen * 2 >= failed as usize
}

/// Returns the number in a pattern's group; 0 if the group is absent.
fn number(captures: &regex::Captures<'_>, group: usize) -> u32 {
    captures.get(group).map_or(0, |digits| count(digits.as_str()))
}

/// Maximum count that is read. No run has more tests.
const MOST: u32 = 500_000;
/// Sums of counts do not overflow, because each count takes at least eight bytes of an output.
const _: () = assert!((bounds::OUTPUT_READ as u64 / 8) * (MOST as u64) <= u32::MAX as u64);

/// Reads a printed count, at most [`MOST`]. Thousands separators are ignored.
fn count(digits: &str) -> u32 {
    digits
        .bytes()
        .filter(u8::is_ascii_digit)
        .fold(0, |sum: u32, digit| (sum * 10 + u32::from(digit - b'0')).min(MOST))
}

/// Returns the number before `word` in a list such as `2 failed, 45 passed`.
fn tally(list: &str, word: &str) -> u32 {
    let mut words = list.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    let mut before = "";
    words
        .find_map(|part| {
            let found = (part == word).then(|| count(before));
            before = part;
            found
        })
        .unwrap_or(0)
}

/// Returns the matches of a pattern for the line with the totals of a run. An output may contain
/// several runs of a framework. If it shows a run twice, as with `jest | tee log; tail log`, the
/// run is returned once. Two runs with equal totals differ in their time, if the framework prints
/// it.
fn closing_lines<'o>(pattern: &regex::Regex, output: &'o str) -> Vec<regex::Captures<'o>> {
    let mut seen = HashSet::new();
    let is_new = |found: &regex::Captures<'o>| {
        found.get(0).is_some_and(|line| {
            let mut after = output[line.end()..].trim_start().lines().take(2).map(str::trim);
            let time = after.find(|line| pattern!(r"^(?:Time:|Start at|Duration) ").is_match(line));
            seen.insert((line.as_str().trim(), time))
        })
    };
    pattern.captures_iter(output).filter(is_new).collect()
}

/// Returns the sum of what `count` reads in each of the closing lines of an output.
fn sum(pattern: &regex::Regex, output: &str, count: impl Fn(&regex::Captures<'_>) -> u32) -> u32 {
    closing_lines(pattern, output).iter().map(count).fold(0, u32::saturating_add)
}

/// Returns the sum of the numbers before `word` in the first group of each closing line.
fn tally_all(pattern: &regex::Regex, output: &str, word: &str) -> u32 {
    sum(pattern, output, |line| tally(&line[1], word))
}

/// Returns the sum of the numbers in the first group of each match.
fn total(pattern: &regex::Regex, output: &str) -> u32 {
    pattern.captures_iter(output).map(|line| number(&line, 1)).fold(0, u32::saturating_add)
}

/// Returns the name in the first group that took part in each match, with the limits of [`names`].
fn listed(pattern: &regex::Regex, output: &str) -> Vec<String> {
    let found =
        pattern.captures_iter(output).filter_map(|line| line.iter().skip(1).flatten().next());
    names(found.map(|name| name.as_str()))
}

/// Returns the names without repetition, limited in number and length.
fn names<'o>(found: impl Iterator<Item = &'o str>) -> Vec<String> {
    let mut kept_names: Vec<String> = Vec::new();
    for name in found.map(str::trim).filter(|name| !name.is_empty()) {
        let name = kept(name, bounds::TEST_NAME);
        if kept_names.len() < bounds::FAILED_TESTS && !kept_names.contains(&name) {
            kept_names.push(name);
        }
    }
    kept_names
}

#[cfg(test)]
mod check {
    use super::*;

    /// Returns a report as one line, for example `pytest 45/2/1 87.3% [a, b]`.
    pub(super) fn line(report: &RunReport) -> String {
        let coverage = report.coverage_pct.map_or(String::new(), |pct| format!(" {pct}%"));
        let names = match report.failed_tests.as_slice() {
            [] => String::new(),
            names => format!(" [{}]", names.join(", ")),
        };
        format!(
            "{} {}/{}/{}{coverage}{names}",
            report.framework, report.passed, report.failed, report.skipped
        )
    }

    /// Compares the reports found in each output with the expected lines.
    pub(super) fn outputs(table: &[(&str, &[&str])]) {
        for (output, wanted) in table {
            let output = crate::text::without_ansi(output);
            let found: Vec<String> = reports(&output).iter().map(line).collect();
            assert_eq!(&found, wanted, "{output}");
        }
    }

    #[test]
    fn other_output_is_not_a_test_run() {
        outputs(&[
            ("3 files changed, 45 insertions(+), 2 deletions(-)", &[]),
            ("All 12 passed checks are fine. 3 failed logins in 5 s", &[]),
            ("[1/3] Resolving packages...\nDone in 2.34s.", &[]),
            ("12 passing cars\n1 failing car", &[]),
            ("commit 1a2b3c\n\n    All 47 tests pass, 2 skipped\n", &[]),
            ("tests/test_a.py\ntests/test_b.py\n", &[]),
            ("OK\n", &[]),
            ("warning: unused\n    Finished `test` profile in 3.2s\n", &[]),
            ("Tests: see docs/testing.md\nTests run nightly", &[]),
            ("ok, 3 passed it on", &[]),
            ("| Tests | 12 passed |\n", &[]),
            ("  passed: 12\n  failed: 1\n", &[]),
            ("error: test failed, to rerun pass `--lib`\n", &[]),
            ("TOTAL 12 3 75%\n", &[]),
        ]);
    }

    #[test]
    fn the_numbers_of_some_runners_are_sums_over_lines() {
        for (command, output, wanted) in [
            ("go test ./...", "ok  \tx.org/a\t8.552s\n", true),
            ("gotestsum", "\u{2713}  a (12ms)\n\nDONE 120 tests, 1 skipped in 3.4s\n", false),
            ("npx jest", "Tests:       4 passed, 4 total\n", false),
        ] {
            let report = &reports(output)[0];
            assert_eq!(report.counts_lines(command, output), wanted, "{command}");
        }
    }

    #[test]
    fn errors_of_a_sandbox_mean_that_tests_could_not_run() {
        let output = "open /Users/a/Library/Caches/go-build/1a: operation not permitted\n\
                      FAIL x/auth [setup failed]\n\
                      listen tcp 127.0.0.1:0: bind: operation not permitted\n--- FAIL: TestPort\n";
        assert!(could_not_run(output, 3));
        assert!(!could_not_run(output, 9));
        assert!(!could_not_run("--- FAIL: TestPort\n", 1));
        let docker = "permission denied while trying to connect to unix:///run/docker.sock\n";
        assert!(could_not_run(docker, 1));
        assert!(could_not_run("Cannot connect to the Docker daemon at x. Is it running?\n", 1));
    }

    #[test]
    fn labels_of_a_task_runner_are_ignored() {
        outputs(&[
            (
                "[lint] 0 issues.\n[test:ci] ok  \tx.org/a\t8.552s\n[test:ci] ok  \tx.org/b\t(cached)\n[test:ci] Finished in 8.91s\n",
                &["go test (packages) 2/0/0"],
            ),
            (
                "web:test: Tests:       1 failed, 4 passed, 5 total\nweb:test: Done\n",
                &["jest 4/1/0"],
            ),
            ("[INFO] ok, 3 passed it on\n", &[]),
        ]);
    }

    #[test]
    fn two_families_in_one_output_are_two_runs() {
        outputs(&[(
            "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n\
             Tests:       1 failed, 4 passed, 5 total\n",
            &["cargo test 3/0/0", "jest 4/1/0"],
        )]);
    }
}
