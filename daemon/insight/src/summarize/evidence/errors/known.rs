//! Recognises failures that are not due to the agent's work.

use crate::{
    model::evidence::ErrorSeen,
    summarize::evidence::{bounds, statements},
    text::{Block, blocks, kept_words, one_line, pattern, sentences},
};

/// Finds the sentences in which the agent says that its work did not cause a failure. Records each
/// of these sentences with one of the unresolved errors.
pub(in crate::summarize::evidence) fn note_known(errors: &mut [ErrorSeen], text: &str) {
    if errors.is_empty() {
        return;
    }
    for block in blocks(text) {
        let (Block::Paragraph(text) | Block::Heading(text) | Block::Item(text)) = block;
        for sentence in sentences(&one_line(&text)) {
            note_sentence(errors, sentence);
        }
    }
}

/// If `sentence` says that the agent's work did not cause a failure, records the sentence with an
/// unresolved error: the latest error that the sentence mentions, or else the latest error.
fn note_sentence(errors: &mut [ErrorSeen], sentence: &str) {
    if !calls_failure_known(sentence) {
        return;
    }
    let words = || {
        let marks = |c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.' | '/' | '-');
        sentence.split(marks).filter(|word| word.len() >= 6 && word.contains(['_', '.', '/', '-']))
    };
    let open = |error: &&mut ErrorSeen| error.resolution.is_none();
    let mut open: Vec<&mut ErrorSeen> = errors.iter_mut().filter(open).collect();
    let named = open
        .iter()
        .rposition(|error| words().any(|word| error.message.contains(word)))
        .or(open.len().checked_sub(1));
    if let Some(at) = named {
        open[at].known = Some(kept_words(sentence, bounds::ERROR_TEXT));
    }
}

/// Whether a sentence about a failure says that the agent's work did not cause it. The plan after
/// such a clause does not count: `These errors are pre-existing, so I'll leave them`.
fn calls_failure_known(sentence: &str) -> bool {
    pattern!(r"(?i)\bfail|\berror|\btests?\b|\blint|\bflak").is_match(sentence)
        && !sentence.ends_with('?')
        && sentence.split([',', ';', '\u{2014}']).any(says_not_ours)
}

/// Whether a clause says that a failure is not due to the agent's work, and is neither a guess nor
/// a plan to check it.
fn says_not_ours(clause: &str) -> bool {
    let says_so = pattern!(
        r"(?i)\bpre-?existing\b|\bunrelated (?:to|failure|test|error)|\bknown (?:failure|flake|flaky)|\balready (?:fail|failing|failed|broken)|\bfail(?:s|ed|ing)? (?:on|without|before) (?:main|master|my|our|this|these)"
    );
    let denies = pattern!(
        r"(?i)(?:\bnot|n['’]t) (?:(?:an?|all|actually|really|just|even) )*(?:pre-?existing|unrelated|known|already|fail(?:s|ed|ing)?)\b|\b(?:whether|if) (?:[\w`'.-]+ ){0,6}(?:pre-?existing|unrelated|known|already|fail(?:s|ed|ing)?)\b"
    );
    says_so.is_match(clause)
        && !denies.is_match(clause)
        && !statements::is_not_firm(clause.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_firm_statement_says_that_a_failure_is_known() {
        for (sentence, wanted) in [
            ("Let me check whether these type errors are pre-existing.", false),
            ("Are these errors pre-existing, or did I break the type?", false),
            ("The failing test is not pre-existing; my change broke it.", false),
            ("The test does not fail on main, so my change broke it.", false),
            ("I'll stash the changes to see if the tests already failed.", false),
            ("The failure isn't a known flake.", false),
            ("These type errors are pre-existing, so I'll leave them.", true),
            ("The failures are not from my change but pre-existing.", true),
            ("The lint fails on main, too \u{2014} let me run the tests.", true),
            ("Both tests already failed before this change.", true),
        ] {
            assert_eq!(calls_failure_known(sentence), wanted, "{sentence}");
        }
    }
}
