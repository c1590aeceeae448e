//! Compares the positions of dates, words and filters in the text of a query.

use std::ops::Range;

use crate::{query::dates::Mention, text::everyday};

/// Returns [`everyday::unspaced_ranges`] of `text`; no ranges if the text has no date.
pub(super) fn everyday_ranges(text: &str, mentions: &[Mention]) -> Vec<Range<usize>> {
    if mentions.is_empty() {
        return Vec::new();
    }
    let dates: Vec<Range<usize>> = mentions.iter().map(|mention| mention.span.clone()).collect();
    everyday::unspaced_ranges(text, &dates)
}

pub(super) fn is_within(inner: &Range<usize>, outer: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// Returns the date at a byte of the text. The dates are in order and do not overlap.
pub(super) fn mention_at(mentions: &[Mention], at: usize) -> Option<&Mention> {
    let next = mentions.partition_point(|mention| mention.span.end <= at);
    mentions.get(next).filter(|mention| mention.span.contains(&at))
}
