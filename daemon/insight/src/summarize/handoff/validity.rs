//! Defines how the caller reports which statements of the summaries still hold.

use crate::model::SessionEnding;

/// Reports which statements of the summaries still hold.
pub trait StatementValidity {
    /// Whether the statement `text` in the summary of the episode with the index `session` still
    /// holds; `None` for a statement that is not a fact.
    fn holds(&self, session: usize, text: &str) -> Option<bool>;

    /// Returns the statement in the words of its fact, if the fact still holds.
    fn sentence(&self, session: usize, text: &str) -> Option<String>;

    /// Returns the known information about the end of a session.
    fn ending(&self, session: usize) -> SessionEnding;

    /// Returns a text of the session without the wishes that were marked as wrong or done. The
    /// requests in [`ending`](StatementValidity::ending) do not contain these wishes.
    fn without_corrected_wishes(&self, _session: usize, text: &str) -> String {
        text.to_owned()
    }
}

/// The [`StatementValidity`] for the statements of one session.
#[derive(Clone, Copy)]
pub(super) struct SessionValidity<'s> {
    pub(super) session: usize,
    pub(super) validity: &'s dyn StatementValidity,
}

impl SessionValidity<'_> {
    /// Whether a statement counts as valid. Statements of the last session count unless they are
    /// known to be over. Statements of earlier sessions count only if they are known to hold.
    pub(super) fn holds(&self, text: &str) -> bool {
        let holds = self.validity.holds(self.session, text);
        if self.session == 0 { holds != Some(false) } else { holds == Some(true) }
    }

    /// Whether a statement is a fact that still holds.
    pub(super) fn is_fact(&self, text: &str) -> bool {
        self.validity.holds(self.session, text) == Some(true)
    }

    /// Whether a fact was made from a statement, even if the fact no longer holds.
    pub(super) fn is_known(&self, text: &str) -> bool {
        self.validity.holds(self.session, text).is_some()
    }

    pub(super) fn sentence(&self, text: &str) -> Option<String> {
        self.validity.sentence(self.session, text)
    }

    pub(super) fn ending(&self) -> SessionEnding {
        self.validity.ending(self.session)
    }

    pub(super) fn without_corrected_wishes(&self, text: &str) -> String {
        self.validity.without_corrected_wishes(self.session, text)
    }
}

/// The [`StatementValidity`] for a text that does not quote how the session ended.
pub(super) struct WithoutEnding<'v>(pub(super) &'v dyn StatementValidity);

impl StatementValidity for WithoutEnding<'_> {
    fn holds(&self, session: usize, text: &str) -> Option<bool> {
        self.0.holds(session, text)
    }

    fn sentence(&self, session: usize, text: &str) -> Option<String> {
        self.0.sentence(session, text)
    }

    fn ending(&self, _: usize) -> SessionEnding {
        // With `about`, the objective does not count as a quoted request.
        SessionEnding { about: Some(String::new()), ..SessionEnding::default() }
    }

    fn without_corrected_wishes(&self, session: usize, text: &str) -> String {
        self.0.without_corrected_wishes(session, text)
    }
}
