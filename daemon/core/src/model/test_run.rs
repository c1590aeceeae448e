//! Runs of test suites, and the choice of the run that shows the state of each suite.

use serde::{Deserialize, Serialize};

use crate::model::{
    test_choice::{TestChoice, choices_of, chosen_tests},
    time::Timestamp,
    transcript::Origin,
};

/// One run of a test suite, as its output reports it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TestRun {
    /// The framework: `pytest`, `cargo test`, `go test`, `jest`, …
    pub framework: String,
    /// The command line, cut when long.
    pub command: String,
    /// The package or folder whose tests ran, and the name of the task, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The options, names or files with which the command limited the run to a part of the suite.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limited_to: Option<String>,
    /// Tests that passed.
    pub passed: u32,
    /// Tests that failed or had an error.
    pub failed: u32,
    /// Tests that were skipped or ignored.
    pub skipped: u32,
    /// The number of tests that were left out, if the output reports it.
    #[serde(skip_serializing_if = "is_zero")]
    pub not_run: u32,
    /// Names of failed tests, at most fifty.
    pub failed_tests: Vec<String>,
    /// Coverage in percent, when reported.
    pub coverage_pct: Option<f64>,
    /// The position in the transcript.
    pub origin: Origin,
    /// When the run was reported.
    pub at: Option<Timestamp>,
}

/// Whether the JSON omits a count.
pub(super) fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl TestRun {
    /// Returns the number of tests in the run, including skipped ones.
    pub fn total(&self) -> u32 {
        self.passed.saturating_add(self.failed).saturating_add(self.skipped)
    }

    /// Whether the run left tests out: the command limited it, or tests were counted as not run.
    pub fn is_part(&self) -> bool {
        self.limited_to.is_some() || self.not_run > 0
    }

    /// Returns the framework, the limit and the place: `jest -t login in apps/web`.
    pub fn label(&self) -> String {
        let limit = self.limited_to.as_ref().map_or(String::new(), |limit| format!(" {limit}"));
        let place = self.place.as_ref().map_or(String::new(), |place| format!(" in {place}"));
        format!("{}{limit}{place}", family(&self.framework))
    }

    /// Whether this run and `other` are runs of the same suite. For Go, one of the runs may count
    /// packages, and the other tests.
    pub fn is_of_suite(&self, other: &TestRun) -> bool {
        family(&self.framework) == family(&other.framework)
            && is_same_place(&self.place, &other.place)
    }

    /// Returns the names by which the command may select tests.
    pub fn chosen_tests(&self) -> Vec<TestChoice<'_>> {
        chosen_tests(&self.command, family(&self.framework) == "go test")
    }

    /// Whether the command selects `test`, by its name or by the name of its module, file or parent
    /// test.
    pub fn chooses(&self, test: &str) -> bool {
        let choices = choices_of(test);
        self.chosen_tests().iter().any(|choice| choices.contains(choice))
    }

    /// Whether the limit of `other` begins with the limit of this run, so that this run includes
    /// the tests of `other`: for example, `-run TestLogin` includes `-run TestLoginTwice`.
    pub fn includes(&self, other: &TestRun) -> bool {
        let excludes =
            |limit: &str| ["skip", "deselect", "ignore"].iter().any(|word| limit.contains(word));
        let limits = self.limited_to.as_deref().zip(other.limited_to.as_deref());
        limits.is_some_and(|(wide, narrow)| narrow.starts_with(wide) && !excludes(wide))
    }

    /// Whether the limits of both runs are only names or files, and this run has all those of
    /// `other`.
    fn lists(&self, other: &TestRun) -> bool {
        let limits = self.limited_to.as_deref().zip(other.limited_to.as_deref());
        limits.is_some_and(|(more, fewer)| {
            let listed: Vec<&str> = more.split(' ').collect();
            // An option such as `-k` limits the run to a part of the files.
            !listed.iter().any(|word| word.starts_with('-'))
                && fewer.split(' ').all(|word| listed.contains(&word))
        })
    }

    /// Returns what the numbers count: `tests`, or `packages` if the output of Go lists no tests.
    pub fn noun(&self) -> &'static str {
        counted_noun(&self.framework)
    }

    /// Whether the run consists of one passed test although the command did not limit the run.
    /// Such a run is no evidence about the suite.
    pub fn is_single_test(&self) -> bool {
        self.failed == 0 && self.passed == 1 && !self.is_part() && self.noun() == "tests"
    }

    fn ran(&self) -> u32 {
        self.passed.saturating_add(self.failed)
    }
}

/// Ends the name of a framework whose numbers count packages, not tests.
pub const PACKAGES: &str = " (packages)";

/// Returns the framework without the suffix [`PACKAGES`].
pub fn family(framework: &str) -> &str {
    framework.strip_suffix(PACKAGES).unwrap_or(framework)
}

/// Returns what the numbers of a framework count: `tests` or `packages`.
pub fn counted_noun(framework: &str) -> &'static str {
    if framework.ends_with(PACKAGES) { "packages" } else { "tests" }
}

/// Returns the latest run of each other part of the suite of `run`, in the order of `runs`.
/// Considers only runs without failures, with at least two passed tests, for which `counts` returns
/// true.
pub fn other_parts<'r>(
    runs: &[&'r TestRun],
    run: &TestRun,
    counts: impl Fn(&TestRun) -> bool,
) -> Vec<&'r TestRun> {
    let mut found: Vec<&TestRun> = Vec::new();
    for other in runs.iter().rev() {
        let is_known = found.iter().any(|known| known.limited_to == other.limited_to);
        let is_part = other.is_part() && other.limited_to != run.limited_to;
        let has_passed = other.failed == 0 && other.passed > 1;
        if is_part && has_passed && !is_known && other.is_of_suite(run) && counts(other) {
            found.push(other);
        }
    }
    found.reverse();
    found
}

/// Returns the failed tests without each test that has a failed subtest, because a test fails if
/// one of its subtests fails. For example, `TestX` is omitted if the list contains `TestX/sub`.
pub fn without_parents(names: &[String]) -> Vec<&String> {
    let is_parent = |name: &String| {
        let is_within = |other: &String| {
            other.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with('/'))
        };
        names.iter().any(is_within)
    };
    names.iter().filter(|name| !is_parent(name)).collect()
}

/// Whether two places have the same last segment, such as `apps/api`, `api` and `@app/api`.
pub fn is_same_place(one: &Option<String>, other: &Option<String>) -> bool {
    place_name(one) == place_name(other)
}

/// Returns the last segment of a place.
pub fn place_name(place: &Option<String>) -> Option<&str> {
    let place = place.as_deref()?.trim_end_matches(['/', '.']);
    place.rsplit('/').next()
}

/// Returns, for each suite, the run that shows the state of the suite. The result is in the order
/// of `runs`. The run of a suite is the first of these runs that exists:
/// - after the latest whole run: the latest run with failures that no later run covers
/// - the latest whole run
/// - the latest run
///
/// A later run covers a run if the later run has no failures, and has the same or a wider limit, or
/// has no limit and at least as many tests. A run with failures does not count if later runs
/// without failures chose each test that failed.
///
/// A run is whole if it left no tests out, and ran at least half as many tests as the largest such
/// run of the same framework. The size is ignored if the run has no counts (its output was
/// shortened).
pub fn latest_of_suites<'r>(runs: &[&'r TestRun]) -> Vec<&'r TestRun> {
    let mut found: Vec<(usize, &TestRun)> = Vec::new();
    for (at, run) in runs.iter().enumerate() {
        if !runs[..at].iter().any(|known| known.is_of_suite(run)) {
            let suite = runs.iter().enumerate().filter(|(_, other)| other.is_of_suite(run));
            let suite: Vec<(usize, &TestRun)> = suite.map(|(at, run)| (at, *run)).collect();
            found.extend(deciding_run(&suite));
        }
    }
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, run)| run).collect()
}

fn deciding_run<'r>(suite: &[(usize, &'r TestRun)]) -> Option<(usize, &'r TestRun)> {
    let is_whole = |run: &TestRun| {
        let same = |other: &TestRun| !other.is_part() && other.framework == run.framework;
        let largest = suite.iter().filter(|(_, other)| same(other)).map(|(_, run)| run.ran()).max();
        !run.is_part() && (run.ran() == 0 || run.ran().saturating_mul(2) >= largest.unwrap_or(0))
    };
    let whole = suite.iter().rposition(|(_, run)| is_whole(run));
    let covers = |later: &TestRun, failed: &TestRun| {
        later.failed == 0
            && (is_whole(later)
                || later.limited_to == failed.limited_to
                || later.includes(failed)
                || later.lists(failed)
                || later.limited_to.is_none() && later.ran() >= failed.ran())
    };
    let since = whole.map_or(0, |at| at + 1);
    let failed = (since..suite.len()).rev().find(|at| {
        let (run, later) = (suite[*at].1, &suite[at + 1..]);
        run.failed > 0
            && !later.iter().any(|(_, later)| covers(later, run))
            && !passed_since(run, later)
    });
    let counts = |at: &usize| !passed_since(suite[*at].1, &suite[at + 1..]);
    let whole = (0..suite.len()).rev().filter(|at| is_whole(suite[*at].1)).find(counts);
    failed.or(whole).map(|at| suite[at]).or(suite.last().copied())
}

/// Whether all tests that failed in a run are known by name and passed in later runs. The commands
/// of these later runs must select the tests.
fn passed_since(failed: &TestRun, later: &[(usize, &TestRun)]) -> bool {
    let is_complete_list = failed.failed > 0 && failed.failed_tests.len() >= failed.failed as usize;
    let passed = |test: &String| {
        let passes = |run: &TestRun| run.failed == 0 && run.passed > 0 && run.chooses(test);
        later.iter().any(|(_, run)| passes(run))
    };
    is_complete_list && without_parents(&failed.failed_tests).into_iter().all(passed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses a run from `framework place limit passed failed`; `-` is an empty place or limit, and
    /// `+` is a space.
    fn run(text: &str) -> TestRun {
        let words: Vec<&str> = text.split(' ').collect();
        let named = |word: &str| Some(word.replace('+', " ")).filter(|word| word != "-");
        TestRun {
            framework: words[0].to_owned(),
            place: named(words[1]),
            limited_to: named(words[2]),
            passed: words[3].parse().unwrap(),
            failed: words[4].parse().unwrap(),
            ..TestRun::default()
        }
    }

    #[test]
    fn the_latest_whole_run_shows_the_state_of_a_suite() {
        for (runs, wanted) in [
            (vec!["jest - - 40 2", "jest - - 45 0"], vec![1]),
            (vec!["jest - - 45 0", "jest - a.test 3 0"], vec![0]),
            (vec!["jest - - 45 0", "jest - a.test 3 1"], vec![1]),
            (vec!["jest - - 45 0", "jest - - 3 0"], vec![0]),
            (vec!["jest - a.test 3 0", "jest - b.test 9 0"], vec![1]),
            (vec!["jest - a.test 3 1", "jest - b.test 2 0"], vec![0]),
            (vec!["jest - a.test 3 1", "jest - b.test 9 0"], vec![0]),
            (vec!["jest - a.test 3 1", "jest - b.test+a.test 9 0"], vec![1]),
            (vec!["jest - a.test 3 1", "jest - -t=x+b.test+a.test 9 0"], vec![0]),
            (vec!["jest - -t=x 3 1", "jest - -t=x+b.test 9 0"], vec![0]),
            (vec!["jest - - 45 0", "jest - a.test 3 1", "jest - - 9 0"], vec![0]),
            (vec!["go - -run=TestLoginTwice 3 1", "go - -run=TestLogin 1 0"], vec![1]),
            (vec!["go - -run=TestLogin 3 1", "go - -run=TestLoginTwice 1 0"], vec![0]),
            (vec!["jest - a.test 3 1", "jest - a.test 2 0"], vec![1]),
            (vec!["jest api - 45 1", "jest web - 9 0", "jest web - 10 0"], vec![0, 2]),
            (vec!["jest - - 45 0", "cargo - - 9 0", "jest - - 46 0"], vec![1, 2]),
            (vec!["go - - 200 0", "go - - 0 0"], vec![1]),
        ] {
            let runs: Vec<TestRun> = runs.into_iter().map(run).collect();
            let all: Vec<&TestRun> = runs.iter().collect();
            let wanted: Vec<&TestRun> = wanted.into_iter().map(|at: usize| all[at]).collect();
            assert_eq!(latest_of_suites(&all), wanted);
        }
    }

    #[test]
    fn a_command_chooses_tests_by_name_file_or_beginning() {
        let up = "tests/test_up.py::test_retry";
        for (framework, command, test, wanted) in [
            ("pytest", "pytest -q tests/test_up.py", up, true),
            ("pytest", "pytest tests/test_up.py::test_retry -v", up, true),
            ("pytest", "pytest -k test_retry", up, true),
            ("pytest", "pytest tests/test_down.py", up, false),
            ("pytest", "pytest --deselect tests/test_up.py::test_retry", up, false),
            ("pytest", "pytest --ignore=tests/test_up.py", up, false),
            ("pytest", "pytest -k 'not test_retry'", up, false),
            ("cargo test", "cargo test -- --skip auth::expires_late", "auth::expires_late", false),
            ("cargo test", "cargo test auth::expires_late", "auth::expires_late", true),
            ("go test", "go test -run TestSaveAll ./...", "TestSaveAll_Twice", true),
            ("go test", "go test -run 'TestSaveAll$' ./...", "TestSaveAll_Twice", false),
            ("go test", "go test ./...", "TestSaveAll", false),
        ] {
            let run = TestRun {
                framework: framework.to_owned(),
                command: command.to_owned(),
                ..TestRun::default()
            };
            assert_eq!(run.chooses(test), wanted, "{command}: {test}");
        }
    }

    #[test]
    fn a_failed_run_does_not_count_after_its_failed_tests_passed() {
        let of = |command: &str, counts: &str, failed_tests: &[&str]| TestRun {
            command: command.to_owned(),
            failed_tests: failed_tests.iter().map(|test| (*test).to_owned()).collect(),
            ..run(&format!("pytest - {counts}"))
        };
        let (one, two) = ("tests/test_up.py::test_retry", "tests/test_up.py::test_wait");
        let all = of("pytest -q", "- 3 2", &[one, two]);
        let file = of("pytest tests/test_up.py -q", "tests/test_up.py 2 0", &[]);
        let first = of("pytest -k test_retry", "-k=test_retry 1 0", &[]);
        let second = of("pytest -k test_wait", "-k=test_wait 1 0", &[]);
        let unnamed = of("pytest -q", "- 3 2", &[one]);
        for (runs, wanted) in [
            (vec![&all, &file], 1),
            (vec![&all, &first], 0),
            (vec![&all, &first, &second], 2),
            (vec![&unnamed, &file], 0),
            (vec![&file, &all], 1),
        ] {
            assert_eq!(latest_of_suites(&runs), [runs[wanted]], "{runs:?}");
        }
    }

    #[test]
    fn the_parts_of_a_suite_are_distinguished_by_their_limits() {
        let runs = ["jest - a 3 0", "jest - b 9 0", "jest - a 4 0", "jest - c 5 1", "jest - d 6 0"];
        let runs: Vec<TestRun> = runs.into_iter().map(run).collect();
        let all: Vec<&TestRun> = runs.iter().collect();
        assert_eq!(other_parts(&all, all[4], |_| true), [all[1], all[2]]);
        assert_eq!(other_parts(&all, all[4], |run| run.passed > 4), [all[1]]);
    }

    #[test]
    fn a_test_with_a_failed_subtest_is_left_out() {
        let names = ["TestA", "TestA/one", "TestAlso", "TestB"].map(str::to_owned);
        assert_eq!(without_parents(&names), ["TestA/one", "TestAlso", "TestB"]);
    }

    #[test]
    fn the_label_contains_the_limit_and_the_place() {
        assert_eq!(run("jest apps/web -t=login 3 0").label(), "jest -t=login in apps/web");
        assert!(run("jest - -t=login 3 0").is_part() && !run("jest - - 3 0").is_part());
    }
}
