//! The units and statistics by which a query is ranked.

use crate::{
    index::{
        shard::{Depth, Shard},
        view::View,
    },
    query::{Query, QueryWord, WordForm, WordRole},
    rank::{
        unit::{self, Unit, Walk},
        weights::Weights,
    },
};

/// A query with more words is ranked by its rarest ones.
const MOST_UNITS: usize = 24;
/// Maximum distance between the two words of a pair, in words.
const PAIR_DISTANCE: u32 = 3;

/// The units of a query, with average lengths for normalisation.
pub(crate) struct Plan {
    pub(crate) units: Vec<Unit>,
    /// Words that are near each other in the query.
    pub(crate) pairs: Vec<Pair>,
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
        for word in &words {
            let known = plan.units.iter().position(|unit| unit.label == unit::label(word));
            if known.is_none() {
                plan.units.push(Unit::of_word(word, view, weights)?);
            }
            unit_of.push(known.unwrap_or(plan.units.len() - 1));
        }
        plan.pairs = pairs(&words, &unit_of);
        plan.keep_rarest();
        // A word without occurrences forms no pair.
        let stands = |unit: usize| plan.units[unit].frequency > 0;
        plan.pairs.retain(|pair| stands(pair.first) && stands(pair.second));
        Ok(plan)
    }

    /// Returns the weight of a pair: the lower weight of its two words.
    pub(crate) fn worth(&self, pair: &Pair) -> f32 {
        self.units[pair.first].worth().min(self.units[pair.second].worth())
    }

    /// Returns the cursors of the `wanted` units over the shard with that number.
    pub(crate) fn walks<'w>(
        &'w self,
        shard: (usize, &Shard<'w>),
        depth: Depth,
        wanted: impl Fn(usize) -> bool,
    ) -> tantivy::Result<Vec<Walk<'w>>> {
        let mut walks = Vec::new();
        for (unit, of) in self.units.iter().enumerate().filter(|(unit, _)| wanted(*unit)) {
            let found = of.walks(shard.0, shard.1, depth)?.into_iter();
            walks.extend(found.map(|(matches, cursor)| Walk { unit, matches, cursor }));
        }
        Ok(walks)
    }

    /// Estimates how many sessions contain a word that occurs in `frequency` passages, assuming
    /// that the passages are distributed randomly.
    pub(crate) fn sessions_with(&self, frequency: u64) -> u32 {
        let without = 1.0 - (frequency as f32 / self.passages).min(1.0);
        let passages_each = self.passages / self.sessions;
        (self.sessions * (1.0 - without.powf(passages_each))) as u32
    }

    fn keep_rarest(&mut self) {
        let mut worth: Vec<f32> = self.units.iter().map(Unit::worth).collect();
        worth.sort_by(|one, other| other.total_cmp(one));
        let Some(least) = worth.get(MOST_UNITS - 1) else { return };
        let others =
            self.units.iter_mut().filter(|unit| unit.worth() < *least && !unit.is_required);
        others.for_each(Unit::silence);
    }
}

/// Returns the meaningful words, or all words if none is meaningful.
fn ranked_words(words: &[QueryWord]) -> Vec<QueryWord> {
    if !words.iter().any(|word| word.role.says_something()) {
        return words.to_vec();
    }
    words.iter().filter(|word| word.role != WordRole::Stop).cloned().collect()
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
