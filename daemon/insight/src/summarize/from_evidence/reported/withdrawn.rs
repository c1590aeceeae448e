//! Finds answers that a later report of the agent corrects or takes back.

use crate::{
    lang::retraction,
    model::transcript::Origin,
    summarize::{
        from_evidence::entries::Entries,
        text::{pattern, share_of_words, words},
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

/// Whether the agent took an answer back, or the next prompt contradicted it.
pub(crate) fn is_withdrawn(entries: &Entries<'_>, part: &str, at: Origin) -> bool {
    let answer_words = words(part);
    let share = |other: &str| share_of_words(&answer_words, &words(other));
    retraction::is_retracted(entries.evidence, at, &share)
}
