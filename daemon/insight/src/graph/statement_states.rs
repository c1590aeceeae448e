//! Computes which open ends, decisions and failing tests of an episode still hold, and how its
//! session ended. Handoffs and recalled statements share this computation.

use std::collections::HashMap;

use crate::{
    graph::Graph,
    model::{
        EpisodeId, Fact, SessionEnding, Timestamp,
        graph::{EntityOrFact, Relation},
    },
    store::StoreError,
};

/// Names of attributes of facts. Each attribute contains the text of a statement in the summary.
pub(super) const STEP: &str = "step";
pub(super) const DECISION: &str = "decision";
pub(super) const TEST: &str = "test";

/// The current state of the statements of an episode, and how its session ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StatementStates {
    /// The statements, by their texts in the summary.
    statements: HashMap<String, StatementState>,
    ending: SessionEnding,
}

/// Whether a statement still holds, and the sentence of its fact.
#[derive(Clone, Debug, PartialEq)]
struct StatementState {
    holds: bool,
    sentence: String,
}

impl StatementStates {
    /// Collects the statements of `episode` among `facts`, and whether each holds at `now`.
    pub fn of<'f>(
        facts: impl IntoIterator<Item = &'f Fact>,
        episode: EpisodeId,
        now: Timestamp,
    ) -> StatementStates {
        let mut states = StatementStates::default();
        for fact in facts.into_iter().filter(|fact| fact.episodes.contains(&episode)) {
            if fact.relation == Relation::TaskState {
                fact.details.iter().for_each(|(name, text)| states.ending.set(name, text));
                continue;
            }
            let texts = fact
                .details
                .iter()
                .filter(|(name, _)| Some(name.as_str()) == text_attribute(fact.relation));
            // The start of a fact is not compared with `now`: the clock of the machine that wrote
            // the transcript may be ahead.
            let holds = fact.invalid_at.is_none_or(|end| end > now);
            let sentence = without_session(&fact.sentence);
            states.statements.extend(texts.map(|(_, text)| {
                let statement = StatementState { holds, sentence: sentence.to_owned() };
                (text.clone(), statement)
            }));
        }
        states
    }

    /// Whether a statement of the summary holds; `None` if no fact was made from the statement.
    pub fn holds(&self, text: &str) -> Option<bool> {
        self.statements.get(text).map(|statement| statement.holds)
    }

    pub fn ending(&self) -> &SessionEnding {
        &self.ending
    }

    /// Returns the sentence of the fact that was made from a statement of the summary, if it holds.
    pub fn sentence(&self, text: &str) -> Option<&str> {
        let statement = self.statements.get(text).filter(|statement| statement.holds)?;
        Some(&statement.sentence)
    }
}

/// Separates an open end from the name of its session.
pub(super) const LEFT_OPEN_IN: &str = " — left open in “";
/// Separates a decision, a finding or a wish from the task of its session.
pub(super) const DECIDED_FOR: &str = " (For “";

/// Returns a sentence without the name or the task of its session.
fn without_session(sentence: &str) -> &str {
    let ends = [LEFT_OPEN_IN, DECIDED_FOR].into_iter().filter_map(|mark| sentence.rfind(mark));
    &sentence[..ends.min().unwrap_or(sentence.len())]
}

/// Returns the name of the attribute that contains the text of the statement in the summary.
fn text_attribute(relation: Relation) -> Option<&'static str> {
    match relation {
        Relation::LeftOpen => Some(STEP),
        Relation::Decided => Some(DECISION),
        Relation::Fails => Some(TEST),
        _ => None,
    }
}

impl Graph<'_> {
    /// Returns which open ends, decisions and failing tests of an episode hold at `now`, and how the
    /// session ended.
    pub fn statement_states(
        &self,
        episode: EpisodeId,
        now: Timestamp,
    ) -> Result<StatementStates, StoreError> {
        let mut facts = Vec::new();
        let mut ending = SessionEnding::default();
        for thing in self.store().entities_and_facts_of(episode)? {
            let EntityOrFact::Fact(key) = thing else { continue };
            let relation = self.last_claim(key)?.map(|claim| claim.relation);
            if relation.is_some_and(|relation| text_attribute(relation).is_some()) {
                facts.extend(self.spans(key)?);
            }
            if relation == Some(Relation::TaskState) {
                // Sessions with the same title share this fact, but each session has its own
                // ending.
                let claims = self.store().claims(key)?.into_iter();
                for own in claims.filter(|attributed| attributed.episode == episode) {
                    own.what.details.iter().for_each(|(name, text)| ending.set(name, text));
                }
            }
        }
        Ok(StatementStates { ending, ..StatementStates::of(&facts, episode, now) })
    }
}
