//! Removes corrected statements from the reports that a handoff quotes.

use crate::{
    graph::text::is_negative,
    text::{sentence_ends, share_of_words, words},
};

/// A part of a report says a statement if the part contains at least this share of the words of
/// the statement, and [`KNOWN_SHARE`] holds, too.
const STATED_SHARE: f64 = 0.9;
/// Minimum share of the words of the part that are also in the statement. The other words are new.
const KNOWN_SHARE: f64 = 0.8;
/// Minimum number of words of a statement that is recognised.
const MIN_WORDS: usize = 2;
/// Minimum length, in characters, of a beginning of a statement that is recognised.
const MIN_BEGINNING: usize = 16;

/// Removes the sentences and list items of a report that say nothing more than one of the
/// `statements`. The report has one line. Each statement consists of its text in the summary and
/// the sentence of its fact.
pub(super) fn without_statements(report: &str, statements: &[(&str, &str)]) -> String {
    let is_stated =
        |part: &str| statements.iter().any(|(text, sentence)| says(part, text, sentence));
    let mut kept = String::new();
    let mut pending_heading = "";
    for part in parts(report) {
        let is_followed = part.ends_with(';');
        let (heading, item) = match part.find(": ") {
            Some(colon) if is_stated(&part[colon + 2..]) => part.split_at(colon + 2),
            _ => ("", part),
        };
        if is_stated(item) {
            if !heading.is_empty() {
                pending_heading = heading;
            }
            if !is_followed {
                pending_heading = "";
                if kept.ends_with("; ") {
                    kept.truncate(kept.len() - 2);
                    kept.push_str(". ");
                }
            }
            continue;
        }
        kept.push_str(std::mem::take(&mut pending_heading));
        kept.push_str(part);
        kept.push(' ');
    }
    kept.trim_end().to_owned()
}

/// Splits a report into its sentences and list items, each with its mark at the end.
pub(super) fn parts(report: &str) -> impl Iterator<Item = &str> {
    let mut start = 0;
    let sentences = sentence_ends(report).chain([report.len()]).map(move |end| {
        let sentence = &report[start..end];
        start = end;
        sentence
    });
    let items = sentences.flat_map(|sentence| sentence.split_inclusive("; "));
    items.map(str::trim).filter(|part| !part.is_empty())
}

/// Whether a part of a report says the statement with this text and sentence, and nothing else.
pub(super) fn says(part: &str, text: &str, sentence: &str) -> bool {
    // Short texts and texts without blanks have too few words.
    let is_stated = |stated: &str| plain(stated) == plain(part) || is_beginning(part, stated);
    if is_stated(text) || is_stated(sentence) {
        return true;
    }
    let whole = format!("{text} {sentence}");
    let (stated, known, found) = (words(text), words(&whole), words(part));
    stated.len() >= MIN_WORDS
        // `words` leaves out negations.
        && is_negative(part) == is_negative(text)
        && share_of_words(&stated, &found) >= STATED_SHARE
        && share_of_words(&found, &known) >= KNOWN_SHARE
        && numbers(part).all(|number| numbers(&whole).any(|known| known == number))
}

/// Whether a part that was cut is the beginning of a statement.
fn is_beginning(part: &str, stated: &str) -> bool {
    let (part, is_cut) = (plain(part), part.ends_with('…'));
    is_cut && part.chars().count() >= MIN_BEGINNING && plain(stated).starts_with(&part)
}

/// Returns a text in lower case, without quotation marks and without marks at its ends.
fn plain(text: &str) -> String {
    let text = text.replace(['"', '“', '”'], "").to_lowercase();
    text.trim_matches(|c: char| !c.is_alphanumeric()).to_owned()
}

/// Returns the numbers of a text, which [`words`] leaves out if they are short.
fn numbers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_digit()).filter(|number| !number.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const POOL: (&str, &str) = (
        "Use a pool of 8 connections",
        "Use a pool of 8 connections instead of a second gateway, because one gateway is easier to watch.",
    );
    const RUNBOOK: (&str, &str) =
        ("Write the runbook for the gateway alarm", "Write the runbook for the gateway alarm.");

    #[test]
    fn a_corrected_sentence_or_item_is_removed_with_its_mark() {
        let decided = "I decided to use a pool of 8 connections instead of a second gateway, because one gateway is easier to watch.";
        for (report, wanted) in [
            (format!("Done. {decided}"), "Done."),
            (
                format!("Done. {decided} Still open: Write the runbook for the gateway alarm; Remove the old webhook."),
                "Done. Still open: Remove the old webhook.",
            ),
            (
                "Still open: Remove the old webhook; Write the runbook for the gateway alarm. Tell me.".to_owned(),
                "Still open: Remove the old webhook. Tell me.",
            ),
            ("Done. Still open: Write the runbook for the gateway alarm.".to_owned(), "Done."),
            (
                "Still open: Remove the old webhook; Write the runbook for the gateway alarm".to_owned(),
                "Still open: Remove the old webhook.",
            ),
        ] {
            assert_eq!(without_statements(&report, &[POOL, RUNBOOK]), wanted);
        }
    }

    #[test]
    fn similar_sentences_stay() {
        for report in [
            "Write the runbook for the database alarm.",
            "The runbook for the gateway alarm is written and lists the restart and both dashboards of Grafana.",
            "The pool has 8 connections now, and the load test of the checkout passes.",
            "Decided: a pool of 4 connections; use the second gateway.",
            "See `a.rs`: the alarm; e.g. the gateway.",
        ] {
            assert_eq!(without_statements(report, &[POOL, RUNBOOK]), report);
        }
    }
}
