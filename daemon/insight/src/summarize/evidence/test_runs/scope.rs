//! Determines which part of a suite a run was asked for, from its command and its output.

use super::{RunReport, count};
use crate::summarize::{
    evidence::{
        bounds,
        results::Run,
        shell::{below, call_that_printed},
    },
    text::{kept, pattern},
};

/// The part of a suite that a test run was asked for.
#[derive(Debug, Default, PartialEq)]
pub(in crate::summarize::evidence) struct TestScope {
    /// The package or folder that the run was limited to.
    pub(in crate::summarize::evidence) place: Option<String>,
    /// The options, names and files that limited the run.
    pub(in crate::summarize::evidence) limited_to: Option<String>,
    /// Number of tests that the run left out, if the runner prints it.
    pub(in crate::summarize::evidence) not_run: u32,
}

/// Returns the scope of the run that printed `report`, in a session that began in the directory
/// `home`.
pub(in crate::summarize::evidence) fn of(
    report: &RunReport,
    run: &Run<'_>,
    home: Option<&String>,
) -> TestScope {
    let call = call_that_printed(&run.command.tests, report.framework);
    let folder = call.and_then(|call| below(&call.directory, home?));
    let package = call.and_then(|call| call.package.clone());
    let asked = call.and_then(|call| call.limited_to.clone());
    TestScope {
        place: package.or(folder),
        limited_to: asked.or_else(|| matched(report.framework, run.output)),
        not_run: left_out(report.framework, run.output),
    }
}

/// Returns the pattern that a runner says it used: `Ran all test suites matching /src\/shares/i.`.
fn matched(framework: &str, output: &str) -> Option<String> {
    let printed = match framework {
        "jest" => pattern!(
            r"(?m)^Ran all test suites (?:related to files )?(?:matching|within paths) (.+?)\.?$|^Ran all test suites with tests matching (.+?)\.?$"
        ),
        "vitest" => pattern!(r"(?m)^\s*(?:filter|include): +(\S.*?)\s*$"),
        _ => return None,
    };
    let found = printed.captures_iter(output).last()?;
    let matched = found.get(1).or(found.get(2))?;
    Some(kept(matched.as_str(), bounds::NAME))
}

/// Returns the number of tests that a runner says it left out.
fn left_out(framework: &str, output: &str) -> u32 {
    let printed = match framework {
        "pytest" => pattern!(r"(?m)\b(\d+) deselected\b.* in [\d.]+ ?s"),
        "cargo test" => pattern!(r"(?m)^test result: .*?; (\d+) filtered out"),
        _ => return 0,
    };
    let counts = printed.captures_iter(output).map(|found| count(&found[1]));
    counts.fold(0, u32::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::transcript::{Origin, Outcome},
        summarize::evidence::{collector::Moment, shell::CommandLine, test_runs::reports},
    };

    #[test]
    fn what_a_run_left_out_is_read_from_its_command_and_its_output() {
        let cargo = "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 120 filtered out; finished in 0.01s\n";
        let jest =
            "Tests:       14 passed, 14 total\nRan all test suites matching /src\\/shares/i.\n";
        let whole = "Tests:       14 passed, 14 total\nRan all test suites.\n";
        let pytest = "=== 20 passed, 208 deselected in 1.20s ===\n";
        for (line, output, wanted) in [
            ("uv run pytest -m browser", pytest, ("", "-m browser", 208)),
            ("make test", pytest, ("", "", 208)),
            ("cd desktop && cargo test lexer", cargo, ("desktop", "lexer", 120)),
            ("pnpm --filter api test 2>&1 | tail", jest, ("api", "/src\\/shares/i", 0)),
            ("npm test", whole, ("", "", 0)),
        ] {
            let command = &CommandLine::read(line, "/app");
            let moment = Moment { origin: Origin::default(), at: None };
            let run = Run { command, outcome: Outcome::Succeeded, output, moment };
            let report = &reports(output)[0];
            let scope = of(report, &run, Some(&"/app".to_owned()));
            let text = |part: &Option<String>| part.clone().unwrap_or_default();
            let read = (text(&scope.place), text(&scope.limited_to), scope.not_run);
            assert_eq!((read.0.as_str(), read.1.as_str(), read.2), wanted, "{line}");
        }
    }
}
