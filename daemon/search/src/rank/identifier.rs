//! Ranks the sessions for a query that consists of one identifier, such as a file or a commit:
//! first the sessions that worked on the file or commit, then the sessions that mention the
//! identifier. Each group is ordered by time.

use std::cmp::Reverse;

use rustc_hash::FxHashSet;

use crate::{
    index::{cursor::END, memory::Attribute, shard::PostingDetail, view::View, work},
    rank::{
        CANDIDATES, Candidate, RankRequest, Signal,
        evidence::Evidence,
        filter_set::FilterSet,
        gather::SessionScore,
        plan::Plan,
        unit::{self, Matches, Unit},
        weights::Weights,
    },
};

/// The identifier that a query consists of, and the sessions that worked on it.
pub(crate) struct SoughtIdentifier {
    /// The unit of the identifier; `None` if the query could be a plain word. Sessions that only
    /// mention such a word are ranked as for other queries.
    unit: Option<usize>,
    /// The sessions that changed a file with this name, or made a commit with this hash or ticket.
    /// If no session did, the sessions with an edit that contains the identifier, such as the name
    /// of a function.
    workers: FxHashSet<u64>,
}

impl SoughtIdentifier {
    /// Finds the identifier of a query. Returns `None` if the query is not a single word, or if
    /// this word could be a plain word and no session worked on something with this name.
    pub(crate) fn of(
        request: &RankRequest<'_>,
        plan: &Plan,
        view: &View<'_>,
        filters: &FilterSet,
    ) -> tantivy::Result<Option<SoughtIdentifier>> {
        let Some(name) = request.query.single_name() else { return Ok(None) };
        let mut workers = FxHashSet::default();
        for term in work::of_query(name) {
            for shard in &view.shards {
                for document in shard.documents_with(Attribute::Work, &term)? {
                    let Some(kind) = shard.kind(document) else { continue };
                    if filters.admits(shard, document, kind) {
                        workers.insert(shard.session(document));
                    }
                }
            }
        }
        let label = request.query.identifier().map(unit::label);
        let unit = label.and_then(|label| plan.units.iter().position(|unit| unit.label == label));
        let is_admitted =
            |session: &u64| filters.admits_session(*session) && request.passes_filter(*session);
        workers.retain(is_admitted);
        if let Some(unit) = unit.filter(|_| workers.is_empty()) {
            workers = editors(&plan.units[unit], view, filters)?;
            workers.retain(is_admitted);
        }
        let is_known = unit.is_some() || !workers.is_empty();
        Ok(is_known.then_some(SoughtIdentifier { unit, workers }))
    }

    pub(crate) fn unit(&self) -> Option<usize> {
        self.unit
    }

    /// Marks the sessions that worked on the identifier. Adds such sessions even if they contain no
    /// word of the query, for example because the query has a longer form of the commit's hash.
    pub(crate) fn mark(&self, found: &mut Vec<SessionScore>) {
        let mut missing = self.workers.clone();
        for found in &mut *found {
            found.comes_first |= missing.remove(&found.session);
        }
        found.extend(missing.into_iter().map(|session| SessionScore {
            session,
            best: 0.0,
            whole: 0.0,
            comes_first: true,
        }));
    }

    /// Adds the sessions that are ranked first, at most [`CANDIDATES`].
    pub(crate) fn add_first_sessions(
        &self,
        sessions: &mut Vec<u64>,
        found: &[SessionScore],
        view: &View<'_>,
    ) -> tantivy::Result<()> {
        let first: FxHashSet<u64> =
            found.iter().filter(|found| found.comes_first).map(|found| found.session).collect();
        let mut order: Vec<(bool, i64, u64)> = Vec::with_capacity(first.len());
        view.each_session(&mut |row| {
            if first.contains(&row.session) {
                order.push((self.workers.contains(&row.session), row.ended, row.session));
            }
        })?;
        order.sort_unstable_by(|one, other| other.cmp(one));
        sessions.extend(order.into_iter().take(CANDIDATES).map(|(_, _, session)| session));
        sessions.sort_unstable();
        sessions.dedup();
        Ok(())
    }

    /// Raises the scores of the sessions that are ranked first: sessions that worked on the
    /// identifier precede others, and later sessions precede earlier sessions. Returns whether
    /// there are such sessions.
    pub(crate) fn raise(
        &self,
        candidates: &mut [Candidate],
        evidence: &Evidence,
        weights: &Weights,
    ) -> bool {
        let mentions = |candidate: &Candidate| {
            let (Some(number), Some(unit)) = (candidate.number, self.unit) else { return false };
            evidence.rows_of_candidate(number).any(|row| evidence.counts(row)[unit][0] > 0.0)
        };
        let mut first: Vec<&mut Candidate> = candidates
            .iter_mut()
            .filter(|candidate| self.workers.contains(&candidate.session) || mentions(candidate))
            .collect();
        first.sort_by_key(|candidate| {
            Reverse((self.workers.contains(&candidate.session), candidate.card.ended))
        });
        let count = first.len();
        for (place, candidate) in first.into_iter().enumerate() {
            let strength = 1.0 - place as f32 / (2 * count) as f32;
            // Each place adds the whole weight, so that no other signal changes the order.
            let share = (count - place) as f32 * weights.identifier;
            candidate.signals.push(Signal { name: "latest with the identifier", strength, share });
            candidate.score += share;
        }
        count > 0
    }
}

/// Returns the sessions with an edit that contains the unit as it is in the query.
fn editors(unit: &Unit, view: &View<'_>, filters: &FilterSet) -> tantivy::Result<FxHashSet<u64>> {
    let mut sessions = FxHashSet::default();
    for shard in &view.shards {
        let cursors = unit.cursors(shard, PostingDetail::Counts)?.into_iter();
        let mut cursors = cursors.filter(|(matches, _)| *matches != Matches::Form).peekable();
        if cursors.peek().is_none() {
            continue;
        }
        let edits: FxHashSet<u32> =
            shard.documents_with(Attribute::Work, work::EDIT)?.into_iter().collect();
        for (_, mut cursor) in cursors {
            while cursor.document() != END {
                let document = cursor.document();
                let kind = shard.kind(document).filter(|_| edits.contains(&document));
                if kind.is_some_and(|kind| filters.admits(shard, document, kind)) {
                    sessions.insert(shard.session(document));
                }
                cursor.advance();
            }
        }
    }
    Ok(sessions)
}
