//! Decides whether a prompt matches an entry, by the words and names that both contain.
//!
//! The limits were chosen on recorded prompts; `tests/README.md` has the figures and their limits.

use super::RecallTopic;

/// Measures of the words and names that a prompt and an entry share.
pub(super) struct Overlap {
    /// Number of shared words.
    pub(super) words: usize,
    /// The information of the shared words, in nats.
    pub(super) information: f64,
    /// The share of the entry's information that the prompt contains, from 0 to 1.
    pub(super) share: f64,
    /// The cosine of the words of both, weighted by information: low if one text is long and the
    /// shared words are a small part of it. From 0 to 1.
    pub(super) similarity: f64,
    pub(super) has_name: bool,
    /// Whether a shared name is in few entries.
    pub(super) has_rare_name: bool,
}

/// The least overlap that a match needs.
#[derive(Clone, Copy)]
pub(super) struct Threshold {
    share: f64,
    words: usize,
    information: f64,
    similarity: f64,
    name: NameNeeded,
}

#[derive(Clone, Copy)]
enum NameNeeded {
    No,
    /// The other words of entries with this topic occur in many requests.
    Any,
    /// The other words of the entry are too few for a match.
    Rare,
}

const fn limits(share: f64, words: usize, information: f64) -> Threshold {
    Threshold { share, words, information, similarity: 0.0, name: NameNeeded::No }
}

impl Threshold {
    const fn similar(mut self, similarity: f64) -> Threshold {
        self.similarity = similarity;
        self
    }

    const fn with(mut self, name: NameNeeded) -> Threshold {
        self.name = name;
        self
    }

    pub(super) fn admits(&self, overlap: &Overlap) -> bool {
        let is_named = match self.name {
            NameNeeded::No => true,
            NameNeeded::Any => overlap.has_name,
            NameNeeded::Rare => overlap.has_rare_name,
        };
        is_named
            && overlap.words >= self.words
            && overlap.information >= self.information
            && overlap.share >= self.share
            && overlap.similarity >= self.similarity
    }
}

/// An error of a named test. The errors of another test share words such as `failed` with it.
const TEST_ERROR: [Threshold; 2] = [SHORT_ERROR.with(NameNeeded::Any), LONG_ERROR];
const ERROR: [Threshold; 3] =
    [SHORT_ERROR, LONG_ERROR, limits(0.3, 4, 11.0).similar(ERROR_SIMILARITY)];
const SHORT_ERROR: Threshold = limits(0.6, 3, 8.0).similar(ERROR_SIMILARITY);
const LONG_ERROR: Threshold = limits(0.75, 3, 11.0);
/// Below this similarity, a short error shares words with the output of another command.
const ERROR_SIMILARITY: f64 = 0.21;
/// An error whose prompt reports no error.
const UNREPORTED_ERROR: [Threshold; 1] = [limits(0.9, 4, 11.0)];
const DECISION: [Threshold; 4] =
    [limits(0.35, 4, 18.0).with(NameNeeded::Any), MANY_WORDS, RARE_WORDS, RARE_NAME];
const FINDING: [Threshold; 4] =
    [limits(0.3, 5, 20.0).with(NameNeeded::Any), MANY_WORDS, RARE_WORDS, RARE_NAME];
const OPEN_END: [Threshold; 4] =
    [limits(0.22, 4, 16.0).with(NameNeeded::Any), MANY_WORDS, RARE_WORDS, RARE_NAME];
const MANY_WORDS: Threshold = limits(0.3, 5, 9.0).similar(0.15);
const RARE_WORDS: Threshold = limits(0.3, 4, 13.0).similar(0.15);
const RARE_NAME: Threshold = limits(0.0, 5, 12.0).similar(0.145).with(NameNeeded::Rare);
const WISH: [Threshold; 1] = [limits(0.75, 2, 4.5)];
/// The question of the prompt must be about the same: questions share their wording.
const ANSWER: [Threshold; 1] = [limits(0.7, 5, 9.0)];

/// Returns the least number of shared words that one of the `thresholds` admits.
pub(super) fn least_words(thresholds: &[Threshold]) -> usize {
    thresholds.iter().map(|threshold| threshold.words).min().unwrap_or(usize::MAX)
}

/// Returns the thresholds of an entry. One of them has to admit the overlap.
pub(super) fn thresholds(
    topic: RecallTopic,
    is_error_reported: bool,
    names_test: bool,
) -> &'static [Threshold] {
    match topic {
        RecallTopic::Error if !is_error_reported => &UNREPORTED_ERROR,
        RecallTopic::Error if names_test => &TEST_ERROR,
        RecallTopic::Error => &ERROR,
        RecallTopic::Decision => &DECISION,
        RecallTopic::Wish => &WISH,
        RecallTopic::Finding => &FINDING,
        RecallTopic::Answer => &ANSWER,
        RecallTopic::OpenEnd => &OPEN_END,
    }
}
