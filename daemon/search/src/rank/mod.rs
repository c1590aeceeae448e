//! Ranks the sessions that match a query.
//!
//! There are two passes: [`gather`] reads the posting lists of the query's words and selects
//! candidate sessions, and [`evidence`] inspects all their passages. [`measure`] computes relevance
//! signals from these passages, [`weigh`] normalises and adds the signals, [`fuse`] combines the
//! result with a second ranker, and [`hits`] converts the best candidates into hits. [`mod@merge`]
//! adds the results of another search.

mod admission;
mod cards;
mod evidence;
mod filter_set;
mod fuse;
mod gather;
mod hits;
mod identifier;
mod list;
mod lists;
mod measure;
mod merge;
mod plan;
mod results;
mod scope;
mod shown;
mod spell;
mod unit;
mod weigh;
mod weights;

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use self::{
    evidence::Evidence,
    filter_set::FilterSet,
    gather::{Gathered, SessionScore},
    hits::FoundWords,
    identifier::SoughtIdentifier,
    measure::{Measure, SessionSignals},
    plan::Plan,
};
pub use self::{
    fuse::SecondRanker,
    merge::{MergedPlace, merge},
    results::{
        Explanation, HitLocation, PassageHit, Results, SessionHit, Signal, Spelling, WordFound,
    },
    scope::Scope,
    weights::Weights,
};
use crate::{
    index::{IndexError, SearchIndex, facts::CardFacts, view::View, work},
    model::{SessionKey, Timestamp},
    query::{Phrase, Query, dates::TimeRange},
    text::{self, OwnedWord, TokenForm},
};

/// A query with all inputs of the ranking.
pub struct RankRequest<'r> {
    pub query: &'r Query,
    pub scope: &'r Scope,
    /// The reference time for recency.
    pub now: Timestamp,
    pub limit: usize,
    pub weights: &'r Weights,
    pub second: Option<&'r dyn SecondRanker>,
    /// A filter that is applied before any limit. It is called for every session that contains a
    /// word of the query, worked on the query's identifier, ended in a time range of the query, or
    /// is found by the second ranker. For a query without words, it is called for the latest
    /// sessions until `limit` sessions pass.
    pub session_filter: Option<&'r dyn Fn(SessionKey) -> bool>,
}

impl RankRequest<'_> {
    fn passes_filter(&self, session: u64) -> bool {
        self.session_filter.is_none_or(|passes| passes(SessionKey(session)))
    }
}

/// Maximum number of sessions that the second pass inspects, not counting the sessions that are
/// added because of a date or an identifier in the query.
const CANDIDATES: usize = 160;
/// Maximum length of a time range in the query whose sessions are added to the candidates. A longer
/// range has too many sessions.
const MAX_TIME_RANGE: Duration = Duration::from_secs(14 * 24 * 3_600);
/// Maximum number of sessions of the second ranker that are used.
const SECOND_CANDIDATES: usize = 100;

impl SearchIndex {
    pub fn search(&self, request: &RankRequest<'_>) -> Result<Results, IndexError> {
        Ok(self.with_view(|view| {
            let filters = FilterSet::new(request.query, request.scope, view)?;
            if request.query.is_list() {
                return list::list(request, view, &filters);
            }
            if request.query.is_error {
                let weights = &request.weights.for_error();
                let request = &RankRequest { weights, ..*request };
                return Ranking { request, view, filters: &filters }.run();
            }
            Ranking { request, view, filters: &filters }.run()
        })?)
    }
}

struct Ranking<'s> {
    request: &'s RankRequest<'s>,
    view: &'s View<'s>,
    filters: &'s FilterSet,
}

#[derive(Default)]
struct Candidate {
    session: u64,
    card: CardFacts,
    score: f32,
    signals: Vec<Signal>,
    /// The candidate's index in the evidence, if it was inspected.
    number: Option<usize>,
}

impl Ranking<'_> {
    fn run(&self) -> tantivy::Result<Results> {
        let weights = self.request.weights;
        let plan = Plan::new(self.request.query, self.view, weights)?;
        let identifier = SoughtIdentifier::of(self.request, &plan, self.view, self.filters)?;
        let unit = identifier.as_ref().and_then(SoughtIdentifier::unit);
        let mut gathered = gather::gather(&plan, unit, self.view, self.filters, weights)?;
        gathered.found.retain(|found| self.request.passes_filter(found.session));
        identifier.iter().for_each(|identifier| identifier.mark(&mut gathered.found));
        let mut sessions = most_promising(&gathered.found);
        self.add_sessions_of_dates(&mut sessions)?;
        if let Some(identifier) = &identifier {
            identifier.add_first_sessions(&mut sessions, &gathered.found, self.view)?;
        }
        let evidence = Evidence::collect(&sessions, &plan, self.view, self.filters)?;
        let mut candidates = self.score_candidates(&sessions, &plan, &gathered, &evidence)?;
        self.fuse_second_ranker(&mut candidates)?;
        let unknown_ticket = identifier.as_ref().and_then(|identifier| {
            let is_known = identifier.raise(&mut candidates, &evidence, weights);
            self.request.query.single_name().filter(|name| !is_known && work::is_ticket(name))
        });
        let unknown_ticket = match unknown_ticket {
            Some(ticket) if !self.contains_ticket(ticket)? => Some(ticket.to_owned()),
            _ => None,
        };
        let shown = match self.filters.has_passage_filters() {
            true => weights.without_turns(),
            false => weights.clone(),
        };
        let found =
            FoundWords { plan: &plan, evidence: &evidence, view: self.view, weights: &shown };
        let best = hits::best(candidates, self.request.limit).into_iter();
        let hits = best.map(|candidate| hits::hit(candidate, Some(&found)));
        let (sessions, total) = (hits.collect(), gathered.found.len());
        Ok(Results { sessions, total, spelled: plan.spelled, unknown_ticket })
    }

    /// Whether an admitted session contains the ticket, also in a longer name such as the branch
    /// `TOLL-7-limit-retries`, or in a passage that the filters on passages do not admit.
    fn contains_ticket(&self, ticket: &str) -> tantivy::Result<bool> {
        let (parts, wholes): (Vec<OwnedWord>, Vec<OwnedWord>) =
            text::words(ticket).into_iter().partition(|word| word.form == TokenForm::Part);
        // The number of `#7` alone is in most sessions.
        let words = if parts.len() > 1 { parts } else { wholes };
        let phrase =
            Phrase { parts: words.into_iter().map(|word| word.text).collect(), is_prefix: false };
        for shard in &self.view.shards {
            for (document, _) in lists::with_phrase(shard, &phrase, 0)? {
                let session = shard.session(document);
                if shard.is_alive(document)
                    && self.filters.admits_session(session)
                    && self.request.passes_filter(session)
                {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Adds the latest sessions that ended in a time range of the query, even if they contain none
    /// of its words. Ranges longer than [`MAX_TIME_RANGE`] and queries with passage filters are
    /// skipped.
    fn add_sessions_of_dates(&self, sessions: &mut Vec<u64>) -> tantivy::Result<()> {
        let dates = self.request.query.dates().iter();
        let dates: Vec<&TimeRange> =
            dates.filter(|range| range.length() <= MAX_TIME_RANGE).collect();
        if dates.is_empty() || self.filters.has_passage_filters() {
            return Ok(());
        }
        let mut of_dates = Vec::new();
        self.view.each_session(&mut |row| {
            let at = Timestamp::from_seconds(row.ended);
            if self.filters.admits_session(row.session)
                && dates.iter().any(|range| range.contains(at))
            {
                of_dates.push((row.ended, row.session));
            }
        })?;
        of_dates.sort_unstable_by(|one, other| other.cmp(one));
        of_dates.retain(|(_, session)| self.request.passes_filter(*session));
        sessions.extend(of_dates.into_iter().take(CANDIDATES / 2).map(|(_, session)| session));
        sessions.sort_unstable();
        sessions.dedup();
        Ok(())
    }

    fn score_candidates(
        &self,
        sessions: &[u64],
        plan: &Plan,
        gathered: &Gathered,
        evidence: &Evidence,
    ) -> tantivy::Result<Vec<Candidate>> {
        let measure = Measure::new(plan, gathered, self.request.weights, evidence);
        let measured: Vec<SessionSignals> =
            (0..sessions.len()).map(|candidate| measure.candidate(candidate)).collect();
        let most = weigh::strongest(measured.iter());
        let mut candidates = Vec::with_capacity(sessions.len());
        for (number, (session, signals)) in sessions.iter().zip(measured).enumerate() {
            let Some(card) = self.view.card(*session)? else { continue };
            let signals = weigh::weigh(&signals, &most, &card, self.request);
            let score = signals.iter().map(|signal| signal.share).sum();
            let number = Some(number);
            candidates.push(Candidate { session: *session, card, score, signals, number });
        }
        Ok(candidates)
    }

    fn fuse_second_ranker(&self, candidates: &mut Vec<Candidate>) -> tantivy::Result<()> {
        let Some(ranker) = self.request.second else { return Ok(()) };
        let own: Vec<(u64, f32)> =
            candidates.iter().map(|candidate| (candidate.session, candidate.score)).collect();
        let known: HashMap<u64, usize> =
            own.iter().enumerate().map(|(index, (session, _))| (*session, index)).collect();
        // The second ranker cannot check filters on passages. If the query has such filters, it
        // must not add sessions.
        let is_free = !self.filters.has_passage_filters();
        let admits = |session: SessionKey| {
            (is_free && self.filters.admits_session(session.0)) || known.contains_key(&session.0)
        };
        let limit =
            if self.request.session_filter.is_some() { usize::MAX } else { SECOND_CANDIDATES };
        let second = ranker.rank(limit, &admits).into_iter();
        let second = second.map(|(session, score)| (session.0, score));
        let second = second.filter(|(session, _)| self.request.passes_filter(*session));
        let second: Vec<(u64, f32)> = second.take(SECOND_CANDIDATES).collect();
        let floor = ranker.floor();
        let second_scores: HashMap<u64, f32> = second.iter().copied().collect();
        for (session, score) in fuse::fuse(&own, &second, self.request.weights.second) {
            let strength = second_scores.get(&session).copied().unwrap_or_default();
            if let Some(index) = known.get(&session) {
                candidates[*index].apply_fused_score(score, strength);
            } else if strength >= floor
                && let Some(card) = self.view.card(session)?
            {
                let mut candidate = Candidate { session, card, ..Candidate::default() };
                candidate.apply_fused_score(score, strength);
                candidates.push(candidate);
            }
        }
        Ok(())
    }
}

impl Candidate {
    fn apply_fused_score(&mut self, score: f32, strength: f32) {
        let share = score - self.score;
        self.signals.push(Signal { name: "meaning", strength, share });
        self.score = score;
    }
}

/// Selects the sessions for the second pass: half by the score of their best passage, half by the
/// score of the whole session.
fn most_promising(found: &[SessionScore]) -> Vec<u64> {
    if found.len() <= CANDIDATES {
        return found.iter().map(|found| found.session).collect();
    }
    let half = CANDIDATES / 2;
    let mut order: Vec<&SessionScore> = found.iter().collect();
    let mut chosen: HashSet<u64> = HashSet::new();
    let score_functions: [fn(&SessionScore) -> f32; 2] = [|found| found.best, |found| found.whole];
    for score in score_functions {
        order.select_nth_unstable_by(half, |one, other| score(other).total_cmp(&score(one)));
        chosen.extend(order[..half].iter().map(|found| found.session));
    }
    let mut chosen: Vec<u64> = chosen.into_iter().collect();
    chosen.sort_unstable();
    chosen
}

#[cfg(test)]
mod tests;
