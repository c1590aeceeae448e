//! Replaces words that are not in the index by similar words of the index.

use rustc_hash::FxHashMap;

use crate::{
    index::{
        cursor::END,
        shard::{PostingDetail, Shard},
        view::View,
    },
    rank::unit::Unit,
    text::{distance, everyday},
};

/// Maximum number of spellings of one word that are searched.
const MAX_SPELLINGS: usize = 3;
/// Maximum number of words one edit away that are considered. The number is not small, because the
/// intended word may be the rarest.
const MAX_NEAR_WORDS: usize = 16;
/// Maximum number of passages, for each similar word, in which the other words of the query are
/// looked up.
const MAX_PASSAGES: usize = 2_000;
/// Maximum number of words that are returned for a prefix.
const MAX_PREFIX_MATCHES: usize = 8;
/// Minimum length, in characters, of a word that is replaced. A shorter word has too many similar
/// words. For a word of exactly this length, only a swap of two letters and a missing letter are
/// considered.
const SHORTEST: usize = 4;
/// Minimum length, in characters, of a word for which all edits are considered. The replacement of
/// a shorter word must swap two letters, or it must have the same first letter and share a passage
/// with another word of the query.
const SHORT: usize = 6;
/// Minimum length, in characters, of a part of a compound. The prefix in [`same_beginning`] has at
/// least one more character.
const SHORTEST_PART: usize = 4;
/// In [`same_beginning`], a prefix is at most this number of characters shorter than the searched
/// word, and a word with this prefix is at most this number of characters longer.
const LONGEST_ENDING: usize = 3;
/// The letters that may join the parts of a compound.
const LINKS: [&str; 5] = ["", "s", "n", "es", "en"];

/// Length, in characters, of the shortest hash that git prints.
const SHORTEST_HASH: usize = 7;
/// Minimum length, in characters, of a word for which words two edits away are considered.
const TWO_EDITS: usize = 8;

/// Returns words of the index that are similar to `word`, which the index does not contain. For a
/// word shorter than [`SHORT`], these are words one edit away. For a longer word, these kinds are
/// tried until a kind has results: words one edit away, the parts of a compound, words with the
/// same beginning, words two edits away, words that end with `word`. Among words one edit away,
/// words that share a passage with `others`, the other words of the query, are preferred. For the
/// hash of a commit, returns its longer or shorter forms.
pub(crate) fn spellings(
    word: &str,
    others: &[Unit],
    view: &View<'_>,
) -> tantivy::Result<Vec<String>> {
    if is_hash(word) {
        return forms_of_hash(word, view);
    }
    let length = word.chars().count();
    // A question word such as `warum` is rarely in a transcript, and is no typing error.
    let is_known = !everyday::languages_with(word).is_empty();
    if length < SHORTEST || is_known || !word.chars().all(char::is_alphabetic) {
        return Ok(Vec::new());
    }
    let is_short = length < SHORT;
    let mut near = one_edit_away(word, view)?;
    if is_short {
        let first = word.chars().next();
        let is_likely = |near: &str| length > SHORTEST || near.chars().count() > length;
        near.retain(|near| {
            near.chars().next() == first && is_likely(near) || distance::is_swap(near, word)
        });
    }
    let shared = sharing_a_passage(&near, others, view)?;
    let is_alone = shared.is_empty();
    let mut near = if is_alone { near } else { shared };
    if is_short && is_alone {
        near.retain(|near| distance::is_swap(near, word));
    }
    near.truncate(MAX_SPELLINGS);
    if !near.is_empty() || is_short {
        return Ok(near);
    }
    for similar in [compound, same_beginning, two_edits_away, same_ending] {
        let found = similar(word, view)?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}

/// Whether `word` may be the hash of a commit.
fn is_hash(word: &str) -> bool {
    (SHORTEST_HASH..=40).contains(&word.len())
        && word.bytes().all(|byte| byte.is_ascii_hexdigit())
        && word.bytes().any(|byte| byte.is_ascii_digit())
}

/// Returns the longest hash in the index with which `hash` begins. Without such a hash, returns the
/// hashes that begin with `hash`.
fn forms_of_hash(hash: &str, view: &View<'_>) -> tantivy::Result<Vec<String>> {
    for length in (SHORTEST_HASH..hash.len()).rev() {
        if is_hash(&hash[..length]) && view.contains(&hash[..length])? {
            return Ok(vec![hash[..length].to_owned()]);
        }
    }
    words_where(view, MAX_SPELLINGS, |shard| shard.words_with_prefix(hash, MAX_SPELLINGS))
}

/// Returns at most `limit` of the words that `find` returns for the shards, most frequent first.
fn words_where(
    view: &View<'_>,
    limit: usize,
    find: impl Fn(&Shard<'_>) -> tantivy::Result<Vec<(String, u32)>>,
) -> tantivy::Result<Vec<String>> {
    let mut frequencies: FxHashMap<String, u32> = FxHashMap::default();
    for shard in &view.shards {
        for (word, frequency) in find(shard)? {
            *frequencies.entry(word).or_default() += frequency;
        }
    }
    let mut words: Vec<(String, u32)> = frequencies.into_iter().collect();
    words.sort_unstable_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    Ok(words.into_iter().map(|(word, _)| word).take(limit).collect())
}

/// Returns words with the same first letter that two edits turn into `word`.
fn two_edits_away(word: &str, view: &View<'_>) -> tantivy::Result<Vec<String>> {
    if word.chars().count() < TWO_EDITS {
        return Ok(Vec::new());
    }
    let first = word.chars().next();
    words_where(view, MAX_SPELLINGS, |shard| {
        let mut near = shard.words_near(word, 2)?;
        near.retain(|(near, _)| near.chars().next() == first);
        Ok(near)
    })
}

/// Returns compounds whose last part is `word`: `Datensicherung` for `Sicherung`. Only texts in a
/// language that writes compounds as one word are considered.
fn same_ending(word: &str, view: &View<'_>) -> tantivy::Result<Vec<String>> {
    words_where(view, MAX_SPELLINGS, |shard| shard.compounds_with(word, SHORTEST_PART))
}

/// Returns the words of `near` with the highest [`shared_passage_weight`]; none if this weight is 0
/// for all of them.
fn sharing_a_passage(
    near: &[String],
    others: &[Unit],
    view: &View<'_>,
) -> tantivy::Result<Vec<String>> {
    let mut weights = Vec::with_capacity(near.len());
    for word in near {
        let mut best = 0.0_f32;
        for shard in &view.shards {
            best = best.max(shared_passage_weight(word, others, shard)?);
        }
        weights.push(best);
    }
    let most = weights.iter().copied().fold(0.0, f32::max);
    let kept = near.iter().zip(weights).filter(|(_, weight)| most > 0.0 && *weight >= most);
    Ok(kept.map(|(word, _)| word.clone()).collect())
}

/// Returns the highest total weight of the units that occur in one passage with `word`.
fn shared_passage_weight(word: &str, others: &[Unit], shard: &Shard<'_>) -> tantivy::Result<f32> {
    let Some(mut cursor) = shard.cursor(word, PostingDetail::Counts)? else { return Ok(0.0) };
    let mut unit_cursors = Vec::new();
    for unit in others {
        let cursors = unit.cursors(shard, PostingDetail::Counts)?.into_iter();
        unit_cursors
            .push((unit.weighted_rarity(), cursors.map(|(_, cursor)| cursor).collect::<Vec<_>>()));
    }
    let mut best = 0.0_f32;
    for _ in 0..MAX_PASSAGES {
        let document = cursor.document();
        if document == END {
            break;
        }
        if shard.is_alive(document) {
            let here = unit_cursors.iter_mut().map(|(weight, cursors)| {
                let is_here = cursors.iter_mut().any(|cursor| cursor.seek(document) == document);
                if is_here { *weight } else { 0.0 }
            });
            best = best.max(here.sum());
        }
        cursor.advance();
    }
    Ok(best)
}

fn one_edit_away(word: &str, view: &View<'_>) -> tantivy::Result<Vec<String>> {
    let mut found: FxHashMap<String, u64> = FxHashMap::default();
    for shard in &view.shards {
        for (near, frequency) in shard.words_near(word, 1)? {
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
    found.truncate(MAX_NEAR_WORDS);
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
        let found = words_where(view, MAX_PREFIX_MATCHES, |shard| {
            let mut words = shard.words_with_prefix(&word[..end], usize::MAX)?;
            // A word that begins with all of `word` may be a compound of any length.
            words.retain(|(found, _)| {
                ending == 0 || found.chars().count() <= length + LONGEST_ENDING
            });
            Ok(words)
        })?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}
