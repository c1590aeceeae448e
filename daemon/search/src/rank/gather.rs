//! The first pass of the ranking: selects candidate sessions.
//!
//! This pass reads the posting lists of the query's rarer words, computes the score of each
//! passage, and keeps the score of each session's best passage and of the whole session. Frequent
//! words are only looked up in documents that contain a rarer word, so that the cost hardly depends
//! on the number of sessions.

use rustc_hash::FxHashMap;

use crate::{
    index::{
        cursor::END,
        shard::{PostingDetail, Shard},
        view::View,
    },
    rank::{
        filter_set::FilterSet,
        plan::Plan,
        unit::{self, UnitCounts, UnitCursor},
        weights::Weights,
    },
};

/// The maximum number of postings that the first pass reads, which takes about 30 ms. If the words
/// have more postings, the lists of the most frequent words are not read, but looked up in the
/// documents that contain a rarer word.
const MAX_POSTINGS: u64 = 300_000;

/// The result of the first pass.
pub(crate) struct Gathered {
    /// The admitted sessions in which an admitted passage contains a word whose list was read.
    pub(crate) found: Vec<SessionScore>,
    /// For each [`mod@unit`] (search term), the number of sessions with the exact word, and with
    /// any form. Estimated for the units whose lists were not read.
    pub(crate) sessions_with: Vec<[u32; 2]>,
}

pub(crate) struct SessionScore {
    pub(crate) session: u64,
    pub(crate) best: f32,
    pub(crate) whole: f32,
    /// Whether the session is ranked first because of the identifier that the query consists of.
    pub(crate) comes_first: bool,
}

pub(crate) fn gather(
    plan: &Plan,
    identifier: Option<usize>,
    view: &View<'_>,
    filters: &FilterSet,
    weights: &Weights,
) -> tantivy::Result<Gathered> {
    let mut pass = GatherPass {
        plan,
        identifier,
        filters,
        weights,
        is_scanned: scanned(plan),
        numbers: FxHashMap::default(),
        sessions: Vec::new(),
        last: 0,
        counts: Vec::new(),
    };
    for shard in &view.shards {
        pass.shard(shard)?;
    }
    Ok(pass.finish())
}

/// Selects the units whose lists are read: the rarest unit, and further units within the limit.
fn scanned(plan: &Plan) -> Vec<bool> {
    let mut order: Vec<usize> = (0..plan.units.len()).collect();
    order.sort_by_key(|unit| plan.units[*unit].frequency);
    let mut is_scanned = vec![false; plan.units.len()];
    let mut sum = 0;
    for unit in order {
        let is_first = sum == 0;
        sum += plan.units[unit].frequency;
        is_scanned[unit] = is_first || sum <= MAX_POSTINGS;
    }
    is_scanned
}

struct GatherPass<'p> {
    plan: &'p Plan,
    /// The unit of the identifier that the query consists of.
    identifier: Option<usize>,
    filters: &'p FilterSet,
    weights: &'p Weights,
    is_scanned: Vec<bool>,
    numbers: FxHashMap<u64, usize>,
    sessions: Vec<GatheredSession>,
    /// The index in `sessions` of the session of the last passage.
    last: usize,
    /// Indexed by session and unit.
    counts: Vec<UnitCounts>,
}

/// The counts of adjacent documents. The posting lists are read one after the other, a window at a
/// time, which costs less than a merge of many lists.
struct Window {
    units: usize,
    first: u32,
    /// One bit for each document of the window: whether a list contains the document.
    found: [u64; WINDOW / 64],
    /// Indexed by document and unit.
    counts: Vec<UnitCounts>,
    /// The counts of the document that [`Window::pop`] returned last.
    current: Vec<UnitCounts>,
}

/// Number of documents in a [`Window`]. The counts of a window fit into the processor's cache.
const WINDOW: usize = 512;

impl Window {
    fn new(units: usize) -> Window {
        let (counts, current) = (vec![[0.0; 2]; WINDOW * units], vec![[0.0; 2]; units]);
        Window { units, first: 0, found: [0; WINDOW / 64], counts, current }
    }

    /// Reads the lists up to the end of the window that begins with `first`.
    fn fill(&mut self, first: u32, cursors: &mut [UnitCursor<'_>]) {
        self.first = first;
        let end = first.saturating_add(WINDOW as u32).min(END);
        for unit_cursor in cursors {
            let mut document = unit_cursor.cursor.document();
            while document < end {
                let at = (document - first) as usize;
                self.found[at / 64] |= 1 << (at % 64);
                let counts = &mut self.counts[at * self.units + unit_cursor.unit];
                unit::count(&unit_cursor.cursor, unit_cursor.matches, counts);
                unit_cursor.cursor.advance();
                document = unit_cursor.cursor.document();
            }
        }
    }

    /// Removes the next document from the window, and returns it with its counts by unit.
    fn pop(&mut self) -> Option<(u32, &mut [UnitCounts])> {
        let word = self.found.iter().position(|word| *word != 0)?;
        let at = word * 64 + self.found[word].trailing_zeros() as usize;
        self.found[word] &= self.found[word] - 1;
        let counts = &mut self.counts[at * self.units..(at + 1) * self.units];
        self.current.copy_from_slice(counts);
        counts.fill([0.0; 2]);
        Some((self.first + at as u32, &mut self.current))
    }
}

struct GatheredSession {
    session: u64,
    best: f32,
    is_admitted: bool,
}

impl GatherPass<'_> {
    fn shard(&mut self, shard: &Shard<'_>) -> tantivy::Result<()> {
        let cursors = self.plan.cursors(shard, PostingDetail::Counts, |_| true)?;
        let (mut scanned, mut looked_up): (Vec<UnitCursor<'_>>, Vec<UnitCursor<'_>>) =
            cursors.into_iter().partition(|unit_cursor| self.is_scanned[unit_cursor.unit]);
        let units = self.plan.units.len();
        let mut window = Window::new(units);
        loop {
            let first = scanned
                .iter()
                .map(|unit_cursor| unit_cursor.cursor.document())
                .min()
                .unwrap_or(END);
            if first == END {
                return Ok(());
            }
            window.fill(first, &mut scanned);
            while let Some((document, counts)) = window.pop() {
                let kind = shard.kind(document).filter(|_| shard.is_alive(document));
                let Some(kind) = kind else { continue };
                let session = self.number(shard.session(document));
                if !self.sessions[session].is_admitted
                    || !self.filters.admits(shard, document, kind)
                {
                    continue;
                }
                for unit_cursor in &mut looked_up {
                    if unit_cursor.cursor.seek(document) == document {
                        unit::count(
                            &unit_cursor.cursor,
                            unit_cursor.matches,
                            &mut counts[unit_cursor.unit],
                        );
                    }
                }
                let relative = shard.length_of(document) as f32 / self.plan.passage_length;
                self.add(session, self.weights.of_kind(kind), relative, counts);
            }
        }
    }

    /// Returns the index of a session in `sessions`. Passages of a session are mostly adjacent.
    fn number(&mut self, session: u64) -> usize {
        if let Some(last) = self.sessions.get(self.last)
            && last.session == session
        {
            return self.last;
        }
        let units = self.plan.units.len();
        self.last = *self.numbers.entry(session).or_insert_with(|| {
            let is_admitted = self.filters.admits_session(session);
            self.sessions.push(GatheredSession { session, best: 0.0, is_admitted });
            self.counts.resize(self.sessions.len() * units, [0.0; 2]);
            self.sessions.len() - 1
        });
        self.last
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
                gathered.found.push(SessionScore {
                    session: seen.session,
                    best: seen.best,
                    whole,
                    comes_first: self.identifier.is_some_and(|unit| counts[unit][0] > 0.0),
                });
            }
        }
        for (unit, with) in gathered.sessions_with.iter_mut().enumerate() {
            if !self.is_scanned[unit] {
                let guess = self.plan.sessions_with(self.plan.units[unit].frequency);
                *with = with.map(|counted| counted.max(guess));
            }
        }
        gathered
    }
}
