//! The questions of the user that a report answers.

use std::collections::BTreeSet;

use crate::{
    model::evidence::Evidence,
    summarize::{
        from_evidence::entries::Entries,
        report::Report,
        text::{one_line, pattern, sentences},
    },
};

/// A prompt with a question is no longer than this.
const QUESTION: usize = 400;
/// Characters of a question.
const ASKED: usize = 220;

/// The question that a report answers.
pub(super) fn question(entries: &Entries<'_>, report: &Report) -> Option<String> {
    if !report.answers || report.changed {
        return None;
    }
    let mut before = entries.evidence.prompts.iter().rev();
    let asked = before.find(|prompt| prompt.origin.line < report.origin.line)?;
    let text = one_line(&asked.text);
    let question = sentences(&text).into_iter().rev().find(|one| one.ends_with('?'))?;
    // Of several questions the answer may be to any.
    let is_only = sentences(&text).iter().filter(|one| one.ends_with('?')).count() == 1;
    let is_told = is_only && asked.text.len() <= QUESTION && (12..=ASKED).contains(&question.len());
    (is_told && !is_order(question)).then(|| question.to_owned())
}

/// `Can you tag it please?` asks for work, not for an answer.
fn is_order(question: &str) -> bool {
    pattern!(
        r"(?i)(?:^|[,.] )(?:(?:ok|okay|so|and|also|now),? )*(?:(?:can|could|would|will|should|shall) (?:you|we|i)|do (?:you|we) want (?:me )?to) (?:also |please |just |now )?(?:add|apply|check|commit|create|do|drive|explain|fix|get|go|have|look|make|merge|move|open|push|put|read|rebase|remove|rename|review|run|search|show|tag|tell|test|try|update|use|write)\b"
    )
    .is_match(question)
}

/// The commits that a prompt names by their hashes.
pub(super) fn commits_named(prompt: &str) -> BTreeSet<&str> {
    let hashes = pattern!(r"\b[0-9a-f]{7,40}\b").find_iter(prompt).map(|found| found.as_str());
    hashes.filter(|hash| hash.bytes().any(|byte| byte.is_ascii_digit())).collect()
}

/// The prompt that a report answers.
pub(super) fn asked_before<'e>(evidence: &'e Evidence, report: &Report) -> Option<&'e str> {
    let asked = evidence.prompts.iter().rfind(|prompt| prompt.origin.line < report.origin.line);
    asked.map(|asked| asked.text.as_str())
}

/// Whether a prompt only asks how far the agent is.
pub(super) fn asks_how_far(prompt: &str) -> bool {
    pattern!(r"(?i)^(?:(?:hey|so|ok|okay|and),? )*(?:what are you (?:doing|working on|up to)|where (?:are|were) (?:we|you)|how far (?:are|along)|how(?:'s| is) it going|are you (?:done|stuck|there|still \w+)|what(?:'s| is) the (?:status|progress)|status|still (?:running|working|there))\b.{0,24}$")
        .is_match(prompt.trim())
}
