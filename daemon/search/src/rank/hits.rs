//! Converts ranked candidates into hits.

use crate::{
    index::{shard, view::View},
    model::{SessionKey, Timestamp},
    rank::{
        Candidate,
        evidence::Evidence,
        plan::Plan,
        results::{Explanation, HitLocation, PassageHit, SessionHit, WordFound},
        shown,
        weights::Weights,
    },
};

/// Returns the best `limit` candidates; ties are ordered by time, latest first.
pub(crate) fn best(mut candidates: Vec<Candidate>, limit: usize) -> Vec<Candidate> {
    candidates.sort_by(|one, other| {
        let by_score = other.score.total_cmp(&one.score);
        by_score.then(other.card.ended.cmp(&one.card.ended)).then(other.session.cmp(&one.session))
    });
    candidates.truncate(limit);
    candidates
}

/// What a query found in the candidates.
pub(crate) struct FoundWords<'f> {
    pub(crate) plan: &'f Plan,
    pub(crate) evidence: &'f Evidence,
    pub(crate) view: &'f View<'f>,
    /// The weights for the order of the passages that are shown.
    pub(crate) weights: &'f Weights,
}

/// Converts a candidate into a hit. With `found`, adds the passages that contain words of the
/// query, and the counts of each word of the query.
pub(crate) fn hit(candidate: Candidate, found: Option<&FoundWords<'_>>) -> SessionHit {
    let inspected = found.zip(candidate.number);
    let passages = inspected.map(|(found, number)| found.passages(number));
    let words = inspected.map(|(found, number)| words_found(found.plan, found.evidence, number));
    SessionHit {
        session: SessionKey(candidate.session),
        score: candidate.score,
        passages: passages.unwrap_or_default(),
        explanation: Explanation { signals: candidate.signals, words: words.unwrap_or_default() },
    }
}

impl FoundWords<'_> {
    fn passages(&self, candidate: usize) -> Vec<PassageHit> {
        let mut hits: Vec<PassageHit> = Vec::new();
        for (row, score) in shown::rows(candidate, self.plan, self.evidence, self.weights) {
            let row = &self.evidence.rows[row];
            let place = if shard::is_episode(row.source) {
                HitLocation::Episode { field: row.seq }
            } else {
                HitLocation::Message { source: row.source, seq: row.seq }
            };
            if hits.iter().all(|hit| hit.place != place) {
                let shard = &self.view.shards[row.shard as usize];
                let at = Timestamp::from_seconds(shard.at(row.document));
                hits.push(PassageHit { place, kind: row.kind, at, score });
            }
        }
        hits
    }
}

fn words_found(plan: &Plan, evidence: &Evidence, candidate: usize) -> Vec<WordFound> {
    let mut held = vec![[0.0_f32; 2]; plan.units.len()];
    for row in evidence.rows_of_candidate(candidate) {
        for (sum, counts) in held.iter_mut().zip(evidence.counts(row)) {
            sum[0] += counts[0];
            sum[1] += counts[1];
        }
    }
    let words = plan.units.iter().zip(held).map(|(unit, held)| WordFound {
        word: unit.label.clone(),
        rarity: unit.rarity,
        exact: held[0] as u32,
        any_form: held[1] as u32,
    });
    words.collect()
}
