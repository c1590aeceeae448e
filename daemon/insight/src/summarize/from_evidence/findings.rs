//! Collects what was found out: discoveries, dead ends, causes, known failures, and the unresolved
//! errors of the last turn.

use crate::{
    model::{
        evidence::{CommandRun, ErrorSeen, Evidence, StatementKind},
        transcript::Origin,
        wording::{CAUSE_BEFORE_CHANGE, REMEMBERED},
    },
    report::{Report, Topic},
    summarize::{
        from_evidence::{
            decisions::quote_context::objection,
            entries::{Entries, cut_at_clause, push},
            errors::replaced_command::{found_no_tests, retried_commands, with_replacement},
            next_steps::advice,
            problems::reported_problems,
            reported::{ReportQuotes, quotable::depends_on_previous, transient, verdicts},
            turns::turns,
        },
        lists::keep_latest,
    },
    text::{capitalised, pattern, same_words, without_full_stop},
};

/// Maximum number of discoveries, without the problems that the user reported and the agent's own
/// notes. If there are more, the latest are kept.
const DISCOVERIES: usize = 18;
/// Maximum number of notes in the agent's memory. If there are more, the latest are kept.
const NOTES: usize = 4;
/// Maximum number of known failures. If there are more, the latest are kept.
const KNOWN_FAILURES: usize = 4;
/// Maximum length, in characters, of a discovery.
const DISCOVERY: usize = 260;
/// Maximum number of causes from turns without a report. If there are more, the latest are kept.
const UNREPORTED_CAUSES: usize = 4;
/// Maximum number of causes in the root cause analysis. If there are more, the latest are kept.
const CAUSES: usize = 2;

/// Returns what was found out, and what was tried without success.
pub(super) fn discoveries(entries: &Entries<'_>, quotes: &ReportQuotes<'_>) -> Vec<String> {
    let mut list = Vec::new();
    for kind in [StatementKind::Discovery, StatementKind::DeadEnd] {
        // `quotes.findings` adds the statements of reports.
        for statement in entries.statements(kind).filter(|one| !one.reported) {
            if found_no_tests(statement) {
                let line = with_replacement(entries, statement);
                line.into_iter().for_each(|line| push(&mut list, line));
                continue;
            }
            let text = objection(entries, &statement.text, statement.origin);
            let text = pattern!(r"[,;] so I(?:['\u{2019}]m| am) (?:now |instead )?(?:switching to|falling back to|using|moving to|pointing to|routing to) ")
                .replace(&text, "; the agent then tried ");
            let line = cut_at_clause(&entries.tidy_line(&text), DISCOVERY);
            if has_content(&line) && is_still_useful(entries, &line, statement.origin) {
                push(&mut list, capitalised(without_full_stop(&line)));
            }
        }
    }
    unreported_causes(entries).into_iter().for_each(|line| push(&mut list, line));
    retried_commands(entries).into_iter().for_each(|line| push(&mut list, line));
    quotes.findings().into_iter().for_each(|line| push(&mut list, line));
    advice::recommendations(entries).into_iter().for_each(|line| push(&mut list, line));
    verdicts::verdict(entries).into_iter().for_each(|line| push(&mut list, line));
    keep_latest(&mut list, DISCOVERIES);
    let problems = reported_problems(entries);
    list.retain(|line| {
        let cause = line.strip_prefix(CAUSE_BEFORE_CHANGE).unwrap_or(line);
        !problems.iter().any(|problem| problem.contains(cause))
    });
    problems.into_iter().for_each(|line| push(&mut list, line));
    remembered(entries).into_iter().for_each(|line| push(&mut list, line));
    list
}

/// Returns what the agent noted in its memory for later sessions.
fn remembered(entries: &Entries<'_>) -> Vec<String> {
    let mut list = Vec::new();
    for noted in entries.statements(StatementKind::Remembered) {
        let line = cut_at_clause(&entries.tidy_line(&noted.text), DISCOVERY);
        push(&mut list, format!("{REMEMBERED}{}", without_full_stop(&line)));
    }
    keep_latest(&mut list, NOTES);
    list
}

/// Returns the causes that the agent stated before it changed a file, in turns that have no report
/// with substance. Such a turn has no other record of its findings.
fn unreported_causes(entries: &Entries<'_>) -> Vec<String> {
    let evidence = entries.evidence;
    let mut list: Vec<String> = Vec::new();
    for turn in turns(evidence) {
        let reports = &entries.reports.reports;
        let report = reports.iter().rfind(|report| turn.holds(report.origin));
        if report.is_some_and(Report::has_substance) {
            continue;
        }
        let changed_after = |line: u64| {
            let mut changed = evidence.changed_files();
            changed.any(|(_, work)| turn.holds(work.last) && work.last.line > line)
        };
        let causes = entries.statements(StatementKind::Cause);
        let causes = causes.filter(|one| turn.holds(one.origin) && changed_after(one.origin.line));
        for cause in causes {
            let line = cut_at_clause(&entries.tidy_line(&cause.text), DISCOVERY);
            if has_content(&line) && !depends_on_previous(&line) {
                push(&mut list, format!("{CAUSE_BEFORE_CHANGE}{}", without_full_stop(&line)));
            }
        }
    }
    keep_latest(&mut list, UNREPORTED_CAUSES);
    list
}

/// Whether a line is still useful. Praise, a state that later work changed and some quotations of
/// the user are not.
fn is_still_useful(entries: &Entries<'_>, line: &str, at: Origin) -> bool {
    !transient::is_boast(line)
        && !transient::is_past_state(entries.evidence, line, at)
        // The line does not say which problem is meant.
        && !pattern!(r#"(?i)^User: "(?:the|this) (?:issue|problem|bug|error) (?:is|was)\b[^`_]*$"#)
            .is_match(line)
        // The change that followed shows what the agent agreed to.
        && !pattern!(r#"(?i)^User: "(?:why|can.t|couldn.t|shouldn.t) .*\(the agent agreed: "#)
            .is_match(line)
        // The user only gives the order of the next steps.
        && !pattern!(r#"(?i)^User: "(?:ok,? )?(?:before (?:you|we|making|doing|starting|committing|continuing)|don.?t forget)\b"#)
            .is_match(line)
}

/// Whether a statement has enough content: enough words, and a minimum length, which is lower if
/// the statement contains code.
fn has_content(line: &str) -> bool {
    let prose = line.split('`').step_by(2).flat_map(str::split_whitespace);
    let prose = prose.filter(|word| word.chars().filter(|c| c.is_alphabetic()).count() >= 3);
    (line.len() >= 60 || (line.len() >= 40 && line.contains(['`', '/', '_'])))
        && (prose.count() >= 4 || !line.is_ascii())
}

/// Returns the failures that reports call unrelated to the work.
pub(super) fn known_failures(entries: &Entries<'_>) -> Vec<String> {
    let mut list = Vec::new();
    for claim in entries.reports.on(Topic::KnownFailure) {
        let line = entries.claim(claim).filter(|line| describes_failure(line));
        line.into_iter().for_each(|line| push(&mut list, line));
    }
    keep_latest(&mut list, KNOWN_FAILURES);
    list
}

/// Whether a line describes what fails. A line that only counts passed tests does not.
fn describes_failure(line: &str) -> bool {
    let counts_passes = pattern!(r"(?i)\b\d+ ?(?:/|of) ?\d+ (?:\w+ )?(?:tests? )?pass");
    line.contains('`') || !counts_passes.is_match(line)
}

/// Returns the last causes from reports and resolved errors, each on its own line. Other causes
/// that the agent states while it works are often guesses.
pub(super) fn root_cause(entries: &Entries<'_>) -> Option<String> {
    let reported = entries.statements(StatementKind::Cause).filter(|one| one.reported);
    let resolved = entries.evidence.errors.iter().filter(|error| error.resolution.is_some());
    let resolved = resolved.filter_map(|error| error.cause.as_deref());
    let mut causes: Vec<&str> = Vec::new();
    for cause in resolved.chain(reported.map(|one| one.text.as_str())) {
        causes.retain(|known| !same_words(known, cause));
        causes.push(cause);
    }
    keep_latest(&mut causes, CAUSES);
    let sentences: Vec<String> =
        causes.into_iter().map(|cause| sentence(&entries.cause(cause))).collect();
    (!sentences.is_empty()).then(|| sentences.join("\n"))
}

/// Returns the unresolved errors of commands in the last turn. An error is left out if a similar
/// command succeeded later (for example after a typing error), or if a later attempt to commit or
/// push failed for another reason.
pub(super) fn last_turn_errors(evidence: &Evidence) -> Vec<&ErrorSeen> {
    let start = evidence.prompts.last().map_or(Origin::default(), |prompt| prompt.origin);
    let open = evidence.errors.iter().filter(|error| error.resolution.is_none());
    open.filter(|error| error.origin.source == start.source && error.origin >= start)
        .filter(|error| {
            let is_later = |run: &&CommandRun| run.origin.is_after(run.at, error.origin, error.at);
            let mut later = evidence.commands.iter().filter(is_later);
            !later.any(|run| run.outcome.succeeded() && is_same_work(&error.attempt, &run.command))
                && !failed_otherwise(evidence, error)
        })
        .collect()
}

/// Whether a commit or push failed, and a later attempt failed for another reason. Then the first
/// problem was fixed.
fn failed_otherwise(evidence: &Evidence, error: &ErrorSeen) -> bool {
    let step = |attempt: &str| {
        let found = pattern!(r"\bgit (?:-\S+ \S+ )*(commit|push)\b").captures(attempt);
        found.map(|found| found[1].to_owned())
    };
    let failed = step(&error.attempt);
    failed.is_some()
        && evidence.errors.iter().any(|later| {
            later.origin.follows(error.origin)
                && later.message != error.message
                && step(&later.attempt) == failed
        })
}

/// Whether two command lines share most of their words, or one is the end of the other. Only the
/// part before the first pipe is compared.
fn is_same_work(failed: &str, worked: &str) -> bool {
    let meant = |line: &str| line.split(" | ").next().unwrap_or_default().trim().to_owned();
    let (failed, worked) = (meant(failed), meant(worked));
    if failed.is_empty() || worked.is_empty() {
        return false;
    }
    failed.ends_with(&worked) || worked.ends_with(&failed) || same_words(&failed, &worked)
}

fn sentence(text: &str) -> String {
    if text.ends_with(['.', '!', '?', '…']) { text.to_owned() } else { format!("{text}.") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_the_next_steps_is_no_finding() {
        let (evidence, reports) = (Evidence::default(), crate::report::Reports::default());
        let entries = Entries { evidence: &evidence, reports: &reports, project: None };
        let is_useful = |line: &str| is_still_useful(&entries, line, Origin::default());
        assert!(!is_useful("User: \"before making changes, switch to main\" (the agent agreed)"));
        assert!(!is_useful(
            "User: \"why can't we just use real booleans?\" (the agent agreed: we should use real booleans)"
        ));
        assert!(is_useful("User: \"all of it can be checked with the flag\" (the agent agreed)"));
    }

    #[test]
    fn a_line_without_a_command_is_no_attempt() {
        assert!(is_same_work("cd app && cargo test", "cargo test | tail"));
        assert!(!is_same_work("cargo test", " | tail"));
    }

    #[test]
    fn a_finding_holds_a_sentence() {
        assert!(!has_content("The issue is clear now"));
        assert!(!has_content("`/transformers.js` and `/tokenizer/transformers.js`"));
        assert!(has_content("`EXPIRY` is read in seconds, the file gives minutes"));
    }
}
