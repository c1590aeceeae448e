//! Finds prompts that the user took back, because they were meant for another conversation.

use crate::{
    model::evidence::Quote,
    summarize::from_evidence::entries::Entries,
    text::{pattern, spoken_sentences},
};

/// Whether the next prompt says that this prompt was meant for another conversation.
pub(super) fn is_misdirected(entries: &Entries<'_>, prompt: &Quote) -> bool {
    let mut prompts = entries.evidence.prompts.iter();
    let next = prompts.find(|one| one.origin.follows(prompt.origin));
    next.is_some_and(|next| spoken_sentences(&next.text).iter().any(|one| takes_back_prompt(one)))
}

/// Whether a sentence says that the previous prompt was meant for another conversation.
pub(super) fn takes_back_prompt(sentence: &str) -> bool {
    pattern!(r"(?i)^(?:(?:argh|my bad|oops|sorry|that was(?: for)?(?: the| a)?|the)[,.!]* )*wrong (?:chat|conversation|tab|thread|window)\b|^(?:please )?(?:disregard|ignore) (?:(?:my|the) )?(?:last|previous) (?:message|prompt)\b")
        .is_match(sentence)
}
