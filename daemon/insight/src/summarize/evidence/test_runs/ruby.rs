//! Reads the output of RSpec and Minitest.

use crate::{
    summarize::evidence::test_runs::{RunReport, listed, number, sum},
    text::pattern,
};

/// Reads `12 examples, 1 failure, 2 pending`.
pub(super) fn rspec(output: &str) -> Option<RunReport> {
    let line = pattern!(
        r"(?m)^(\d+) examples?, (\d+) failures?(?:, (\d+) pending)?(?:, (\d+) errors? occurred outside of examples)?\s*$"
    );
    line.find(output)?;
    // One output may contain several runs.
    let sum = |group| sum(&line, output, |found| number(found, group));
    let (failed, pending) = (sum(2), sum(3));
    let places = pattern!(r"(?m)^rspec (\S+)(?: # .+)?$");
    Some(RunReport {
        framework: "rspec",
        passed: sum(1).saturating_sub(failed + pending),
        failed: failed + sum(4),
        skipped: pending,
        failed_tests: listed(&places, output),
        coverage_pct: None,
    })
}

/// Reads `12 runs, 34 assertions, 1 failures, 0 errors, 2 skips`. Rails prints the same line.
pub(super) fn minitest(output: &str) -> Option<RunReport> {
    let line = pattern!(
        r"(?m)^(\d+) (?:runs|tests), \d+ assertions, (\d+) failures, (\d+) errors, (\d+) (?:skips|pendings)"
    );
    line.find(output)?;
    let sum = |group| sum(&line, output, |found| number(found, group));
    let (failed, skipped) = (sum(2) + sum(3), sum(4));
    let failed_tests = pattern!(r"(?m)^([A-Z]\S*#test_\S+?)(?: \[[^\]]*\])?:?\s*$");
    Some(RunReport {
        framework: "minitest",
        passed: sum(1).saturating_sub(failed + skipped),
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
    fn ruby_outputs() {
        check::outputs(&[
            (
                "Finished in 0.1 seconds\n12 examples, 1 failure, 2 pending\n\nFailed examples:\n\nrspec ./spec/cart_spec.rb:12 # Cart adds\n",
                &["rspec 9/1/2 [./spec/cart_spec.rb:12]"],
            ),
            ("1 example, 0 failures\n", &["rspec 1/0/0"]),
            (
                "12 examples, 2 failures\n$ tail -1 log\n12 examples, 2 failures\n",
                &["rspec 10/2/0"],
            ),
            ("12 examples, 2 failures\n\n10 examples, 0 failures\n", &["rspec 20/2/0"]),
            (
                "Failure:\nCartTest#test_adds [test/cart_test.rb:5]:\nExpected 1\n\n12 runs, 34 assertions, 1 failures, 0 errors, 2 skips\n",
                &["minitest 9/1/2 [CartTest#test_adds]"],
            ),
        ]);
    }
}
