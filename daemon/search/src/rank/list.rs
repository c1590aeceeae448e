//! Answers a query without words: the sessions that match its filters, latest first.

use std::collections::HashSet;

use crate::{
    index::{facts::CardFacts, view::View},
    rank::{Candidate, RankRequest, Results, admission::Admission, hits},
};

pub(crate) fn list(
    request: &RankRequest<'_>,
    view: &View<'_>,
    admission: &Admission,
) -> tantivy::Result<Results> {
    let with_passages =
        admission.looks_at_passages().then(|| sessions_with_passages(view, admission));
    let mut candidates = Vec::new();
    view.each_session(&mut |row| {
        let is_empty = with_passages.as_ref().is_some_and(|with| !with.contains(&row.session));
        if !is_empty && admission.admits_session(row.session) {
            let card = CardFacts { ended: row.ended, ..CardFacts::default() };
            candidates.push(Candidate { session: row.session, card, ..Candidate::default() });
        }
    })?;
    let total = candidates.len();
    let latest = hits::best(candidates, usize::MAX).into_iter();
    let wanted = latest.filter(|candidate| request.wants(candidate.session)).take(request.limit);
    let sessions = wanted.map(|candidate| hits::hit(candidate, None)).collect();
    Ok(Results { sessions, total, spelled: Vec::new() })
}

/// Returns the sessions with at least one admitted passage.
fn sessions_with_passages(view: &View<'_>, admission: &Admission) -> HashSet<u64> {
    let mut sessions = HashSet::new();
    for (number, shard) in view.shards.iter().enumerate() {
        for document in (0..shard.end()).filter(|document| shard.is_alive(*document)) {
            let Some(kind) = shard.kind(document) else { continue };
            if admission.admits((number, shard), document, kind) {
                sessions.insert(shard.session(document));
            }
        }
    }
    sessions
}
