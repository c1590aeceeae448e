//! Computes the relevance signals of a session.

use crate::rank::{
    evidence::{Evidence, PassageEvidence},
    gather::Gathered,
    plan::Plan,
    unit::{UnitCounts, rarity},
    weights::Weights,
};

/// The relevance signals of a session, each on its own scale.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SessionSignals {
    /// The sum of the scores of the best passages, weighted by [`Weights::best`].
    pub(crate) turns: f32,
    /// The score of the best sequence of consecutive passages.
    pub(crate) stretch: f32,
    pub(crate) whole: f32,
    pub(crate) pairs: f32,
    /// The share of the query's word pairs that are together in one passage, weighted by the kind
    /// of the passage and then squared.
    pub(crate) pairs_together: f32,
}

/// Measures the candidates of one query.
pub(crate) struct Measure<'m> {
    plan: &'m Plan,
    weights: &'m Weights,
    evidence: &'m Evidence,
    /// For each unit (search term), the rarity of sessions with the exact word, and with any form.
    rarity: Vec<[f32; 2]>,
}

impl<'m> Measure<'m> {
    pub(crate) fn new(
        plan: &'m Plan,
        gathered: &Gathered,
        weights: &'m Weights,
        evidence: &'m Evidence,
    ) -> Measure<'m> {
        let among = |count: u32| rarity(count as f32, plan.sessions.max(count as f32));
        let rarity = gathered.sessions_with.iter().map(|counts| counts.map(among)).collect();
        Measure { plan, weights, evidence, rarity }
    }

    /// Returns the signals of a candidate.
    pub(crate) fn candidate(&self, candidate: usize) -> SessionSignals {
        let rows = self.evidence.without_copies(self.evidence.rows_of_candidate(candidate));
        let mut sums = vec![[0.0; 2]; self.plan.units.len()];
        let mut length = 0;
        for row in &rows {
            if self.evidence.is_hit(*row) {
                self.add(&mut sums, *row, 1.0);
            }
            length += self.evidence.rows[*row].length;
        }
        SessionSignals {
            turns: self.turns(&rows),
            stretch: self.best_stretch(&rows),
            whole: self.whole(&sums, length as f32 / self.plan.session_length),
            pairs: self.pairs(candidate),
            pairs_together: self.pairs_together(&rows),
        }
    }

    fn turns(&self, rows: &[usize]) -> f32 {
        let hits = rows.iter().filter(|row| self.evidence.is_hit(**row));
        let mut scores: Vec<f32> = hits.map(|row| self.passage(*row)).collect();
        scores.sort_unstable_by(|one, other| other.total_cmp(one));
        scores.iter().zip(self.weights.best).map(|(score, weight)| score * weight).sum()
    }

    fn passage(&self, row: usize) -> f32 {
        let PassageEvidence { kind, length, .. } = self.evidence.rows[row];
        let relative = length as f32 / self.plan.passage_length;
        let units = self.plan.units.iter().zip(self.evidence.counts(row));
        let score: f32 = units
            .filter(|(_, counts)| **counts != [0.0; 2])
            .map(|(unit, counts)| unit.score(*counts, relative, self.weights))
            .sum();
        self.weights.of_kind(kind) * score
    }

    /// Returns the best score of consecutive passages of one source with at most
    /// [`Weights::sequence_terms`] terms. A longer passage, and each field of an episode, is scored
    /// alone.
    fn best_stretch(&self, rows: &[usize]) -> f32 {
        let mut best = 0.0_f32;
        let mut sums = vec![[0.0; 2]; self.plan.units.len()];
        let (mut start, mut length) = (0, 0);
        let usual = self.weights.sequence_terms as f32;
        for (end, number) in rows.iter().enumerate() {
            let row = &self.evidence.rows[*number];
            let is_apart =
                self.evidence.rows[rows[start]].source != row.source || row.kind.is_of_episode();
            while start < end && (is_apart || length + row.length > self.weights.sequence_terms) {
                if self.evidence.is_hit(rows[start]) {
                    self.add(&mut sums, rows[start], -1.0);
                }
                length -= self.evidence.rows[rows[start]].length;
                start += 1;
            }
            length += row.length;
            if self.evidence.is_hit(*number) {
                self.add(&mut sums, *number, 1.0);
                let relative = (length as f32 / usual).max(0.3);
                best = best.max(self.score(&sums, relative));
            }
        }
        best
    }

    fn score(&self, sums: &[UnitCounts], relative: f32) -> f32 {
        let units = self.plan.units.iter().zip(sums);
        let scores = units.map(|(unit, counts)| {
            unit.score(without_rounding_error(*counts), relative, self.weights)
        });
        scores.sum()
    }

    fn whole(&self, sums: &[UnitCounts], relative: f32) -> f32 {
        let units = self.plan.units.iter().zip(sums).zip(&self.rarity);
        let scores = units.map(|((unit, counts), rarity)| {
            unit.score_as(*rarity, *counts, relative, self.weights)
        });
        scores.sum()
    }

    fn pairs(&self, candidate: usize) -> f32 {
        let pairs = self.plan.pairs.iter().zip(self.evidence.pairs(candidate));
        pairs.map(|(pair, kept)| kept * self.plan.pair_weight(pair)).sum()
    }

    /// Returns the largest share of the query's pairs that occur together in one passage. The share
    /// is squared, because a few pairs out of many occur together by chance.
    fn pairs_together(&self, rows: &[usize]) -> f32 {
        let of = |row: &usize| {
            let row = *row;
            self.evidence.run(row) * self.weights.of_kind(self.evidence.rows[row].kind)
        };
        let all: f32 = self.plan.pairs.iter().map(|pair| self.plan.pair_weight(pair)).sum();
        let best = rows.iter().map(of).fold(0.0, f32::max);
        if all > 0.0 { (best / all).min(1.0).powi(2) } else { 0.0 }
    }

    fn add(&self, sums: &mut [UnitCounts], row: usize, sign: f32) {
        let weight = sign * self.weights.of_kind(self.evidence.rows[row].kind);
        for (sum, counts) in sums.iter_mut().zip(self.evidence.counts(row)) {
            sum[0] += weight * counts[0];
            sum[1] += weight * counts[1];
        }
    }
}

/// Sets rounding errors of the sliding sum to zero.
fn without_rounding_error(counts: UnitCounts) -> UnitCounts {
    counts.map(|count| if count < 0.01 { 0.0 } else { count })
}
