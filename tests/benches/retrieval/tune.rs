//! Measures the effect of each weight of the ranking, one at a time.

use graphitid::search::{index::SearchIndex, passage::PassageKind, rank::Weights};

use crate::{ask_all, sessions::QuestionSet};

/// The name of a weight, and a function that changes the weight by a factor.
type WeightChange = (&'static str, fn(&mut Weights, f32));

const CHANGES: &[WeightChange] = &[
    ("saturation", |weights, factor| weights.saturation *= factor),
    ("length", |weights, factor| weights.length = (weights.length * factor).min(1.0)),
    ("exact", |weights, factor| weights.exact = (weights.exact * factor).min(1.0)),
    ("in_whole", |weights, factor| weights.in_whole *= factor),
    ("in_date", |weights, factor| weights.in_date *= factor),
    ("name", |weights, factor| weights.name *= 1.0 + factor / 2.0),
    ("faint", |weights, factor| weights.faint *= factor),
    ("agent's words", |weights, factor| weights.kinds[PassageKind::Agent as usize] *= factor),
    ("tools", |weights, factor| weights.kinds[PassageKind::Tool as usize] *= factor),
    ("second and third passage", |weights, factor| {
        weights.best[1] *= factor;
        weights.best[2] *= factor;
    }),
    ("turns", |weights, factor| weights.best_passages *= factor),
    ("stretch", |weights, factor| weights.sequence *= factor),
    ("stretch_terms", |weights, factor| {
        weights.sequence_terms = (weights.sequence_terms as f32 * factor) as u32 + 1;
    }),
    ("whole", |weights, factor| weights.whole *= factor),
    ("pairs", |weights, factor| weights.pairs *= factor),
    ("run", |weights, factor| weights.pairs_in_passage *= factor),
    ("date", |weights, factor| weights.date *= factor),
    ("named_project", |weights, factor| weights.named_project *= factor),
    ("recency", |weights, factor| weights.recency *= factor),
];

/// Prints the score for each weight and each of several factors that change it.
pub(crate) fn run(set: &QuestionSet, index: &SearchIndex) {
    println!(
        "  default                       {}",
        ask_all(set, index, &Weights::default(), None, false)
    );
    for (name, change) in CHANGES {
        for factor in [0.0, 0.5, 1.5, 2.5] {
            let mut weights = Weights::default();
            change(&mut weights, factor);
            let score = ask_all(set, index, &weights, None, false);
            println!("  {name:24} x{factor:<3}  {score}");
        }
    }
}
