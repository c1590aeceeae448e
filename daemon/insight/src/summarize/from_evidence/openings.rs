//! Recognises first prompts that order no work: questions, preparations and talk.

use crate::summarize::{
    from_evidence::wording::{self, Manner},
    text::{pattern, sentences, spoken_sentences},
};

/// Whether a request only asks, and orders nothing. A path or an address may follow the question.
pub(super) fn is_question(text: &str) -> bool {
    let orders = |sentence: &String| wording::plain(sentence).1 == Manner::Orders;
    let asks = |sentence: &String| sentence.ends_with('?') || !sentence.trim().contains(' ');
    let all = spoken_sentences(text);
    let is_asked = text.ends_with('?') || text.contains("? ") && all.iter().all(asks);
    is_asked && !all.iter().any(orders)
}

/// Whether a first prompt only prepares the agent for the work.
pub(super) fn is_preparation(text: &str) -> bool {
    pattern!(
        r"(?i)^(?:analy[sz]e (?:the|this) (?:codebase|repo\w*|project) and write (?:claude|agents|gemini)\.md\b|(?:read|explore|study|familiari[sz]e yourself with|get (?:familiar|acquainted) with|make yourself familiar with) (?:through )?(?:the |this |our )?(?:codebase|code|repo\w*|project|docs?|documentation|readme|(?:claude|agents|gemini)\.md)\b[^.;:]{0,40}$)"
    )
    .is_match(text.trim_end_matches('.'))
}

/// Whether a first prompt only greets, or asks to read, talk or recall something.
pub(super) fn is_talk(text: &str) -> bool {
    pattern!(
        r"(?i)^(?:(?:please )?read\b.*\b(?:then|and) (?:talk|tell me|discuss|let's|we)\b|talk to me\b|let's (?:talk|chat|discuss)\b|do you (?:remember|know|recall)\b|what (?:is|was|were|are) (?:the|our|we)\b|hello\b|hi\b)"
    )
    .is_match(text)
}

/// Whether a first prompt only asks to commit, push or merge what is there.
pub(super) fn is_publication(text: &str) -> bool {
    text.split_whitespace().count() <= 8
        && pattern!(r"(?i)^(?:please )?(?:commit|push|merge)\b[^,;:?]*$").is_match(text)
}

/// Whether a first prompt only points at comments of a review, whose contents it does not name.
pub(super) fn is_about_comments(text: &str) -> bool {
    let first = sentences(text).first().copied().unwrap_or_default();
    first.split_whitespace().count() <= 14
        && !first.contains(['`', '/', '"'])
        && pattern!(
            r"(?i)^(?:there(?:['’]?s| is| are)|address|check|look at|fix|handle|resolve|see|go through|some)\b.{0,48}\b(?:comments?|feedback|findings|points)\b"
        )
        .is_match(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_without_their_contents_name_no_session() {
        assert!(is_about_comments("Theres a comment on the PR from coderabbit. Address it."));
        assert!(is_about_comments("Address the 3 findings in separate commits"));
        assert!(!is_about_comments("Address the comments about the lock in `list.rs`"));
        assert!(!is_about_comments("Add a field for comments"));
    }
}
