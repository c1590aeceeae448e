//! Finds the origin of a summary's sentence in the transcript.

use std::{cmp::Ordering, collections::BTreeSet};

use super::{fact_selection, orders};
use crate::{
    graph::text,
    model::{
        Evidence,
        evidence::Quote,
        transcript::{COMPACTION_START, Origin},
        wording::is_retry,
    },
    text::sentences,
};

/// Minimum share of the words of a sentence that are in its source.
const MIN_COMMON_SHARE: f64 = 0.6;

/// A line is about a command if it contains at least this share of the words of the command, which
/// the line may shorten.
const RETRY_SHARE: f64 = 0.75;
/// Maximum length, in bytes, of a prompt that is assumed to contain no pasted text.
const MAX_TYPED_BYTES: usize = 1_000;
/// Number of words at the beginning of a sentence that a long prompt must contain.
const FIRST_WORDS: usize = 5;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SentenceSource {
    pub(super) origin: Origin,
    pub(super) by: Speaker,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaker {
    /// The user chose the option or wrote the sentence.
    User,
    /// The user rejected the option.
    UserRefusal,
    Agent,
    /// The results of commands show the statement.
    Tool,
}

/// Returns the source of a line about a command that worked only in another form: the result of
/// that command, or the agent if the agent explained the failure.
pub(super) fn source_of_retry(evidence: &Evidence, line: &str) -> Option<SentenceSource> {
    if !is_retry(line) {
        return None;
    }
    let words = text::words(line);
    let names = |command: &str| text::share(&text::words(command), &words) >= RETRY_SHARE;
    // Retries that an older version stored have no position.
    let retry = evidence
        .retries
        .iter()
        .rfind(|retry| retry.origin.line > 0 && names(&retry.failed) && names(&retry.worked))?;
    let by = if retry.explanation.is_none() { Speaker::Tool } else { Speaker::Agent };
    Some(SentenceSource { origin: retry.origin, by })
}

/// An index of the session's messages, for finding sentences.
pub(super) struct SentenceIndex<'e> {
    prompts: &'e [Quote],
    messages: Vec<(BTreeSet<String>, SentenceSource)>,
    /// The normalised texts of long prompts. Almost any sentence shares its words with a long
    /// prompt, so the order of its first words is compared, too.
    pasted: Vec<(String, Origin)>,
    /// The positions of summaries that an agent wrote when its context was full or the user was
    /// absent.
    recaps: BTreeSet<Origin>,
}

impl<'e> SentenceIndex<'e> {
    pub(super) fn new(evidence: &'e Evidence) -> SentenceIndex<'e> {
        let mut messages = Vec::new();
        let mut add = |text: &str, origin, by| {
            messages.push((text::words(text), SentenceSource { origin, by }));
        };
        for choice in &evidence.choices {
            let is_refused = choice.answer == "refused";
            let by = if is_refused { Speaker::UserRefusal } else { Speaker::User };
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
        let mut pasted = Vec::new();
        for prompt in &evidence.prompts {
            // The agent wrote the summary of a compaction.
            let by = match is_compaction(&prompt.text) {
                true => Speaker::Agent,
                false => Speaker::User,
            };
            add(&prompt.text, prompt.origin, by);
            if prompt.text.len() > MAX_TYPED_BYTES {
                pasted.push((text::plain(&prompt.text), prompt.origin));
            }
        }
        for recap in &evidence.recaps {
            add(&recap.text, recap.origin, Speaker::Agent);
        }
        let continued = evidence.prompts.iter();
        let continued = continued.filter(|prompt| is_compaction(&prompt.text));
        let recaps = evidence.recaps.iter().map(|recap| recap.origin);
        let recaps = recaps.chain(continued.map(|prompt| prompt.origin)).collect();
        for report in &evidence.reports {
            add(&report.text, report.origin, Speaker::Agent);
        }
        if let Some(reply) = &evidence.last_reply {
            add(&reply.text, reply.origin, Speaker::Agent);
        }
        SentenceIndex { prompts: &evidence.prompts, messages, pasted, recaps }
    }

    /// Returns the origin of `sentence`: the message that contains the largest share of its words.
    /// Among messages with the same share, the message with the fewest words takes precedence.
    /// Returns `None` if no message contains enough of the words.
    pub(super) fn of(&self, sentence: &str) -> Option<SentenceSource> {
        // A question and its answer are in different messages.
        let sentence =
            fact_selection::split_question(sentence).map_or(sentence, |(_, answer)| answer);
        let words = text::words(sentence);
        let best = |in_recap: bool| {
            let candidates =
                self.messages.iter().filter(move |(_, found)| self.is_recap(found) == in_recap);
            let shares =
                candidates.map(|(message, found)| (text::share(&words, message), message, found));
            let likely = shares.filter(|(share, ..)| *share >= MIN_COMMON_SHARE);
            likely.max_by(|one, other| {
                one.0.total_cmp(&other.0).then_with(|| other.1.len().cmp(&one.1.len()))
            })
        };
        // A recap repeats earlier messages, so it is the source only if no other message is.
        let found = best(false).or_else(|| best(true));
        found.map(|(_, _, found)| self.by_speaker(*found, sentence))
    }

    fn is_recap(&self, found: &SentenceSource) -> bool {
        self.recaps.contains(&found.origin)
    }

    /// Corrects the speaker of a sentence that was found in a prompt. The user only asked, or said
    /// the opposite, if the most similar sentence of the prompt is a question, or if only one of
    /// both denies something. A sentence in a long prompt is from the user only if the prompt
    /// contains the first words of the sentence unchanged.
    fn by_speaker(&self, found: SentenceSource, sentence: &str) -> SentenceSource {
        let plain = text::plain(sentence);
        let beginning: Vec<&str> = plain.split(' ').take(FIRST_WORDS).collect();
        let beginning = beginning.join(" ");
        let mut pasted = self.pasted.iter().filter(|(_, origin)| *origin == found.origin);
        let is_foreign = pasted.next().is_some_and(|(prompt, _)| !prompt.contains(&beginning));
        let differs = || {
            let mut prompts = self.prompts.iter().filter(|prompt| prompt.origin == found.origin);
            prompts.next().is_some_and(|prompt| asks_or_denies(&prompt.text, sentence))
        };
        let by = if is_foreign || differs() { Speaker::Agent } else { found.by };
        SentenceSource { by, ..found }
    }
}

/// Whether the sentence of `prompt` that shares most words with `sentence` is a question, or is
/// negative if `sentence` is not, or the reverse.
fn asks_or_denies(prompt: &str, sentence: &str) -> bool {
    let words = text::words(sentence);
    let share = |one: &&str| text::share(&words, &text::words(one));
    let most_similar = sentences(prompt).into_iter().max_by(|one, other| {
        let rank = |one: &&str| (share(one), !orders::is_question(one));
        rank(one).partial_cmp(&rank(other)).unwrap_or(Ordering::Equal)
    });
    let differs =
        |one| orders::is_question(one) || text::is_negative(one) != text::is_negative(sentence);
    // A question in a fact is the user's own question.
    !orders::is_question(sentence) && most_similar.is_some_and(differs)
}

/// Whether a prompt is the summary that an agent wrote when its context was full.
pub(super) fn is_compaction(prompt: &str) -> bool {
    prompt.trim_start().starts_with(COMPACTION_START)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::extract::scenarios::{SessionFixture, line};

    #[test]
    fn a_sentence_in_a_long_prompt_is_the_users_only_if_its_first_words_are_unchanged() {
        let speaker = |prompt: &str| {
            let mut session = SessionFixture::new(10, "Rotate the keys");
            let quote = Quote { text: prompt.to_owned(), origin: line(3), at: session.at(3) };
            session.evidence.prompts = vec![quote];
            let index = SentenceIndex::new(&session.evidence);
            index.of("Writer keys are derived from the seed").map(|found| found.by)
        };
        let plan =
            "The seed is read. Keys of the writer are checked and derived twice. ".repeat(20);
        assert_eq!(speaker("writer keys are derived from the seed"), Some(Speaker::User));
        assert_eq!(speaker(&plan), Some(Speaker::Agent));
        let pasted = format!("{plan} Writer keys are derived from the seed.");
        assert_eq!(speaker(&pasted), Some(Speaker::User));
        let summary = format!("{COMPACTION_START}. Writer keys are derived from the seed.");
        assert_eq!(speaker(&summary), Some(Speaker::Agent));
    }

    #[test]
    fn a_question_or_the_opposite_of_a_sentence_is_not_its_source() {
        for (prompt, sentence, wanted) in [
            (
                "does `parse()` read the zone of dates before 1970?",
                "`parse()` does not read the zone of dates before 1970",
                Speaker::Agent,
            ),
            (
                "does `parse()` read the zone of dates before 1970",
                "`parse()` reads the zone of dates before 1970",
                Speaker::Agent,
            ),
            (
                "parse reads the zone of dates before 1970",
                "`parse()` never reads the zone of dates before 1970",
                Speaker::Agent,
            ),
            (
                "`parse()` does not read the zone of dates before 1970, fix it",
                "`parse()` does not read the zone of dates before 1970",
                Speaker::User,
            ),
            (
                "does `parse()` read the zone of dates before 1970?",
                "Asked, not answered: does `parse()` read the zone of dates before 1970?",
                Speaker::User,
            ),
            (
                "can you fix it? `parse()` reads the zone of dates before 1970",
                "`parse()` reads the zone of dates before 1970",
                Speaker::User,
            ),
        ] {
            let mut session = SessionFixture::new(10, "Read dates");
            let quote = Quote { text: prompt.to_owned(), origin: line(3), at: session.at(3) };
            session.evidence.prompts = vec![quote];
            let index = SentenceIndex::new(&session.evidence);
            assert_eq!(index.of(sentence).map(|found| found.by), Some(wanted), "{prompt}");
        }
    }
}
