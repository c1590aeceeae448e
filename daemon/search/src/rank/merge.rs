//! Merges the results of this machine with the results of another search. The scores of the two
//! searches are not comparable.
//!
//! The new score of a result combines the share of the query's words that its text contains (rare
//! words count more) with the place of the result in its list. The results of this machine keep
//! their order, because their ranking considers more than words.

use std::collections::{HashMap, HashSet};

use crate::{query::Query, snippet::Highlighter};

/// A place in one of two lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergedPlace {
    Own(usize),
    Other(usize),
}

/// At this number of places below the first place, the score of a result is half of the score that
/// it would have in the first place.
const HALF: f64 = 10.0;

/// Returns the merged order of both lists, the best first. `own` and `other` contain the texts of
/// the results.
pub fn merge(query: &Query, own: &[String], other: &[String]) -> Vec<MergedPlace> {
    let highlighter = Highlighter::new(query);
    let parts = |texts: &[String]| -> Vec<HashSet<String>> {
        texts.iter().map(|text| highlighter.parts_in(text)).collect()
    };
    let (own, other) = (parts(own), parts(other));
    let mut frequency: HashMap<&str, usize> = HashMap::new();
    for part in own.iter().chain(&other).flatten() {
        *frequency.entry(part).or_default() += 1;
    }
    let count = (own.len() + other.len()) as f64;
    let rarity = |part: &str| match frequency.get(part) {
        Some(frequency) => (1.0 + count / *frequency as f64).ln(),
        None => 0.0,
    };
    let whole: f64 = frequency.keys().map(|part| rarity(part)).sum();
    let score = |at: usize, parts: &HashSet<String>| {
        let has: f64 = parts.iter().map(|part| rarity(part)).sum();
        let share = if whole > 0.0 { has / whole } else { 0.0 };
        share / (HALF + at as f64)
    };
    let mut scores: Vec<f64> = own.iter().enumerate().map(|(at, parts)| score(at, parts)).collect();
    for at in (1..scores.len()).rev() {
        scores[at - 1] = scores[at - 1].max(scores[at]);
    }
    let own = scores.into_iter().enumerate().map(|(at, score)| (score, MergedPlace::Own(at)));
    let other =
        other.iter().enumerate().map(|(at, parts)| (score(at, parts), MergedPlace::Other(at)));
    let mut all: Vec<(f64, MergedPlace)> = own.chain(other).collect();
    // The sort is stable: among equal scores, the results of this machine are first.
    all.sort_by(|(one, _), (another, _)| another.total_cmp(one));
    all.into_iter().map(|(_, place)| place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(query: &str, own: &[&str], other: &[&str]) -> String {
        let query = Query::parse(query, &jiff::Zoned::now());
        let texts = |texts: &[&str]| texts.iter().copied().map(str::to_owned).collect::<Vec<_>>();
        let places = merge(&query, &texts(own), &texts(other));
        let shown = places.into_iter().map(|place| match place {
            MergedPlace::Own(at) => format!("own{at}"),
            MergedPlace::Other(at) => format!("other{at}"),
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn results_with_more_words_of_the_query_come_first_from_either_list() {
        let own = ["the checkout page", "nothing of it"];
        let other = ["a timeout elsewhere", "the timeout of the checkout pool"];
        assert_eq!(merged("checkout timeout pool", &own, &other), "other1 own0 other0 own1");
        assert_eq!(merged("checkout", &["checkout"], &["checkout"]), "own0 other0");
    }

    #[test]
    fn the_results_of_this_machine_keep_their_order() {
        let own = ["found by its meaning", "checkout timeout"];
        assert_eq!(merged("checkout timeout", &own, &["timeout"]), "own0 own1 other0");
        assert_eq!(merged("", &["a", "b"], &["c"]), "own0 own1 other0");
    }
}
