//! Determines from later prompts and reports what became of the work that a report describes.

use crate::{
    lang::prompt::slash_command,
    model::evidence::{Evidence, Quote},
    report::{Report, Topic, is_phrase},
    summarize::{
        evidence::RECOMMENDED,
        from_evidence::{
            entries::Entries,
            errors::refuted,
            reported::{
                answers::{self, asks_about_progress, prompt_before},
                overtaken, review,
            },
        },
    },
    text::{one_line, pattern, sentences, spoken_sentences},
};

/// Maximum number of bytes of a prompt that are read as an answer to a report.
const ANSWER: usize = 1_200;

/// What became of the work that a report describes.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Fate {
    Kept,
    /// The user said that the work did not help, or pasted the same error again.
    Failed,
    /// The user refused the work or wanted it done differently, or the report no longer holds.
    Discarded,
}

/// Returns what became of the work of a report.
pub(crate) fn fate(entries: &Entries<'_>, report: &Report) -> Fate {
    let evidence = entries.evidence;
    let Some(next) = next_prompt(evidence, report) else { return Fate::Kept };
    // After an accepted offer or a list of the current state, the work that followed is more
    // important than the report.
    let is_over = report.mostly_proposes() || is_of_bare_command(evidence, report);
    let is_taken_up = is_over && later_changes(entries, report) > 0
        || is_accepted(evidence, next) && is_followed_by_change(entries, report);
    // The report of a turn that the user stopped and corrected is void. An answer that the user
    // calls wrong is void, too.
    let is_corrected = evidence.corrections.iter().any(|one| one.origin == next.origin);
    let is_void = is_taken_up
        || is_corrected
        || says(next, Topic::Refutation)
        || says(next, Topic::Contradiction);
    let is_of_moment = prompt_before(evidence, report).is_some_and(asks_about_progress)
        && is_followed_by_comparable_report(entries, report);
    let is_old = prompt_before(evidence, report)
        .and_then(answers::changes_until_overtaken)
        .is_some_and(|least| later_changes(entries, report) >= least);
    // The report on the fixes is more important than the review.
    let is_fixed = asks_to_fix(&next.text)
        && review::is_review(entries, report)
        && is_followed_by_change(entries, report);
    if !report.changed
        && (is_void || is_of_moment || is_old || is_fixed || is_resolved_later(entries, report))
    {
        return Fate::Discarded;
    }
    if is_refused(evidence, report)
        || overtaken::is_objected_to(evidence, report.origin)
        || says(next, Topic::Objection) && is_followed_by_change(entries, report)
    {
        return Fate::Discarded;
    }
    let is_refuted = refuted::spans(evidence).iter().any(|span| span.holds(report.origin));
    let failed = is_refuted || says(next, Topic::StillFails);
    if report.changed && failed { Fate::Failed } else { Fate::Kept }
}

/// Returns the first prompt after a report.
pub(crate) fn next_prompt<'e>(evidence: &'e Evidence, report: &Report) -> Option<&'e Quote> {
    evidence.prompts.iter().find(|prompt| prompt.origin.line > report.origin.line)
}

/// Whether the user refused what a report announced: the turn of the report ended in a tool call
/// that was not approved, or the user stopped and corrected the agent after words such as `Let me
/// fix this:`.
pub(crate) fn is_refused(evidence: &Evidence, report: &Report) -> bool {
    let next = next_prompt(evidence, report);
    let mut corrections = evidence.corrections.iter();
    let correction =
        next.and_then(|next| corrections.find(|correction| correction.origin == next.origin));
    correction.is_some_and(|correction| {
        !report.changed && correction.refused.is_some() || report.announces()
    })
}

/// Whether a prompt after a review asks to fix the findings, or the critical ones.
fn asks_to_fix(prompt: &str) -> bool {
    pattern!(r"(?i)^(?:(?:ok|okay|yes|sure|great|good|please|can you|let's|lets|now),? )*(?:fix|address|resolve|apply|implement|tackle) (?:all|them|these|those|it|this|that|the (?:findings?|issues?|problems?|review|comments?|points?|suggestions?|feedback)|everything|both|critical)\b")
        .is_match(prompt.trim())
}

/// Whether the report is a review and a later report says that its findings are resolved.
fn is_resolved_later(entries: &Entries<'_>, report: &Report) -> bool {
    let opening = |report: &Report| one_line(report.opening.as_deref().unwrap_or_default());
    let is_review = report.claims.iter().any(|claim| {
        let label = claim.label.as_deref().unwrap_or_default();
        let start = if label.is_empty() { &claim.text } else { label };
        review::begins_with_severity(start)
            || pattern!(r"(?i)^\W*(?:finding|issue|bug|problem)s?\b").is_match(start)
    });
    let later = entries.reports.reports.iter().filter(|one| one.origin.line > report.origin.line);
    // A review of another commit, or of something else, says nothing about this review.
    let asked = prompt_before(entries.evidence, report).unwrap_or_default();
    let later = later.filter(|one| {
        let other = prompt_before(entries.evidence, one).unwrap_or_default();
        !answers::asks_for_other_review(asked, other)
    });
    is_review
        && later.map(opening).any(|opening| {
            sentences(&opening).iter().take(3).any(|one| is_phrase(Topic::Resolved, one))
        })
}

/// Whether a report answers a slash command with at most one argument. Such a report lists the
/// current state.
fn is_of_bare_command(evidence: &Evidence, report: &Report) -> bool {
    let is_bare =
        |text: &str| slash_command(text).is_some() && text.split_whitespace().count() <= 2;
    prompt_before(evidence, report).is_some_and(is_bare)
}

fn says(prompt: &Quote, topic: Topic) -> bool {
    let text = &prompt.text[..prompt.text.floor_char_boundary(ANSWER)];
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    spoken_sentences(&one_line(text)).iter().any(|sentence| is_phrase(topic, sentence))
        || text.lines().any(|line| is_phrase(topic, line.trim()))
}

/// Whether the turn of the next report changed something.
pub(crate) fn is_followed_by_change(entries: &Entries<'_>, report: &Report) -> bool {
    let later = entries.reports.reports.iter().find(|one| one.origin.line > report.origin.line);
    later.is_some_and(|later| later.changed)
}

/// Returns the number of later reports whose turn changed something.
pub(crate) fn later_changes(entries: &Entries<'_>, report: &Report) -> usize {
    let later = entries.reports.reports.iter().filter(|one| one.changed);
    later.filter(|later| later.origin.line > report.origin.line).count()
}

/// Whether a later report about changes has at least half the length of `report`. A shorter report
/// does not describe the progress of the work.
fn is_followed_by_comparable_report(entries: &Entries<'_>, report: &Report) -> bool {
    let reports = &entries.evidence.reports;
    let own =
        reports.iter().find(|one| one.origin == report.origin).map_or(0, |one| one.text.len());
    let mut later = reports.iter().filter(|one| one.changed && one.text.len() * 2 >= own);
    later.any(|later| later.origin.line > report.origin.line)
}

/// Whether a prompt accepts what the agent recommended.
fn is_accepted(evidence: &Evidence, prompt: &Quote) -> bool {
    let mut choices = evidence.choices.iter();
    choices.any(|choice| choice.question == RECOMMENDED && choice.origin == prompt.origin)
}
