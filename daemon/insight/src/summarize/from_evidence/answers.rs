//! The questions of the user that a report answers.

use crate::summarize::{
    from_evidence::entries::Entries,
    report::Report,
    text::{one_line, pattern, sentences},
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
