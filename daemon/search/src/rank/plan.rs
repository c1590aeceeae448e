//! The units of a query (its search terms, see [`mod@unit`]), and the statistics for its ranking.

use std::collections::hash_map::Entry;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    index::{
        shard::{PostingDetail, Shard},
        view::View,
    },
    query::{Query, QueryWord, WordForm, WordRole},
    rank::{
        results::Spelling,
        spell,
        unit::{self, Unit, UnitCursor},
        weights::Weights,
    },
};

/// Maximum number of units. A longer query is ranked by its rarest units that the index contains.
const MAX_UNITS: usize = 24;
/// A query with more words is treated as a pasted log.
const LOG_WORDS: usize = 300;
/// Maximum number of words of a pasted log that are looked up.
const MAX_LOOKED_UP: usize = 2_000;
/// Maximum number of unknown words that are replaced. A query with more of them is not prose, and
/// none of its words is replaced.
const MAX_SPELLED: usize = 4;
/// Maximum distance between the two words of a pair, in words.
const PAIR_DISTANCE: u32 = 3;

/// The units of a query, with average lengths for normalisation.
pub(crate) struct Plan {
    pub(crate) units: Vec<Unit>,
    /// Words that are near each other in the query.
    pub(crate) pairs: Vec<Pair>,
    /// Words that are searched in other spellings.
    pub(crate) spelled: Vec<Spelling>,
    passages: f32,
    /// Average length of a passage, in terms.
    pub(crate) passage_length: f32,
    pub(crate) sessions: f32,
    /// Average length of a session, in terms.
    pub(crate) session_length: f32,
}

/// Two units and the distance between them in words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pair {
    pub(crate) first: usize,
    pub(crate) second: usize,
    pub(crate) distance: u32,
}

impl Plan {
    pub(crate) fn new(query: &Query, view: &View<'_>, weights: &Weights) -> tantivy::Result<Plan> {
        let passages = view.passages().max(1) as f32;
        let sessions = view.sessions().max(1) as f32;
        let length = view.length().max(1) as f32;
        let mut plan = Plan {
            units: Vec::new(),
            pairs: Vec::new(),
            spelled: Vec::new(),
            passages,
            passage_length: length / passages,
            sessions,
            session_length: length / sessions,
        };
        for phrase in &query.phrases {
            plan.units.push(Unit::of_phrase(phrase, view)?);
        }
        let words = ranked_words(&query.words);
        let mut unit_of = Vec::with_capacity(words.len());
        let mut known: FxHashMap<String, usize> = FxHashMap::default();
        for word in &words {
            let unit = match known.entry(unit::label(word)) {
                Entry::Occupied(entry) => *entry.get(),
                Entry::Vacant(entry) => {
                    plan.units.push(Unit::of_word(word, view, weights)?);
                    *entry.insert(plan.units.len() - 1)
                }
            };
            unit_of.push(unit);
        }
        plan.replace_unknown(&words, &unit_of, view)?;
        plan.pairs = pairs(&words, &unit_of);
        plan.keep_rarest();
        Ok(plan)
    }

    /// Returns the weight of a pair: the lower weight of its two words.
    pub(crate) fn pair_weight(&self, pair: &Pair) -> f32 {
        self.units[pair.first].weighted_rarity().min(self.units[pair.second].weighted_rarity())
    }

    /// Returns the cursors of the `wanted` units over `shard`.
    pub(crate) fn cursors<'w>(
        &'w self,
        shard: &Shard<'w>,
        detail: PostingDetail,
        wanted: impl Fn(usize) -> bool,
    ) -> tantivy::Result<Vec<UnitCursor<'w>>> {
        let mut cursors = Vec::new();
        for (unit, of) in self.units.iter().enumerate().filter(|(unit, _)| wanted(*unit)) {
            let found = of.cursors(shard, detail)?.into_iter();
            cursors.extend(found.map(|(matches, cursor)| UnitCursor { unit, matches, cursor }));
        }
        Ok(cursors)
    }

    /// Estimates how many sessions contain a word that occurs in `frequency` passages, assuming
    /// that the passages are distributed randomly.
    pub(crate) fn sessions_with(&self, frequency: u64) -> u32 {
        let without = 1.0 - (frequency as f32 / self.passages).min(1.0);
        let passages_each = self.passages / self.sessions;
        (self.sessions * (1.0 - without.powf(passages_each))) as u32
    }

    /// Replaces the words that are not in the index by similar words of the index. If there are
    /// more than [`MAX_SPELLED`] such words, replaces none.
    fn replace_unknown(
        &mut self,
        words: &[QueryWord],
        unit_of: &[usize],
        view: &View<'_>,
    ) -> tantivy::Result<()> {
        let Some(unknown) = self.unknown_words(words, unit_of) else { return Ok(()) };
        for (word, unit) in unknown {
            let spellings = spell::spellings(&word.text, &self.units, view)?;
            if !spellings.is_empty() {
                self.units[unit] = Unit::of_spellings(&self.units[unit], &spellings, view)?;
                self.spelled
                    .push(Spelling { searched: word.text.clone(), replacements: spellings });
            }
        }
        Ok(())
    }

    /// Returns the words that the index does not contain, each once with its unit; `None` if there
    /// are more than [`MAX_SPELLED`].
    fn unknown_words<'w>(
        &self,
        words: &'w [QueryWord],
        unit_of: &[usize],
    ) -> Option<Vec<(&'w QueryWord, usize)>> {
        let is_unknown = |word: &QueryWord, unit: usize| {
            word.form == WordForm::Part
                && matches!(word.role, WordRole::Content | WordRole::Name)
                && self.units[unit].frequency == 0
        };
        let mut unknown: Vec<(&QueryWord, usize)> = Vec::new();
        for (word, unit) in words.iter().zip(unit_of) {
            if is_unknown(word, *unit) && unknown.iter().all(|(_, known)| known != unit) {
                if unknown.len() == MAX_SPELLED {
                    return None;
                }
                unknown.push((word, *unit));
            }
        }
        Some(unknown)
    }

    /// Removes the pairs with a word that the index does not contain. For a long query, also
    /// removes all units except the rarest units that the index contains.
    fn keep_rarest(&mut self) {
        let is_long = self.units.len() > MAX_UNITS;
        let mut order: Vec<usize> = (0..self.units.len()).collect();
        order.retain(|unit| self.units[*unit].frequency > 0);
        if is_long {
            let worth = |unit: &usize| self.units[*unit].weighted_rarity_in_log();
            order.sort_by(|one, other| worth(other).total_cmp(&worth(one)));
            order.truncate(MAX_UNITS);
        }
        let mut is_kept = vec![false; self.units.len()];
        order.into_iter().for_each(|unit| is_kept[unit] = true);
        self.pairs.retain(|pair| is_kept[pair.first] && is_kept[pair.second]);
        if is_long {
            self.keep(&is_kept);
        }
    }

    /// Removes the units that are not kept, and renumbers the units of the pairs.
    fn keep(&mut self, is_kept: &[bool]) {
        let mut next = 0;
        let numbers: Vec<usize> = is_kept
            .iter()
            .map(|is_kept| {
                next += usize::from(*is_kept);
                next.saturating_sub(1)
            })
            .collect();
        let mut kept = is_kept.iter();
        self.units.retain(|_| kept.next().copied().unwrap_or_default());
        for pair in &mut self.pairs {
            pair.first = numbers[pair.first];
            pair.second = numbers[pair.second];
        }
    }
}

/// Returns the words other than stop words, or all words if none describes the subject. For a
/// pasted log, returns only words that consist of letters, each once. If there are more than
/// [`MAX_LOOKED_UP`], words that are rare in the log take precedence, then later words.
fn ranked_words(words: &[QueryWord]) -> Vec<QueryWord> {
    if !words.iter().any(|word| word.role.is_meaningful()) {
        return words.to_vec();
    }
    let is_log = words.len() > LOG_WORDS;
    let is_of_letters = |word: &QueryWord| word.text.chars().all(char::is_alphabetic);
    let ranked = words.iter().filter(|word| word.role != WordRole::Stop);
    let mut ranked: Vec<QueryWord> =
        ranked.filter(|word| !is_log || is_of_letters(word)).cloned().collect();
    if is_log {
        let mut counts: FxHashMap<String, usize> = FxHashMap::default();
        ranked.iter().for_each(|word| *counts.entry(word.text.clone()).or_default() += 1);
        ranked.reverse();
        ranked.sort_by_key(|word| counts[&word.text]);
        let mut known = FxHashSet::default();
        ranked.retain(|word| known.insert(word.text.clone()));
        ranked.truncate(MAX_LOOKED_UP);
        ranked.sort_by_key(|word| word.position);
    }
    ranked
}

fn pairs(words: &[QueryWord], unit_of: &[usize]) -> Vec<Pair> {
    let parts: Vec<(u32, usize)> = words
        .iter()
        .zip(unit_of)
        .filter(|(word, _)| word.form == WordForm::Part)
        .map(|(word, unit)| (word.position, *unit))
        .collect();
    let mut pairs: Vec<Pair> = Vec::new();
    for two in parts.windows(2) {
        let [(first_at, first), (second_at, second)] = *two else { continue };
        let distance = second_at.saturating_sub(first_at);
        let is_new = pairs.iter().all(|known| (known.first, known.second) != (first, second));
        if first != second && (1..=PAIR_DISTANCE).contains(&distance) && is_new {
            pairs.push(Pair { first, second, distance });
        }
    }
    pairs
}
