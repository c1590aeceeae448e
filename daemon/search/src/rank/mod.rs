//! Ranks the sessions that match a query.
//!
//! There are two passes: [`gather`] reads the posting lists of the query's words and selects
//! candidate sessions, and [`evidence`] inspects all their passages. [`measure`] computes relevance
//! signals from them, [`weigh`] normalises and adds the signals, [`fuse`] combines the result with
//! a second ranker, and [`hits`] formats the best ones. [`mod@merge`] adds the results of another
//! search.

mod admission;
mod cards;
mod evidence;
mod fuse;
mod gather;
mod hits;
mod list;
mod lists;
mod measure;
mod merge;
mod plan;
mod results;
mod scope;
mod spell;
mod unit;
mod weigh;
mod weights;

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use self::{
    admission::Admission,
    evidence::Evidence,
    gather::{Gathered, SessionScore},
    measure::{BestRows, Measure, Signs},
    plan::Plan,
};
pub use self::{
    fuse::SecondRanker,
    merge::{MergedPlace, merge},
    results::{
        Explanation, HitLocation, PassageHit, Results, SessionHit, Sign, Spelling, WordFound,
    },
    scope::Scope,
    weights::Weights,
};
use crate::{
    index::{IndexError, SearchIndex, facts::CardFacts, view::View},
    model::{SessionKey, Timestamp},
    query::{Query, dates::TimeRange},
};

/// A query with all inputs of the ranking.
pub struct RankRequest<'r> {
    pub query: &'r Query,
    pub scope: &'r Scope,
    /// The reference time for recency.
    pub now: Timestamp,
    /// The maximum number of sessions to return.
    pub limit: usize,
    pub weights: &'r Weights,
    /// The second ranker for this query, if any.
    pub second: Option<&'r dyn SecondRanker>,
    /// A filter that is applied before any limit. It is called for every session that contains a
    /// word of the query, is of a date in it, or is found by the second ranker. For a query without
    /// words it is called for the latest sessions until there are enough.
    pub only: Option<&'r dyn Fn(SessionKey) -> bool>,
}

impl RankRequest<'_> {
    fn wants(&self, session: u64) -> bool {
        self.only.is_none_or(|only| only(SessionKey(session)))
    }
}

/// Maximum number of sessions that the second pass inspects, without those of a date in the query.
const CANDIDATES: usize = 160;
/// Maximum length of a date in the query whose sessions become candidates. A longer one has too
/// many sessions.
const FEW_DAYS: Duration = Duration::from_secs(14 * 24 * 3_600);
/// Maximum number of sessions of the second ranker that are used.
const SECOND_CANDIDATES: usize = 100;

impl SearchIndex {
    pub fn search(&self, request: &RankRequest<'_>) -> Result<Results, IndexError> {
        Ok(self.with_view(|view| {
            let admission = Admission::new(request.query, request.scope, view)?;
            if request.query.is_list() {
                return list::list(request, view, &admission);
            }
            Ranking { request, view, admission: &admission }.run()
        })?)
    }
}

struct Ranking<'s> {
    request: &'s RankRequest<'s>,
    view: &'s View<'s>,
    admission: &'s Admission,
}

#[derive(Default)]
struct Candidate {
    session: u64,
    card: CardFacts,
    score: f32,
    signs: Vec<Sign>,
    best: BestRows,
    /// The candidate's index in the evidence, if it was inspected.
    number: Option<usize>,
}

impl Ranking<'_> {
    fn run(&self) -> tantivy::Result<Results> {
        let weights = self.request.weights;
        let plan = Plan::new(self.request.query, self.view, weights)?;
        let mut gathered = gather::gather(&plan, self.view, self.admission, weights)?;
        gathered.found.retain(|found| self.request.wants(found.session));
        let mut sessions = most_promising(&gathered.found);
        self.add_sessions_of_dates(&mut sessions)?;
        let evidence = Evidence::collect(&sessions, &plan, self.view, self.admission)?;
        let mut candidates = self.weighed(&sessions, &plan, &gathered, &evidence)?;
        self.hear_second(&mut candidates)?;
        let best = hits::best(candidates, self.request.limit).into_iter();
        let hits = best.map(|candidate| hits::hit(candidate, Some((&plan, &evidence, self.view))));
        let (sessions, total) = (hits.collect(), gathered.found.len());
        Ok(Results { sessions, total, spelled: plan.spelled })
    }

    /// Adds the latest sessions of the dates in the query, even without its words. Dates of more
    /// than [`FEW_DAYS`] and queries with filters on passages are skipped.
    fn add_sessions_of_dates(&self, sessions: &mut Vec<u64>) -> tantivy::Result<()> {
        let dates = self.request.query.dates().iter();
        let dates: Vec<&TimeRange> = dates.filter(|range| range.length() <= FEW_DAYS).collect();
        if dates.is_empty() || self.admission.looks_at_passages() {
            return Ok(());
        }
        let mut of_dates = Vec::new();
        self.view.each_session(&mut |row| {
            let at = Timestamp::from_seconds(row.ended);
            if self.admission.admits_session(row.session)
                && dates.iter().any(|range| range.contains(at))
            {
                of_dates.push((row.ended, row.session));
            }
        })?;
        of_dates.sort_unstable_by(|one, other| other.cmp(one));
        of_dates.retain(|(_, session)| self.request.wants(*session));
        sessions.extend(of_dates.into_iter().take(CANDIDATES / 2).map(|(_, session)| session));
        sessions.sort_unstable();
        sessions.dedup();
        Ok(())
    }

    /// Returns the sessions with their scores.
    fn weighed(
        &self,
        sessions: &[u64],
        plan: &Plan,
        gathered: &Gathered,
        evidence: &Evidence,
    ) -> tantivy::Result<Vec<Candidate>> {
        let measure = Measure::new(plan, gathered, self.request.weights, evidence);
        let measured: Vec<(Signs, BestRows)> =
            (0..sessions.len()).map(|candidate| measure.candidate(candidate)).collect();
        let most = weigh::strongest(measured.iter().map(|(signs, _)| signs));
        let mut candidates = Vec::with_capacity(sessions.len());
        for (number, (session, (signs, best))) in sessions.iter().zip(measured).enumerate() {
            let Some(card) = self.view.card(*session)? else { continue };
            let signs = weigh::weigh(&signs, &most, &card, self.request);
            let score = signs.iter().map(|sign| sign.share).sum();
            let number = Some(number);
            candidates.push(Candidate { session: *session, card, score, signs, best, number });
        }
        self.prefer_latest_of_identifier(plan, evidence, &mut candidates);
        Ok(candidates)
    }

    /// If the query consists of one identifier, ranks the sessions with it first, the latest one
    /// first.
    fn prefer_latest_of_identifier(
        &self,
        plan: &Plan,
        evidence: &Evidence,
        candidates: &mut [Candidate],
    ) {
        let Some(unit) = plan.identifier_unit() else { return };
        let holds = |candidate: &Candidate| {
            let rows = candidate.number.map(|number| evidence.rows_of_candidate(number));
            rows.into_iter().flatten().any(|row| evidence.counts(row)[unit][0] > 0.0)
        };
        let mut holders: Vec<&mut Candidate> =
            candidates.iter_mut().filter(|candidate| holds(candidate)).collect();
        holders.sort_by_key(|candidate| std::cmp::Reverse(candidate.card.ended));
        let count = holders.len() as f32;
        for (place, candidate) in holders.into_iter().enumerate() {
            let strength = 1.0 - place as f32 / (2.0 * count);
            let share = strength * self.request.weights.identifier;
            candidate.signs.push(Sign { name: "latest with the identifier", strength, share });
            candidate.score += share;
        }
    }

    /// Adds the scores of the second ranker.
    fn hear_second(&self, candidates: &mut Vec<Candidate>) -> tantivy::Result<()> {
        let Some(ranker) = self.request.second else { return Ok(()) };
        let own: Vec<(u64, f32)> =
            candidates.iter().map(|candidate| (candidate.session, candidate.score)).collect();
        let known: HashMap<u64, usize> =
            own.iter().enumerate().map(|(index, (session, _))| (*session, index)).collect();
        // The second ranker cannot check passage filters, so it may then add no sessions.
        let is_free = !self.admission.looks_at_passages();
        let admits = |session: SessionKey| {
            (is_free && self.admission.admits_session(session.0)) || known.contains_key(&session.0)
        };
        let limit = if self.request.only.is_some() { usize::MAX } else { SECOND_CANDIDATES };
        let second = ranker.rank(limit, &admits).into_iter();
        let second = second.map(|(session, score)| (session.0, score));
        let second = second.filter(|(session, _)| self.request.wants(*session));
        let second: Vec<(u64, f32)> = second.take(SECOND_CANDIDATES).collect();
        let floor = ranker.floor();
        let heard: HashMap<u64, f32> = second.iter().copied().collect();
        for (session, score) in fuse::fuse(&own, &second, self.request.weights.second) {
            let strength = heard.get(&session).copied().unwrap_or_default();
            if let Some(index) = known.get(&session) {
                candidates[*index].hear(score, strength);
            } else if strength >= floor
                && let Some(card) = self.view.card(session)?
            {
                let mut candidate = Candidate { session, card, ..Candidate::default() };
                candidate.hear(score, strength);
                candidates.push(candidate);
            }
        }
        Ok(())
    }
}

impl Candidate {
    /// Replaces the score by the fused one.
    fn hear(&mut self, score: f32, strength: f32) {
        let share = score - self.score;
        self.signs.push(Sign { name: "meaning", strength, share });
        self.score = score;
    }
}

/// Selects the sessions for the second pass: half by their best passage, half by their total.
fn most_promising(found: &[SessionScore]) -> Vec<u64> {
    if found.len() <= CANDIDATES {
        return found.iter().map(|found| found.session).collect();
    }
    let half = CANDIDATES / 2;
    let mut order: Vec<&SessionScore> = found.iter().collect();
    let mut chosen: HashSet<u64> = HashSet::new();
    let worths: [fn(&SessionScore) -> f32; 2] = [|found| found.best, |found| found.whole];
    for worth in worths {
        order.select_nth_unstable_by(half, |one, other| worth(other).total_cmp(&worth(one)));
        chosen.extend(order[..half].iter().map(|found| found.session));
    }
    let mut chosen: Vec<u64> = chosen.into_iter().collect();
    chosen.sort_unstable();
    chosen
}

#[cfg(test)]
mod tests;
