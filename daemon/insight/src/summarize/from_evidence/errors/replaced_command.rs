//! Finds commands that did not do what they were meant for, and the command that the session used
//! instead: test runs without any test, and commands that worked only in another form.

use std::collections::BTreeSet;

use crate::{
    model::{
        evidence::{Retry, Statement, TestRun},
        wording::RAN_NO_TESTS,
    },
    summarize::{
        command_lines::retry_line,
        from_evidence::entries::{Entries, cut_at_clause},
        lists::keep_latest,
    },
    text::{before_gap, cut, pattern, share_of_words, without_full_stop, words},
};

/// Maximum number of lines about commands that failed and then worked in another form. If there are
/// more, the latest are kept.
const RETRIES: usize = 4;
/// Maximum length, in characters, of each command in such a line.
const COMMAND: usize = 120;
/// Maximum length, in characters, of the error message in such a line.
const MESSAGE: usize = 90;

/// Returns a line for each command that worked only in another form.
pub(crate) fn retried_commands(entries: &Entries<'_>) -> Vec<String> {
    let retries = entries.evidence.retries.iter();
    let mut lines: Vec<String> =
        retries.filter_map(|retry| line_of_retry(entries, retry)).collect();
    keep_latest(&mut lines, RETRIES);
    lines
}

/// Returns the line about a command that failed and then worked in another form; `None` if the
/// shortened commands do not show the difference, or if [`changes_options`] or [`moves_cache`]
/// returns `true`.
fn line_of_retry(entries: &Entries<'_>, retry: &Retry) -> Option<String> {
    let plain = |text: &str| entries.tidy_line(&before_gap(text)).replace('`', "'");
    let (failed, worked) =
        (cut(&plain(&retry.failed), COMMAND), cut(&plain(&retry.worked), COMMAND));
    let begins_with = |long: &str, short: &str| {
        short.strip_suffix('…').is_some_and(|head| long.starts_with(head.trim_end()))
    };
    if failed == worked
        || begins_with(&failed, &worked)
        || begins_with(&worked, &failed)
        || changes_options(&failed, &worked)
        || moves_cache(&failed, &worked)
    {
        return None;
    }
    let message = cut_at_clause(&plain(&retry.message), MESSAGE);
    let explanation = retry.explanation.as_deref().map(|text| entries.tidy_line(text));
    let explanation = explanation.as_deref().map_or("", without_full_stop);
    Some(retry_line(&failed, &message, &worked, explanation))
}

/// Whether two forms of a command of a forge differ only in their options. Such a difference needs
/// no line, because the error messages of these programs state the remedy.
fn changes_options(failed: &str, worked: &str) -> bool {
    let operands = |command: &str| -> BTreeSet<String> {
        let mut is_value = false;
        let words = command.split_whitespace().filter(|word| *word != "…");
        let words = words.filter(|word| {
            let is_option = word.starts_with('-');
            // A word after an option is usually its value, but a path is not.
            let is_operand = !is_option && (!is_value || word.contains('/'));
            is_value = is_option && !word.contains('=');
            is_operand
        });
        words.map(str::to_owned).collect()
    };
    pattern!(r"^(?:gh|glab) ").is_match(failed) && operands(failed) == operands(worked)
}

/// Whether a command worked because its cache was in a temporary folder. Then the sandbox of the
/// agent caused the failure.
fn moves_cache(failed: &str, worked: &str) -> bool {
    let moved = pattern!(r"^(?:env )?(?:[A-Z_]*CACHE[A-Z_]*=(?:/private)?/tmp/\S* )+(.*)$")
        .captures(worked);
    let whole = |line: &str| line.trim_end_matches('…').trim_end().to_owned();
    moved.is_some_and(|moved| {
        let (failed, worked) = (whole(failed), whole(&moved[1]));
        failed.starts_with(&worked) || worked.starts_with(&failed)
    })
}

/// If a command found no tests, a later command with at least this share of its words ran the
/// intended tests.
const SAME_TESTS: f64 = 0.6;

/// Whether a statement says that a command found no tests.
pub(crate) fn found_no_tests(statement: &Statement) -> bool {
    statement.text.ends_with(RAN_NO_TESTS)
}

/// Returns the statement that a command found no tests, together with the later command that ran
/// the tests. `None` if there is no such command.
pub(crate) fn with_replacement(entries: &Entries<'_>, statement: &Statement) -> Option<String> {
    let command = statement.text.strip_suffix(RAN_NO_TESTS)?.trim_matches('`');
    let plain = |line: &str| {
        let runners = pattern!(
            r"\b(?:npm|pnpm|yarn|bun|npx|jest|vitest|pytest|cargo|go|make|test|run|filter|tail|head)\b"
        );
        words(&runners.replace_all(line, " "))
    };
    let (at, wanted) = (statement.origin, plain(command));
    let ran_them = |run: &&TestRun| {
        run.origin.follows(at)
            && run.passed > 0
            && !run.command.contains(command)
            && share_of_words(&wanted, &plain(&run.command)) >= SAME_TESTS
    };
    let run = entries.evidence.tests.iter().find(ran_them)?;
    let other = before_gap(&run.command);
    Some(entries.tidy_line(&format!("{}; `{other}` ran them", statement.text)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::transcript::Outcome, report::Reports, summarize::evidence::scenarios::Script,
    };

    #[test]
    fn a_command_that_finds_no_tests_has_the_command_that_does() {
        let found_lines = |second: &str| {
            let mut script = Script::default();
            script.prompt("Test the mails");
            let none = "> jest --passWithNoTests -- --testPathPattern=mail\nNo tests found, exiting with code 0\n";
            let line = "pnpm --filter api test -- --testPathPattern=mail";
            script.run("a", line, Outcome::Succeeded, none);
            script.run("b", second, Outcome::Succeeded, "Tests:       4 passed, 4 total\n");
            let evidence = script.collect();
            let reports = Reports::of(&evidence);
            let entries = Entries { evidence: &evidence, reports: &reports, project: None };
            let mut statements = evidence.statements.iter().filter(|one| found_no_tests(one));
            statements.find_map(|one| with_replacement(&entries, one))
        };
        let line = found_lines("npx jest --testPathPattern=mail").unwrap();
        assert_eq!(
            line,
            "`pnpm --filter api test -- --testPathPattern=mail` found no tests, although it ended without an error; `npx jest --testPathPattern=mail` ran them"
        );
        assert_eq!(found_lines("npx jest --testPathPattern=list"), None);
    }

    #[test]
    fn a_command_that_worked_only_in_another_form_has_a_line() {
        let found_lines = |failed: &str, worked: &str| {
            let mut script = Script::default();
            script.prompt("Show the change");
            script.run("a", failed, Outcome::Failed(Some(1)), "error: unknown flag --stat\n");
            script.run("b", worked, Outcome::Succeeded, "a.rs\n");
            let evidence = script.collect();
            let reports = Reports::of(&evidence);
            let entries = Entries { evidence: &evidence, reports: &reports, project: None };
            retried_commands(&entries)
        };
        assert_eq!(
            found_lines("lerna diff 104 --stat", "lerna diff 104 --name-only"),
            [
                "`lerna diff 104 --stat` failed (error: unknown flag --stat); `lerna diff 104 --name-only` worked"
            ]
        );
        assert_eq!(found_lines("lerna diff 104 --stat", "lerna diff 104").len(), 1);
        let options = found_lines("gh pr diff 104 --stat", "gh pr diff 104 --name-only");
        assert!(options.is_empty(), "the messages of gh state the remedy: {options:?}");
        let cache = found_lines("go list ./a ./b", "env GOCACHE=/tmp/go-build go list ./a ./b");
        assert!(cache.is_empty(), "the sandbox was the cause: {cache:?}");
        let long = format!("go run ./cmd/{}", "main ".repeat(40));
        assert!(found_lines(&long, &format!("env GOCACHE=/tmp/go-build {long}")).is_empty());
        assert_eq!(
            found_lines("make load of all data", "DATABASE_DIR=/tmp/db make load of all data")
                .len(),
            1
        );
        assert_eq!(found_lines("gh pr checkout 104 fork", "gh pr checkout 104 other").len(), 1);
        assert_eq!(found_lines("gh api repos/a/b/pulls", "gh api repos/c/b/pulls").len(), 1);
        let long = format!("gh pr diff 104 {}", "--path src/a.rs ".repeat(9));
        assert!(
            found_lines(&format!("{long} --stat"), &long).is_empty(),
            "no difference is visible"
        );
    }
}
