//! What of the summaries still holds, as the caller knows it from the facts.

use crate::model::SessionEnding;

/// Tells what of the summaries still holds.
pub trait Standing {
    /// Whether a statement of an episode, by its index and its text in the summary, still holds;
    /// `None` for a statement that is no fact.
    fn holds(&self, session: usize, text: &str) -> Option<bool>;

    /// Returns the statement in the words of its fact, where that holds.
    fn sentence(&self, session: usize, text: &str) -> Option<String>;

    /// Returns how a session ended, as far as it is known.
    fn ending(&self, session: usize) -> SessionEnding;
}

/// What still holds of one session's summary.
#[derive(Clone, Copy)]
pub(super) struct SessionStanding<'s> {
    pub(super) session: usize,
    pub(super) standing: &'s dyn Standing,
}

impl SessionStanding<'_> {
    /// What the last session left is told unless it is known to be over, what earlier ones left
    /// only where it is known to hold.
    pub(super) fn holds(&self, text: &str) -> bool {
        let holds = self.standing.holds(self.session, text);
        if self.session == 0 { holds != Some(false) } else { holds == Some(true) }
    }

    /// Whether a statement is a fact that still holds.
    pub(super) fn is_fact(&self, text: &str) -> bool {
        self.standing.holds(self.session, text) == Some(true)
    }

    pub(super) fn sentence(&self, text: &str) -> Option<String> {
        self.standing.sentence(self.session, text)
    }

    pub(super) fn ending(&self) -> SessionEnding {
        self.standing.ending(self.session)
    }
}
