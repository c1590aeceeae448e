//! Finds the text that introduces a list in a report: the sentence or the headings before the list.
//! Without this text, the items may seem to say the opposite, for example those below
//! `The problem`.

use crate::{
    report::{Topic, is_phrase},
    summarize::from_evidence::{
        entries::{Entries, without_number},
        reported::quotable::{announces_obsolete_state, is_specific_heading, without_pointer},
    },
    text::{pattern, sentences},
};

/// Maximum length, in characters, of a heading or an introduction. A longer one is left out.
const LONGEST: usize = 150;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Introduction {
    pub(crate) text: String,
    /// What a text such as `The problem` is about: the heading above it, or the case in which the
    /// items below it hold.
    pub(crate) subject: Option<String>,
    /// Whether the report describes the change that ended the state below the introduction.
    pub(crate) is_over: bool,
}

impl Introduction {
    /// Returns the introduction of a list: the `sentence` before it, or else the nearest specific
    /// heading in `headings`. `None` if no heading is specific, or if that heading is too long.
    pub(crate) fn of(
        entries: &Entries<'_>,
        sentence: Option<&str>,
        headings: &[String],
    ) -> Option<Introduction> {
        let is_telling = |heading: &&String| is_specific_heading(heading) && !points_back(heading);
        let at = || headings.iter().rposition(|heading| is_telling(&heading));
        // If the sentence is too long, the heading is used instead.
        let sentence = sentence.filter(|text| plain(entries, text).is_some());
        let (text, outer) = match sentence {
            Some(sentence) => (sentence, headings),
            None => at().map(|at| (headings[at].as_str(), &headings[..at]))?,
        };
        let text = plain(entries, text)?;
        let mut subject = None;
        if announces_obsolete_state(&text) {
            let case = headings.last().filter(|last| sentence.is_none() && is_case(last));
            let about = || {
                outer
                    .iter()
                    .rfind(|heading| is_telling(heading) && !announces_obsolete_state(heading))
            };
            subject = case.or_else(about).and_then(|heading| plain(entries, heading));
        }
        Some(Introduction { text, subject, is_over: false })
    }

    /// Marks an introduction such as `Problem` as the state before a change.
    pub(crate) fn end(&mut self) {
        self.is_over = announces_obsolete_state(&self.text);
    }

    /// Returns the introduction as the beginning of an entry, without a colon.
    pub(crate) fn line(&self) -> String {
        let over = if self.is_over { " before the change" } else { "" };
        let subject = self.subject.as_ref().map_or(String::new(), |text| format!(" ({text})"));
        format!("{}{over}{subject}", self.text)
    }
}

/// Returns the last sentence of an introduction without its number, its leading symbols, `Here is`
/// and `in this commit`; `None` if it is too long.
fn plain(entries: &Entries<'_>, text: &str) -> Option<String> {
    let text = entries.tidy_line(text);
    // The parser treats `Done. Two notes added:` as one heading.
    let text = sentences(&text).last().copied().unwrap_or_default();
    let text = without_pointer(without_number(text));
    let here = pattern!(
        r"(?i) (?:in|of|by) this (?:commit|change|pr|pull request|branch|session|update)$"
    );
    let text = here.find(text).map_or(text, |found| &text[..found.start()]);
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric() && !"`#/([".contains(c));
    (text.chars().count() <= LONGEST).then(|| text.to_owned())
}

/// Whether a heading refers to another heading, such as `What this fixes`.
fn points_back(heading: &str) -> bool {
    !heading.contains('`')
        && pattern!(r"(?i)^(?:what|why|how) (?:this|that|it|these|those)\b(?: \w+){0,3}$|^(?:both|all|these|those|they|all of (?:them|these|those))(?: \w+)?$")
            .is_match(heading)
}

/// Whether a heading describes the case in which the items below it hold, such as
/// `When two sessions run at once`.
fn is_case(heading: &str) -> bool {
    heading.split_whitespace().count() >= 4
        && !is_phrase(Topic::Proposal, heading)
        && pattern!(r"(?i)^(?:when(?:ever)?|for|with|without|during|on|in)\b").is_match(heading)
}

/// Returns the name of the added thing in a sentence such as ``Added `max_size` for uploads``.
pub(crate) fn name_of_added_thing(sentence: &str) -> Option<String> {
    let made = pattern!(
        r"^(?i:i |we |i've |we've )?(?i:added|implemented|created|introduced|built) (?:an? |the |support for )?(?:new )?`([^`]+)`[^`]*$"
    );
    made.captures(sentence).map(|found| found[1].to_owned())
}

/// Replaces the pronoun at the start of a paragraph with `name` from the paragraph before it.
pub(crate) fn with_name(text: String, name: Option<&str>) -> String {
    match (text.strip_prefix("It "), name) {
        (Some(rest), Some(name)) => format!("`{name}` {rest}"),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{model::evidence::Evidence, report::Reports};

    fn introduced(headings: &[&str]) -> Option<String> {
        let (evidence, reports) = (Evidence::default(), Reports::default());
        let entries = Entries { evidence: &evidence, reports: &reports, project: None };
        let headings: Vec<String> = headings.iter().map(|one| (*one).to_owned()).collect();
        Introduction::of(&entries, None, &headings).map(|one| one.line())
    }

    #[test]
    fn a_heading_with_little_content_gets_the_one_above_it() {
        for (headings, wanted) in [
            (&["Fixed: `.env` is read", "The Problem"][..], "The Problem (Fixed: `.env` is read)"),
            (&["Fixed: hooks are recognised", "What This Fixes"], "Fixed: hooks are recognised"),
            (
                &["The Problem", "When you have two sessions"],
                "The Problem (When you have two sessions)",
            ),
            (&["Here's where we should call `log`"], "where we should call `log`"),
            (&["Lost rows in the index", "Details"], "Lost rows in the index"),
        ] {
            assert_eq!(introduced(headings).as_deref(), Some(wanted), "{headings:?}");
        }
        let (evidence, reports) = (Evidence::default(), Reports::default());
        let entries = Entries { evidence: &evidence, reports: &reports, project: None };
        let (long, headings) = ("I read each path of it ".repeat(8), ["Lost rows".to_owned()]);
        let introduction = Introduction::of(&entries, Some(&long), &headings).map(|one| one.line());
        assert_eq!(introduction.as_deref(), Some("Lost rows"));
        assert_eq!(introduced(&["Here's what I did"]), None);
        assert_eq!(introduced(&["Both addressed"]), None);
        let changes = introduced(&["Layout changes in this commit"]);
        assert_eq!(changes.as_deref(), Some("Layout changes"));
    }
}
