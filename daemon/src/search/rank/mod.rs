//! From a question to the sessions that answer it.
//!
//! Two passes: [`gather`] walks through the lists of the question's words and picks some hundred
//! sessions, [`evidence`] looks at all their passages. [`measure`] turns those into signs of relevance;
//! here they are scaled, weighed and added, forks are folded, and a second ranker's word is heard.

mod admission;
mod evidence;
mod fuse;
mod gather;
mod measure;
mod phrase;
mod plan;
mod results;
mod weights;

use std::collections::{HashMap, HashSet};

use self::{
    admission::Admission,
    evidence::Evidence,
    gather::{Found, Gathered},
    measure::{BestRows, Measure, Signs},
    plan::Plan,
};
pub use self::{
    admission::Scope,
    fuse::SecondRanker,
    results::{Explanation, PassageHit, Place, Results, SessionHit, Sign, WordFound},
    weights::Weights,
};
use crate::{
    model::{SessionKey, Timestamp},
    search::{
        index::{Index, IndexError, passages::seconds, shard, shard::CardFacts, view::View},
        query::{Query, dates::TimeRange},
        text,
    },
};

/// A question with everything that its answer depends on.
pub struct Request<'r> {
    /// The question.
    pub query: &'r Query,
    /// Where to search.
    pub scope: &'r Scope,
    /// The time from which recency is counted.
    pub now: Timestamp,
    /// How many sessions are wanted.
    pub limit: usize,
    /// How signs are weighed.
    pub weights: &'r Weights,
    /// A second ranker with the question as it understands it.
    pub second: Option<(&'r dyn SecondRanker, &'r str)>,
}

/// Sessions that get a closer look.
const CANDIDATES: usize = 160;
/// Sessions that are asked of a second ranker.
const SECOND_CANDIDATES: usize = 100;

impl Index {
    /// Answers a question.
    pub fn search(&self, request: &Request<'_>) -> Result<Results, IndexError> {
        Ok(self.with_view(|view| {
            let admission = Admission::new(request.query, request.scope, view)?;
            if request.query.is_list() {
                return list(request, view, &admission);
            }
            Search { request, view, admission: &admission }.run()
        })?)
    }
}

struct Search<'s> {
    request: &'s Request<'s>,
    view: &'s View<'s>,
    admission: &'s Admission,
}

/// A session on its way to the answer.
struct Candidate {
    session: u64,
    card: CardFacts,
    score: f32,
    signs: Vec<Sign>,
    best: BestRows,
    number: Option<usize>,
}

impl Search<'_> {
    fn run(&self) -> tantivy::Result<Results> {
        let weights = self.request.weights;
        let plan = Plan::new(self.request.query, self.view, weights)?;
        let gathered = gather::gather(&plan, self.view, self.admission, weights)?;
        let total = gathered.found.len();
        let sessions = most_promising(&gathered.found);
        let evidence = Evidence::collect(&sessions, &plan, self.view, self.admission)?;
        let mut candidates = self.weighed(&sessions, &plan, &gathered, &evidence)?;
        self.hear_second(&mut candidates)?;
        candidates.sort_by(|one, other| {
            let by_score = other.score.total_cmp(&one.score);
            by_score
                .then(other.card.ended.cmp(&one.card.ended))
                .then(other.session.cmp(&one.session))
        });
        let hits = folded(candidates, self.request.limit).into_iter().map(|(candidate, folded)| {
            let words = candidate.number.map(|number| words(&plan, &evidence, number));
            SessionHit {
                session: SessionKey(candidate.session),
                score: candidate.score,
                passages: passages(&candidate.best, &evidence),
                folded,
                explanation: Explanation {
                    signs: candidate.signs,
                    words: words.unwrap_or_default(),
                },
            }
        });
        Ok(Results { sessions: hits.collect(), total })
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
        let most = strongest(measured.iter().map(|(signs, _)| signs));
        let mut candidates = Vec::with_capacity(sessions.len());
        for (number, (session, (signs, best))) in sessions.iter().zip(measured).enumerate() {
            let Some(card) = self.view.card(*session)? else { continue };
            let signs = self.signs(&signs, &most, &card);
            let score = signs.iter().map(|sign| sign.share).sum();
            candidates.push(Candidate {
                session: *session,
                card,
                score,
                signs,
                best,
                number: Some(number),
            });
        }
        Ok(candidates)
    }

    fn signs(&self, signs: &Signs, most: &Signs, card: &CardFacts) -> Vec<Sign> {
        let weights = self.request.weights;
        let scaled = |value: f32, most: f32| if most > 0.0 { value / most } else { 0.0 };
        let all = [
            ("best passages", scaled(signs.turns, most.turns), weights.turns),
            ("best stretch", scaled(signs.stretch, most.stretch), weights.stretch),
            ("whole session", scaled(signs.whole, most.whole), weights.whole),
            ("word order", scaled(signs.pairs, most.pairs), weights.pairs),
            ("coverage", scaled(signs.coverage, most.coverage), weights.coverage),
            ("date", self.date(card), weights.date),
            ("project named", self.named_project(card), weights.named_project),
            ("same project", self.near(card), weights.near),
            ("recency", self.recency(card), weights.recency),
        ];
        let all = all.into_iter().filter(|(_, strength, weight)| strength * weight != 0.0);
        all.map(|(name, strength, weight)| Sign { name, strength, share: strength * weight })
            .collect()
    }

    fn date(&self, card: &CardFacts) -> f32 {
        let at = |seconds: i64| Timestamp::from_seconds(seconds);
        let is_of = |range: &TimeRange| range.overlaps(at(card.started), at(card.ended));
        if self.request.query.dates().iter().any(is_of) { 1.0 } else { 0.0 }
    }

    fn near(&self, card: &CardFacts) -> f32 {
        let is_near = |near: crate::model::Namespace| near.number() == card.namespace;
        if self.request.scope.near.is_some_and(is_near) { 1.0 } else { 0.0 }
    }

    fn recency(&self, card: &CardFacts) -> f32 {
        let age = (seconds(self.request.now) - card.ended).max(0) as f32 / 86_400.0;
        0.5_f32.powf(age / self.request.weights.recency_days)
    }

    /// Whether the question holds the words of the project's name.
    fn named_project(&self, card: &CardFacts) -> f32 {
        let Some(project) = &card.project else { return 0.0 };
        let name = crate::model::Project::new(project);
        let words = text::words(name.name());
        let asked: HashSet<&str> =
            self.request.query.words.iter().map(|word| word.text.as_str()).collect();
        let is_whole = |word: &text::OwnedWord| {
            word.form == text::Form::Whole && asked.contains(word.text.as_str())
        };
        let parts: Vec<&text::OwnedWord> =
            words.iter().filter(|word| word.form == text::Form::Part).collect();
        let holds_all =
            !parts.is_empty() && parts.iter().all(|word| asked.contains(word.text.as_str()));
        if holds_all || words.iter().any(is_whole) { 1.0 } else { 0.0 }
    }

    /// Adds what the second ranker says.
    fn hear_second(&self, candidates: &mut Vec<Candidate>) -> tantivy::Result<()> {
        let Some((ranker, question)) = self.request.second else { return Ok(()) };
        let admits = |session: SessionKey| self.admission.admits_session(session.0);
        let second = ranker.rank(question, SECOND_CANDIDATES, &admits);
        let second: Vec<(u64, f32)> =
            second.into_iter().map(|(session, score)| (session.0, score)).collect();
        let own: Vec<(u64, f32)> =
            candidates.iter().map(|candidate| (candidate.session, candidate.score)).collect();
        let known: HashMap<u64, usize> =
            own.iter().enumerate().map(|(index, (session, _))| (*session, index)).collect();
        for (session, score) in fuse::fuse(&own, &second, self.request.weights.second) {
            if let Some(index) = known.get(&session) {
                let candidate = &mut candidates[*index];
                let share = score - candidate.score;
                candidate.signs.push(Sign { name: "second ranker", strength: share, share });
                candidate.score = score;
            } else if let Some(card) = self.view.card(session)? {
                let sign = Sign { name: "second ranker", strength: score, share: score };
                let (signs, best) = (vec![sign], Vec::new());
                candidates.push(Candidate { session, card, score, signs, best, number: None });
            }
        }
        Ok(())
    }
}

/// The sessions worth a closer look: half of them for their best passage, half for all they hold.
fn most_promising(found: &[Found]) -> Vec<u64> {
    if found.len() <= CANDIDATES {
        return found.iter().map(|found| found.session).collect();
    }
    let mut chosen: HashSet<u64> = HashSet::new();
    let mut order: Vec<&Found> = found.iter().collect();
    let half = CANDIDATES / 2;
    order.select_nth_unstable_by(half, |one, other| other.best.total_cmp(&one.best));
    chosen.extend(order[..half].iter().map(|found| found.session));
    order.select_nth_unstable_by(half, |one, other| other.whole.total_cmp(&one.whole));
    chosen.extend(order[..half].iter().map(|found| found.session));
    let mut chosen: Vec<u64> = chosen.into_iter().collect();
    chosen.sort_unstable();
    chosen
}

fn strongest<'s>(all: impl Iterator<Item = &'s Signs>) -> Signs {
    all.fold(Signs::default(), |most, signs| Signs {
        turns: most.turns.max(signs.turns),
        stretch: most.stretch.max(signs.stretch),
        whole: most.whole.max(signs.whole),
        pairs: most.pairs.max(signs.pairs),
        coverage: most.coverage.max(signs.coverage),
    })
}

/// The first `limit` candidates, those of one family under the best of them.
fn folded(candidates: Vec<Candidate>, limit: usize) -> Vec<(Candidate, Vec<SessionKey>)> {
    let mut kept: Vec<(Candidate, Vec<SessionKey>)> = Vec::new();
    let mut families: HashMap<u64, usize> = HashMap::new();
    for candidate in candidates {
        let head = candidate.card.family.and_then(|family| families.get(&family));
        if let Some(head) = head {
            kept[*head].1.push(SessionKey(candidate.session));
        } else if kept.len() < limit {
            families.extend(candidate.card.family.map(|family| (family, kept.len())));
            kept.push((candidate, Vec::new()));
        }
    }
    kept
}

fn passages(best: &BestRows, evidence: &Evidence) -> Vec<PassageHit> {
    let mut hits: Vec<PassageHit> = Vec::new();
    for (row, score) in best {
        let row = &evidence.rows[*row];
        let place = if shard::is_episode(row.source) {
            Place::Episode { field: row.seq }
        } else {
            Place::Message { source: row.source, seq: row.seq }
        };
        if hits.iter().all(|hit| hit.place != place) {
            let at = Timestamp::from_seconds(row.at);
            hits.push(PassageHit { place, kind: row.kind, at, score: *score });
        }
    }
    hits
}

fn words(plan: &Plan, evidence: &Evidence, candidate: usize) -> Vec<WordFound> {
    let mut held = vec![[0.0_f32; 2]; plan.units.len()];
    for row in evidence.rows_of_candidate(candidate) {
        for (sum, counts) in held.iter_mut().zip(evidence.counts(row)) {
            sum[0] += counts[0];
            sum[1] += counts[1];
        }
    }
    let words = plan.units.iter().zip(held).map(|(unit, held)| WordFound {
        word: unit.label.clone(),
        rarity: unit.rarity,
        exact: held[0] as u32,
        any_form: held[1] as u32,
    });
    words.collect()
}

/// The sessions that are let in, latest first.
fn list(request: &Request<'_>, view: &View<'_>, admission: &Admission) -> tantivy::Result<Results> {
    let with_passages = if admission.looks_at_passages() {
        Some(sessions_with_passages(view, admission))
    } else {
        None
    };
    let mut rows: Vec<(i64, u64, Option<u64>)> = Vec::new();
    view.each_session(&mut |row| {
        let has_passages =
            with_passages.as_ref().is_none_or(|sessions| sessions.contains(&row.session));
        if has_passages && admission.admits_session(row.session) {
            rows.push((row.ended, row.session, row.family));
        }
    })?;
    rows.sort_unstable_by(|one, other| other.cmp(one));
    let total = rows.len();
    let candidates = rows.into_iter().map(|(ended, session, family)| {
        let card = CardFacts { ended, family, ..CardFacts::default() };
        let (signs, best) = (Vec::new(), Vec::new());
        Candidate { session, card, score: 0.0, signs, best, number: None }
    });
    let sessions =
        folded(candidates.collect(), request.limit).into_iter().map(|(candidate, folded)| {
            SessionHit {
                session: SessionKey(candidate.session),
                score: 0.0,
                passages: Vec::new(),
                folded,
                explanation: Explanation::default(),
            }
        });
    Ok(Results { sessions: sessions.collect(), total })
}

/// The sessions of which any passage is let in.
fn sessions_with_passages(view: &View<'_>, admission: &Admission) -> HashSet<u64> {
    let mut sessions = HashSet::new();
    for (index, shard) in view.shards.iter().enumerate() {
        for document in 0..shard.end() {
            if !shard.is_alive(document) {
                continue;
            }
            let Some(kind) = shard.kind(document) else { continue };
            if admission.admits((index, shard), document, kind) {
                sessions.insert(shard.session(document));
            }
        }
    }
    sessions
}
