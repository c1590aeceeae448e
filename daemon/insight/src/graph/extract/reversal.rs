//! Finds where the user took back a decision later in the same session, and ends the decision
//! there.

use super::{draft::Draft, progress};
use crate::{
    graph::text,
    model::{
        Timestamp,
        evidence::Choice,
        graph::{Observation, Stance, Watch},
        summary::DecisionRecord,
        transcript::Origin,
    },
    pattern::pattern,
    report::retraction::{dropped, kept},
};

/// Maximum length, in characters, of a sentence in which the agent repeats what the user wants.
const MAX_ECHO_CHARS: usize = 120;
/// Maximum number of sentences of one prompt that are searched.
const MAX_PROMPT_SENTENCES: usize = 12;

/// Marks where the user took back the decision of `line`, and returns the watch that ends the
/// decision there. Returns `None` if the user did not take it back.
pub(super) fn watch(
    draft: &mut Draft<'_>,
    record: &DecisionRecord,
    asked: Option<&Choice>,
    line: Origin,
) -> Option<Watch> {
    let words = DecisionWords::of(draft, record, asked);
    let at = taken_back(draft, &words, line)?;
    let key = format!("{} {}", draft.episode.session_id, text::plain(&record.decision));
    let subject = draft.subject("taken back", &key);
    draft.mark(subject, at, Observation::Succeeded);
    Some(Watch { subject, stance: Stance::Broken })
}

/// The words of the chosen and of the rejected options, as fingerprints.
struct DecisionWords {
    chosen: Vec<u64>,
    rejected: Vec<u64>,
    /// Whether the decision itself drops something.
    drops: bool,
}

impl DecisionWords {
    fn of(draft: &Draft<'_>, record: &DecisionRecord, asked: Option<&Choice>) -> DecisionWords {
        let instead = pattern!(r"(?i)\b(?:instead of|rather than) (.+)$");
        let replaced = instead.captures(&record.decision).map(|found| found[1].to_owned());
        let others = record.alternatives.iter().flatten().cloned().chain(replaced);
        let rejected = text::topic_words(&others.collect::<Vec<_>>().join(" "));
        let kept = instead.replace(&record.decision, "");
        let offered = asked.map(|asked| offered(draft, asked)).unwrap_or_default();
        DecisionWords {
            chosen: text::topic_words(&format!("{kept} {offered}")),
            rejected,
            drops: dropped(&record.decision).is_some(),
        }
    }

    /// Whether a sentence drops what was chosen, or chooses what was rejected.
    fn are_taken_back_by(&self, sentence: &str) -> bool {
        let asks = sentence.trim_end().ends_with('?');
        !asks && (self.are_dropped_by(sentence) || self.are_replaced_by(sentence))
    }

    fn are_dropped_by(&self, sentence: &str) -> bool {
        let object = dropped(sentence).map(text::topic_words).unwrap_or_default();
        !self.drops && !object.is_empty() && object.iter().all(|word| self.chosen.contains(word))
    }

    fn are_replaced_by(&self, sentence: &str) -> bool {
        let object = kept(sentence).map(text::topic_words).unwrap_or_default();
        let common = object.iter().filter(|word| self.rejected.contains(word));
        let only_rejected = common.clone().any(|word| !self.chosen.contains(word));
        let common = common.count();
        only_rejected && common * 2 >= object.len() && (common > 1 || object.len() == 1)
    }
}

/// Returns the lines of the agent's offer that contain the chosen options.
fn offered(draft: &Draft<'_>, asked: &Choice) -> String {
    let Some(report) = draft.report_before(asked.origin) else { return String::new() };
    let labels: Vec<String> = asked.answer.split("; ").map(text::plain).collect();
    let is_chosen = |line: &&str| {
        let line = text::plain(line);
        labels.iter().any(|label| !label.is_empty() && line.contains(label.as_str()))
    };
    report.text.lines().filter(is_chosen).collect::<Vec<_>>().join(" ")
}

/// Returns when the user took the decision back.
fn taken_back(draft: &Draft<'_>, words: &DecisionWords, line: Origin) -> Option<Timestamp> {
    let evidence = draft.evidence;
    let is_compaction = super::locate::is_compaction;
    let mut prompts = evidence.prompts.iter().filter(|prompt| prompt.origin.follows(line));
    let prompt = prompts.find(|prompt| {
        let answer = evidence
            .reports
            .iter()
            .find(|report| report.origin.source == line.source && report.origin > prompt.origin);
        let echo = answer.and_then(|answer| echo(&answer.text));
        let mut sentences = progress::prompt_sentences(&prompt.text).take(MAX_PROMPT_SENTENCES);
        !is_compaction(&prompt.text)
            && (sentences.any(|sentence| words.are_taken_back_by(sentence))
                || echo.is_some_and(|echo| words.are_dropped_by(echo)))
    })?;
    Some(prompt.at.unwrap_or_else(|| draft.moments.at(prompt.origin)))
}

/// Returns the first sentence of an answer if it repeats what the user wants, for example `Got it —
/// drop the cache`.
fn echo(answer: &str) -> Option<&str> {
    let first = answer.trim_start().lines().next()?;
    let first = first.split_inclusive(". ").next()?;
    let is_echo = pattern!(
        r"(?i)^(?:got it|ok(?:ay)?|understood|right|sure|makes sense|fair(?: enough)?|agreed|will do|no problem)\b"
    );
    (first.chars().count() <= MAX_ECHO_CHARS && is_echo.is_match(first)).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        graph::extract::scenarios::{SessionFixture, line},
        model::evidence::{Quote, TurnReport},
    };

    fn is_taken_back(record: &DecisionRecord, prompt: &str, answer: &str) -> bool {
        let mut session = SessionFixture::new(10, "Mark the answers");
        let report = |at, text: &str| TurnReport {
            text: text.to_owned(),
            origin: line(at),
            ..TurnReport::default()
        };
        let asked = Choice {
            question: "What is it for?".to_owned(),
            answer: record.decision.clone(),
            origin: line(4),
            ..Choice::default()
        };
        session.evidence.reports = vec![
            report(
                3,
                "What is it for?\n- **A. Branding** — it is seen\n- **B. Delight** — a small mascot at the end",
            ),
            report(7, answer),
        ];
        session.evidence.prompts =
            vec![Quote { text: prompt.to_owned(), origin: line(5), at: session.at(5) }];
        let mut draft = Draft::new(&session.episode, &session.evidence);
        watch(&mut draft, record, Some(&asked), line(4)).is_some()
    }

    #[test]
    fn the_user_takes_back_a_decision_by_dropping_it_or_by_keeping_what_was_rejected() {
        let record = |decision: &str, other: Option<&str>| DecisionRecord {
            decision: decision.to_owned(),
            rationale: String::new(),
            alternatives: other.map(|other| vec![other.to_owned()]),
        };
        let cached = record("Cache the client instead of building one per call", None);
        for (record, prompt, answer, wanted) in [
            (
                record("Branding; Delight", None),
                "no just the name",
                "Got it — scrap the mascot.",
                true,
            ),
            (record("Branding; Delight", None), "no, drop the mascot", "Done.", true),
            (record("Branding; Delight", None), "so could we just drop the mascot?", "Yes.", false),
            (record("Branding; Delight", None), "drop the old tests", "Got it.", false),
            (record("Branding; Delight", None), "don't forget the mascot", "Done.", false),
            (record("Drop the mascot", None), "ok, drop the mascot", "Done.", false),
            (cached.clone(), "It is stale.\nLet's keep per-call construction.", "Done.", true),
            (cached.clone(), "Let's keep the client cached", "Done.", false),
            (cached, "let's use a table for it", "Done.", false),
            (record("Panel", Some("Table")), "actually use the table", "Done.", true),
            (record("Panel", Some("Table")), "use the table of contents in `a.md`", "Done.", false),
        ] {
            assert_eq!(is_taken_back(&record, prompt, answer), wanted, "{record:?} {prompt}");
        }
    }
}
