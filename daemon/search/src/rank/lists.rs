//! Posting lists that are computed for a query: prefixes and phrases.

use crate::{
    index::{
        cursor::{Cursor, DONE},
        shard::{PostingDetail, Shard},
    },
    query::Phrase,
};

/// Maximum number of words of one shard that a prefix matches: the most frequent ones.
const MOST_ENDINGS: usize = 64;

/// Documents with counts, in ascending order.
pub(crate) type List = Vec<(u32, u32)>;

/// Returns the documents of a shard that contain a word with this prefix.
pub(crate) fn with_prefix(shard: &Shard<'_>, prefix: &str) -> tantivy::Result<List> {
    let mut found: List = Vec::new();
    for (word, _) in shard.words_with_prefix(prefix, MOST_ENDINGS)? {
        let Some(mut walk) = shard.walk(&word, PostingDetail::Counts)? else { continue };
        while walk.document() != DONE {
            found.push((walk.document(), walk.count()));
            walk.advance();
        }
    }
    Ok(summed(found))
}

/// Returns the documents of a shard that contain the consecutive words of `phrase`.
pub(crate) fn with_phrase(shard: &Shard<'_>, phrase: &Phrase) -> tantivy::Result<List> {
    let Some((last, first)) = phrase.parts.split_last() else { return Ok(Vec::new()) };
    let endings = if phrase.is_prefix {
        let words = shard.words_with_prefix(last, MOST_ENDINGS)?;
        words.into_iter().map(|(word, _)| word).collect()
    } else {
        vec![last.clone()]
    };
    let mut found: List = Vec::new();
    for ending in endings {
        let words = first.iter().chain([&ending]);
        let walks: Option<Vec<Cursor<'_>>> = words
            .map(|word| shard.walk(word, PostingDetail::Positions))
            .collect::<tantivy::Result<_>>()?;
        if let Some(walks) = walks {
            together(walks, &mut found);
        }
    }
    Ok(summed(found))
}

/// Adds the documents in which the words of `walks`, at least one, are consecutive.
fn together(mut walks: Vec<Cursor<'_>>, found: &mut List) {
    let (mut starts, mut positions) = (Vec::new(), Vec::new());
    while let Some(document) = next_common(&mut walks) {
        walks[0].positions(&mut starts);
        for (offset, walk) in (1..).zip(&mut walks[1..]) {
            walk.positions(&mut positions);
            starts.retain(|start| positions.binary_search(&(start + offset)).is_ok());
        }
        if !starts.is_empty() {
            found.push((document, u32::try_from(starts.len()).unwrap_or(u32::MAX)));
        }
        walks[0].advance();
    }
}

/// Advances all cursors to the next document that they share.
fn next_common(walks: &mut [Cursor<'_>]) -> Option<u32> {
    let mut document = walks[0].document();
    loop {
        let furthest = walks.iter_mut().map(|walk| walk.seek(document)).max()?;
        if furthest == DONE {
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
