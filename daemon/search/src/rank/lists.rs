//! Posting lists that are computed for a query: prefixes and phrases.

use crate::{
    index::{
        cursor::{Cursor, END},
        shard::{PostingDetail, Shard},
    },
    query::Phrase,
};

/// Maximum number of words of one shard that a searched prefix matches. The most frequent words are
/// used.
pub(crate) const MAX_PREFIX_MATCHES: usize = 64;

/// Documents with counts, in ascending order.
pub(crate) type List = Vec<(u32, u32)>;

/// Returns the documents of a shard that contain a word with this prefix.
pub(crate) fn with_prefix(shard: &Shard<'_>, prefix: &str) -> tantivy::Result<List> {
    let mut found: List = Vec::new();
    for (word, _) in shard.words_with_prefix(prefix, MAX_PREFIX_MATCHES)? {
        let Some(mut cursor) = shard.cursor(&word, PostingDetail::Counts)? else { continue };
        while cursor.document() != END {
            found.push((cursor.document(), cursor.count()));
            cursor.advance();
        }
    }
    Ok(summed(found))
}

/// Returns the documents of a shard that contain the consecutive words of `phrase`. If the last
/// word is a prefix, looks for the `limit` most frequent words with this prefix.
pub(crate) fn with_phrase(
    shard: &Shard<'_>,
    phrase: &Phrase,
    limit: usize,
) -> tantivy::Result<List> {
    let Some((last, first)) = phrase.parts.split_last() else { return Ok(Vec::new()) };
    let endings = if phrase.is_prefix {
        let words = shard.words_with_prefix(last, limit)?;
        words.into_iter().map(|(word, _)| word).collect()
    } else {
        vec![last.clone()]
    };
    let mut found: List = Vec::new();
    for ending in endings {
        let words = first.iter().chain([&ending]);
        let cursors: Option<Vec<Cursor<'_>>> = words
            .map(|word| shard.cursor(word, PostingDetail::Positions))
            .collect::<tantivy::Result<_>>()?;
        if let Some(cursors) = cursors {
            together(cursors, &mut found);
        }
    }
    Ok(summed(found))
}

/// Adds the documents in which the words of `cursors` are consecutive. `cursors` is not empty.
fn together(mut cursors: Vec<Cursor<'_>>, found: &mut List) {
    let (mut starts, mut positions) = (Vec::new(), Vec::new());
    while let Some(document) = next_common(&mut cursors) {
        cursors[0].positions(&mut starts);
        for (offset, cursor) in (1..).zip(&mut cursors[1..]) {
            cursor.positions(&mut positions);
            starts.retain(|start| positions.binary_search(&(start + offset)).is_ok());
        }
        if !starts.is_empty() {
            found.push((document, u32::try_from(starts.len()).unwrap_or(u32::MAX)));
        }
        cursors[0].advance();
    }
}

/// Advances all cursors to the next document that they share.
fn next_common(cursors: &mut [Cursor<'_>]) -> Option<u32> {
    let mut document = cursors[0].document();
    loop {
        let furthest = cursors.iter_mut().map(|cursor| cursor.seek(document)).max()?;
        if furthest == END {
            return None;
        }
        if furthest == document {
            return Some(document);
        }
        document = furthest;
    }
}

/// Sorts by document and sums up the counts of each document.
fn summed(mut found: List) -> List {
    found.sort_unstable();
    found.dedup_by(|next, kept| {
        let is_same = next.0 == kept.0;
        kept.1 += if is_same { next.1 } else { 0 };
        is_same
    });
    found
}
