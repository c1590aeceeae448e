//! What was found out: discoveries, dead ends, and why things went wrong.

use crate::{
    model::{
        evidence::{ErrorSeen, Evidence, FileWork, StatementKind},
        transcript::Origin,
    },
    summarize::{
        from_evidence::{
            answers, delegated,
            entries::{Entries, cut_at_clause, leans, plain_words, push},
            overtaken, transient,
            wording::{begins_as_order, states},
        },
        report::{Claim, Report, Topic},
        text::{
            capitalised, pattern, same_words, sentences, share_of_words, without_full_stop, words,
        },
    },
};

/// Discoveries at most; of more, the latest.
const DISCOVERIES: usize = 12;
/// Findings taken from one report.
const OF_A_REPORT: usize = 5;
/// Known failures at most; of more, the latest.
const KNOWN_FAILURES: usize = 4;
/// Characters of a discovery.
const DISCOVERY: usize = 260;
/// Items of a list that is told as one entry, at most, and the characters of the entry.
const INTRODUCED: usize = 5;
const LIST: usize = 320;
/// Statements taken of an answer that holds no discovery by name.
const ANSWER: usize = 3;
/// Causes told in the analysis.
const CAUSES: usize = 2;

/// What was found out about the matter, and what was tried without success.
pub(super) fn discoveries(entries: &Entries<'_>) -> Vec<String> {
    let mut list = Vec::new();
    for kind in [StatementKind::Discovery, StatementKind::DeadEnd] {
        // What is reported is read from the reports.
        for statement in entries.statements(kind).filter(|one| !one.reported) {
            let line = cut_at_clause(&entries.tidy_line(&statement.text), DISCOVERY);
            if says_something(&line) && holds(entries, &line, statement.origin) {
                push(&mut list, capitalised(without_full_stop(&line)));
            }
        }
    }
    answers::answers(entries, &mut list);
    reported(entries, &mut list);
    delegated::findings(entries).into_iter().for_each(|line| push(&mut list, line));
    // Where nothing was changed, what the agent said last is what came of it.
    let evidence = entries.evidence;
    let is_menu = entries.reports.reports.last().is_some_and(Report::proposes);
    if list.is_empty()
        && !is_menu
        && !evidence.files.values().any(FileWork::changed)
        && evidence.commits.is_empty()
    {
        let reply = evidence.last_reply.as_ref().map_or("", |reply| reply.text.as_str());
        let (prose, listed) = plain_words(reply);
        let answer = prose.iter().chain(&listed).take(ANSWER);
        answer.for_each(|one| push(&mut list, entries.tidy(one)));
    }
    let extra = list.len().saturating_sub(DISCOVERIES);
    list.drain(..extra);
    list
}

/// Whether a line is more than praise, or a state that later work ended.
fn holds(entries: &Entries<'_>, line: &str, at: Origin) -> bool {
    !transient::is_boast(line)
        && !transient::is_past_state(entries.evidence, line, at)
        && !pattern!(r#"(?i)^User: "(?:the|this) (?:issue|problem|bug|error) is (?:for|with|in|on|when)\b[^`/_]*$"#)
            .is_match(line)
}

/// Whether a statement says more than that something is so: it names code, or is long enough.
fn says_something(line: &str) -> bool {
    let prose = line.split('`').step_by(2).flat_map(str::split_whitespace);
    let prose = prose.filter(|word| word.chars().filter(|c| c.is_alphabetic()).count() >= 3);
    (line.len() >= 60 || (line.len() >= 40 && line.contains(['`', '/', '_'])))
        && (prose.count() >= 4 || !line.is_ascii())
}

/// What reports say was found, and what they state where the turn changed nothing.
fn reported(entries: &Entries<'_>, list: &mut Vec<String>) {
    for report in &entries.reports.reports {
        let states = !report.changed && !report.proposes();
        let mut taken = 0;
        if states {
            for line in introduced(entries, report) {
                push(list, line);
                taken += 1;
            }
        }
        for claim in &report.claims {
            let is_step = claim.label.is_none() && claim.text.contains('→');
            let is_finding = matches!(claim.topic, Some(Topic::Finding | Topic::Cause)) && !is_step
                || (states && is_statement(claim) && !is_introduced(claim))
                || (states
                    && report.answers
                    && is_bold_statement(claim)
                    && is_last_state(entries, report));
            if is_finding
                && !is_overtaken(entries, report, claim)
                && taken < OF_A_REPORT
                && !asks(claim)
                && !is_headless(claim)
                && let Some(line) = entries.claim(claim)
                && says_something(&line)
                && holds(entries, &line, claim.origin)
            {
                push(list, line);
                taken += 1;
            }
        }
    }
}

/// Whether a claim is a question to the user, and what stands behind it at most a hint in brackets.
pub(super) fn asks(claim: &Claim) -> bool {
    let has_question = claim.label.as_deref().is_some_and(|label| label.ends_with('?'));
    claim.text.ends_with('?')
        || has_question && (claim.text.is_empty() || claim.text.starts_with('('))
}

/// Whether an item names a thing without a verb: its head stands in the sentence before the list.
fn is_headless(claim: &Claim) -> bool {
    claim.listed
        && claim.label.is_none()
        && claim.topic.is_none_or(|topic| topic == Topic::Finding)
        && !claim.text.starts_with('`')
        && !states(&claim.text)
        && !begins_as_order(&claim.text)
}

/// Lists that a sentence introduces, each as one entry: the items say nothing without the sentence.
fn introduced(entries: &Entries<'_>, report: &Report) -> Vec<String> {
    let lists = report.claims.chunk_by(|a, b| a.section == b.section);
    let told = lists.filter_map(|list| {
        let items: Vec<&Claim> =
            list.iter().filter(|claim| is_introduced(claim) && !claim.nested).collect();
        let first = items.first()?;
        let is_choice = |claim: &&Claim| is_option(claim) || asks(claim);
        if items.len() > INTRODUCED || items.iter().any(is_choice) {
            return None;
        }
        let lead = entries.tidy_line(first.section.as_deref()?);
        let told = items.iter().map(|claim| {
            let text = entries.tidy_line(&claim.text);
            let text = without_full_stop(sentences(&text).first().copied().unwrap_or(&text));
            match claim.label.as_deref() {
                Some(label) if text.is_empty() => entries.tidy_line(label),
                Some(label) => format!("{}: {text}", entries.tidy_line(label)),
                None => text.to_owned(),
            }
        });
        let line = cut_at_clause(&format!("{lead}: {}", told.collect::<Vec<_>>().join("; ")), LIST);
        let is_gone = items.iter().any(|claim| is_overtaken(entries, report, claim));
        let names_nothing =
            leans(&lead) || pattern!(r"(?i)\b(?:it|this|that|they|questions?)$").is_match(&lead);
        (!names_nothing && !is_gone && says_something(&line)).then(|| capitalised(&line))
    });
    told.collect()
}

/// Whether a claim is an item below a sentence such as `The plugin does two things:`.
fn is_introduced(claim: &Claim) -> bool {
    let section = claim.section.as_deref().unwrap_or_default();
    claim.listed
        && claim.topic.is_none()
        && section.split_whitespace().count() >= 4
        && section.starts_with(|c: char| c.is_uppercase() || c == '`')
        && pattern!(r"\b(?:[a-z]+s|are|use|have|do|can|was|were|need|run|make|call|fail|depend)\b")
            .is_match(section)
}

/// Whether an item that no heading explains states a fact of its own: it has a name and says at
/// least a sentence about it. Rows of an explanation (`@`: separator) do not.
fn is_statement(claim: &Claim) -> bool {
    let words = claim.text.split_whitespace().count();
    claim.topic.is_none()
        && claim.listed
        && !claim.nested
        && (claim.label.is_some() || claim.text.contains('`'))
        && words >= 8
        && !describes(claim)
        && !claim.text.contains(['→', '?'])
        && !is_option(claim)
}

/// Whether neither a commit nor a change of code followed, which may have mended what was told.
fn is_last_state(entries: &Entries<'_>, report: &Report) -> bool {
    let later =
        |origin: Origin| origin.source == report.origin.source && origin.line > report.origin.line;
    let evidence = entries.evidence;
    !evidence.commits.iter().any(|commit| later(commit.origin))
        && !evidence
            .files
            .iter()
            .any(|(path, work)| work.changed() && later(work.last) && !path.ends_with(".md"))
}

/// Whether a paragraph of an answer begins with a statement in bold: `Why it grows: each call ...`.
fn is_bold_statement(claim: &Claim) -> bool {
    let label = claim.label.as_deref().unwrap_or_default();
    claim.topic.is_none_or(|topic| topic == Topic::Decision && label.starts_with("Why"))
        && !claim.listed
        && label.split_whitespace().count() >= 3
        && !label.ends_with('?')
        && claim.text.split_whitespace().count() >= 6
}

/// Whether an item tells what something else does or means, which is not named in it.
fn describes(claim: &Claim) -> bool {
    let names_code = claim.label.as_deref().is_some_and(|label| label.starts_with('`'));
    let text = claim.text.as_str();
    claim.label.is_none()
        && pattern!(
            r"^(?:[A-Z][a-z]+[^s\W]s|Does|Goes|Passes) (?:the|a|an|on|to|in|its|all|each|`)\b"
        )
        .is_match(text)
        || names_code
            && pattern!(r"^(?:The|A|An) [\w ]+(?: name| prefix| used| of| for)\b").is_match(text)
}

/// Whether later work changed what the claim names: a finding that led to a fix is told by the fix.
fn is_overtaken(entries: &Entries<'_>, report: &Report, claim: &Claim) -> bool {
    if overtaken::is_gone(entries, &claim.text, claim.origin) {
        return true;
    }
    if report.changed {
        return false;
    }
    let evidence = entries.evidence;
    let text = format!("{} {}", claim.label.as_deref().unwrap_or_default(), claim.text);
    let named: Vec<&str> =
        text.split('`').skip(1).step_by(2).filter(|name| name.len() >= 4).collect();
    let found = words(&text);
    let covers = |done: &str| {
        named.iter().any(|name| done.contains(name)) && share_of_words(&found, &words(done)) >= 0.2
            || share_of_words(&found, &words(done)) >= 0.4
    };
    let later =
        |origin: Origin| origin.source == report.origin.source && origin.line > report.origin.line;
    let commits = evidence.commits.iter().filter(|commit| later(commit.origin));
    let mut committed = commits.map(|commit| format!("{} {}", commit.subject, commit.body));
    let reports =
        entries.reports.reports.iter().filter(|other| other.changed && later(other.origin));
    let mut reported = reports.flat_map(|other| &other.claims);
    committed.any(|done| covers(&done))
        || reported.any(|done| {
            covers(&format!("{} {}", done.label.as_deref().unwrap_or_default(), done.text))
        })
}

/// One of several ways to go on, or an order to do something: nothing that is so.
fn is_option(claim: &Claim) -> bool {
    let marked = claim
        .label
        .as_deref()
        .is_some_and(|label| pattern!(r"(?i)^(?:[a-h1-9]\b|option\b|step\b)").is_match(label));
    marked
        || begins_as_order(&claim.text)
        || pattern!(
            r"(?i)^(?:handle|reject|keep|allow|make|let|put|push|symlink|require|drop|skip)\b"
        )
        .is_match(&claim.text)
}

/// What failed for reasons that are not part of the work, as reports say.
pub(super) fn known_failures(entries: &Entries<'_>) -> Vec<String> {
    let mut list = Vec::new();
    for claim in entries.reports.on(Topic::KnownFailure) {
        entries.claim(claim).into_iter().for_each(|line| push(&mut list, line));
    }
    let extra = list.len().saturating_sub(KNOWN_FAILURES);
    list.drain(..extra);
    list
}

/// The last causes that the agent reported, or that errors went away by: what it names on the way
/// there are often guesses.
pub(super) fn root_cause(entries: &Entries<'_>) -> Option<String> {
    let reported = entries.statements(StatementKind::Cause).filter(|one| one.reported);
    let resolved = entries.evidence.errors.iter().filter(|error| error.resolution.is_some());
    let resolved = resolved.filter_map(|error| error.cause.as_deref());
    let mut causes: Vec<&str> = Vec::new();
    for cause in resolved.chain(reported.map(|one| one.text.as_str())) {
        causes.retain(|known| !same_words(known, cause));
        causes.push(cause);
    }
    let extra = causes.len().saturating_sub(CAUSES);
    causes.drain(..extra);
    let told: Vec<String> =
        causes.into_iter().map(|cause| sentence(&entries.cause(cause))).collect();
    (!told.is_empty()).then(|| told.join(" "))
}

/// Errors of commands in the last turn that nothing made go away, and that no later command of
/// the same words shows to be a slip of the command line.
pub(super) fn last_turn_errors(evidence: &Evidence) -> Vec<&ErrorSeen> {
    let start = evidence.prompts.last().map_or(Origin::default(), |prompt| prompt.origin);
    let open = evidence.errors.iter().filter(|error| error.resolution.is_none());
    open.filter(|error| error.origin.source == start.source && error.origin >= start)
        .filter(|error| {
            let mut later = evidence.commands.iter().filter(|run| run.origin > error.origin);
            !later.any(|run| run.outcome.succeeded() && is_same_work(&error.attempt, &run.command))
                && !failed_otherwise(evidence, error)
        })
        .collect()
}

/// Whether a hook of a commit or push failed, and the next attempt failed for another reason: what the
/// hook found was mended.
fn failed_otherwise(evidence: &Evidence, error: &ErrorSeen) -> bool {
    let step = |attempt: &str| {
        let found = pattern!(r"\bgit (?:-\S+ \S+ )*(commit|push)\b").captures(attempt);
        found.map(|found| found[1].to_owned())
    };
    let failed = step(&error.attempt);
    failed.is_some()
        && evidence.errors.iter().any(|later| {
            later.origin.source == error.origin.source
                && later.origin > error.origin
                && later.message != error.message
                && step(&later.attempt) == failed
        })
}

/// Whether two command lines share most of their words, or one is the end of the other.
fn is_same_work(failed: &str, worked: &str) -> bool {
    let meant = |line: &str| line.split(" | ").next().unwrap_or_default().trim().to_owned();
    let (failed, worked) = (meant(failed), meant(worked));
    failed.ends_with(&worked) || worked.ends_with(&failed) || same_words(&failed, &worked)
}

fn sentence(text: &str) -> String {
    if text.ends_with(['.', '!', '?', '…']) { text.to_owned() } else { format!("{text}.") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{model::evidence::TurnReport, summarize::report::Reports};

    #[test]
    fn a_list_is_told_with_the_sentence_that_introduces_it() {
        let text = "Two tests use both `Parallel()` and `Chdir()`:\n\n\
                    1. `detects the first`: line 36\n2. `detects the second`: line 459\n\n\
                    When it starts, it:\n\n- Calls the exported function of the plugin, which returns its hooks\n";
        let evidence = Evidence {
            reports: vec![TurnReport { text: text.to_owned(), ..TurnReport::default() }],
            ..Evidence::default()
        };
        let reports = Reports::of(&evidence);
        let found = discoveries(&Entries { evidence: &evidence, reports: &reports, project: None });
        assert_eq!(
            found,
            [
                "Two tests use both `Parallel()` and `Chdir()`: `detects the first`: line 36; `detects the second`: line 459"
            ]
        );
    }

    #[test]
    fn what_an_answer_says_in_bold_is_found_out() {
        let text = "Now I see the full picture:\n\n**Both strategies had this bug:**\n\n\
                    1. `handle()` called `create_start()` for each task\n\
                    2. `create_start()` made a commit in both strategies\n\n\
                    **The issue:** The start made a commit without any change to a file. It was an empty commit that:\n\
                    1. Added a commit\n2. Did not count\n\n\
                    **Why the counter stayed at zero:** Commits of tasks do not increment the `counter` of the state.\n";
        let report = TurnReport { text: text.to_owned(), answers: true, ..TurnReport::default() };
        let evidence = Evidence { reports: vec![report], ..Evidence::default() };
        let reports = Reports::of(&evidence);
        let found = discoveries(&Entries { evidence: &evidence, reports: &reports, project: None });
        for wanted in [
            "Both strategies had this bug: `handle()` called",
            "The issue: The start made a commit without any change to a file",
            "Why the counter stayed at zero: Commits of tasks do not increment",
        ] {
            assert!(found.iter().any(|line| line.starts_with(wanted)), "{wanted}: {found:?}");
        }
    }

    #[test]
    fn a_finding_holds_a_sentence() {
        assert!(!says_something("The issue is clear now"));
        assert!(!says_something("`/transformers.js` and `/tokenizer/transformers.js`"));
        assert!(says_something("`EXPIRY` is read in seconds, the file gives minutes"));
    }
}
