//! Sums up the four signals of an activity: intent keywords, tool calls, errors and file patterns
//! (section 2.2 of the specification intelligent-session-summarization).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    activity::keywords::{ErrorsAndFiles, FILES, INTENTS, MatchedWords},
    model::activity::{Activity, ActivityVector, Signals},
};

/// The weight of each intent keyword.
const KEYWORD_WEIGHT: f64 = 0.15;
/// The maximum sum for the keywords of an activity.
const MAX_KEYWORD_SIGNAL: f64 = 0.5;
/// The factor for the signals of a tool call.
const CALL_WEIGHT: f64 = 0.3;
/// Maximum number of errors that do not count.
const MAX_IGNORED_ERRORS: u32 = 3;
/// The signal of [`Activity::Fixing`] if there are more errors than [`MAX_IGNORED_ERRORS`].
const ERROR_SIGNAL: f64 = 0.3;
/// Maximum number of file patterns of an activity that do not count.
const MAX_IGNORED_PATTERNS: usize = 2;
/// The signal of an activity if there are more of its file patterns than [`MAX_IGNORED_PATTERNS`].
const FILE_SIGNAL: f64 = 0.25;
/// Maximum number of unknown tools that are counted by name.
const MAX_UNKNOWN_TOOLS: usize = 32;
/// Maximum length, in bytes, of the name of an unknown tool. Tools with longer names are not
/// counted by name.
const MAX_NAME_BYTES: usize = 200;

/// The signals of a session or of a part of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Tally {
    /// The intent keywords in prompts.
    pub(crate) intents: MatchedWords,
    /// The file patterns in any text.
    pub(crate) files: MatchedWords,
    /// Number of error indicators.
    pub(crate) errors: u32,
    /// The sum of the signals of all calls.
    pub(crate) tools: Signals,
    pub(crate) calls: u32,
    /// Number of calls of unknown tools, by name.
    pub(crate) unknown: BTreeMap<String, u32>,
}

impl Tally {
    /// Returns the sum of the four signals, as the specification defines it.
    pub(crate) fn signals(&self) -> Signals {
        let mut signals = intent_signals(|word| self.intents.contains(word));
        signals.add_all(&self.tools, CALL_WEIGHT);
        if self.errors > MAX_IGNORED_ERRORS {
            signals.add(Activity::Fixing, ERROR_SIGNAL);
        }
        for (activity, patterns) in FILES {
            if patterns.iter().filter(|pattern| self.files.contains(**pattern)).count()
                > MAX_IGNORED_PATTERNS
            {
                signals.add(*activity, FILE_SIGNAL);
            }
        }
        signals
    }

    pub(crate) fn vector(&self) -> ActivityVector {
        ActivityVector::from_signals(&self.signals())
    }

    /// Adds the intent keywords of a prompt.
    pub(crate) fn prompt(&mut self, intents: &[&'static str]) {
        insert_all(&mut self.intents, intents);
    }

    /// Adds the errors and files that a text mentions.
    pub(crate) fn text(&mut self, marks: &ErrorsAndFiles) {
        self.errors = self.errors.saturating_add(marks.errors);
        insert_all(&mut self.files, &marks.files);
    }

    /// Counts a call with its signals, or a call of an unknown tool.
    pub(crate) fn call(&mut self, signals: &Signals, unknown: Option<&str>) {
        self.calls = self.calls.saturating_add(1);
        self.tools.add_all(signals, 1.0);
        if let Some(tool) = unknown {
            note_unknown(&mut self.unknown, tool, 1);
        }
    }

    pub(crate) fn absorb(&mut self, other: &Tally) {
        self.intents.extend(other.intents.iter().cloned());
        self.files.extend(other.files.iter().cloned());
        self.errors = self.errors.saturating_add(other.errors);
        self.calls = self.calls.saturating_add(other.calls);
        self.tools.add_all(&other.tools, 1.0);
        other
            .unknown
            .iter()
            .for_each(|(tool, calls)| note_unknown(&mut self.unknown, tool, *calls));
    }

    /// Adds the signals of calls whose tools were unknown at the time and are `known` now.
    pub(crate) fn add_known_tools(&mut self, known: &dyn Fn(&str) -> Option<Signals>) {
        take_known(&mut self.unknown, known, |signals, calls| self.tools.add_all(signals, calls));
    }
}

/// Returns the signals of keywords alone.
pub(crate) fn intent_signals(is_present: impl Fn(&str) -> bool) -> Signals {
    let signal = |(activity, words): &(Activity, &[&str])| {
        let found = words.iter().filter(|word| is_present(word)).count() as f64;
        (*activity, (found * KEYWORD_WEIGHT).min(MAX_KEYWORD_SIGNAL))
    };
    INTENTS.iter().map(signal).collect()
}

pub(crate) const fn weight_of_calls() -> f64 {
    CALL_WEIGHT
}

pub(crate) fn note_unknown(unknown: &mut BTreeMap<String, u32>, tool: &str, calls: u32) {
    if let Some(count) = unknown.get_mut(tool) {
        *count = count.saturating_add(calls);
    } else if unknown.len() < MAX_UNKNOWN_TOOLS && tool.len() <= MAX_NAME_BYTES {
        unknown.insert(tool.to_owned(), calls);
    }
}

/// Removes the tools that are `known` now from `unknown`. Calls `add` with the signals and the
/// number of calls of each of these tools.
pub(crate) fn take_known(
    unknown: &mut BTreeMap<String, u32>,
    known: &dyn Fn(&str) -> Option<Signals>,
    mut add: impl FnMut(&Signals, f64),
) {
    unknown.retain(|tool, calls| match known(tool) {
        Some(signals) => {
            add(&signals, f64::from(*calls));
            false
        }
        None => true,
    });
}

fn insert_all(words: &mut MatchedWords, found: &[&'static str]) {
    for word in found {
        if !words.contains(*word) {
            words.insert((*word).to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activity::keywords::{errors_and_files_in, intents_in};

    #[test]
    fn each_keyword_counts_once_and_their_sum_is_limited() {
        let mut tally = Tally::default();
        for _ in 0..9 {
            tally.prompt(&intents_in("fix the bug"));
        }
        assert!((tally.signals().get(Activity::Fixing) - 0.3).abs() < 1e-9);
        tally.prompt(&intents_in("crash error problem issue resolve"));
        assert_eq!(tally.signals().get(Activity::Fixing), 0.5);
    }

    #[test]
    fn more_than_three_errors_count_once() {
        let mut tally = Tally::default();
        tally.text(&errors_and_files_in("error error error"));
        assert_eq!(tally.signals().get(Activity::Fixing), 0.0);
        tally.errors += 1;
        assert_eq!(tally.signals().get(Activity::Fixing), 0.3);
        tally.errors += 900;
        assert_eq!(tally.signals().get(Activity::Fixing), 0.3);
    }

    #[test]
    fn more_than_two_kinds_of_file_count() {
        let mut tally = Tally::default();
        tally.text(&errors_and_files_in("README.md README.md"));
        assert_eq!(tally.signals().get(Activity::Documenting), 0.0);
        tally.text(&errors_and_files_in("docs/x"));
        assert_eq!(tally.signals().get(Activity::Documenting), 0.25);
    }

    #[test]
    fn a_tool_that_becomes_known_counts_for_all_its_calls() {
        let mut tally = Tally::default();
        tally.call(&Signals::default(), Some("frob"));
        tally.call(&Signals::default(), Some("frob"));
        assert_eq!(tally.signals().get(Activity::Testing), 0.0);
        let known =
            |tool: &str| (tool == "frob").then(|| [(Activity::Testing, 0.5)].into_iter().collect());
        tally.add_known_tools(&known);
        assert!((tally.signals().get(Activity::Testing) - 0.3).abs() < 1e-9);
        tally.add_known_tools(&known);
        assert!((tally.signals().get(Activity::Testing) - 0.3).abs() < 1e-9, "only once");
    }
}
