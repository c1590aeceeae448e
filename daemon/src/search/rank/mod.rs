//! From a question to the sessions that answer it.
//!
//! Two passes: [`gather`] walks through the lists of the question's words and picks some hundred
//! sessions, [`evidence`] looks at all their passages. [`measure`] turns those into signs of
//! relevance, [`weigh`] brings them on one scale and adds them, a second ranker is heard ([`fuse`]),
//! and the best become [`hits`].

mod admission;
mod cards;
mod evidence;
mod fuse;
mod gather;
mod hits;
mod list;
mod lists;
mod measure;
mod plan;
mod results;
mod unit;
mod weigh;
mod weights;

use std::collections::{HashMap, HashSet};

use self::{
    admission::Admission,
    evidence::Evidence,
    gather::{Gathered, SessionScore},
    measure::{BestRows, Measure, Signs},
    plan::Plan,
};
pub use self::{
    admission::Scope,
    fuse::SecondRanker,
    results::{Explanation, HitLocation, PassageHit, Results, SessionHit, Sign, WordFound},
    weights::Weights,
};
use crate::{
    model::{SessionKey, Timestamp},
    search::{
        index::{IndexError, SearchIndex, shard::CardFacts, view::View},
        query::Query,
    },
};

/// A question with everything that its answer depends on.
pub struct RankRequest<'r> {
    pub query: &'r Query,
    pub scope: &'r Scope,
    /// The time from which recency is counted.
    pub now: Timestamp,
    /// How many sessions are wanted.
    pub limit: usize,
    /// How signs are weighed.
    pub weights: &'r Weights,
    /// A second ranker, made for this question.
    pub second: Option<&'r dyn SecondRanker>,
    /// Only those that it lets in, before any limit. It is asked of every one that holds a word of
    /// the question, and without words of the latest until there are enough.
    pub only: Option<&'r dyn Fn(SessionKey) -> bool>,
}

impl RankRequest<'_> {
    fn wants(&self, session: u64) -> bool {
        self.only.is_none_or(|only| only(SessionKey(session)))
    }
}

/// Sessions that get a closer look.
const CANDIDATES: usize = 160;
/// Sessions that a second ranker is asked for.
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

/// A session on its way to the answer.
#[derive(Default)]
struct Candidate {
    session: u64,
    card: CardFacts,
    score: f32,
    signs: Vec<Sign>,
    best: BestRows,
    /// Its number in the evidence, when it is there.
    number: Option<usize>,
}

impl Ranking<'_> {
    fn run(&self) -> tantivy::Result<Results> {
        let weights = self.request.weights;
        let plan = Plan::new(self.request.query, self.view, weights)?;
        let mut gathered = gather::gather(&plan, self.view, self.admission, weights)?;
        gathered.found.retain(|found| self.request.wants(found.session));
        let sessions = most_promising(&gathered.found);
        let evidence = Evidence::collect(&sessions, &plan, self.view, self.admission)?;
        let mut candidates = self.weighed(&sessions, &plan, &gathered, &evidence)?;
        self.hear_second(&mut candidates)?;
        let best = hits::best(candidates, self.request.limit).into_iter();
        let hits = best.map(|candidate| hits::hit(candidate, Some((&plan, &evidence))));
        Ok(Results { sessions: hits.collect(), total: gathered.found.len() })
    }

    /// The sessions with their scores.
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
        Ok(candidates)
    }

    /// Adds what the second ranker says.
    fn hear_second(&self, candidates: &mut Vec<Candidate>) -> tantivy::Result<()> {
        let Some(ranker) = self.request.second else { return Ok(()) };
        let own: Vec<(u64, f32)> =
            candidates.iter().map(|candidate| (candidate.session, candidate.score)).collect();
        let known: HashMap<u64, usize> =
            own.iter().enumerate().map(|(index, (session, _))| (*session, index)).collect();
        // A second ranker knows nothing of what must stand in a session word for word.
        let is_free = self.request.query.phrases.is_empty() && !self.admission.looks_at_passages();
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
    /// Takes the score that the second ranker's word has led to.
    fn hear(&mut self, score: f32, strength: f32) {
        let share = score - self.score;
        self.signs.push(Sign { name: "meaning", strength, share });
        self.score = score;
    }
}

/// The sessions worth a closer look: half of them for their best passage, half for all they hold.
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
