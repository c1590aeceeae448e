//! Fetches the neighbours of the matching messages.

use graphiti_proto::tools::{
    get_session::{GetSessionAnswer, GetSessionArguments, MessageRow, NAME},
    search_sessions::{Hit, MatchedPassage},
};
use serde::Serialize;

use crate::connection::{AskError, Connection};

/// Maximum number of messages before and after a message.
const MAX_CONTEXT: u32 = 50;

/// Consecutive messages of a file, of which at least one matches.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct ContextBlock {
    pub(super) source: u32,
    pub(super) messages: Vec<MessageRow>,
}

/// The numbers of consecutive messages of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct MessageRange {
    source: u32,
    first: u32,
    last: u32,
}

/// Fetches the messages that match and `count` messages before and after each of them.
pub(super) fn fetch(
    connection: &mut Connection,
    hit: &Hit,
    count: u32,
) -> Result<Vec<ContextBlock>, AskError> {
    if hit.team.is_some() {
        // Colleagues share no messages.
        return Ok(Vec::new());
    }
    let blocks = ranges(&hit.passages, count.min(MAX_CONTEXT)).into_iter().map(|range| {
        let messages = messages(connection, &hit.session.session_id, range)?;
        Ok(ContextBlock { source: range.source, messages })
    });
    blocks.collect()
}

/// Whether a passage is part of a message rather than of a summary.
pub(super) fn is_of_message(passage: &MatchedPassage) -> bool {
    matches!(&*passage.role, "user" | "assistant" | "tool" | "recap")
}

/// Returns the ranges around the messages that match; adjacent ranges are joined.
fn ranges(passages: &[MatchedPassage], count: u32) -> Vec<MessageRange> {
    let around = |passage: &MatchedPassage| MessageRange {
        source: passage.source,
        first: passage.seq.saturating_sub(count),
        last: passage.seq.saturating_add(count),
    };
    let mut ranges: Vec<_> =
        passages.iter().filter(|passage| is_of_message(passage)).map(around).collect();
    ranges.sort_unstable();
    ranges.dedup_by(|next, range| {
        let is_joined = next.source == range.source && next.first <= range.last.saturating_add(1);
        if is_joined {
            range.last = range.last.max(next.last);
        }
        is_joined
    });
    ranges
}

/// Fetches a range. The daemon splits long messages across pages; only their beginnings are kept.
fn messages(
    connection: &mut Connection,
    session: &str,
    range: MessageRange,
) -> Result<Vec<MessageRow>, AskError> {
    let mut messages: Vec<MessageRow> = Vec::new();
    let mut from = Some(range.first);
    while let Some(first) = from.filter(|first| *first <= range.last) {
        let arguments = GetSessionArguments {
            session_id: Some(session.to_owned()),
            view: "messages".to_owned(),
            source: range.source,
            from: first,
            limit: (range.last - first + 1) as usize,
            ..GetSessionArguments::default()
        };
        let page: GetSessionAnswer = connection.call(NAME, &arguments)?;
        let after = page.messages.last().map(|last| last.seq + 1);
        from = page.next.and_then(|next| Some(next.max(after?)));
        messages.extend(page.messages.into_iter().filter(|message| message.seq <= range.last));
    }
    Ok(messages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_touch_are_joined() {
        let passage = |role: &str, source, seq| MatchedPassage {
            role: role.to_owned(),
            source,
            seq,
            ..MatchedPassage::default()
        };
        let passages = [
            passage("user", 0, 9),
            passage("title", 0, 0),
            passage("tool", 0, 14),
            passage("assistant", 0, 1),
            passage("assistant", 2, 9),
        ];
        let range = |source, first, last| MessageRange { source, first, last };
        assert_eq!(ranges(&passages, 2), [range(0, 0, 3), range(0, 7, 16), range(2, 7, 11)]);
        assert_eq!(ranges(&passages[1..2], 2), []);
        assert_eq!(ranges(&passages[..1], 0), [range(0, 9, 9)]);
    }
}
