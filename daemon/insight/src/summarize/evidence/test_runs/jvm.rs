//! Reads the output of Maven's Surefire and of Gradle, and JUnit's XML.

use crate::{
    summarize::evidence::test_runs::{RunReport, listed, names, number},
    text::pattern,
};

/// Reads the closing line of each module: `Tests run: 12, Failures: 1, Errors: 0, Skipped: 0`.
/// Closing lines have no `Time elapsed`. If the output has no closing line, the lines of the
/// classes are read.
pub(super) fn surefire(output: &str) -> Option<RunReport> {
    let lines = pattern!(
        r"(?m)^(?:\[[A-Z]+\]\s+)?Tests run:\s*(\d+), Failures:\s*(\d+), Errors:\s*(\d+), Skipped:\s*(\d+)(.*)$"
    );
    let closing = lines.captures_iter(output).filter(|line| !line[5].contains("Time elapsed"));
    let mut found: Vec<_> = closing.collect();
    if found.is_empty() {
        found = lines.captures_iter(output).collect();
    }
    let mut report = RunReport { framework: "maven surefire", ..RunReport::default() };
    for line in &found {
        let (failed, skipped) = (number(line, 2) + number(line, 3), number(line, 4));
        report.passed += number(line, 1).saturating_sub(failed + skipped);
        report.failed += failed;
        report.skipped += skipped;
    }
    let failed = pattern!(
        r"(?m)^\[ERROR\]\s+(?:([\w$]+\.[\w$]+):\d+|([\w$.]+\.[\w$]+)\s+(?:--\s+)?Time elapsed.*<<< (?:FAILURE|ERROR)!)"
    );
    report.failed_tests = listed(&failed, output);
    Some(report)
}

/// Reads `12 tests completed, 1 failed, 2 skipped`, which Gradle prints only for modules in which a
/// test failed. Without such a line, reads the lines of the tests, if the output has the result of
/// the build.
pub(super) fn gradle(output: &str) -> Option<RunReport> {
    let verdicts = pattern!(r"(?m)^(\S[^>\n]*(?: > [^>\n]+?)+) (PASSED|FAILED|SKIPPED)\s*$");
    let of = |verdict: &'static str| {
        verdicts
            .captures_iter(output)
            .filter(move |line| &line[2] == verdict)
            .filter_map(|line| line.get(1))
    };
    let failed_tests = names(of("FAILED").map(|name| name.as_str()));
    let size = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let closing =
        pattern!(r"(?m)^(\d+) tests? completed(?:, (\d+) failed)?(?:, (\d+) skipped)?\s*$");
    if !closing.is_match(output) {
        pattern!(r"(?m)^BUILD (?:SUCCESSFUL|FAILED)").find(output)?;
        return Some(RunReport {
            framework: "gradle",
            passed: size(of("PASSED").count()),
            failed: size(of("FAILED").count()),
            skipped: size(of("SKIPPED").count()),
            failed_tests,
            coverage_pct: None,
        });
    }
    let mut report = RunReport { framework: "gradle", failed_tests, ..RunReport::default() };
    for module in closing.captures_iter(output) {
        let (failed, skipped) = (number(&module, 2), number(&module, 3));
        report.passed += number(&module, 1).saturating_sub(failed + skipped);
        report.failed += failed;
        report.skipped += skipped;
    }
    Some(report)
}

/// Reads `<testsuites tests="12" failures="1" …>`, or else the sum over the tags `<testsuite …>`.
pub(super) fn junit_xml(output: &str) -> Option<RunReport> {
    let all = pattern!(r"<testsuites\b[^>]*\btests=[^>]*>");
    let mut suites: Vec<&str> = all.find_iter(output).map(|tag| tag.as_str()).collect();
    if suites.is_empty() {
        suites = pattern!(r"<testsuite\b[^>]*\btests=[^>]*>")
            .find_iter(output)
            .map(|tag| tag.as_str())
            .collect();
    }
    if suites.is_empty() {
        return None;
    }
    let mut report = RunReport { framework: "junit xml", ..RunReport::default() };
    for suite in suites {
        let of = |name: &str| -> u32 {
            pattern!(r#"\b(tests|failures|errors|skipped|disabled)="(\d+)""#)
                .captures_iter(suite)
                .filter(|attribute| &attribute[1] == name)
                .map(|attribute| number(&attribute, 2))
                .sum()
        };
        let failed = of("failures") + of("errors");
        let skipped = of("skipped") + of("disabled");
        report.passed += of("tests").saturating_sub(failed + skipped);
        report.failed += failed;
        report.skipped += skipped;
    }
    let failed = pattern!(r"<testcase\b([^>]*[^/])>\s*<(?:failure|error)\b");
    let full: Vec<String> = failed
        .captures_iter(output)
        .map(|case| {
            let of = |name: &str| {
                let attribute = pattern!(r#"\b(name|classname)="([^"]*)""#);
                attribute
                    .captures_iter(&output[case.get(1).map_or(0..0, |at| at.range())])
                    .filter(|attribute| &attribute[1] == name)
                    .map(|attribute| attribute[2].to_owned())
                    .next()
            };
            [of("classname"), of("name")].into_iter().flatten().collect::<Vec<_>>().join(".")
        })
        .collect();
    report.failed_tests = names(full.iter().map(String::as_str));
    Some(report)
}

#[cfg(test)]
mod tests {
    use crate::summarize::evidence::test_runs::check;

    #[test]
    fn jvm_outputs() {
        check::outputs(&[
            (
                "[INFO] Tests run: 4, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.1 s -- in a.FooTest\n\
                 [ERROR] a.BarTest.testBar -- Time elapsed: 0.01 s <<< FAILURE!\n[INFO] Results:\n\
                 [ERROR] Failures: \n[ERROR]   BarTest.testBar:12 expected: <1> but was: <2>\n\
                 [ERROR] Tests run: 12, Failures: 1, Errors: 0, Skipped: 2\n",
                &["maven surefire 9/1/2 [a.BarTest.testBar, BarTest.testBar]"],
            ),
            (
                "CartTest > adds() FAILED\n    org.opentest4j.AssertionFailedError at CartTest.java:9\n\n12 tests completed, 1 failed, 2 skipped\n\nBUILD FAILED in 3s\n",
                &["gradle 9/1/2 [CartTest > adds()]"],
            ),
            (
                "> Task :cart:test FAILED\n12 tests completed, 1 failed, 2 skipped\n> Task :shop:test FAILED\n5 tests completed, 2 failed\n\nBUILD FAILED in 3s\n",
                &["gradle 12/3/2"],
            ),
            (
                "> Task :test\nCartTest > adds() PASSED\nCartTest > removes() PASSED\n\nBUILD SUCCESSFUL in 2s\n",
                &["gradle 2/0/0"],
            ),
            ("BUILD SUCCESSFUL in 2s\n3 actionable tasks: 3 executed\n", &[]),
            (
                "<testsuites tests=\"3\" failures=\"1\" errors=\"0\">\n<testsuite name=\"a\" tests=\"3\" failures=\"1\">\n\
                 <testcase name=\"adds\" classname=\"a.Cart\">\n<failure message=\"x\"/></testcase>\n<testcase name=\"b\" classname=\"a.Cart\"/>\n",
                &["junit xml 2/1/0 [a.Cart.adds]"],
            ),
            (
                "<testsuites tests=\"9\" failures=\"1\" disabled=\"2\" errors=\"0\" name=\"AllTests\">\n",
                &["junit xml 6/1/2"],
            ),
        ]);
    }
}
