//! Determines to which part of a test suite a run was limited, from its command and its output.

use super::{RunReport, TestScope, total};
use crate::{
    summarize::evidence::{
        bounds,
        run::Run,
        shell::{below, call_that_printed},
    },
    text::{before_gap, kept, pattern},
};

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
    let arguments = call.and_then(|call| call.limited_to.clone());
    let (folder, arguments) = with_tests_folder_in_paths(folder, arguments);
    let place = [package.or(folder), call.and_then(|call| call.task.clone())];
    let place: Vec<String> = place.into_iter().flatten().collect();
    let arguments =
        arguments.filter(|arguments| !ignored_arguments(report.framework, arguments, run.output));
    TestScope {
        place: (!place.is_empty()).then(|| kept(&place.join(" "), bounds::NAME)),
        limited_to: arguments.or_else(|| matched(report.framework, run.output)),
        variables: variables(&run.command.shown),
        not_run: left_out(report.framework, run.output),
    }
}

/// Returns the environment variables that a command line sets to a fixed value, without variables
/// that only configure a build or disable tests.
fn variables(command: &str) -> Vec<String> {
    let set = pattern!(r"(?:^|[ ;&])([A-Z][A-Z0-9_]{2,})=[^$ ]");
    let configures = pattern!(
        r"^(?:SKIP|NO|DISABLE|CI|GO|CARGO|RUST|PYTHON|NPM|NODE|UV|PIP|INSTA)(?:_|$)|^GO[A-Z]+$|(?:^|_)(?:CACHE|HOME|PATH|FLAGS|COLOR|BACKTRACE|LOG|LEVEL|WARNINGS|OPTIONS|VERSION|THREADS|JOBS|DIR|TMPDIR|TIMEOUT|PORT|TOKEN|URL|DEBUG|STATUS|OUT)(?:_|$)"
    );
    let names = set.captures_iter(command).map(|found| found[1].to_owned());
    names.filter(|name| !configures.is_match(name)).take(bounds::VARIABLES).collect()
}

/// Moves the last part of `folder`, if it is `tests` or similar, to the front of the paths that
/// limit the run, so that `pytest a.py` in `api/tests` and `pytest tests/a.py` in `api` are runs of
/// the same part.
fn with_tests_folder_in_paths(
    folder: Option<String>,
    arguments: Option<String>,
) -> (Option<String>, Option<String>) {
    let is_path = |word: &str| word.contains('.') && !word.starts_with('-');
    let (Some(whole), Some(paths)) = (&folder, &arguments) else { return (folder, arguments) };
    let (parent, last) = whole.rsplit_once('/').unwrap_or(("", whole));
    if !matches!(last, "test" | "tests" | "__tests__") || !paths.split(' ').all(is_path) {
        return (folder, arguments);
    }
    let joined: Vec<String> = paths.split(' ').map(|path| format!("{last}/{path}")).collect();
    (Some(parent.to_owned()).filter(|parent| !parent.is_empty()), Some(joined.join(" ")))
}

/// Returns the filter that a runner prints: `Ran all test suites matching /src\/shares/i.`.
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
    Some(before_gap(&kept(matched.as_str(), bounds::NAME)).into_owned())
}

/// Whether the output shows that all tests ran, although `arguments` would limit the run. A script
/// may ignore its arguments.
fn ignored_arguments(framework: &str, arguments: &str, output: &str) -> bool {
    let options = || arguments.split(' ').filter(|word| word.starts_with('-'));
    match framework {
        "jest" => pattern!(r"(?m)^Ran all test suites\.$").is_match(output),
        // pytest prints the number of tests that `-k` and `-m` exclude: `2 deselected`.
        "pytest" => {
            options().next().is_some()
                && options().all(|option| matches!(option, "-k" | "-m"))
                && !pattern!(r"(?i)::|\.py\b").is_match(arguments)
                && !pattern!(r"\b\d+ deselected\b").is_match(output)
        }
        _ => false,
    }
}

/// Returns the number of tests that the run left out; 0 if the runner does not print the number.
fn left_out(framework: &str, output: &str) -> u32 {
    let printed = match framework {
        "pytest" => pattern!(r"(?m)\b(\d+) deselected\b.* in [\d.]+ ?s"),
        "cargo test" => pattern!(r"(?m)^test result: .*?; (\d+) filtered out"),
        _ => return 0,
    };
    total(&printed, output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_may_enable_tests_are_found() {
        assert_eq!(variables("E2E_LOGIN=1 npm test"), ["E2E_LOGIN"]);
        assert_eq!(variables("export RUN_IMPORT_TESTS=1; npm test"), ["RUN_IMPORT_TESTS"]);
        for command in
            ["npm test > /tmp/o; STATUS=$?", "GOCACHE=/tmp/c go test ./...", "SKIP_E2E=1 npm test"]
        {
            assert_eq!(variables(command), [""; 0], "{command}");
        }
    }
    use crate::{
        model::transcript::{Origin, Outcome},
        summarize::evidence::{moment::EntryPosition, shell::CommandLine, test_runs::reports},
    };

    #[test]
    fn the_limit_of_a_run_is_read_from_its_command_and_its_output() {
        let cargo = "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 120 filtered out; finished in 0.01s\n";
        let jest =
            "Tests:       14 passed, 14 total\nRan all test suites matching /src\\/shares/i.\n";
        let whole = "Tests:       14 passed, 14 total\nRan all test suites.\n";
        let pytest = "=== 20 passed, 208 deselected in 1.20s ===\n";
        for (line, output, wanted) in [
            ("uv run pytest -m browser", pytest, ("", "-m browser", 208)),
            ("make test", pytest, ("", "", 208)),
            ("cd test && pytest /app/test/a.py -v", pytest, ("", "test/a.py", 208)),
            ("cd api/tests && pytest a.py", pytest, ("api", "tests/a.py", 208)),
            ("cd tests && pytest -k login", pytest, ("tests", "-k login", 208)),
            ("cd desktop && cargo test lexer", cargo, ("desktop", "lexer", 120)),
            ("pnpm --filter api test 2>&1 | tail", jest, ("api", "/src\\/shares/i", 0)),
            ("npm test", whole, ("", "", 0)),
        ] {
            let command = &CommandLine::read(line, "/app");
            let moment = EntryPosition { origin: Origin::default(), at: None };
            let run = Run { command, outcome: Outcome::Succeeded, output, moment };
            let report = &reports(output)[0];
            let scope = of(report, &run, Some(&"/app".to_owned()));
            let text = |part: &Option<String>| part.clone().unwrap_or_default();
            let read = (text(&scope.place), text(&scope.limited_to), scope.not_run);
            assert_eq!((read.0.as_str(), read.1.as_str(), read.2), wanted, "{line}");
        }
    }

    #[test]
    fn a_filter_that_the_output_contradicts_is_ignored() {
        for (framework, arguments, output, wanted) in [
            ("jest", "shares", "Ran all test suites.", true),
            ("jest", "shares", "Ran all test suites matching /shares/i.", false),
            ("pytest", "-k login", "==== 3 passed in 0.1s ====", true),
            ("pytest", "-k login", "==== 3 passed, 9 deselected in 0.1s ====", false),
            ("pytest", "-k login tests/a.py", "==== 3 passed in 0.1s ====", false),
        ] {
            assert_eq!(
                ignored_arguments(framework, arguments, output),
                wanted,
                "{arguments} {output}"
            );
        }
    }
}
