//! Finds answers that a later report of the agent corrects or takes back.

use std::collections::BTreeSet;

use crate::{
    model::transcript::Origin,
    summarize::{
        from_evidence::entries::Entries,
        report::{Topic, is_phrase},
        text::{one_line, pattern, sentences, share_of_words, words},
    },
};

/// Whether a later report corrects an answer, because of a test or explicitly.
pub(crate) fn is_refuted(entries: &Entries<'_>, part: &str, at: Origin) -> bool {
    let answer_words = words(part);
    let later = entries.reports.reports.iter().filter(|report| report.origin.line > at.line);
    later.flat_map(|report| &report.claims).any(|claim| {
        let text = format!("{} {}", claim.label.as_deref().unwrap_or_default(), claim.text);
        pattern!(r"(?i)\b(?:we|i) tested and found\b|\bturn(?:s|ed) out\b|\bcorrection\b|\b(?:was|were) wrong\b|\bcontrary to\b")
            .is_match(&text)
            && share_of_words(&answer_words, &words(&text)) >= 0.2
    })
}

/// The user objected to an answer if the objection contains at least this share of the answer's
/// words.
const OBJECTED: f64 = 0.5;

/// Whether the agent took an answer back: its next report agrees with the user's objection.
pub(crate) fn is_withdrawn(entries: &Entries<'_>, part: &str, at: Origin) -> bool {
    let reports = &entries.reports.reports;
    let Some(next) = reports.iter().find(|report| report.origin.line > at.line) else {
        return false;
    };
    let opening = one_line(next.opening.as_deref().unwrap_or_default());
    let opening = sentences(&opening);
    if !opening.first().is_some_and(|first| is_phrase(Topic::Agreement, first)) {
        return false;
    }
    let prompts = entries.evidence.prompts.iter();
    let later_prompts =
        prompts.filter(|prompt| (at.line..next.origin.line).contains(&prompt.origin.line));
    let mut objection: BTreeSet<String> =
        later_prompts.flat_map(|prompt| words(&prompt.text)).collect();
    objection.extend(opening.iter().take(3).flat_map(|sentence| words(sentence)));
    share_of_words(&words(part), &objection) >= OBJECTED
}
