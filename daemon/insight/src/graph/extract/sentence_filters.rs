//! The phrases by which sentences are classified. Each kind has a data file, with examples that a
//! test checks.

use regex::{Regex, RegexBuilder};
use serde::Deserialize;

use crate::{pattern::compact, releasable::Releasable};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PhraseFile {
    /// Case-insensitive regular expressions.
    patterns: Vec<String>,
    /// Sentences that must match, for the test.
    #[cfg_attr(not(test), expect(dead_code, reason = "only the test reads them"))]
    examples: Vec<String>,
    /// Sentences that must not match, for the test.
    #[cfg_attr(not(test), expect(dead_code, reason = "only the test reads them"))]
    counter_examples: Vec<String>,
}

pub(super) struct PhraseSet {
    #[cfg(test)]
    text: &'static str,
    pattern: Releasable<Regex>,
}

macro_rules! phrase_set {
    ($file:literal) => {
        PhraseSet {
            #[cfg(test)]
            text: include_str!(concat!("sentence_filters/", $file)),
            pattern: Releasable::new(|| compile(include_str!(concat!("sentence_filters/", $file)))),
        }
    };
}

/// Judgements and general knowledge.
pub(super) static JUDGEMENT: PhraseSet = phrase_set!("judgement.toml");
/// Phrases of a user who is not sure yet.
pub(super) static HEDGE: PhraseSet = phrase_set!("hedge.toml");
/// Beginnings of a sentence that limits or contradicts the sentence before.
pub(super) static CONTRAST: PhraseSet = phrase_set!("contrast.toml");
/// Sentences whose subject is a thing without a name.
pub(super) static BARE_NOUN: PhraseSet = phrase_set!("bare_noun.toml");
/// Requests that begin with the verb of the requested work.
pub(super) static ORDER: PhraseSet = phrase_set!("order.toml");
/// Remarks of a user about an error that do not describe the error.
pub(super) static CHAT: PhraseSet = phrase_set!("chat.toml");

/// Questions that do not say what is decided, such as `Which approach?`.
pub(super) static GENERAL_QUESTION: PhraseSet = phrase_set!("general_question.toml");
/// Sentences about how the agent proceeds in its session.
pub(super) static AGENT_STEP: PhraseSet = phrase_set!("agent_step.toml");

impl PhraseSet {
    pub(super) fn matches(&'static self, text: &str) -> bool {
        self.pattern.get().is_match(text)
    }
}

fn read(text: &str) -> PhraseFile {
    toml::from_str(text).expect("the files of phrases are valid, which a test checks")
}

fn compile(text: &str) -> Regex {
    let patterns = read(text).patterns.join("|");
    let built = RegexBuilder::new(&compact(&patterns)).case_insensitive(true).build();
    built.expect("the patterns of phrases are valid, which a test checks")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_matches_its_examples_and_not_its_counter_examples() {
        let sets = [&JUDGEMENT, &HEDGE, &CONTRAST, &BARE_NOUN, &ORDER, &CHAT];
        for set in sets.into_iter().chain([&GENERAL_QUESTION, &AGENT_STEP]) {
            let file = read(set.text);
            for example in &file.examples {
                assert!(set.matches(example), "{example}");
            }
            for example in &file.counter_examples {
                assert!(!set.matches(example), "{example}");
            }
        }
    }
}
