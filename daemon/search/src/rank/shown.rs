//! Selects the passages of a session that are shown. Their order differs from the order by which
//! the session was ranked: the user's words say best what a session is about, but the answer to a
//! question is usually in a message of the agent.

use crate::rank::{
    evidence::{Evidence, PassageEvidence},
    plan::Plan,
    unit::rarity,
    weights::Weights,
};

/// Maximum number of rows that are kept. More are kept than are shown, because some passages are
/// copies of others, and because a message may have several rows.
const MAX_ROWS: usize = 16;

/// The rows of a session's passages with their scores, best first.
pub(crate) type ShownRows = Vec<(usize, f32)>;

/// Returns the rows of a candidate that contain words of the query.
///
/// A word counts by the mean of its rarity in all sessions and its rarity in this session: the word
/// that the session is about is in most of its messages and does not lead to the answer.
pub(crate) fn rows(
    candidate: usize,
    plan: &Plan,
    evidence: &Evidence,
    weights: &Weights,
) -> ShownRows {
    let of_session = evidence.rows_of_candidate(candidate);
    let all = of_session.len() as f32;
    let hits = evidence.without_copies(of_session).into_iter();
    let hits: Vec<usize> = hits.filter(|row| evidence.is_hit(*row)).collect();
    let mut frequencies = vec![[0.0_f32; 2]; plan.units.len()];
    for row in &hits {
        for (frequency, counts) in frequencies.iter_mut().zip(evidence.counts(*row)) {
            frequency[0] += f32::from(counts[0] > 0.0);
            frequency[1] += f32::from(counts[1] > 0.0);
        }
    }
    let mean = |global: f32, frequency: f32| 0.5 * (global + rarity(frequency, all));
    let units = plan.units.iter().zip(frequencies);
    let units = units.map(|(unit, [exact, any])| {
        (unit, [mean(unit.exact_rarity, exact), mean(unit.rarity, any)])
    });
    let units: Vec<_> = units.collect();
    let score = |row: usize| {
        let PassageEvidence { kind, length, .. } = evidence.rows[row];
        let relative = length as f32 / plan.passage_length;
        let found = units.iter().zip(evidence.counts(row));
        let found = found.filter(|(_, counts)| **counts != [0.0; 2]);
        let score = found
            .map(|((unit, rarity), counts)| unit.score_as(*rarity, *counts, relative, weights))
            .sum::<f32>();
        score * weights.of_shown_kind(kind)
    };
    let mut rows: ShownRows = hits.into_iter().map(|row| (row, score(row))).collect();
    rows.retain(|(_, score)| *score > 0.0);
    rows.sort_by(|one, other| other.1.total_cmp(&one.1));
    rows.truncate(MAX_ROWS);
    rows
}
