//! Decides whether a prompt matches an entry, by the words and names that both contain.
//!
//! The limits were chosen on recorded prompts; `tests/README.md` has the figures and their limits.

use std::{collections::BTreeSet, sync::LazyLock};

use super::RecallTopic;
use crate::text::words;

/// Measures of the words and names that a prompt and an entry share.
pub(super) struct Overlap {
    /// Number of shared words.
    pub(super) words: usize,
    /// Number of shared words that [`is_about_subject`] accepts.
    pub(super) subject_words: usize,
    /// The information of the shared words, in nats.
    pub(super) information: f64,
    /// The share of the entry's information that the prompt contains, from 0 to 1. A shared name
    /// raises it in some topics.
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
    subject_words: usize,
    information: f64,
    similarity: f64,
    name: NameNeeded,
}

#[derive(Clone, Copy)]
enum NameNeeded {
    No,
    /// The other words of entries with this topic occur in many requests.
    Any,
    /// With such a name, the other shared words may be a small part of the entry.
    Rare,
}

const fn limits(share: f64, words: usize, information: f64) -> Threshold {
    let (subject_words, similarity, name) = (0, 0.0, NameNeeded::No);
    Threshold { share, words, subject_words, information, similarity, name }
}

impl Threshold {
    const fn similar(mut self, similarity: f64) -> Threshold {
        self.similarity = similarity;
        self
    }

    const fn with_subject_words(mut self, count: usize) -> Threshold {
        self.subject_words = count;
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
            && overlap.subject_words >= self.subject_words
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
const MANY_WORDS: Threshold = limits(0.3, 5, 9.0).similar(0.15).with_subject_words(4);
const RARE_WORDS: Threshold = limits(0.3, 4, 13.0).similar(0.15).with_subject_words(3);
const RARE_NAME: Threshold = limits(0.0, 5, 12.0).similar(0.145).with(NameNeeded::Rare);
const WISH: [Threshold; 1] = [limits(0.75, 2, 4.5)];
/// The prompt must ask almost the same question, because questions share their wording.
const ANSWER: [Threshold; 1] = [limits(0.7, 5, 9.0)];

/// Words of requests about any software. A prompt and an entry that share only these words are
/// about different things. Few entries do not show that these words are frequent.
static REQUEST_WORDS: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    words(
        "add address app application apply branch bug build change check clean code command comment \
         commit complete config configuration confirm create current data default dependency docs \
         document documentation error example existing extend feature file fix folder function \
         general handle implement improve include input issue line list main merge method module move \
         name new next number old open option output package page plan prepare print problem project \
         pull push read readme refactor release remove rename replace report repo repository request \
         result review rewrite run script section set settings show split start step support task test \
         text time tool type update user value verify version work write",
    )
});

/// Whether a word says what a text is about. `word` is one that [`words`] returns.
pub(super) fn is_about_subject(word: &str) -> bool {
    !REQUEST_WORDS.contains(word)
}

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
