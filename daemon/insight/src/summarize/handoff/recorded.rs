//! Chooses what the summary of the last session records, but its quoted reports, its title and its
//! first request do not contain: the causes of errors, the message of the last commit, and
//! decisions with a reason.

use crate::{
    model::{
        summary::{DecisionRecord, EnhancedSessionSummary},
        wording::{AND_CHANGED, CHOSEN, is_filler},
    },
    summarize::handoff::{
        MAX_DECISION_CHARS, guard, past::EndedSession, validity::SessionValidity,
    },
    text::{pattern, share_of_words, words},
};

/// Maximum number of causes and of messages together, and of decisions.
const MAX_RECORDED: usize = 2;
/// Maximum length, in characters, of a cause with its error, or of a message.
const MAX_CAUSE_CHARS: usize = 300;
/// Minimum number of words of a cause or reason that explains something.
const MIN_REASON_WORDS: usize = 5;
/// Minimum number of words of a decision that is clear alone.
const MIN_DECISION_WORDS: usize = 4;
/// The message of a commit is new if the reports contain less than this share of its words.
const MAX_REPORTED_SHARE: f64 = 0.5;
/// A cause repeats another one if one of them contains at least this share of the other's words.
const REPEATED_SHARE: f64 = 0.6;

/// Returns the causes that the session found and the message of its last commit, as far as the
/// quoted reports lack them.
pub(super) fn causes(summary: &EnhancedSessionSummary, past: &EndedSession) -> Vec<String> {
    let lists = [&summary.completed_tasks, &summary.discoveries];
    let noted = lists.into_iter().flatten().flatten().filter(|text| is_cause(text)).cloned();
    let errors = summary.errors_resolved.iter().flatten().rev().filter(|record| {
        explains(&record.root_cause) && !past.has_reported_words(&record.root_cause)
    });
    let errors = errors.filter_map(|record| {
        let error = guard::printed(&record.error)?;
        Some(format!("Error: {error}. Cause: {}", record.root_cause))
    });
    // A cause without a name may be about anything.
    let stated = summary.root_cause_analysis.iter().flat_map(|causes| causes.lines());
    let stated = stated.filter(|cause| explains(cause) && cause.contains('`'));
    let stated = stated.map(|cause| format!("Root cause: {cause}"));
    let mut commits = summary.completed_tasks.iter().flatten().rev();
    let message = commits.find(|done| done.contains("(commit `"));
    let message = message.and_then(|done| reason_of_commit(done, past));
    let mut found: Vec<String> = Vec::new();
    for text in noted.chain(errors).chain(stated).chain(message) {
        let is_known = |known: &String| {
            share_of_words(&words(&text), &words(known)) >= REPEATED_SHARE
                || share_of_words(&words(known), &words(&text)) >= REPEATED_SHARE
        };
        if found.len() < MAX_RECORDED
            && !past.has_reported_words(&text)
            && !found.iter().any(is_known)
        {
            found.push(text);
        }
    }
    found.iter().filter_map(|text| guard::quote(text, MAX_CAUSE_CHARS)).collect()
}

/// Returns the message of a commit, without its subject, if it says why the change was made and the
/// quoted reports lack it.
fn reason_of_commit(done: &str, past: &EndedSession) -> Option<String> {
    let found = pattern!(r"\(commit (`[^`]+`)\): (.+)$").captures(done)?;
    let message = &found[2];
    let gives_reason = pattern!(
        r"(?i)\b(?:because|since|due to|caused?|(?:does|do|did|is|was|were|can|could)(?:n.t| not)|no longer|instead of|(?:to|and) (?:avoid|prevent)|so that|returned|fail(?:s|ed)?|leak(?:s|ed)?|stale|missing)\b"
    );
    let is_new = past.reported_share(message) < MAX_REPORTED_SHARE;
    (gives_reason.is_match(message) && is_new).then(|| format!("Commit {}: {message}", &found[1]))
}

/// Returns the decisions that have a reason, were not made into facts, and are not in the quoted
/// reports, the latest first.
pub(super) fn decisions(
    summary: &EnhancedSessionSummary,
    past: &EndedSession,
    validity: SessionValidity<'_>,
) -> Vec<String> {
    let records = summary.key_decisions.iter().flatten().rev();
    let records = records.filter(|record| !validity.is_known(&record.decision));
    let found = records.filter_map(with_reason).filter(|text| !past.has_reported_words(text));
    found.filter_map(|text| guard::quote(&text, MAX_DECISION_CHARS)).take(MAX_RECORDED).collect()
}

/// Formats a decision of the agent with its reason, or an option that the user changed; `None` for
/// any other decision, and for a decision that is clear only in its conversation.
fn with_reason(record: &DecisionRecord) -> Option<String> {
    let (decision, reason) = (record.decision.trim_end_matches('.'), record.rationale.as_str());
    let is_open = pattern!(
        r"(?i)^(?:user: |asked: |(?:this|that|it|they|these|those|we|i|you|he|she|there|yes|no)\b)"
    );
    if is_open.is_match(decision) {
        return None;
    }
    let chosen = reason.strip_prefix(CHOSEN);
    if let Some(changed) = chosen.and_then(|rest| rest.strip_prefix(AND_CHANGED)) {
        let words = changed.split("; asked: ").next().unwrap_or(changed);
        return Some(format!("{decision}. {CHOSEN}{AND_CHANGED}{words}"));
    }
    let is_told =
        pattern!(r"^(?:Chosen|Recommended|Plan|Accepted|User)\b|\b(?i:chosen by the user)\b")
            .is_match(reason);
    let is_named = decision.split_whitespace().count() >= MIN_DECISION_WORDS;
    let is_clear = is_named && explains(reason) && !is_told;
    is_clear.then(|| format!("{decision}. Why: {reason}"))
}

/// Whether a text states a cause and is clear alone.
fn explains(text: &str) -> bool {
    let points_back =
        pattern!(r"(?i)^(?:this|that|it|they|these|those|but|and|so|or|unless|if|when|then)\b");
    !is_filler(text)
        && !points_back.is_match(text)
        && text.split_whitespace().count() >= MIN_REASON_WORDS
}

fn is_cause(text: &str) -> bool {
    pattern!(r"(?i)^(?:the )?root causes?(?: of [^:]+)?:? ").is_match(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decision(decision: &str, rationale: &str) -> DecisionRecord {
        DecisionRecord {
            decision: decision.to_owned(),
            rationale: rationale.to_owned(),
            alternatives: None,
        }
    }

    #[test]
    fn only_causes_and_messages_that_are_clear_alone_are_recorded() {
        for (text, wanted) in [
            ("Root cause: the tag was pushed with a token", true),
            ("Root causes of the failure: the tag; the token", true),
            ("The cause is unknown", false),
        ] {
            assert_eq!(is_cause(text), wanted, "{text}");
        }
        for (text, wanted) in [
            ("The tests read the old key of the store", true),
            ("This was the old key of the store", false),
            ("Old key", false),
            ("not stated", false),
        ] {
            assert_eq!(explains(text), wanted, "{text}");
        }
    }

    #[test]
    fn a_decision_needs_a_reason_or_the_users_change() {
        let reason = "the local file merges with `settings.json`";
        for (record, wanted) in [
            (
                decision("One `settings.json` with a script", reason),
                Some(format!("One `settings.json` with a script. Why: {reason}")),
            ),
            (
                decision(
                    "A script (simple)",
                    "Chosen by the user and changed: \"like 1\"; asked: Which?",
                ),
                Some("A script (simple). Chosen by the user and changed: \"like 1\"".to_owned()),
            ),
            (decision("A script for all", "Chosen by the user; asked: Which one is it?"), None),
            (decision("User: \"we should keep it\"", reason), None),
            (decision("Fan out a review", "Ultracode is on"), None),
            (decision("It is kept there", reason), None),
        ] {
            assert_eq!(with_reason(&record), wanted, "{record:?}");
        }
    }
}
