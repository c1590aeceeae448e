//! Converts ranked candidates into hits.

use crate::{
    index::{shard, view::View},
    model::{SessionKey, Timestamp},
    rank::{
        Candidate,
        evidence::Evidence,
        plan::Plan,
        results::{Explanation, HitLocation, PassageHit, SessionHit, WordFound},
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

/// Converts a candidate into a hit. With `found`, adds its passages and the words found in it.
pub(crate) fn hit(
    candidate: Candidate,
    found: Option<(&Plan, &Evidence, &View<'_>)>,
) -> SessionHit {
    let passages = found.map(|(_, evidence, view)| passages(&candidate, evidence, view));
    let words = found.zip(candidate.number);
    let words = words.map(|((plan, evidence, _), it)| words_found(plan, evidence, it));
    SessionHit {
        session: SessionKey(candidate.session),
        score: candidate.score,
        passages: passages.unwrap_or_default(),
        explanation: Explanation { signals: candidate.signals, words: words.unwrap_or_default() },
    }
}

fn passages(candidate: &Candidate, evidence: &Evidence, view: &View<'_>) -> Vec<PassageHit> {
    let mut hits: Vec<PassageHit> = Vec::new();
    for (row, score) in &candidate.best {
        let row = &evidence.rows[*row];
        let place = if shard::is_episode(row.source) {
            HitLocation::Episode { field: row.seq }
        } else {
            HitLocation::Message { source: row.source, seq: row.seq }
        };
        if hits.iter().all(|hit| hit.place != place) {
            let at = Timestamp::from_seconds(view.shards[row.shard as usize].at(row.document));
            hits.push(PassageHit { place, kind: row.kind, at, score: *score });
        }
    }
    hits
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
