//! The second pass of the ranking: looks up all passages of the candidate sessions and counts the
//! words of the query in them.

use std::ops::Range;

use crate::{
    index::{
        cursor::Cursor,
        shard::{PostingDetail, Shard},
        view::View,
    },
    passage::PassageKind,
    rank::{
        filter_set::FilterSet,
        plan::{Pair, Plan},
        unit::{self, Matches, UnitCounts},
    },
};

/// The passages of the candidates, grouped by session, in order.
pub(crate) struct Evidence {
    pub(crate) rows: Vec<PassageEvidence>,
    /// Indexed by row and [`mod@unit`] (search term).
    counts: Vec<UnitCounts>,
    units: usize,
    /// The first row of each candidate, and the end of the rows.
    starts: Vec<usize>,
    /// Indexed by candidate and pair: the highest closeness of the two words in a passage, 0 to 1.
    pairs: Vec<f32>,
    pair_count: usize,
    /// Indexed by row: whether the row contains a word of the query.
    is_hit: Vec<bool>,
    /// Indexed by row: the sum of the weights of the pairs that occur together, each times the
    /// closeness of the pair; 0 if there is only one such pair.
    runs: Vec<f32>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct PassageEvidence {
    candidate: u32,
    pub(crate) shard: u32,
    pub(crate) document: u32,
    pub(crate) source: u32,
    pub(crate) seq: u32,
    part: u32,
    pub(crate) kind: PassageKind,
    pub(crate) length: u32,
}

impl PassageEvidence {
    /// Returns the source and the number of the message, or of the field of an episode.
    pub(crate) fn message(&self) -> (u32, u32) {
        (self.source, self.seq)
    }
}

impl Evidence {
    /// Looks up every admitted passage of `sessions`.
    pub(crate) fn collect(
        sessions: &[u64],
        plan: &Plan,
        view: &View<'_>,
        filters: &FilterSet,
    ) -> tantivy::Result<Evidence> {
        let mut rows = rows(sessions, view, filters)?;
        rows.dedup_by_key(|row| (row.candidate, row.source, row.seq, row.part));
        let starts = (0..=sessions.len())
            .map(|candidate| rows.partition_point(|row| (row.candidate as usize) < candidate))
            .collect();
        let units = plan.units.len();
        let mut evidence = Evidence {
            counts: vec![[0.0; 2]; rows.len() * units],
            is_hit: vec![false; rows.len()],
            runs: vec![0.0; rows.len()],
            rows,
            units,
            starts,
            pairs: vec![0.0; sessions.len() * plan.pairs.len()],
            pair_count: plan.pairs.len(),
        };
        for (shard, rows) in view.shards.iter().zip(evidence.rows_by_shard(view.shards.len())) {
            evidence.count(&rows, shard, plan)?;
            evidence.find_pairs(&rows, shard, plan)?;
        }
        Ok(evidence)
    }

    pub(crate) fn rows_of_candidate(&self, candidate: usize) -> Range<usize> {
        self.starts[candidate]..self.starts[candidate + 1]
    }

    /// Returns the counts of a row, by unit.
    pub(crate) fn counts(&self, row: usize) -> &[UnitCounts] {
        &self.counts[row * self.units..(row + 1) * self.units]
    }

    /// Whether a row contains a word of the query. Most rows contain none.
    pub(crate) fn is_hit(&self, row: usize) -> bool {
        self.is_hit[row]
    }

    /// Returns the closeness of a candidate's pairs, by pair.
    pub(crate) fn pairs(&self, candidate: usize) -> &[f32] {
        &self.pairs[candidate * self.pair_count..(candidate + 1) * self.pair_count]
    }

    /// Returns the weight of the pairs that occur together in a row, as in `runs`.
    pub(crate) fn run(&self, row: usize) -> f32 {
        self.runs[row]
    }

    /// Returns `rows` without the rows of an episode's objective or prompts, if these rows seem to
    /// be copies of the session's first prompt.
    pub(crate) fn without_copies(&self, rows: Range<usize>) -> Vec<usize> {
        let kind = |row: &usize| self.rows[*row].kind;
        let prompt = rows.clone().find(|row| kind(row) == PassageKind::User);
        let is_copy = |row: &usize| {
            matches!(kind(row), PassageKind::Objective | PassageKind::Prompt)
                && prompt.is_some_and(|prompt| self.is_part(*row, prompt))
        };
        rows.filter(|row| !is_copy(row)).collect()
    }

    /// Whether `row` is not longer than `other`, and contains no word of the query more often than
    /// `other`.
    fn is_part(&self, row: usize, other: usize) -> bool {
        let counts = self.counts(row).iter().zip(self.counts(other));
        self.rows[row].length <= self.rows[other].length
            && counts.into_iter().all(|(row, other)| row[1] <= other[1])
    }

    /// Returns the rows of each shard, ordered by document.
    fn rows_by_shard(&self, shards: usize) -> Vec<Vec<usize>> {
        let mut by_shard = vec![Vec::new(); shards];
        for (number, row) in self.rows.iter().enumerate() {
            by_shard[row.shard as usize].push((row.document, number));
        }
        let ordered = by_shard.into_iter().map(|mut rows| {
            rows.sort();
            rows.into_iter().map(|(_, number)| number).collect()
        });
        ordered.collect()
    }

    fn count(&mut self, rows: &[usize], shard: &Shard<'_>, plan: &Plan) -> tantivy::Result<()> {
        let documents: Vec<u32> = rows.iter().map(|row| self.rows[*row].document).collect();
        for mut unit_cursor in plan.cursors(shard, PostingDetail::Counts, |_| true)? {
            each_common(&mut unit_cursor.cursor, &documents, &mut |cursor, index| {
                let row = rows[index];
                self.is_hit[row] = true;
                unit::count(
                    cursor,
                    unit_cursor.matches,
                    &mut self.counts[row * self.units + unit_cursor.unit],
                );
            });
        }
        Ok(())
    }

    /// Computes the closeness of the words of each pair in the passages that contain both words.
    fn find_pairs(
        &mut self,
        rows: &[usize],
        shard: &Shard<'_>,
        plan: &Plan,
    ) -> tantivy::Result<()> {
        let positions = self.positions(rows, shard, plan)?;
        for (at, row) in positions.rows.iter().enumerate() {
            let candidate = self.rows[*row].candidate as usize;
            let (mut kept, mut worth) = (0, 0.0);
            for (index, pair) in plan.pairs.iter().enumerate() {
                let of = |unit: usize| positions.found[at * self.units + unit].as_slice();
                let closeness = closeness(of(pair.first), of(pair.second), pair.distance);
                let best = &mut self.pairs[candidate * self.pair_count + index];
                *best = best.max(closeness);
                kept += usize::from(closeness > 0.0);
                worth += closeness * plan.pair_weight(pair);
            }
            if kept > 1 {
                self.runs[*row] = worth;
            }
        }
        Ok(())
    }

    /// Returns the positions of the words of pairs, for the rows that contain both words of a pair.
    fn positions(
        &self,
        rows: &[usize],
        shard: &Shard<'_>,
        plan: &Plan,
    ) -> tantivy::Result<PairPositions> {
        let has_unit = |row: usize, unit: usize| self.counts(row)[unit][1] > 0.0;
        let has_pair =
            |row: usize, pair: &Pair| has_unit(row, pair.first) && has_unit(row, pair.second);
        let mut wanted = vec![false; plan.units.len()];
        let mut with_pairs = Vec::new();
        for row in rows.iter().copied().filter(|row| self.is_hit(*row)) {
            let mut any = false;
            for pair in plan.pairs.iter().filter(|pair| has_pair(row, pair)) {
                any = true;
                wanted[pair.first] = true;
                wanted[pair.second] = true;
            }
            if any {
                with_pairs.push(row);
            }
        }
        let documents: Vec<u32> = with_pairs.iter().map(|row| self.rows[*row].document).collect();
        let mut found: Vec<Vec<u32>> = vec![Vec::new(); with_pairs.len() * self.units];
        let mut here = Vec::new();
        for mut unit_cursor in plan.cursors(shard, PostingDetail::Positions, |unit| wanted[unit])? {
            if unit_cursor.matches == Matches::Exact {
                continue;
            }
            each_common(&mut unit_cursor.cursor, &documents, &mut |cursor, index| {
                let found = &mut found[index * self.units + unit_cursor.unit];
                cursor.positions(&mut here);
                let is_first = found.is_empty();
                found.extend_from_slice(&here);
                if !is_first {
                    found.sort_unstable();
                }
            });
        }
        Ok(PairPositions { rows: with_pairs, found })
    }
}

/// The positions of words in the rows that contain both words of a pair.
struct PairPositions {
    rows: Vec<usize>,
    /// Indexed by the position in `rows` and by unit.
    found: Vec<Vec<u32>>,
}

/// Calls `found` for each document of the cursor that is also in `documents`, in ascending order.
/// Skips documents that only one of them contains, so that a rare word costs little.
fn each_common(
    cursor: &mut Cursor<'_>,
    documents: &[u32],
    found: &mut dyn FnMut(&mut Cursor<'_>, usize),
) {
    let mut index = 0;
    while let Some(wanted) = documents.get(index) {
        let document = cursor.seek(*wanted);
        if document == *wanted {
            found(cursor, index);
            index += 1;
        } else {
            index += first_from(&documents[index..], document);
        }
    }
}

/// Returns the index of the first of `documents` that is at least `document`. The search doubles
/// its steps, because the document is usually near.
fn first_from(documents: &[u32], document: u32) -> usize {
    let mut end = 1;
    while documents.get(end).is_some_and(|at| *at < document) {
        end *= 2;
    }
    let start = end / 2;
    let end = documents.len().min(end + 1);
    start + documents[start..end].partition_point(|at| *at < document)
}

/// Returns the closeness of two words, given their positions: 1 if they are in order and at most
/// `distance` apart, 0.5 if up to [`MAX_EXTRA_DISTANCE`] further words are between them, and 0
/// otherwise.
fn closeness(first: &[u32], second: &[u32], distance: u32) -> f32 {
    let mut best = 0.0_f32;
    for start in first {
        let next = second.partition_point(|position| position <= start);
        let Some(position) = second.get(next) else { break };
        let gap = position - start;
        if gap <= distance {
            return 1.0;
        }
        if gap <= distance + MAX_EXTRA_DISTANCE {
            best = 0.5;
        }
    }
    best
}

const MAX_EXTRA_DISTANCE: u32 = 3;

/// Returns the admitted passages of each session, in order. The passages of a session are sorted by
/// themselves, because most of them are already in order.
fn rows(
    sessions: &[u64],
    view: &View<'_>,
    filters: &FilterSet,
) -> tantivy::Result<Vec<PassageEvidence>> {
    let mut rows = Vec::new();
    for (candidate, session) in (0..).zip(sessions) {
        let start = rows.len();
        for shard in &view.shards {
            for document in shard.documents_of(*session)? {
                let facts = shard.facts(document);
                let Some(kind) = facts.kind else { continue };
                if !filters.admits(shard, document, kind) {
                    continue;
                }
                rows.push(PassageEvidence {
                    candidate,
                    shard: shard.number as u32,
                    document,
                    source: facts.source,
                    seq: facts.seq,
                    part: facts.part,
                    kind,
                    length: facts.length,
                });
            }
        }
        rows[start..].sort_by_key(|row| (row.source, row.seq, row.part));
    }
    Ok(rows)
}
