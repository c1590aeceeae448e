//! Finds the order in a prompt that begins with a remark to the agent.

use crate::{
    summarize::from_evidence::request::{
        later_requests::points_at_something,
        pasted_text::{without_gap, written},
        short_title::short_title,
        wording::{Manner, asks_for_work, plain, states_problem},
    },
    text::{capitalised, pattern, sentences},
};

/// Minimum number of words of an order that names its object.
const MIN_WORDS: usize = 5;

/// Whether a title only tells the agent something, for example `I didn't find the links helpful`.
pub(super) fn is_remark_to_agent(title: &str) -> bool {
    pattern!(r"(?i)^(?:i|we|there|this|these|that|it|you|as|until (?:now|recently)|lately|recently|currently|previously|so far|yesterday)\b").is_match(title)
        && !pattern!(r"(?i)^(?:i|we) (?:want|need|would like)\b|^(?:this|it) needs\b")
            .is_match(title)
        && !title.ends_with('?')
        && !states_problem(title)
        && !asks_for_work(title)
}

/// Returns the first sentence of a prompt that orders work and names its object, as a title.
pub(super) fn ordered_after_remark(prompt: &str) -> Option<String> {
    let supposes = pattern!(r"(?i)^(?:assume|imagine|note|pretend|remember|suppose)\b");
    let order = sentences(&written(&without_gap(prompt))).into_iter().find_map(|sentence| {
        let (order, manner) = plain(sentence);
        let is_order = manner == Manner::Orders
            && !supposes.is_match(&order)
            && !points_at_something(&order)
            && order.split_whitespace().count() >= MIN_WORDS;
        is_order.then(|| capitalised(&order))
    })?;
    short_title(&order, &order).map(|title| title.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_is_not_a_remark() {
        assert!(is_remark_to_agent("I didn't find those links helpful"));
        for title in ["I want a dark mode", "We need a login page", "This needs a cache"] {
            assert!(!is_remark_to_agent(title), "{title}");
        }
    }
}
