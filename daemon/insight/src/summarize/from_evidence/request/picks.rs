//! Recognises requests that pick from a list of the agent.

use crate::text::pattern;

/// Whether a request refers to something that the summary does not show: it picks from a list, for
/// example `3 but on this branch`, or is a question about `this` or `that`.
pub(super) fn picks_from_list(text: &str) -> bool {
    pattern!(r"(?i)^(?:option [a-e1-9]|[1-9])\b[^.)\w]|^[a-e](?:[,;:!]| ?[-–—&+] | (?:but|and|with|without|please|then|only|instead|plus)\b)|^(?:is|are|was|does|do|can|could|should) (?:this|that|it|these|those|both)\b")
        .is_match(text)
}

/// Returns a request such as `3 but on this branch` without the option that it picks.
pub(super) fn without_pick(text: &str) -> &str {
    let pick = pattern!(
        r"(?i)^(?:option )?[a-e1-9](?:(?: ?, ?| ?& ?| and )(?:option )?[a-e1-9]\b)*[,;:.!]? ?(?:but|and|please|then)? +"
    );
    let start = pick.find(text).map_or(0, |found| found.end());
    &text[start..]
}
