//! Answers a query without words: the sessions that match its filters, latest first.

use std::collections::HashSet;

use crate::{
    index::{facts::CardFacts, view::View},
    rank::{Candidate, RankRequest, Results, filter_set::FilterSet, hits},
};

pub(crate) fn list(
    request: &RankRequest<'_>,
    view: &View<'_>,
    filters: &FilterSet,
) -> tantivy::Result<Results> {
    let with_passages =
        filters.has_passage_filters().then(|| sessions_with_passages(view, filters));
    let mut candidates = Vec::new();
    view.each_session(&mut |row| {
        let is_empty = with_passages.as_ref().is_some_and(|with| !with.contains(&row.session));
        if !is_empty && filters.admits_session(row.session) {
            let card = CardFacts { ended: row.ended, ..CardFacts::default() };
            candidates.push(Candidate { session: row.session, card, ..Candidate::default() });
        }
    })?;
    let total = candidates.len();
    let latest = hits::best(candidates, usize::MAX).into_iter();
    let wanted =
        latest.filter(|candidate| request.passes_filter(candidate.session)).take(request.limit);
    let sessions = wanted.map(|candidate| hits::hit(candidate, None)).collect();
    Ok(Results { sessions, total, ..Results::default() })
}

/// Returns the sessions with at least one admitted passage.
fn sessions_with_passages(view: &View<'_>, filters: &FilterSet) -> HashSet<u64> {
    let mut sessions = HashSet::new();
    for shard in &view.shards {
        for document in (0..shard.end()).filter(|document| shard.is_alive(*document)) {
            let Some(kind) = shard.kind(document) else { continue };
            if filters.admits(shard, document, kind) {
                sessions.insert(shard.session(document));
            }
        }
    }
    sessions
}
