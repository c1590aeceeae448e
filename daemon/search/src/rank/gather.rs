//! The first pass of the ranking: selects candidate sessions.
//!
//! It reads the posting lists of the query's rarer words, sums up the score of each passage, and
//! keeps each session's best passage and its total. Frequent words are only looked up in documents
//! that contain a rarer one, so that the cost hardly depends on the number of sessions.

use rustc_hash::FxHashMap;

use crate::{
    index::{
        cursor::DONE,
        shard::{Depth, Shard},
        view::View,
    },
    rank::{
        admission::Admission,
        plan::Plan,
        unit::{UnitCounts, Walk},
        weights::Weights,
    },
};

/// The maximum number of postings that the first pass reads, which takes about 30 ms. Beyond that,
/// the most frequent words are only looked up.
const MOST_WALKED: u64 = 300_000;

/// The result of the first pass.
pub(crate) struct Gathered {
    /// Every session that contains one of the words whose lists were read.
    pub(crate) found: Vec<SessionScore>,
    /// By unit: the number of sessions with the exact word, and with any form of it.
    pub(crate) sessions_with: Vec<[u32; 2]>,
}

/// A session with its preliminary scores.
pub(crate) struct SessionScore {
    pub(crate) session: u64,
    pub(crate) best: f32,
    /// The score of the whole session.
    pub(crate) whole: f32,
}

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
        numbers: FxHashMap::default(),
        sessions: Vec::new(),
        counts: Vec::new(),
    };
    for (number, shard) in view.shards.iter().enumerate() {
        pass.shard(number, shard)?;
    }
    Ok(pass.finish())
}

/// Selects the units whose posting lists are read: the rarest one, and further ones within the
/// limit.
fn walked(plan: &Plan) -> Vec<bool> {
    let mut order: Vec<usize> = (0..plan.units.len()).collect();
    order.sort_by_key(|unit| plan.units[*unit].frequency);
    let mut is_walked = vec![false; plan.units.len()];
    let mut sum = 0;
    for unit in order {
        let is_first = sum == 0;
        sum += plan.units[unit].frequency;
        is_walked[unit] = is_first || sum <= MOST_WALKED;
    }
    is_walked
}

struct Pass<'p> {
    plan: &'p Plan,
    admission: &'p Admission,
    weights: &'p Weights,
    is_walked: Vec<bool>,
    numbers: FxHashMap<u64, usize>,
    sessions: Vec<GatheredSession>,
    /// Indexed by session and unit.
    counts: Vec<UnitCounts>,
}

struct GatheredSession {
    session: u64,
    best: f32,
    is_admitted: bool,
}

impl Pass<'_> {
    fn shard(&mut self, number: usize, shard: &Shard<'_>) -> tantivy::Result<()> {
        let walks = self.plan.walks((number, shard), Depth::Counts, |_| true)?;
        let (mut walked, mut looked_up): (Vec<Walk<'_>>, Vec<Walk<'_>>) =
            walks.into_iter().partition(|walk| self.is_walked[walk.unit]);
        let mut counts = vec![[0.0; 2]; self.plan.units.len()];
        loop {
            let document = walked.iter().map(|walk| walk.cursor.document()).min().unwrap_or(DONE);
            if document == DONE {
                return Ok(());
            }
            counts.fill([0.0; 2]);
            for walk in &mut walked {
                if walk.cursor.document() == document {
                    walk.count(&mut counts[walk.unit]);
                    walk.cursor.advance();
                }
            }
            let kind = shard.kind(document).filter(|_| shard.is_alive(document));
            let Some(kind) = kind else { continue };
            let session = self.number(shard.session(document));
            if !self.sessions[session].is_admitted
                || !self.admission.admits((number, shard), document, kind)
            {
                continue;
            }
            for walk in &mut looked_up {
                if walk.cursor.seek(document) == document {
                    walk.count(&mut counts[walk.unit]);
                }
            }
            let relative = shard.length_of(document) as f32 / self.plan.passage_length;
            self.add(session, self.weights.of_kind(kind), relative, &counts);
        }
    }

    /// Returns the local number of a session. Passages of a session are mostly adjacent.
    fn number(&mut self, session: u64) -> usize {
        if let Some(last) = self.sessions.last()
            && last.session == session
        {
            return self.sessions.len() - 1;
        }
        let units = self.plan.units.len();
        *self.numbers.entry(session).or_insert_with(|| {
            let is_admitted = self.admission.admits_session(session);
            self.sessions.push(GatheredSession { session, best: 0.0, is_admitted });
            self.counts.resize(self.sessions.len() * units, [0.0; 2]);
            self.sessions.len() - 1
        })
    }

    fn add(&mut self, session: usize, of_kind: f32, relative: f32, counts: &[UnitCounts]) {
        let units = self.plan.units.len();
        let sums = &mut self.counts[session * units..(session + 1) * units];
        let mut score = 0.0;
        for ((unit, count), sum) in self.plan.units.iter().zip(counts).zip(sums) {
            if *count == [0.0; 2] {
                continue;
            }
            score += unit.score(*count, relative, self.weights);
            sum[0] += of_kind * count[0];
            sum[1] += of_kind * count[1];
        }
        let seen = &mut self.sessions[session];
        seen.best = seen.best.max(of_kind * score);
    }

    fn finish(self) -> Gathered {
        let units = self.plan.units.len();
        let mut gathered = Gathered { found: Vec::new(), sessions_with: vec![[0; 2]; units] };
        for (number, seen) in self.sessions.iter().enumerate() {
            let counts = &self.counts[number * units..(number + 1) * units];
            for (with, count) in gathered.sessions_with.iter_mut().zip(counts) {
                with[0] += u32::from(count[0] > 0.0);
                with[1] += u32::from(count[1] > 0.0);
            }
            let units = || self.plan.units.iter().zip(counts);
            if seen.best > 0.0 {
                let whole =
                    units().map(|(unit, count)| unit.score(*count, 1.0, self.weights)).sum();
                gathered.found.push(SessionScore { session: seen.session, best: seen.best, whole });
            }
        }
        for (unit, with) in gathered.sessions_with.iter_mut().enumerate() {
            if !self.is_walked[unit] {
                let guess = self.plan.sessions_with(self.plan.units[unit].frequency);
                *with = with.map(|counted| counted.max(guess));
            }
        }
        gathered
    }
}
