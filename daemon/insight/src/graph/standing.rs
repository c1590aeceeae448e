//! What of an episode's open ends, decisions and failing tests still holds: the one computation that
//! facts, handoffs and reminders share.

use std::collections::HashMap;

use crate::{
    graph::Graph,
    model::{
        EpisodeId, Fact, Timestamp,
        graph::{EntityOrFact, Relation},
    },
    store::StoreError,
};

/// The names of the attributes under which a fact keeps the text of the summary.
pub(super) const STEP: &str = "step";
pub(super) const DECISION: &str = "decision";
pub(super) const TEST: &str = "test";

/// Whether the statements of an episode still hold, by their texts in its summary.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Standing(HashMap<String, bool>);

impl Standing {
    /// Takes what holds at `now` of the `facts` that `episode` states.
    pub fn of<'f>(
        facts: impl IntoIterator<Item = &'f Fact>,
        episode: EpisodeId,
        now: Timestamp,
    ) -> Standing {
        let mut standing = Standing::default();
        for fact in facts.into_iter().filter(|fact| fact.episodes.contains(&episode)) {
            let told =
                fact.details.iter().filter(|(name, _)| Some(name.as_str()) == kept(fact.relation));
            standing.0.extend(told.map(|(_, text)| (text.clone(), fact.holds_at(now))));
        }
        standing
    }

    /// Whether what the summary says holds; `None` when it is no fact.
    pub fn holds(&self, text: &str) -> Option<bool> {
        self.0.get(text).copied()
    }
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
            if claim.is_some_and(|claim| kept(claim.relation).is_some()) {
                facts.extend(self.spans(key)?);
            }
        }
        Ok(Standing::of(&facts, episode, now))
    }
}
