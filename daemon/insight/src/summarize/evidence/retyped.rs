//! Recognises a prompt that the user wrote again after stopping the agent.

use crate::{
    model::evidence::Evidence,
    text::{share_of_words, words},
};

/// The second of two prompts is a corrected repetition of the first if each contains at least this
/// share of the words of the other.
const RETYPED: f64 = 0.6;

/// Whether `text` is the last prompt, which the user wrote again with a correction before any file
/// was changed. The caller checks that the user stopped the agent.
pub(super) fn retypes(evidence: &Evidence, text: &str) -> bool {
    let Some(last) = evidence.prompts.last() else { return false };
    let (before, after) = (words(&last.text), words(text));
    share_of_words(&before, &after) >= RETYPED
        && share_of_words(&after, &before) >= RETYPED
        && !evidence.changed_files().any(|(_, work)| work.last > last.origin)
}
