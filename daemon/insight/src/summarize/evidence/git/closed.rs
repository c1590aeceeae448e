//! Finds pull requests that the session closed without a merge.

use crate::{
    model::evidence::CheckoutState,
    summarize::{
        evidence::{git::merged::MERGED, run::Run},
        lists::push_latest,
    },
    text::pattern,
};

/// Records the pull requests that a command closed, by its output or else by its arguments.
pub(super) fn observe(state: &mut CheckoutState, run: &Run<'_>) {
    let printed = pattern!(r"(?m)^\W*Closed (?:pull|merge) request \S*[#!]([0-9]{1,7})");
    let given = pattern!(r"\b(?:pr|mr) close (?:-\S+ )*#?([0-9]{1,7})\b");
    let numbers = |texts: regex::CaptureMatches<'_, '_>| -> Vec<u64> {
        texts.filter_map(|found| found[1].parse().ok()).collect()
    };
    let mut closed = numbers(printed.captures_iter(run.output));
    if closed.is_empty() {
        closed = numbers(given.captures_iter(&run.command.shown));
    }
    for number in closed {
        if !state.closed.contains(&number) && !state.merged.contains(&number) {
            push_latest(&mut state.closed, number, MERGED);
        }
    }
}

/// Removes the pull requests that `output` shows as reopened, and those that are known as merged.
pub(super) fn forget(state: &mut CheckoutState, output: &str) {
    if state.closed.is_empty() {
        return;
    }
    let reopened = pattern!(r"(?m)^\W*Reopened (?:pull|merge) request \S*[#!]([0-9]{1,7})");
    let reopened: Vec<u64> =
        reopened.captures_iter(output).filter_map(|found| found[1].parse().ok()).collect();
    let CheckoutState { closed, merged, .. } = state;
    closed.retain(|number| !reopened.contains(number) && !merged.contains(number));
}
