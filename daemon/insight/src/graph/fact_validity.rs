//! Computes when a fact was true and how certain it is, as a pure function of all episodes.
//!
//! Claims and marks are ordered by the time that they are about, not by their arrival. Importing an
//! old episode today therefore has the same result as importing it in order, and removing an
//! episode leaves no trace.

use crate::{
    graph::UNCHECKED,
    model::{
        EpisodeId, Timestamp,
        graph::{
            Attributed, Certainty, Claim, Correction, Fact, FactKey, Mark, Observation, Relation,
            Stance, Verdict, Watch,
        },
    },
};

/// The name of the attribute that contains the correction of a fact.
pub const CORRECTED: &str = "corrected";

/// The effect of a mark on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkEffect {
    /// The claim is no longer true.
    Ends,
    /// The claim is proven.
    Confirms,
}

/// Returns the effect of `says` on a claim with this `stance`, if any.
pub fn mark_effect(stance: &Stance, says: &Observation) -> Option<MarkEffect> {
    let ends = match (stance, says) {
        (Stance::Supposed, Observation::Succeeded) => return Some(MarkEffect::Confirms),
        (Stance::Value(mine), Observation::Value(theirs)) => mine != theirs,
        (Stance::Gone, Observation::Seen)
        | (Stance::Broken, Observation::Solved | Observation::Succeeded) => true,
        (
            Stance::Fails { test, command, total },
            Observation::Ran { command: run, total: tests, failed },
        ) => !failed.contains(test) && (command == run || tests >= total),
        (Stance::Chosen(mine), Observation::PassedOver(theirs))
        | (Stance::PassedOver(mine), Observation::Chosen(theirs)) => are_related(mine, theirs),
        (Stance::Words(mine), Observation::Words(theirs)) => are_mostly_in(mine, theirs),
        (Stance::NamedBy(mine), Observation::Words(theirs)) => are_mostly_in(theirs, mine),
        _ => false,
    };
    ends.then_some(MarkEffect::Ends)
}

/// Returns the facts that follow from the `claims` of one key, the earliest first: one for each
/// period in which the claim was true. `marks` are the marks of the subjects that the claims watch.
/// `correction` is the latest correction of the fact.
pub fn facts(
    key: FactKey,
    claims: &[Attributed<Claim>],
    marks: &[Attributed<Mark>],
    correction: Option<&Correction>,
) -> Vec<Fact> {
    let mut events: Vec<StatementEvent<'_>> = marks.iter().map(StatementEvent::Mark).collect();
    events.extend(claims.iter().map(StatementEvent::Claim));
    events.extend(correction.map(StatementEvent::Correction));
    events.sort_by_key(StatementEvent::order);
    let kept = correction.filter(|correction| correction.verdict == Verdict::Keep);
    let mut spans: Vec<FactInterval<'_>> = Vec::new();
    for event in events {
        let open = spans.last_mut().filter(|span| span.end.is_none());
        match (event, open) {
            (StatementEvent::Claim(claim), Some(span)) => span.add(claim),
            (StatementEvent::Claim(claim), None) => spans.push(FactInterval::new(claim)),
            (StatementEvent::Mark(mark), Some(span)) => {
                let is_kept = kept.is_some_and(|kept| mark.what.at <= kept.at);
                span.apply(mark, is_kept);
            }
            (StatementEvent::Correction(correction), Some(span)) => span.correct(correction),
            (StatementEvent::Mark(_) | StatementEvent::Correction(_), None) => {}
        }
    }
    let facts = spans.into_iter().enumerate().map(|(number, span)| span.fact(key, number));
    facts.map(|fact| corrected(fact, correction)).collect()
}

/// Applies `correction` to a fact, unless the fact began after the correction.
fn corrected(mut fact: Fact, correction: Option<&Correction>) -> Fact {
    let Some(correction) = correction.filter(|correction| fact.valid_at <= correction.at) else {
        return fact;
    };
    if correction.verdict == Verdict::Wrong {
        fact.certainty = Certainty::Refuted;
        fact.invalid_at = Some(fact.valid_at);
        fact.expired_at = Some(correction.at.max(fact.created_at));
    }
    let note = format!("{} (by the {})", correction.verdict.as_str(), correction.author.as_str());
    fact.details.push((CORRECTED.to_owned(), note));
    fact
}

/// Whether two decisions are about the same subject: they share a word, or one of them has no words
/// besides its options.
fn are_related(mine: &[u64], theirs: &[u64]) -> bool {
    mine.is_empty() || theirs.is_empty() || mine.iter().any(|word| theirs.contains(word))
}

/// Whether `other` contains at least three fifths of `words`, and at least two of them.
fn are_mostly_in(words: &[u64], other: &[u64]) -> bool {
    let common = words.iter().filter(|word| other.contains(word)).count();
    common >= 2.max((words.len() * 3).div_ceil(5))
}

enum StatementEvent<'c> {
    Mark(&'c Attributed<Mark>),
    Claim(&'c Attributed<Claim>),
    Correction(&'c Correction),
}

impl StatementEvent<'_> {
    /// Returns the sort key. Marks precede claims of the same time, so that a mark ends only
    /// earlier claims. A correction comes last, because it applies to all claims up to its time.
    fn order(&self) -> (Timestamp, u8, Option<EpisodeId>) {
        match self {
            StatementEvent::Mark(mark) => (mark.what.at, 0, Some(mark.episode)),
            StatementEvent::Claim(claim) => (claim.what.at, 1, Some(claim.episode)),
            StatementEvent::Correction(correction) => (correction.at, 2, None),
        }
    }
}

/// When a fact ceased to be true, and when the statement that ended the fact was stored.
#[derive(Clone, Copy)]
struct FactEnd {
    at: Timestamp,
    created_at: Timestamp,
}

/// One period in which a fact was true.
struct FactInterval<'c> {
    claims: Vec<&'c Attributed<Claim>>,
    /// The different watches of the claims. Claims of many sessions often have equal watches, and
    /// each mark is compared with each of these.
    watches: Vec<&'c Watch>,
    is_confirmed: bool,
    /// Whether a mark ended the period. A correction does not count.
    is_contradicted: bool,
    end: Option<FactEnd>,
}

impl<'c> FactInterval<'c> {
    fn new(claim: &'c Attributed<Claim>) -> FactInterval<'c> {
        let mut interval = FactInterval {
            claims: Vec::new(),
            watches: Vec::new(),
            is_confirmed: false,
            is_contradicted: false,
            end: None,
        };
        interval.add(claim);
        interval
    }

    fn add(&mut self, claim: &'c Attributed<Claim>) {
        self.claims.push(claim);
        for watch in &claim.what.watches {
            if !self.watches.contains(&watch) {
                self.watches.push(watch);
            }
        }
    }

    fn correct(&mut self, correction: &Correction) {
        if matches!(correction.verdict, Verdict::Done | Verdict::Wrong) {
            self.end = Some(FactEnd { at: correction.at, created_at: correction.at });
        }
    }

    /// Applies a mark. A mark that a correction overrules cannot end the fact, but it can confirm
    /// the fact.
    fn apply(&mut self, mark: &'c Attributed<Mark>, is_overruled: bool) {
        let effects = self
            .watches
            .iter()
            .filter(|watch| watch.subject == mark.what.subject)
            .filter_map(|watch| mark_effect(&watch.stance, &mark.what.observation));
        for effect in effects {
            match effect {
                MarkEffect::Ends if is_overruled => {}
                MarkEffect::Ends => {
                    self.is_contradicted = true;
                    self.end = Some(FactEnd { at: mark.what.at, created_at: mark.created_at });
                }
                MarkEffect::Confirms => self.is_confirmed = true,
            }
        }
    }

    fn fact(self, key: FactKey, number: usize) -> Fact {
        let first = self.claims[0];
        let last = self.claims[self.claims.len() - 1];
        let mut episodes: Vec<_> = self.claims.iter().map(|claim| claim.episode).collect();
        episodes.sort_unstable();
        episodes.dedup();
        let mut others: Vec<_> =
            self.claims.iter().flat_map(|claim| claim.what.others.iter().copied()).collect();
        others.sort_unstable();
        others.dedup();
        let origins = self
            .claims
            .iter()
            .flat_map(|claim| claim.what.origins.iter().map(|origin| (claim.episode, *origin)));
        let created_at =
            self.claims.iter().map(|claim| claim.created_at).min().unwrap_or(first.created_at);
        let certainty = self.certainty();
        Fact {
            id: key.in_span(number),
            namespace: first.what.namespace,
            relation: first.what.relation,
            source: first.what.source,
            target: first.what.target,
            others,
            sentence: sentence(last, certainty),
            certainty,
            valid_at: first.what.at,
            invalid_at: self.end.map(|end| end.at),
            created_at,
            expired_at: self.end.map(|end| end.created_at.max(created_at)),
            episodes,
            origins: origins.collect(),
            details: last.what.details.clone(),
        }
    }

    fn certainty(&self) -> Certainty {
        let has_claim =
            |certainty| self.claims.iter().any(|claim| claim.what.certainty == certainty);
        let last = self.claims[self.claims.len() - 1];
        if last.what.certainty == Certainty::Refuted {
            return Certainty::Refuted;
        }
        if self.is_confirmed || has_claim(Certainty::Verified) {
            return Certainty::Verified;
        }
        // A fix whose error came back, or that the user reported as failed, never worked. Any other
        // hypothesis that a mark ended, such as a decision or the cause of a failure, may have been
        // true until then.
        if last.what.relation == Relation::Resolved && self.is_contradicted {
            Certainty::Refuted
        } else {
            Certainty::Hypothesis
        }
    }
}

/// Returns the sentence of a claim. If a later run verified the claim, leaves out [`UNCHECKED`].
fn sentence(claim: &Attributed<Claim>, certainty: Certainty) -> String {
    let sentence = claim.what.sentence.as_str();
    let verified = sentence.strip_suffix(UNCHECKED).filter(|_| certainty == Certainty::Verified);
    verified.map_or(sentence, str::trim_end).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{
        Namespace,
        graph::{CorrectionAuthor, EntityId, EntityKind, Subject},
    };

    #[test]
    fn another_value_ends_a_fact_in_any_order_of_arrival() {
        let claims = [claim(10, Stance::Value(1))];
        let facts = facts(
            key(),
            &claims,
            &[mark(30, Observation::Value(2)), mark(20, Observation::Value(2))],
            None,
        );
        assert_eq!(facts.len(), 1);
        assert_eq!((facts[0].valid_at, facts[0].invalid_at), (at(10), Some(at(20))));
        assert_eq!(facts[0].expired_at, Some(at(1_020)));
        assert!(facts[0].holds_at(at(19)) && !facts[0].holds_at(at(20)));
    }

    #[test]
    fn a_fix_that_a_later_run_verified_does_not_say_that_no_run_did() {
        let mut fixed = claim(10, Stance::Supposed);
        fixed.what.certainty = Certainty::Hypothesis;
        fixed.what.sentence = format!("It failed. Fix: Did it. {UNCHECKED}");
        let fact = |marks: &[Attributed<Mark>]| {
            let fact = facts(key(), std::slice::from_ref(&fixed), marks, None).remove(0);
            (fact.certainty, fact.sentence)
        };
        assert_eq!(fact(&[]), (Certainty::Hypothesis, fixed.what.sentence.clone()));
        let verified = (Certainty::Verified, "It failed. Fix: Did it.".to_owned());
        assert_eq!(fact(&[mark(20, Observation::Succeeded)]), verified);
    }

    #[test]
    fn a_value_that_becomes_true_again_is_another_fact() {
        let claims = [claim(30, Stance::Value(1)), claim(10, Stance::Value(1))];
        let facts = facts(key(), &claims, &[mark(20, Observation::Value(2))], None);
        let spans: Vec<_> = facts.iter().map(|fact| (fact.valid_at, fact.invalid_at)).collect();
        assert_eq!(spans, [(at(10), Some(at(20))), (at(30), None)]);
        assert_ne!(facts[0].id, facts[1].id);
    }

    #[test]
    fn equal_watches_of_many_claims_are_compared_once() {
        let claims: Vec<_> = (0..100).map(|second| claim(second, Stance::Value(1))).collect();
        let mut interval = FactInterval::new(&claims[0]);
        claims[1..].iter().for_each(|claim| interval.add(claim));
        assert_eq!((interval.claims.len(), interval.watches.len()), (100, 1));
        let other = claim(100, Stance::Value(2));
        interval.add(&other);
        assert_eq!(interval.watches.len(), 2, "another stance is another watch");
        let other_value = mark(200, Observation::Value(2));
        interval.apply(&other_value, false);
        assert!(interval.end.is_some(), "the first claims end");
    }

    #[test]
    fn two_claims_without_a_mark_in_between_are_one_fact() {
        let claims = [claim(30, Stance::Value(1)), claim(10, Stance::Value(1))];
        let facts = facts(key(), &claims, &[mark(40, Observation::Value(1))], None);
        assert_eq!(facts.len(), 1);
        assert_eq!((facts[0].valid_at, facts[0].episodes.len()), (at(10), 2));
        assert_eq!((facts[0].created_at, facts[0].invalid_at), (at(1_010), None));
    }

    #[test]
    fn each_stance_is_ended_or_confirmed_by_its_observations() {
        let ran = |command, total, failed: &[u64]| Observation::Ran {
            command,
            total,
            failed: failed.into(),
        };
        let fails = || Stance::Fails { test: 7, command: 1, total: 10 };
        let ends = Some(MarkEffect::Ends);
        for (stance, says, wanted) in [
            (Stance::Value(1), Observation::Value(1), None),
            (Stance::Value(1), Observation::Seen, None),
            (Stance::Gone, Observation::Seen, ends),
            (Stance::Gone, Observation::Solved, None),
            (Stance::Broken, Observation::Solved, ends),
            (Stance::Broken, Observation::Succeeded, ends),
            (Stance::Supposed, Observation::Succeeded, Some(MarkEffect::Confirms)),
            (fails(), ran(1, 3, &[]), ends),
            (fails(), ran(1, 3, &[7]), None),
            (fails(), ran(2, 10, &[8]), ends),
            (fails(), ran(2, 9, &[]), None),
            (Stance::Chosen(vec![5]), Observation::PassedOver(vec![5, 6]), ends),
            (Stance::Chosen(vec![5]), Observation::PassedOver(vec![6]), None),
            (Stance::Chosen(vec![5]), Observation::PassedOver(vec![]), ends),
            (Stance::Chosen(vec![5]), Observation::Chosen(vec![5]), None),
            (Stance::PassedOver(vec![5]), Observation::Chosen(vec![5]), ends),
            (Stance::Words(vec![5, 6, 7]), Observation::Words(vec![6, 7, 9]), ends),
            (Stance::Words(vec![5, 6, 7, 8]), Observation::Words(vec![6, 7]), None),
            (Stance::Words(vec![5]), Observation::Words(vec![5]), None),
            (Stance::NamedBy(vec![5, 6, 7, 8]), Observation::Words(vec![6, 7]), ends),
            (Stance::NamedBy(vec![5, 6]), Observation::Words(vec![6, 7]), None),
        ] {
            assert_eq!(mark_effect(&stance, &says), wanted, "{stance:?} {says:?}");
        }
    }

    #[test]
    fn later_marks_confirm_or_end_a_hypothesis_and_refute_only_a_fix() {
        let supposed = |stance| {
            let mut claim = claim(10, stance);
            claim.what.relation = Relation::Resolved;
            claim.what.certainty = Certainty::Hypothesis;
            claim
        };
        let certainty = |stance, marks: &[Attributed<Mark>]| {
            facts(key(), &[supposed(stance)], marks, None)[0].certainty
        };
        let (early, late) = (mark(5, Observation::Succeeded), mark(20, Observation::Succeeded));
        assert_eq!(certainty(Stance::Supposed, &[early]), Certainty::Hypothesis);
        assert_eq!(certainty(Stance::Supposed, &[late]), Certainty::Verified);
        assert_eq!(certainty(Stance::Gone, &[mark(20, Observation::Seen)]), Certainty::Refuted);
        let done =
            Correction { verdict: Verdict::Done, author: CorrectionAuthor::User, at: at(20) };
        let done = &facts(key(), &[supposed(Stance::Gone)], &[], Some(&done))[0];
        assert_eq!((done.certainty, done.invalid_at), (Certainty::Hypothesis, Some(at(20))));
        for relation in [Relation::CausedBy, Relation::FoundOut, Relation::Decided] {
            let mut other = supposed(Stance::Gone);
            other.what.relation = relation;
            let ended = &facts(key(), &[other], &[mark(20, Observation::Seen)], None)[0];
            let wanted = (Certainty::Hypothesis, Some(at(20)));
            assert_eq!((ended.certainty, ended.invalid_at), wanted, "{relation:?}");
        }
        let mut sure = supposed(Stance::Gone);
        sure.what.certainty = Certainty::Verified;
        let came_back = &facts(key(), &[sure], &[mark(20, Observation::Seen)], None)[0];
        assert_eq!(
            (came_back.certainty, came_back.invalid_at),
            (Certainty::Verified, Some(at(20)))
        );
    }

    #[test]
    fn a_refuted_claim_stays_refuted() {
        let mut claim = claim(10, Stance::Value(1));
        claim.what.certainty = Certainty::Refuted;
        assert_eq!(facts(key(), &[claim], &[], None)[0].certainty, Certainty::Refuted);
    }

    #[test]
    fn a_correction_overrules_marks_and_claims() {
        let claims = [claim(10, Stance::Value(1)), claim(50, Stance::Value(1))];
        let marks = [mark(20, Observation::Value(2))];
        let spans = |verdict, seconds| -> Vec<(Timestamp, Option<Timestamp>, Certainty)> {
            let author = CorrectionAuthor::User;
            let correction = Correction { verdict, author, at: at(seconds) };
            let facts = facts(key(), &claims, &marks, Some(&correction));
            facts.iter().map(|fact| (fact.valid_at, fact.invalid_at, fact.certainty)).collect()
        };
        let verified = |from, to: Option<i64>| (at(from), to.map(at), Certainty::Verified);
        let wrong = |from| (at(from), Some(at(from)), Certainty::Refuted);
        for (verdict, seconds, wanted) in [
            (Verdict::Keep, 30, vec![verified(10, None)]),
            (Verdict::Keep, 15, vec![verified(10, Some(20)), verified(50, None)]),
            (Verdict::Done, 15, vec![verified(10, Some(15)), verified(50, None)]),
            (Verdict::Done, 60, vec![verified(10, Some(20)), verified(50, Some(60))]),
            (Verdict::Wrong, 30, vec![wrong(10), verified(50, None)]),
            (Verdict::Wrong, 60, vec![wrong(10), wrong(50)]),
        ] {
            assert_eq!(spans(verdict, seconds), wanted, "{verdict:?} {seconds}");
        }
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_seconds(seconds)
    }

    fn end() -> EntityId {
        EntityId::of(EntityKind::Setting, Namespace::default(), "a")
    }

    fn key() -> FactKey {
        FactKey::of(Relation::SetTo, end(), end(), "1")
    }

    fn subject() -> Subject {
        Subject::of("setting", Namespace::default(), "a")
    }

    /// Returns a statement of an episode that was created 1,000 seconds after the time of the
    /// statement.
    fn attributed<T>(seconds: i64, what: T) -> Attributed<T> {
        let random = [u8::try_from(seconds).unwrap(); 10];
        Attributed {
            episode: EpisodeId::new(at(seconds), random),
            created_at: at(seconds + 1_000),
            what,
        }
    }

    fn mark(seconds: i64, says: Observation) -> Attributed<Mark> {
        attributed(seconds, Mark { subject: subject(), at: at(seconds), observation: says })
    }

    fn claim(seconds: i64, stance: Stance) -> Attributed<Claim> {
        attributed(
            seconds,
            Claim {
                key: key(),
                namespace: Namespace::default(),
                relation: Relation::SetTo,
                source: end(),
                target: end(),
                others: Vec::new(),
                sentence: "`a` is `1`.".to_owned(),
                at: at(seconds),
                certainty: Certainty::Verified,
                watches: vec![Watch { subject: subject(), stance }],
                origins: Vec::new(),
                details: Vec::new(),
            },
        )
    }
}
