//! The second pass of the ranking: all passages of the candidate sessions, with their word counts.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::{
    index::{
        shard::{Depth, Shard},
        view::View,
    },
    passage::PassageKind,
    rank::{
        admission::Admission,
        plan::Plan,
        unit::{Matches, UnitCounts},
    },
};

/// The passages of the candidates, grouped by session, in order.
pub(crate) struct Evidence {
    pub(crate) rows: Vec<PassageEvidence>,
    /// Indexed by row and unit.
    counts: Vec<UnitCounts>,
    units: usize,
    /// The first row of each candidate, and the end of the last one.
    starts: Vec<usize>,
    /// Indexed by candidate and pair: the highest closeness of the two words, from 0 to 1.
    pairs: Vec<f32>,
    pair_count: usize,
    /// Indexed by row: the sum of the weights of the pairs that occur together, if there are at
    /// least two.
    runs: Vec<f32>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct PassageEvidence {
    candidate: u32,
    shard: u32,
    document: u32,
    pub(crate) source: u32,
    pub(crate) seq: u32,
    part: u32,
    pub(crate) kind: PassageKind,
    pub(crate) at: i64,
    pub(crate) length: u32,
}

impl Evidence {
    /// Looks up every admitted passage of `sessions`.
    pub(crate) fn collect(
        sessions: &[u64],
        plan: &Plan,
        view: &View<'_>,
        admission: &Admission,
    ) -> tantivy::Result<Evidence> {
        let mut rows = rows(sessions, view, admission)?;
        rows.sort_unstable_by_key(|row| (row.candidate, row.source, row.seq, row.part));
        rows.dedup_by_key(|row| (row.candidate, row.source, row.seq, row.part));
        let starts = (0..=sessions.len())
            .map(|candidate| rows.partition_point(|row| (row.candidate as usize) < candidate))
            .collect();
        let units = plan.units.len();
        let mut evidence = Evidence {
            counts: vec![[0.0; 2]; rows.len() * units],
            runs: vec![0.0; rows.len()],
            rows,
            units,
            starts,
            pairs: vec![0.0; sessions.len() * plan.pairs.len()],
            pair_count: plan.pairs.len(),
        };
        for shard in view.shards.iter().enumerate() {
            let rows = evidence.rows_in(shard.0);
            evidence.count(&rows, shard, plan)?;
            evidence.find_pairs(&rows, shard, plan)?;
        }
        Ok(evidence)
    }

    /// Returns the range of a candidate's rows.
    pub(crate) fn rows_of_candidate(&self, candidate: usize) -> Range<usize> {
        self.starts[candidate]..self.starts[candidate + 1]
    }

    /// Returns the counts of a row, by unit.
    pub(crate) fn counts(&self, row: usize) -> &[UnitCounts] {
        &self.counts[row * self.units..(row + 1) * self.units]
    }

    /// Returns the closeness of a candidate's pairs, by pair.
    pub(crate) fn pairs(&self, candidate: usize) -> &[f32] {
        &self.pairs[candidate * self.pair_count..(candidate + 1) * self.pair_count]
    }

    /// Returns the sum of the weights of the pairs that occur together in a row.
    pub(crate) fn run(&self, row: usize) -> f32 {
        self.runs[row]
    }

    /// Returns the rows of a shard, ordered by document.
    fn rows_in(&self, shard: usize) -> Vec<usize> {
        let here = self.rows.iter().enumerate().filter(|(_, row)| row.shard as usize == shard);
        let mut rows: Vec<usize> = here.map(|(number, _)| number).collect();
        rows.sort_unstable_by_key(|number| self.rows[*number].document);
        rows
    }

    fn count(
        &mut self,
        rows: &[usize],
        shard: (usize, &Shard<'_>),
        plan: &Plan,
    ) -> tantivy::Result<()> {
        for mut walk in plan.walks(shard, Depth::Counts, |_| true)? {
            for row in rows {
                let document = self.rows[*row].document;
                if walk.cursor.seek(document) == document {
                    walk.count(&mut self.counts[row * self.units + walk.unit]);
                }
            }
        }
        Ok(())
    }

    /// Compares the positions of words in the passages that contain both words of a pair.
    fn find_pairs(
        &mut self,
        rows: &[usize],
        shard: (usize, &Shard<'_>),
        plan: &Plan,
    ) -> tantivy::Result<()> {
        let positions = self.positions(rows, shard, plan)?;
        for row in rows {
            let candidate = self.rows[*row].candidate as usize;
            let (mut kept, mut worth) = (0, 0.0);
            for (index, pair) in plan.pairs.iter().enumerate() {
                let of = |unit: usize| positions.get(&(*row, unit));
                let Some((first, second)) = of(pair.first).zip(of(pair.second)) else { continue };
                let closeness = closeness(first, second, pair.distance);
                let best = &mut self.pairs[candidate * self.pair_count + index];
                *best = best.max(closeness);
                kept += usize::from(closeness > 0.0);
                worth += closeness * plan.worth(pair);
            }
            if kept > 1 {
                self.runs[*row] = worth;
            }
        }
        Ok(())
    }

    /// Returns, by row and unit, the positions of words whose pair partner occurs in the same row.
    fn positions(
        &self,
        rows: &[usize],
        shard: (usize, &Shard<'_>),
        plan: &Plan,
    ) -> tantivy::Result<FxHashMap<(usize, usize), Vec<u32>>> {
        let holds = |row: usize, unit: usize| self.counts(row)[unit][1] > 0.0;
        let mut positions: FxHashMap<(usize, usize), Vec<u32>> = FxHashMap::default();
        for row in rows {
            for pair in &plan.pairs {
                if holds(*row, pair.first) && holds(*row, pair.second) {
                    positions.insert((*row, pair.first), Vec::new());
                    positions.insert((*row, pair.second), Vec::new());
                }
            }
        }
        let is_wanted = |unit| positions.keys().any(|(_, wanted)| *wanted == unit);
        let wanted: Vec<bool> = (0..plan.units.len()).map(is_wanted).collect();
        let mut found = Vec::new();
        for mut walk in plan.walks(shard, Depth::Positions, |unit| wanted[unit])? {
            if walk.matches == Matches::Exact {
                continue;
            }
            for row in rows {
                let Some(of_row) = positions.get_mut(&(*row, walk.unit)) else { continue };
                let document = self.rows[*row].document;
                if walk.cursor.seek(document) == document {
                    walk.cursor.positions(&mut found);
                    of_row.extend_from_slice(&found);
                    of_row.sort_unstable();
                }
            }
        }
        Ok(positions)
    }
}

/// Returns the closeness of two words, given their positions: 1 if they are in order and at most
/// `distance` apart, half if up to [`LOOSE`] further words are between them, 0 otherwise.
fn closeness(first: &[u32], second: &[u32], distance: u32) -> f32 {
    let mut best = 0.0_f32;
    for start in first {
        let next = second.partition_point(|position| position <= start);
        let Some(position) = second.get(next) else { break };
        let gap = position - start;
        if gap <= distance {
            return 1.0;
        }
        if gap <= distance + LOOSE {
            best = 0.5;
        }
    }
    best
}

const LOOSE: u32 = 3;

fn rows(
    sessions: &[u64],
    view: &View<'_>,
    admission: &Admission,
) -> tantivy::Result<Vec<PassageEvidence>> {
    let mut rows = Vec::new();
    for (index, shard) in view.shards.iter().enumerate() {
        for (candidate, session) in (0..).zip(sessions) {
            for document in shard.passages_of(*session)? {
                let facts = shard.facts(document);
                let Some(kind) = facts.kind else { continue };
                if !admission.admits((index, shard), document, kind) {
                    continue;
                }
                rows.push(PassageEvidence {
                    candidate,
                    shard: index as u32,
                    document,
                    source: facts.source,
                    seq: facts.seq,
                    part: facts.part,
                    kind,
                    at: facts.at,
                    length: facts.length,
                });
            }
        }
    }
    Ok(rows)
}
