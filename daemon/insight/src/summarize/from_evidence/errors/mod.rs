//! Lists the resolved errors: errors that commands printed, errors that the user reported, and
//! errors in the agent's own recaps.

pub(super) mod refuted;
pub(super) mod replaced_command;

use crate::{
    model::{
        evidence::{ErrorSeen, Evidence, Resolution, StatementKind},
        summary::ErrorResolution,
        transcript::RecapKind,
        wording::{FROM_RECAP, NOT_STATED, NOT_VERIFIED},
    },
    summarize::{
        evidence::is_test_file,
        from_evidence::{
            entries::{ENTRY, Entries},
            outcome,
            request::wording::{self, Manner, begins_as_order},
            turns::{self, Turn},
        },
        lists::keep_latest,
        recap::Sections,
    },
    text::{before_gap, cut, pattern, same_words, share_of_words, spoken_sentences, words},
};

/// Maximum number of records. If there are more, the latest are kept.
const RECORDS: usize = 10;
/// Start of the text about a fix that changed only tests.
const TEST_CHANGED: &str = "The test was changed: ";

/// Returns the resolved errors in the order in which they occurred.
pub(super) fn errors_resolved(entries: &Entries<'_>) -> Vec<ErrorResolution> {
    let mut dated: Vec<(u64, ErrorResolution)> = Vec::new();
    let mut fixed = fixed(&entries.evidence.errors);
    for turn in turns::turns(entries.evidence) {
        // Several failures of the tests before one success are one error of the turn.
        let is_counted =
            |one: &Fixed<'_>| !one.is_superseded || !is_test_failure(&one.error.message);
        let in_turn = |one: &&mut Fixed<'_>| turn.holds(one.resolution.origin) && is_counted(one);
        let has_others = fixed.iter_mut().filter(in_turn).count() > 1;
        fixed.iter_mut().filter(in_turn).for_each(|one| one.is_alone = !has_others);
    }
    for one in &fixed {
        let record = of_fixed(entries, one);
        if is_explained(one, &record) && cause_matches_error(one, &record) {
            dated.push((one.error.origin.line, record));
        }
    }
    for turn in turns::turns(entries.evidence) {
        if !fixed.iter().any(|one| turn.holds(one.error.origin))
            && let Some(record) = reported(entries, &turn)
        {
            dated.push((turn.prompt.origin.line, record));
        }
    }
    for (line, record) in recapped(entries) {
        let record_words = words(&format!("{} {}", record.error, record.root_cause));
        let is_known = dated.iter().any(|(_, known)| {
            share_of_words(&record_words, &words(&format!("{} {}", known.error, known.fix))) > 0.4
        });
        if !is_known {
            dated.push((line, record));
        }
    }
    dated.sort_by_key(|(line, _)| *line);
    let mut records: Vec<ErrorResolution> = Vec::new();
    // The last record of an error has the fix that worked.
    for (_, record) in dated.into_iter().rev() {
        if !records.iter().any(|known| same_words(&known.error, &record.error)) {
            records.push(record);
        }
    }
    records.reverse();
    keep_latest(&mut records, RECORDS);
    records
}

/// Whether a record states the cause or the fix of the error. A changed file or a command between
/// the failure and the success does not explain the error, except a command that the output
/// recommends. A fix of the test itself says nothing about the code.
fn is_explained(fixed: &Fixed<'_>, record: &ErrorResolution) -> bool {
    let is_of_test = is_test_failure(&fixed.error.message)
        && !fixed.resolution.files.is_empty()
        && only_tests(&fixed.resolution.files)
        && (record.fix.starts_with(TEST_CHANGED)
            || pattern!(
                r"(?i)\b(?:tests?|expect(?:s|ed|ations?)|assert(?:s|ions?)|fixtures?|mocks?)\b"
            )
            .is_match(record.fix.split(" (in `").next().unwrap_or_default()));
    let announced = fixed.resolution.said.as_deref().is_some_and(fixes_only_a_pronoun);
    let is_guessed = record.fix == NOT_STATED
        || record.fix.starts_with("Changed ") && !announced
        || record.fix.starts_with("Ran ") && !record.fix.ends_with(" says");
    record.root_cause != NOT_STATED || !is_guessed && !is_of_test
}

/// Whether the stated cause of an error shares a word with the error, the attempt, the changed
/// files or the fix. If not, the cause is about something else. True for an error without a stated
/// cause, and for failing tests that were the only error of a turn and passed after a change.
fn cause_matches_error(fixed: &Fixed<'_>, record: &ErrorResolution) -> bool {
    let Fixed { error, resolution, is_alone, .. } = fixed;
    let files = resolution.files.join(" ");
    let failed = words(&format!("{} {} {files} {}", record.error, error.attempt, record.fix));
    error.cause.is_none()
        || is_test_failure(&error.message) && *is_alone && !resolution.files.is_empty()
        || !failed.is_disjoint(&words(&record.root_cause))
}

/// An error with its resolution.
struct Fixed<'e> {
    error: &'e ErrorSeen,
    resolution: &'e Resolution,
    /// Whether no other error was resolved in the same turn.
    is_alone: bool,
    /// Whether the attempt failed in another way before it succeeded. Then the fix is before that
    /// other failure, and not directly before the success.
    is_superseded: bool,
}

/// Returns the resolved errors for which a changed file, a command, a statement of the agent or a
/// cause is known, without routine errors.
fn fixed(errors: &[ErrorSeen]) -> Vec<Fixed<'_>> {
    let resolved = errors.iter().filter_map(|error| Some((error, error.resolution.as_ref()?)));
    let informative = resolved.filter(|(error, resolution)| {
        let is_informative = !resolution.files.is_empty()
            || !resolution.commands.is_empty()
            || resolution.said.is_some()
            || error.remedy.is_some()
            || error.cause.is_some();
        is_informative && !is_routine(&error.message, &error.attempt)
    });
    let is_superseded = |error: &ErrorSeen, resolution: &Resolution| {
        errors.iter().any(|other| {
            other.origin.follows(error.origin)
                && other.resolution.as_ref().is_some_and(|one| one.origin == resolution.origin)
        })
    };
    let fixed = informative.map(|(error, resolution)| Fixed {
        error,
        resolution,
        is_alone: true,
        is_superseded: is_superseded(error, resolution),
    });
    fixed.collect()
}

/// Whether an error is a normal part of any work: a conflict in a rebase, a rejected push, a
/// remark of a formatter or compiler on new code.
fn is_routine(message: &str, attempt: &str) -> bool {
    pattern!(
        r"(?i)could not apply|\[rejected\]|merge conflict|\bMD\d{3}\b|\((?:unparam|staticcheck|errcheck|gocritic|revive|wrapcheck|gofmt|goimports|prettier/prettier|no-unused-vars|unused)\)|\bST1\d{3}\b|@typescript-eslint|^(?:File has not been read|String to replace not found|unknown (?:flag|option|command))|\bTS(?:6133|2304|2552)\b|is declared but|undefined: |unused (?:variable|import)|not formatted|would reformat|\([a-z]{4,16}\)$|could not find `?Cargo\.toml|command not found|not a git repository|index\.lock"
    )
    .is_match(message)
        || pattern!(r"^git (?:add|rebase|merge|cherry-pick|pull)\b").is_match(attempt)
        // A query of a remote service does not fail because of the files here.
        || pattern!(r"^(?:npm (?:view|info|show|search)|pip index|cargo (?:search|info)|gh \w+|git ls-remote)\b")
            .is_match(attempt)
}

/// Whether a message says that tests failed, for example `a_test failed` or `2 tests failed`. Other
/// programs write `error: signing failed`.
fn is_test_failure(message: &str) -> bool {
    message.contains(" failed") && !pattern!(r"(?i)^(?:error|fatal)\b[:\[]").is_match(message)
}

fn is_of_tests(entries: &Entries<'_>, error: &ErrorSeen) -> bool {
    let mut runs = entries.evidence.tests.iter();
    runs.any(|run| run.failed > 0 && run.origin == error.origin)
}

fn only_tests(files: &[String]) -> bool {
    files.iter().all(|path| is_test_file(path))
}

fn of_fixed(entries: &Entries<'_>, fixed: &Fixed<'_>) -> ErrorResolution {
    let Fixed { error, resolution, is_alone, is_superseded } = fixed;
    let evidence = entries.evidence;
    let (failed, worked) = (error.origin, resolution.origin);
    let turn = turns::turn_of(evidence, worked).filter(|_| !is_superseded);
    let explained = turn.and_then(|turn| {
        let cause = turns::last_statement(evidence, &turn, StatementKind::Cause)?;
        // A statement after the success explains the error only if the turn resolved no other
        // error.
        let in_time = cause.origin.line <= worked.line || *is_alone;
        (cause.origin.line >= failed.line && in_time).then_some(cause.text.as_str())
    });
    let cause = error.cause.as_deref().or(explained).filter(|cause| !is_guess(cause));
    ErrorResolution {
        error: cut(&entries.tidy_line(&error.message), ENTRY),
        root_cause: cause.map_or(NOT_STATED.to_owned(), |cause| entries.cause(cause)),
        fix: fix(entries, fixed),
        verification: verification(entries, resolution),
    }
}

fn fix(entries: &Entries<'_>, fixed: &Fixed<'_>) -> String {
    let Fixed { error, resolution, .. } = fixed;
    let files = resolution.files.iter().take(4);
    let files: Vec<String> = files.map(|file| format!("`{}`", entries.path(file))).collect();
    let named = files.join(", ");
    // `Fix the controller test` announces work and does not say how it was done.
    let says_how = |statement: &&str| {
        (!begins_as_order(statement) || statement.split(' ').count() > 6)
            && !is_probe(statement)
            && !fixes_only_a_pronoun(statement)
    };
    let statement = resolution.said.as_deref().filter(says_how).map(|said| entries.tidy(said));
    if let Some(command) = remedy(entries, fixed) {
        return format!("Ran `{command}`, as its output says");
    }
    match (statement, resolution.commands.as_slice()) {
        (Some(statement), _) if files.is_empty() => statement,
        (Some(statement), _) => format!("{statement} (in {named})"),
        (None, commands) if files.is_empty() && !commands.is_empty() => {
            let ran: Vec<String> = commands.iter().map(|line| format!("`{line}`")).collect();
            format!("Ran {}", ran.join(", "))
        }
        (None, _) if files.is_empty() => NOT_STATED.to_owned(),
        // Only tests were changed, so the code was right and the test was wrong.
        (None, _) if is_of_tests(entries, error) && only_tests(&resolution.files) => {
            format!("{TEST_CHANGED}{named}")
        }
        (None, _) => format!("Changed {named}"),
    }
}

/// Whether a longer statement such as `Fix that and test it more easily` does not say what was
/// changed.
fn fixes_only_a_pronoun(statement: &str) -> bool {
    statement.split(' ').count() > 6
        && !statement.contains(['`', '(', ':'])
        && pattern!(r"(?i)^(?:fix|handle|address|resolve|correct|update|change|repair|solve) (?:that|this|it|these|those|them)(?:[.!,]?$|,? (?:and|then|now|so|first|before)\b)")
            .is_match(statement)
}

/// Returns the command that the output of the failure recommends, if that command ran before the
/// success.
fn remedy<'e>(entries: &Entries<'_>, fixed: &Fixed<'e>) -> Option<&'e str> {
    let command = fixed.error.remedy.as_deref()?;
    let (failed, worked) = (fixed.error.origin, fixed.resolution.origin);
    let mut between = entries.evidence.commands.iter().filter(|run| {
        run.origin.source == failed.source && (failed.line..=worked.line).contains(&run.origin.line)
    });
    between.any(|run| run.command.contains(command)).then_some(command)
}

fn is_guess(cause: &str) -> bool {
    pattern!(r"(?i)^(?:unless|maybe|perhaps|possibly|probably|either)\b|\b(?:might|may|could) (?:be|have)\b|\bI (?:suspect|think|guess)\b|\?$")
        .is_match(cause)
}

/// Whether the description of a change says that the change only investigates the error or reverts
/// an earlier attempt. Neither is a fix.
fn is_probe(statement: &str) -> bool {
    pattern!(r"(?i)^(?:add (?:some |more |a )*(?:debug|temporary|logging|logs?\b|print|trace)|revert\b|undo\b|try\b|check\b|see\b|look\b|debug\b|investigate\b|inspect\b)")
        .is_match(statement)
}

fn verification(entries: &Entries<'_>, resolution: &Resolution) -> String {
    let command = entries.tidy_line(&before_gap(&resolution.verified_by));
    let run = entries.evidence.tests.iter().find(|run| run.origin == resolution.origin);
    match run {
        Some(run) if run.failed == 0 && run.passed > 0 => {
            let noun = match (run.noun(), run.passed) {
                ("tests", _) => "",
                (_, 1) => " package",
                (_, _) => " packages",
            };
            format!("`{command}`: {}{noun} passed", run.passed)
        }
        _ => format!("`{command}` succeeded"),
    }
}

/// Returns a problem that the user reported, if the agent found its cause and changed files in the
/// same turn.
fn reported(entries: &Entries<'_>, turn: &Turn<'_>) -> Option<ErrorResolution> {
    let evidence = entries.evidence;
    let request = turn.request().filter(|_| turn.reports_a_problem())?;
    if came_back(evidence, turn) {
        return None;
    }
    // A prompt that begins with an order and mentions the problem later is about several matters.
    let spoken = spoken_sentences(&turn.prompt.text);
    let head = spoken.first().map_or("", String::as_str);
    if spoken.len() > 1 && wording::plain(head).1 == Manner::Orders && !turns::names_a_problem(head)
    {
        return None;
    }
    let cause = turns::last_statement(evidence, turn, StatementKind::Cause)?;
    let changed = evidence.changed_files().filter(|(_, work)| turn.holds(work.last));
    let files: Vec<String> =
        changed.map(|(path, _)| format!("`{}`", entries.path(path))).take(4).collect();
    let done = turns::last_statement(evidence, turn, StatementKind::Done)
        .or_else(|| turns::last_statement(evidence, turn, StatementKind::Decision));
    if files.is_empty() {
        return None;
    }
    // Work that shares no word with the cause is not the fix of this problem.
    let of_cause = words(&cause.text);
    let done = done.filter(|done| !words(&done.text).is_disjoint(&of_cause));
    let fix = match done {
        Some(done) => entries.completed_work(&done.text),
        None => format!("Changed {}", files.join(", ")),
    };
    Some(ErrorResolution {
        error: cut(&entries.tidy(&request.text), ENTRY),
        root_cause: entries.cause(&cause.text),
        fix,
        verification: verified_in(entries, turn),
    })
}

/// Whether the user reports the problem again after the turn, or postpones the work. In both cases
/// the fix is not confirmed.
fn came_back(evidence: &Evidence, turn: &Turn<'_>) -> bool {
    let problem_words = words(&turn.prompt.text);
    let prompts = evidence.prompts.iter();
    let mut later = prompts.filter(|prompt| prompt.origin.line > turn.prompt.origin.line);
    later.any(|prompt| {
        refuted::says_it_still_fails(&prompt.text)
            || outcome::postpones_work(&prompt.text)
            || problem_words.len() >= 8
                && share_of_words(&problem_words, &words(&prompt.text)) >= 0.5
    })
}

/// Returns the last test run of the turn that passed, or [`NOT_VERIFIED`] if no run passed or the
/// prompt is not about tests. Tests do not show whether other symptoms are gone.
fn verified_in(entries: &Entries<'_>, turn: &Turn<'_>) -> String {
    let mut runs = entries.evidence.tests.iter().rev();
    let is_about_tests =
        pattern!(r"(?i)\b(?:tests?|specs?|suite|ci)\b").is_match(&turn.prompt.text);
    let passed = runs.find(|run| run.failed == 0 && run.passed > 0 && turn.holds(run.origin));
    let passed = passed.filter(|_| is_about_tests);
    passed.map_or(NOT_VERIFIED.to_owned(), |run| {
        format!("`{}`: {} passed", entries.tidy_line(&run.command), run.passed)
    })
}

/// Returns the errors with a fix in the agent's recaps of compactions. The messages before a
/// compaction may be missing in the transcript.
fn recapped(entries: &Entries<'_>) -> Vec<(u64, ErrorResolution)> {
    let recaps = entries.evidence.recaps.iter();
    let compactions = recaps.filter(|recap| recap.kind == RecapKind::Compaction);
    let found = compactions.flat_map(|recap| {
        let errors = Sections::of(&recap.text).errors();
        errors.into_iter().map(|error| (recap.origin.line, error))
    });
    found
        .filter_map(|(line, error)| {
            Some((
                line,
                ErrorResolution {
                    error: cut(&entries.tidy(&error.error), ENTRY),
                    root_cause: error
                        .about
                        .map_or(NOT_STATED.to_owned(), |about| entries.cause(&about)),
                    fix: entries.completed_work(&error.fix?),
                    verification: FROM_RECAP.to_owned(),
                },
            ))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::transcript::Outcome,
        report::Reports,
        summarize::evidence::scenarios::{FAILING, PASSING, Script},
    };

    #[test]
    fn a_fix_that_the_output_recommends_is_recorded() {
        let resolved = |ran: &str| {
            let mut script = Script::default();
            script.prompt("Commit it");
            let output = "⚠️  API files changed but the generated client is not staged!\n\nRun this command and stage the changes:\n\n    pnpm api:generate\n\nhusky - pre-commit script failed (code 1)\n";
            script.run("a", "git commit -m One", Outcome::Failed(Some(1)), output);
            script.run("b", ran, Outcome::Succeeded, "Fixed: openapi.json\n");
            script.run("c", "git commit -m One", Outcome::Succeeded, "[main 1a2b3c4] One\n");
            script.reply("m", "Committed.");
            let evidence = script.collect();
            let reports = Reports::of(&evidence);
            errors_resolved(&Entries { evidence: &evidence, reports: &reports, project: None })
        };
        let records = resolved("pnpm api:generate 2>&1 | tail -10");
        assert_eq!(records.len(), 1, "{records:?}");
        assert_eq!(records[0].error, "API files changed but the generated client is not staged");
        assert_eq!(records[0].fix, "Ran `pnpm api:generate`, as its output says");
        assert!(resolved("ls").is_empty());
    }

    #[test]
    fn a_fix_of_a_pronoun_is_described_by_its_files() {
        let fix = |said: &'static str| {
            let mut script = Script::default();
            script.prompt("Run the generator");
            let output = "Traceback (most recent call last):\nEOFError: EOF when reading a line\n";
            script.run("a", "python make.py", Outcome::Failed(Some(1)), output);
            script.reply("m", said);
            script.edit("b", "/app/make.py", "a", "b");
            script.run("c", "python make.py", Outcome::Succeeded, "done\n");
            let evidence = script.collect();
            let reports = Reports::of(&evidence);
            let entries = Entries { evidence: &evidence, reports: &reports, project: None };
            errors_resolved(&entries).into_iter().map(|one| one.fix).collect::<Vec<_>>()
        };
        assert_eq!(
            fix("It runs, but it waits for a key. Let me fix that and test it more easily."),
            ["Changed `/app/make.py`"]
        );
        for said in [
            "Let me replace the prompt by a pause of three seconds.",
            "Let me fix that: the prompt becomes a pause of three seconds.",
        ] {
            assert!(fix(said).iter().all(|fix| fix.contains("pause")), "{said}");
        }
        assert!(!fixes_only_a_pronoun("Fix them by closing the reader before the next read"));
        assert!(!fixes_only_a_pronoun("Update it to read `row` before the next page is read"));
    }

    #[test]
    fn a_guess_is_no_cause_and_a_probe_no_fix() {
        assert!(is_guess("Unless the call failed because of the empty response"));
        assert!(!is_guess("The call failed because of the empty response"));
        assert!(is_probe("Add debug logging to see the error"));
        assert!(!is_probe("Add a retry to the call"));
    }

    #[test]
    fn a_test_that_fails_until_it_is_corrected_needs_a_cause() {
        let fixes = |path: &'static str, cause: Option<&'static str>| {
            let mut script = Script::default();
            script.prompt("Let the login expire");
            script.run("a", "cargo test", Outcome::Succeeded, FAILING);
            if let Some(cause) = cause {
                script.reply("m", cause);
            }
            script.at += 120;
            script.edit("b", path, "a", "b");
            script.at += 120;
            script.run("c", "cargo test", Outcome::Succeeded, PASSING);
            let evidence = script.collect();
            let reports = Reports::of(&evidence);
            let entries = Entries { evidence: &evidence, reports: &reports, project: None };
            errors_resolved(&entries).into_iter().map(|one| one.fix).collect::<Vec<_>>()
        };
        let test = "/app/tests/auth.rs";
        assert_eq!(fixes(test, None), [""; 0]);
        let cause = "The root cause: the test for auth used a token of the wrong length.";
        let changed = ["The test was changed: `/app/tests/auth.rs`"];
        assert_eq!(fixes(test, Some(cause)), changed);
        assert_eq!(fixes("/app/src/auth.rs", None), [""; 0]);
    }

    #[test]
    fn the_cause_after_another_failure_is_not_the_cause_of_the_first() {
        let mut script = Script::default();
        script.prompt("Let the login expire");
        let two =
            "FAILED t.py::test_empty\nFAILED t.py::test_old\n=== 2 failed, 1 passed in 0.4s ===\n";
        let one = "FAILED t.py::test_old\n=== 1 failed, 2 passed in 0.4s ===\n";
        script.run("a", "pytest", Outcome::Failed(Some(1)), two);
        script.at += 120;
        script.reply("m1", "The cache needs a `Path`. Let me pass one.");
        script.edit("b", "/app/tests/test_login.py", "a", "b");
        script.run("c", "pytest", Outcome::Failed(Some(1)), one);
        script.at += 120;
        script.reply("m2", "The issue is that `login()` drops the time of expiry.");
        script.edit("d", "/app/src/login.py", "a", "b");
        script.run("e", "pytest", Outcome::Succeeded, "=== 3 passed in 0.4s ===\n");
        let evidence = script.collect();
        let reports = Reports::of(&evidence);
        let entries = Entries { evidence: &evidence, reports: &reports, project: None };
        let found: Vec<(String, String)> = errors_resolved(&entries)
            .into_iter()
            .map(|one| (one.error, format!("{}. {}", one.root_cause, one.fix)))
            .collect();
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].0, "test_old failed");
        assert_eq!(found[0].1, "`login()` drops the time of expiry. Changed `/app/src/login.py`");
    }

    #[test]
    fn routine_errors_are_recognised() {
        for (message, attempt, wanted) in [
            ("error: could not apply 27a33e9... Harden the reply", "git rebase main", true),
            ("! [rejected] main -> main (fetch first)", "git push", true),
            ("a.go:6:2: f - x is unused (unparam)", "mise run lint", true),
            ("error[E0502]: cannot borrow `a` as mutable", "cargo build", false),
            (
                "a.go:81:15: string `x` has 3 occurrences, make it a constant (goconst)",
                "lint",
                true,
            ),
            ("connection refused on port 5432", "make migrate", false),
            ("npm error 404 No match found for version 4.4", "npm view shop", true),
            ("npm error 404 No match found for version 4.4", "npm install", false),
            ("fatal: Unable to create '.git/index.lock': File exists.", "git commit", true),
        ] {
            assert_eq!(is_routine(message, attempt), wanted, "{message}");
        }
    }

    #[test]
    fn an_error_of_a_program_is_no_failed_test() {
        for (message, wanted) in [
            ("expires_late failed: panicked at src/auth.rs:9:5", true),
            ("2 tests failed: a, b", true),
            ("error: signing failed", false),
            ("error[E0080]: evaluation of constant value failed", false),
        ] {
            assert_eq!(is_test_failure(message), wanted, "{message}");
        }
    }
}
