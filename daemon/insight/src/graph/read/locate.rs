//! Finds the origin of a summary's sentence in the transcript.

use std::collections::BTreeSet;

use super::worth;
use crate::{
    graph::text,
    model::{Evidence, transcript::Origin},
};

/// The minimum share of common words of two texts that are considered equal.
const SAME: f64 = 0.6;

/// The origin of a sentence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SentenceSource {
    pub(super) origin: Origin,
    pub(super) by: Speaker,
}

/// The speaker of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaker {
    /// The user chose or said it.
    User,
    /// The user rejected it.
    Refused,
    /// The agent said it.
    Agent,
}

/// An index of the session's messages, for finding sentences.
pub(super) struct SentenceIndex {
    said: Vec<(BTreeSet<String>, SentenceSource)>,
}

impl SentenceIndex {
    pub(super) fn new(evidence: &Evidence) -> SentenceIndex {
        let mut said = Vec::new();
        let mut add = |text: &str, origin, by| {
            said.push((text::words(text), SentenceSource { origin, by }));
        };
        for choice in &evidence.choices {
            let is_refused = choice.answer == "refused";
            let by = if is_refused { Speaker::Refused } else { Speaker::User };
            let alternatives = choice.alternatives.join(" ");
            let text = format!("{} {} {alternatives}", choice.question, choice.answer);
            add(&text, choice.origin, by);
        }
        for statement in evidence.statements.iter().chain(&evidence.report) {
            add(&statement.text, statement.origin, Speaker::Agent);
        }
        for commit in &evidence.commits {
            add(&commit.subject, commit.origin, Speaker::Agent);
        }
        for error in &evidence.errors {
            add(&error.message, error.origin, Speaker::Agent);
        }
        for prompt in &evidence.prompts {
            add(&prompt.text, prompt.origin, Speaker::User);
        }
        for recap in &evidence.recaps {
            add(&recap.text, recap.origin, Speaker::Agent);
        }
        for report in &evidence.reports {
            add(&report.text, report.origin, Speaker::Agent);
        }
        if let Some(reply) = &evidence.last_reply {
            add(&reply.text, reply.origin, Speaker::Agent);
        }
        SentenceIndex { said }
    }

    /// Returns the origin of `sentence`: the message that contains most of its words, and the
    /// shortest of several such messages.
    pub(super) fn of(&self, sentence: &str) -> Option<SentenceSource> {
        // The words of a question are in another message than its answer.
        let sentence = worth::asked(sentence).map_or(sentence, |(_, answer)| answer);
        let words = text::words(sentence);
        let shares = self.said.iter().map(|(said, found)| (text::share(&words, said), said, found));
        let best = shares.filter(|(share, ..)| *share >= SAME).max_by(|one, other| {
            one.0.total_cmp(&other.0).then_with(|| other.1.len().cmp(&one.1.len()))
        });
        best.map(|(_, _, found)| *found)
    }
}
