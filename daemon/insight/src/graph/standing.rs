//! What of an episode's open ends, decisions and failing tests still holds, and how its session ended:
//! the one computation that facts, handoffs and reminders share.

use std::collections::HashMap;

use crate::{
    graph::Graph,
    model::{
        EpisodeId, Fact, SessionEnding, Timestamp,
        graph::{EntityOrFact, Relation},
    },
    store::StoreError,
};

/// The names of the attributes under which a fact keeps the text of the summary.
pub(super) const STEP: &str = "step";
pub(super) const DECISION: &str = "decision";
pub(super) const TEST: &str = "test";

/// What is known of an episode besides its summary.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Standing {
    /// Whether its statements still hold, by their texts in its summary.
    statements: HashMap<String, StatedText>,
    ending: SessionEnding,
}

#[derive(Clone, Debug, PartialEq)]
struct StatedText {
    holds: bool,
    sentence: String,
}

impl Standing {
    /// Takes what holds at `now` of the `facts` that `episode` states.
    pub fn of<'f>(
        facts: impl IntoIterator<Item = &'f Fact>,
        episode: EpisodeId,
        now: Timestamp,
    ) -> Standing {
        let mut standing = Standing::default();
        for fact in facts.into_iter().filter(|fact| fact.episodes.contains(&episode)) {
            if fact.relation == Relation::TaskStands {
                fact.details.iter().for_each(|(name, text)| standing.ending.set(name, text));
                continue;
            }
            let told =
                fact.details.iter().filter(|(name, _)| Some(name.as_str()) == kept(fact.relation));
            // The clock of the machine that wrote the transcript may be ahead.
            let holds = fact.invalid_at.is_none_or(|end| end > now);
            let sentence = within_session(&fact.sentence);
            standing.statements.extend(told.map(|(_, text)| {
                let statement = StatedText { holds, sentence: sentence.to_owned() };
                (text.clone(), statement)
            }));
        }
        standing
    }

    /// Whether what the summary says holds; `None` when it is no fact.
    pub fn holds(&self, text: &str) -> Option<bool> {
        self.statements.get(text).map(|statement| statement.holds)
    }

    /// How the session ended.
    pub fn ending(&self) -> &SessionEnding {
        &self.ending
    }

    /// Returns what the summary says in the words of its fact, where that holds.
    pub fn sentence(&self, text: &str) -> Option<&str> {
        let statement = self.statements.get(text).filter(|statement| statement.holds)?;
        Some(&statement.sentence)
    }
}

/// Begins the name of the session behind an open end.
pub(super) const LEFT_OPEN_IN: &str = " — left open in “";
/// Begins the task of the session behind a decision.
pub(super) const DECIDED_FOR: &str = " (For “";

/// Returns a sentence without the session that it is from.
fn within_session(sentence: &str) -> &str {
    let ends = [LEFT_OPEN_IN, DECIDED_FOR].into_iter().filter_map(|mark| sentence.rfind(mark));
    &sentence[..ends.min().unwrap_or(sentence.len())]
}

/// Returns the attribute with the text of the summary.
fn kept(relation: Relation) -> Option<&'static str> {
    match relation {
        Relation::LeftOpen => Some(STEP),
        Relation::Decided => Some(DECISION),
        Relation::Fails => Some(TEST),
        _ => None,
    }
}

impl Graph<'_> {
    /// Returns what of an episode's open ends, decisions and failing tests holds at `now`.
    pub fn standing(&self, episode: EpisodeId, now: Timestamp) -> Result<Standing, StoreError> {
        let mut facts = Vec::new();
        for thing in self.store().things_of(episode)? {
            let EntityOrFact::Fact(key) = thing else { continue };
            let claim = self.last_claim(key)?;
            let is_needed = |relation| kept(relation).is_some() || relation == Relation::TaskStands;
            if claim.is_some_and(|claim| is_needed(claim.relation)) {
                facts.extend(self.spans(key)?);
            }
        }
        Ok(Standing::of(&facts, episode, now))
    }
}
