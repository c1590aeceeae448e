//! Recognises failures that are not due to the agent's work.

use crate::{
    model::evidence::ErrorSeen,
    summarize::evidence::bounds,
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
    let says_so = pattern!(
        r"(?i)\bpre-?existing\b|\bunrelated (?:to|failure|test|error)|\bknown (?:failure|flake|flaky)|\balready (?:fail|failing|failed|broken)|\bfail(?:s|ed|ing)? (?:on|without|before) (?:main|master|my|our|this|these)"
    );
    let of_failure = pattern!(r"(?i)\bfail|\berror|\btests?\b|\blint|\bflak");
    if !says_so.is_match(sentence) || !of_failure.is_match(sentence) {
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
