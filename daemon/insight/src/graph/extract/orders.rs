//! Recognises the sentences of a user that order or ask something.

use crate::{
    pattern::pattern,
    report::{Topic, is_phrase},
    text::sentences,
};

/// Whether a text orders or asks something.
pub(super) fn is_order(text: &str) -> bool {
    let order = pattern!(
        r"(?i)\b(?:can|could|would|will) you\b|\bcan we\b|\bplease\b|\blet.?s\b|\b(?:i|we) (?:want|need|would like|should)\b|\bi.d like\b|[?？]$"
    );
    order.is_match(text) || sentences(text).into_iter().any(begins_with_order)
}

/// Whether a text orders something. False for a question that asks why, what or how, and for any
/// other question that does not ask for work.
pub(super) fn is_clear_order(text: &str) -> bool {
    let order = pattern!(
        r"(?i)\b(?:can|could|would|will|shall|should) (?:you|we)\b|\bplease\b|\blet.?s\b|\b(?:i|we) (?:want|need|would like|should)\b|\bi.d (?:like|prefer|love)\b|\bdo you think (?:it|we|you)\b|\b(?:what|how) about\b"
    );
    let question = pattern!(r"(?i)\b(?:why|what|when|where|who|which|how)\b[^,.;]*[?？]$");
    let is_courteous = pattern!(r"(?i)\b(?:please|can you|could you|(?:what|how) about)\b");
    sentences(text).into_iter().any(|sentence| {
        begins_with_order(sentence)
            || order.is_match(sentence)
                && (!question.is_match(sentence) || is_courteous.is_match(sentence))
    })
}

/// Whether a sentence is a question. Users often leave out the question mark.
pub(super) fn is_question(sentence: &str) -> bool {
    let begins = pattern!(
        r"(?i)^(?:(?:and|but|so|ok(?:ay)?|also|hm+|wait)[, ]+)*(?:(?:did|does|is|are|was|were|has) (?:we|you|i|they|it|that|this|there|the|our|any\w*|`)|(?:do|have) (?:we|you|i|they)\b|why (?:is|are|does|do|did|was|were|can|would)\b)[^?？]*$"
    );
    sentence.ends_with(['?', '？']) || begins.is_match(sentence)
}

pub(super) fn begins_with_order(sentence: &str) -> bool {
    let courtesy = pattern!(
        r"(?i)^(?:(?:ok(?:ay)?|yes|yeah|great|now|so|and|also|then|sorry|please)[,.! ]+)+"
    );
    is_phrase(Topic::Order, &courtesy.replace(sentence, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_no_clear_orders_unless_they_ask_for_work() {
        for (text, asks, orders) in [
            ("Why is the first migration changed?", true, false),
            ("But it runs them all, why would you repeat the table?", true, false),
            ("how can we know which agent is active?", true, false),
            ("Can you find out why the check fails?", true, true),
            ("could we reuse the parser for that?", true, true),
            ("Do you think we could set up rewrites?", true, true),
            ("It is slow. Add a cache", true, true),
            ("I see nothing in the log.", false, false),
        ] {
            assert_eq!((is_order(text), is_clear_order(text)), (asks, orders), "{text}");
        }
    }

    #[test]
    fn questions_are_recognised_without_their_mark() {
        for (text, wanted) in [
            ("is the worker on staging already deployed?", true),
            ("did we ever add the index on `orders.created_at`", true),
            ("so why does the upload fail", true),
            ("does `parse()` read the zone of dates", true),
            ("is it deployed? if not, deploy the worker", false),
            ("does not matter, remove the old sessions", false),
            ("when the build is green, deploy the worker", false),
            ("have the worker send its log", false),
        ] {
            assert_eq!(is_question(text), wanted, "{text}");
        }
    }
}
