//! Where words stand one right after the other.

use crate::search::{
    index::{
        cursor::{Cursor, DONE},
        shard::{Depth, Shard},
    },
    query::Phrase,
};

/// The last word of a phrase, when only its beginning is given, stands for at most so many words.
const MOST_ENDINGS: usize = 64;

/// The documents of a shard that hold `phrase`, with how often they do.
pub(crate) fn documents(shard: &Shard<'_>, phrase: &Phrase) -> tantivy::Result<Vec<(u32, u32)>> {
    let Some((last, first)) = phrase.parts.split_last() else { return Ok(Vec::new()) };
    let endings = if phrase.is_prefix {
        shard.words_with_prefix(last, MOST_ENDINGS)?
    } else {
        vec![last.clone()]
    };
    let mut found: Vec<(u32, u32)> = Vec::new();
    for ending in endings {
        let words = first.iter().chain([&ending]);
        let walks: Option<Vec<Cursor<'_>>> =
            words.map(|word| shard.walk(word, Depth::Positions)).collect::<tantivy::Result<_>>()?;
        if let Some(walks) = walks {
            together(walks, &mut found);
        }
    }
    found.sort_unstable();
    found.dedup_by_key(|found| found.0);
    Ok(found)
}

/// Adds the documents in which the words of `walks` stand in their order.
fn together(mut walks: Vec<Cursor<'_>>, found: &mut Vec<(u32, u32)>) {
    let (mut starts, mut positions) = (Vec::new(), Vec::new());
    'documents: loop {
        let mut document = walks[0].document();
        let mut index = 0;
        while index < walks.len() {
            let reached = walks[index].seek(document);
            if reached == DONE {
                break 'documents;
            }
            if reached > document {
                document = reached;
                index = 0;
            } else {
                index += 1;
            }
        }
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
