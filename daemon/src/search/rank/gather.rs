//! The first pass: which sessions may be worth a closer look.
//!
//! Walks through the lists of the question's rarer words, adds up each passage, and keeps of each
//! session its best passage and what it holds in all. The frequent words are only looked up where a
//! rarer one was found, so that a question costs about the same however many sessions there are.

use std::collections::HashMap;

use crate::search::{
    index::{
        cursor::DONE,
        shard::{Depth, Shard},
        view::View,
    },
    rank::{
        admission::Admission,
        plan::{Matches, Plan, Walk},
        weights::Weights,
    },
};

/// Passages that the first pass may walk through; words are left to look-ups from the most frequent
/// one on when their lists together are longer.
const MOST_WALKED: u64 = 1_500_000;

/// What the first pass found out.
pub(crate) struct Gathered {
    /// Every session that holds a word of the question, as far as the words that were walked tell.
    pub(crate) found: Vec<Found>,
    /// By unit: sessions that hold the very word, and any form of it.
    pub(crate) sessions_with: Vec<(u32, u32)>,
}

/// A session with a first idea of its worth.
pub(crate) struct Found {
    pub(crate) session: u64,
    /// The best passage.
    pub(crate) best: f32,
    /// All of it together.
    pub(crate) whole: f32,
}

/// Runs the first pass.
pub(crate) fn gather(
    plan: &Plan,
    view: &View<'_>,
    admission: &Admission,
    weights: &Weights,
) -> tantivy::Result<Gathered> {
    let mut pass = Pass {
        plan,
        admission,
        weights,
        is_walked: walked(plan),
        numbers: HashMap::new(),
        sessions: Vec::new(),
        counts: Vec::new(),
    };
    for (index, shard) in view.shards.iter().enumerate() {
        pass.shard(index, shard)?;
    }
    Ok(pass.finish())
}

/// Which units' lists are walked through; at least that of the rarest.
fn walked(plan: &Plan) -> Vec<bool> {
    let mut order: Vec<usize> = (0..plan.units.len()).collect();
    order.sort_by_key(|unit| plan.units[*unit].frequency);
    let mut is_walked = vec![false; plan.units.len()];
    let mut sum = 0;
    for unit in order {
        sum += plan.units[unit].frequency;
        is_walked[unit] = sum == plan.units[unit].frequency || sum <= MOST_WALKED;
    }
    is_walked
}

struct Pass<'p> {
    plan: &'p Plan,
    admission: &'p Admission,
    weights: &'p Weights,
    is_walked: Vec<bool>,
    numbers: HashMap<u64, usize>,
    sessions: Vec<Seen>,
    /// By session and unit: how often the word stands in it, exactly and in any form.
    counts: Vec<[f32; 2]>,
}

struct Seen {
    session: u64,
    best: f32,
    is_admitted: bool,
}

impl Pass<'_> {
    fn shard(&mut self, index: usize, shard: &Shard<'_>) -> tantivy::Result<()> {
        let walks = self.plan.walks(shard, Depth::Counts)?;
        let (mut walked, mut looked_up): (Vec<Walk<'_>>, Vec<Walk<'_>>) =
            walks.into_iter().partition(|walk| self.is_walked[walk.unit]);
        let mut counts = vec![[0.0_f32; 2]; self.plan.units.len()];
        let mut last: Option<(u64, usize)> = None;
        loop {
            let document = walked.iter().map(|walk| walk.cursor.document()).min().unwrap_or(DONE);
            if document == DONE {
                return Ok(());
            }
            counts.fill([0.0; 2]);
            for walk in &mut walked {
                if walk.cursor.document() == document {
                    count(&mut counts, walk);
                    walk.cursor.advance();
                }
            }
            let kind = shard.kind(document).filter(|_| shard.is_alive(document));
            let Some(kind) = kind else { continue };
            let session = shard.session(document);
            let number = match last {
                Some((before, number)) if before == session => number,
                _ => self.number(session),
            };
            last = Some((session, number));
            let is_admitted = self.sessions[number].is_admitted
                && self.admission.admits((index, shard), document, kind);
            if !is_admitted {
                continue;
            }
            for walk in &mut looked_up {
                if walk.cursor.seek(document) == document {
                    count(&mut counts, walk);
                }
            }
            let relative = shard.length_of(document) as f32 / self.plan.passage_length;
            self.add(number, self.weights.of_kind(kind), relative, &counts);
        }
    }

    fn number(&mut self, session: u64) -> usize {
        let units = self.plan.units.len();
        *self.numbers.entry(session).or_insert_with(|| {
            let is_admitted = self.admission.admits_session(session);
            self.sessions.push(Seen { session, best: 0.0, is_admitted });
            self.counts.resize(self.sessions.len() * units, [0.0; 2]);
            self.sessions.len() - 1
        })
    }

    fn add(&mut self, number: usize, of_kind: f32, relative: f32, counts: &[[f32; 2]]) {
        let units = self.plan.units.len();
        let sums = &mut self.counts[number * units..(number + 1) * units];
        let mut score = 0.0;
        for ((unit, count), sum) in self.plan.units.iter().zip(counts).zip(sums) {
            if count[1] == 0.0 && count[0] == 0.0 {
                continue;
            }
            score += unit.score(*count, relative, self.weights);
            sum[0] += of_kind * count[0];
            sum[1] += of_kind * count[1];
        }
        let seen = &mut self.sessions[number];
        seen.best = seen.best.max(of_kind * score);
    }

    fn finish(self) -> Gathered {
        let units = self.plan.units.len();
        let mut sessions_with = vec![(0, 0); units];
        let counts_of = |number: usize| &self.counts[number * units..(number + 1) * units];
        for number in 0..self.sessions.len() {
            for (with, count) in sessions_with.iter_mut().zip(counts_of(number)) {
                with.0 += u32::from(count[0] > 0.0);
                with.1 += u32::from(count[1] > 0.0);
            }
        }
        let found = self.sessions.iter().enumerate().filter(|(number, seen)| {
            let holds_all = counts_of(*number)
                .iter()
                .zip(&self.plan.units)
                .all(|(count, unit)| !unit.is_required || count[1] > 0.0);
            seen.best > 0.0 && holds_all
        });
        let found = found.map(|(number, seen)| Found {
            session: seen.session,
            best: seen.best,
            whole: self
                .plan
                .units
                .iter()
                .zip(counts_of(number))
                .map(|(unit, count)| unit.score(*count, 1.0, self.weights))
                .sum(),
        });
        Gathered { found: found.collect(), sessions_with }
    }
}

fn count(counts: &mut [[f32; 2]], walk: &Walk<'_>) {
    let count = walk.cursor.count() as f32;
    let of_unit = &mut counts[walk.unit];
    if walk.matches != Matches::Form {
        of_unit[0] += count;
    }
    if walk.matches != Matches::Exact {
        of_unit[1] += count;
    }
}
