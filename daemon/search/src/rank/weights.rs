//! The parameters of the ranking.

use crate::passage::PassageKind;

/// The weights of the relevance signals. The defaults come from measurements:
/// `tests/benches/retrieval/main.rs`.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    /// Saturation of repeated words (BM25's k1).
    pub saturation: f32,
    /// Penalty for the length of a text (BM25's b).
    pub length: f32,
    /// The share of exact matches in the score of a word. The rest is the share of all its forms
    /// together.
    pub exact: f32,
    /// Words that are written as names.
    pub name: f32,
    /// Parts of an identifier or path that is also searched as a whole.
    pub in_whole: f32,
    /// Words of a date. Few texts of that date contain them.
    pub in_date: f32,
    /// Words about time, place and manner.
    pub faint: f32,
    /// The weight of each [`PassageKind`], by its number.
    pub kinds: [f32; PassageKind::ALL.len()],
    /// The weight of each [`PassageKind`], by its number, for the order of the passages that are
    /// shown of a session.
    pub shown_kinds: [f32; PassageKind::ALL.len()],
    /// Replaces [`Weights::length`] for this order: a long message of the agent answers more often
    /// than a short one.
    pub shown_length: f32,
    /// The agent's last message before the user's next message, in this order.
    pub shown_report: f32,
    /// A short message of the agent that other messages of the agent follow, in this order.
    pub shown_step: f32,
    /// The share of a prompt's score that is added to the agent's messages after it.
    pub shown_after_prompt: f32,
    /// The share of the score of such a short message that is added to the agent's next message,
    /// which often says what the announced step found.
    pub shown_after_step: f32,
    /// The weights of a session's best passages, best first.
    pub best: [f32; 3],
    /// The sum of the best passages.
    pub best_passages: f32,
    /// The best sequence of consecutive passages.
    pub sequence: f32,
    /// Maximum length of such a sequence, in terms.
    pub sequence_terms: u32,
    /// The session as one text.
    pub whole: f32,
    /// Adjacent words of the query that are near each other in the text, in order.
    pub pairs: f32,
    /// The share of these pairs that are in one passage, if there are at least two.
    pub pairs_in_passage: f32,
    /// Replaces [`Weights::pairs_in_passage`] if the query is an error message, so that passages
    /// with the whole line of the message come first.
    pub error_pairs_in_passage: f32,
    /// A date of the query matches the session's time.
    pub date: f32,
    /// The share of [`Weights::date`] for the seven days after the date.
    pub date_after: f32,
    /// The share of [`Weights::date`] for the seven days before the date.
    pub date_before: f32,
    /// The session contains the identifier that the query consists of, or worked on it. This weight
    /// is greater than the sum of all other weights, so that these sessions come first.
    pub identifier: f32,
    /// The query contains the name of the session's project.
    pub named_project: f32,
    /// The session belongs to the caller's project.
    pub near: f32,
    /// The session is recent: the full weight today, half of it after [`Weights::recency_days`].
    pub recency: f32,
    /// The half-life of the recency.
    pub recency_days: f32,
    /// The weight of the second ranker's scores, relative to the scores of the words.
    pub second: f32,
}

impl Default for Weights {
    fn default() -> Weights {
        let mut kinds = [1.0; PassageKind::ALL.len()];
        for (kind, weight) in [
            (PassageKind::Agent, 0.7),
            (PassageKind::Tool, 0.4),
            (PassageKind::Recap, 0.7),
            (PassageKind::Title, 1.2),
            (PassageKind::File, 0.7),
            (PassageKind::Body, 0.8),
        ] {
            kinds[kind as usize] = weight;
        }
        let mut shown_kinds = [0.8; PassageKind::ALL.len()];
        for (kind, weight) in [
            (PassageKind::User, 0.6),
            (PassageKind::Agent, 1.0),
            (PassageKind::Tool, 0.3),
            (PassageKind::Title, 0.5),
            (PassageKind::Objective, 0.5),
            (PassageKind::Prompt, 0.5),
            (PassageKind::File, 0.3),
        ] {
            shown_kinds[kind as usize] = weight;
        }
        Weights {
            saturation: 1.2,
            length: 0.75,
            exact: 0.5,
            name: 1.4,
            in_whole: 0.5,
            in_date: 0.3,
            faint: 0.6,
            kinds,
            shown_kinds,
            shown_length: 0.4,
            shown_report: 1.5,
            shown_step: 0.8,
            shown_after_prompt: 0.2,
            shown_after_step: 0.6,
            best: [1.0, 0.5, 0.33],
            best_passages: 1.0,
            sequence: 1.0,
            sequence_terms: 450,
            whole: 0.6,
            pairs: 0.25,
            pairs_in_passage: 1.0,
            error_pairs_in_passage: 3.0,
            date: 0.75,
            date_after: 0.7,
            date_before: 0.2,
            identifier: 100.0,
            named_project: 0.1,
            near: 0.1,
            recency: 0.05,
            recency_days: 30.0,
            second: 0.5,
        }
    }
}

impl Weights {
    /// Returns the weights for a query that is an error message. Tool calls, which may have failed
    /// with this error, then count as much as the user's words, and are shown like messages of the
    /// agent.
    pub(crate) fn for_error(&self) -> Weights {
        let mut weights = Weights { pairs_in_passage: self.error_pairs_in_passage, ..self.clone() };
        weights.kinds[PassageKind::Tool as usize] = self.of_kind(PassageKind::User);
        weights.shown_kinds[PassageKind::Tool as usize] = self.of_shown_kind(PassageKind::Agent);
        weights
    }

    /// Returns the weights for a query with filters of passages. The places of messages in their
    /// turns are then unknown, because the filters exclude messages.
    pub(crate) fn without_turns(&self) -> Weights {
        Weights {
            shown_report: 1.0,
            shown_step: 1.0,
            shown_after_prompt: 0.0,
            shown_after_step: 0.0,
            ..self.clone()
        }
    }

    pub(crate) fn of_kind(&self, kind: PassageKind) -> f32 {
        self.kinds[kind as usize]
    }

    pub(crate) fn of_shown_kind(&self, kind: PassageKind) -> f32 {
        self.shown_kinds[kind as usize]
    }

    /// Returns BM25's saturation for `count` occurrences in a text with `relative` times the
    /// average length.
    pub(crate) fn saturate(&self, count: f32, relative: f32) -> f32 {
        let norm = self.saturation * (1.0 - self.length + self.length * relative);
        count * (self.saturation + 1.0) / (count + norm)
    }
}
