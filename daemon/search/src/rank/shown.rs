//! Selects the passages of a session that are shown. Their order differs from the order by which
//! the session was ranked: the user's words say best what a session is about, but the answer to a
//! question is usually in a message of the agent.

use crate::{
    passage::PassageKind,
    rank::{
        evidence::{Evidence, PassageEvidence},
        plan::Plan,
        unit::rarity,
        weights::Weights,
    },
};

/// Maximum number of rows that are kept. More are kept than are shown, because some passages are
/// copies of others, and because a message may have several rows.
const MAX_ROWS: usize = 16;

/// Maximum length, in terms, of a message that is a step of the agent rather than an explanation.
/// It is about 400 bytes.
const MAX_STEP: u32 = 60;

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
    let of_length = Weights { length: weights.shown_length, ..weights.clone() };
    let score = |row: usize| {
        let relative = evidence.rows[row].length as f32 / plan.passage_length;
        let found = units.iter().zip(evidence.counts(row));
        let found = found.filter(|(_, counts)| **counts != [0.0; 2]);
        found
            .map(|((unit, rarity), counts)| unit.score_as(*rarity, *counts, relative, &of_length))
            .sum::<f32>()
    };
    let rows = evidence.rows_of_candidate(candidate);
    let mut scores = vec![0.0; rows.len()];
    hits.into_iter().for_each(|row| scores[row - rows.start] = score(row));
    let weighed = weighed(&scores, &evidence.rows[rows.clone()], weights);
    let mut rows: ShownRows = rows.zip(weighed).filter(|(_, score)| *score > 0.0).collect();
    rows.sort_by(|one, other| other.1.total_cmp(&one.1));
    rows.truncate(MAX_ROWS);
    rows
}

/// Returns the scores of a session's rows, weighed by the kinds of the rows and, for messages of
/// the agent, by their places in the turn. Rows without a word of the query keep the score 0.
fn weighed(scores: &[f32], rows: &[PassageEvidence], weights: &Weights) -> Vec<f32> {
    let mut turn = TurnScore::default();
    let weighed = rows.iter().zip(scores).enumerate().map(|(index, (row, score))| {
        turn.add(row, *score);
        let own = score * weights.of_shown_kind(row.kind);
        if row.kind != PassageKind::Agent || own == 0.0 {
            return own;
        }
        let place = match is_report(&rows[index..]) {
            true => weights.shown_report,
            false if row.length < MAX_STEP => weights.shown_step,
            false => 1.0,
        };
        let (after_prompt, after_step) = (weights.shown_after_prompt, weights.shown_after_step);
        own * place + after_prompt * turn.prompt + after_step * turn.step
    });
    weighed.collect()
}

/// Whether the message of the first row is the last message of its turn.
fn is_report(rows: &[PassageEvidence]) -> bool {
    let next = rows.iter().find(|row| row.message() != rows[0].message());
    next.is_none_or(|next| {
        next.source != rows[0].source || matches!(next.kind, PassageKind::User | PassageKind::Recap)
    })
}

/// The messages of a turn so far: a prompt of the user, and the agent's messages after it.
#[derive(Default)]
struct TurnScore {
    /// The source and the number of the latest message.
    latest: Option<(u32, u32)>,
    /// The score of the prompt.
    prompt: f32,
    /// The score of the agent's message before the agent's latest message, if it is a step.
    step: f32,
    /// The score of the agent's latest message, if it is a step.
    latest_step: f32,
}

impl TurnScore {
    /// Adds a row, which is in the latest message or begins the next message.
    fn add(&mut self, row: &PassageEvidence, score: f32) {
        if self.latest.is_none_or(|(source, _)| source != row.source) {
            *self = TurnScore::default();
        }
        let is_new = self.latest.replace(row.message()) != Some(row.message());
        match row.kind {
            PassageKind::User => {
                let before = if is_new { 0.0 } else { self.prompt };
                *self = TurnScore {
                    latest: self.latest,
                    prompt: before.max(score),
                    ..TurnScore::default()
                };
            }
            PassageKind::Agent if is_new => {
                self.step = self.latest_step;
                self.latest_step = if row.length < MAX_STEP { score } else { 0.0 };
            }
            _ => {}
        }
    }
}
