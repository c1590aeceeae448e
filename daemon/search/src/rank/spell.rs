//! Replaces words that the index does not contain by similar words that it contains.

use rustc_hash::FxHashMap;

use crate::{index::view::View, text::distance};

/// Maximum number of spellings of one word that are searched.
const MOST_SPELLINGS: usize = 3;
/// A prefix matches at most this number of words.
const MOST_ENDINGS: usize = 8;
/// Minimum length in characters: shorter words have too many similar ones.
const SHORTEST: usize = 4;
/// Minimum length in bytes for all edits: in a shorter word, only two letters may be swapped.
const SHORT: usize = 6;
/// The shortest prefix, and the shortest part of a compound, in characters.
const SHORTEST_PART: usize = 4;
/// The number of characters that a prefix omits at most.
const LONGEST_ENDING: usize = 3;
/// The letters that may join the parts of a compound.
const LINKS: [&str; 5] = ["", "s", "n", "es", "en"];

/// Returns words of the index that are similar to `word`, which it does not contain: those one edit
/// away, otherwise the parts of a compound, otherwise words with the same beginning.
pub(crate) fn spellings(word: &str, view: &View<'_>) -> tantivy::Result<Vec<String>> {
    if word.chars().count() < SHORTEST || !word.chars().all(char::is_alphabetic) {
        return Ok(Vec::new());
    }
    let mut near = one_edit_away(word, view)?;
    if word.len() < SHORT {
        near.retain(|near| distance::is_swap(near, word));
    }
    if !near.is_empty() || word.len() < SHORT {
        return Ok(near);
    }
    let parts = compound(word, view)?;
    if !parts.is_empty() { Ok(parts) } else { same_beginning(word, view) }
}

fn one_edit_away(word: &str, view: &View<'_>) -> tantivy::Result<Vec<String>> {
    let mut found: FxHashMap<String, u64> = FxHashMap::default();
    for shard in &view.shards {
        for (near, frequency) in shard.words_near(word)? {
            *found.entry(near).or_default() += u64::from(frequency);
        }
    }
    let first = word.chars().next();
    let mut found: Vec<(String, u64)> = found.into_iter().collect();
    // The first letter is rarely wrong.
    found.sort_by(|(one, one_count), (other, other_count)| {
        let keeps = |near: &str| near.chars().next() == first;
        let by_first = keeps(other).cmp(&keeps(one));
        by_first.then(other_count.cmp(one_count)).then_with(|| one.cmp(other))
    });
    found.truncate(MOST_SPELLINGS);
    Ok(found.into_iter().map(|(near, _)| near).collect())
}

/// Returns two words of the index that `word` consists of.
fn compound(word: &str, view: &View<'_>) -> tantivy::Result<Vec<String>> {
    let cuts: Vec<usize> = word.char_indices().map(|(at, _)| at).collect();
    if cuts.len() < 2 * SHORTEST_PART {
        return Ok(Vec::new());
    }
    for cut in &cuts[SHORTEST_PART..=cuts.len() - SHORTEST_PART] {
        let (first, second) = word.split_at(*cut);
        if !view.contains(second)? {
            continue;
        }
        for link in LINKS {
            let Some(first) = first.strip_suffix(link) else { continue };
            if first.chars().count() >= SHORTEST_PART && view.contains(first)? {
                return Ok(vec![first.to_owned(), second.to_owned()]);
            }
        }
    }
    Ok(Vec::new())
}

fn same_beginning(word: &str, view: &View<'_>) -> tantivy::Result<Vec<String>> {
    let length = word.chars().count();
    for ending in 0..=LONGEST_ENDING {
        let kept = length.saturating_sub(ending);
        if kept < SHORTEST_PART + 1 {
            break;
        }
        let end = word.char_indices().nth(kept).map_or(word.len(), |(at, _)| at);
        let mut found: Vec<String> = Vec::new();
        for shard in &view.shards {
            found.extend(shard.words_with_prefix(&word[..end], MOST_ENDINGS)?);
        }
        // The word itself may begin a compound of any length.
        found.retain(|found| ending == 0 || found.chars().count() <= length + LONGEST_ENDING);
        found.sort_unstable();
        found.dedup();
        found.truncate(MOST_ENDINGS);
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}
