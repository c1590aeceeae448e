//! Reports quoted: each paragraph and each list whole, with its heading or the sentence that
//! introduces it, without what is said only to the user.
//!
//! A sentence that leans on the one before it is told with it or not at all, and items are told
//! with what they are items of. So nothing here needs a list of what a statement looks like.

use crate::summarize::{
    from_evidence::{
        entries::{Entries, cut_at_clause, is_generic, leans, without_number},
        wording::begins_as_order,
    },
    report::{
        Form, Passage, Report, Topic, announces_contents, is_phrase, topic_of_heading,
        topic_of_sentence,
    },
    text::{capitalised, one_line, pattern, sentences, without_full_stop},
};

/// Characters of a paragraph, of a list in one entry, and of an item.
const PARAGRAPH: usize = 420;
const LIST: usize = 440;
const ITEM: usize = 300;
/// Characters of a heading or an introduction that is repeated where a list is told in parts.
const INTRODUCTION: usize = 150;
/// Letters of a statement.
const LETTERS: usize = 14;

/// A paragraph or a list of a report.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Quoted {
    /// The topic that the heading gives it.
    pub(super) topic: Option<Topic>,
    pub(super) listed: bool,
    /// The heading or sentence above a list.
    introduction: Option<String>,
    /// Sentences or items.
    parts: Vec<String>,
}

impl Quoted {
    /// The entries of a summary: one, or several for a long list.
    pub(super) fn lines(&self) -> Vec<String> {
        if !self.listed {
            return vec![capitalised(&cut_at_clause(&self.parts.join(" "), PARAGRAPH))];
        }
        let start = self.introduction.as_deref().map_or(String::new(), |text| format!("{text}: "));
        let mut lines: Vec<String> = Vec::new();
        for part in &self.parts {
            match lines.last_mut() {
                Some(line) if line.len() + part.len() <= LIST => {
                    line.extend(["; ", part]);
                }
                _ => lines.push(format!("{start}{part}")),
            }
        }
        lines.iter().map(|line| capitalised(line)).collect()
    }

    /// Keeps the sentences or items for which `holds`.
    pub(super) fn retain(&mut self, holds: impl Fn(&str) -> bool) {
        self.parts.retain(|part| holds(part));
    }

    /// Whether most items are orders: steps for somebody, and nothing that is so.
    pub(super) fn is_steps(&self) -> bool {
        let is_step = |part: &&String| begins_as_order(part) || is_phrase(Topic::Instruction, part);
        self.listed && self.parts.iter().filter(is_step).count() * 2 >= self.parts.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }
}

/// What a report states, in order.
pub(super) fn quoted(entries: &Entries<'_>, report: &Report) -> Vec<Quoted> {
    let mut reader =
        Quoting { entries, found: Vec::new(), introduction: None, untold: None, broken: true };
    for passage in &report.passages {
        reader.take(passage);
    }
    reader.found.retain(|one| !one.is_empty());
    reader.found
}

struct Quoting<'e> {
    entries: &'e Entries<'e>,
    found: Vec<Quoted>,
    /// The sentence that ended in a colon right before, and the headings above it.
    introduction: Option<(String, Vec<String>)>,
    /// The headings above a list whose introduction says that nothing in it is so.
    untold: Option<Vec<String>>,
    /// Whether what stands right before is not told: nothing may lean on it.
    broken: bool,
}

impl Quoting<'_> {
    fn take(&mut self, passage: &Passage) {
        let topic = passage.headings.iter().rev().find_map(|heading| topic_of_heading(heading));
        // Decisions, open ends and known failures have sections of their own.
        if matches!(
            topic,
            Some(
                Topic::Proposal
                    | Topic::Instruction
                    | Topic::Open
                    | Topic::KnownFailure
                    | Topic::Decision
            )
        ) {
            self.broken = true;
            self.introduction = None;
            return;
        }
        let is_untold = passage.form != Form::Paragraph
            && (self.untold.as_ref() == Some(&passage.headings)
                || passage.headings.last().is_some_and(|heading| announces_no_fact(heading)));
        if is_untold {
            return;
        }
        match passage.form {
            Form::Paragraph => self.paragraph(passage, topic),
            Form::Item { ticked: Some(false), .. } => {}
            Form::Item { depth, .. } if depth > 1 => self.nested(passage),
            Form::Item { .. } | Form::Row => self.item(passage, topic),
        }
    }

    fn paragraph(&mut self, passage: &Passage, topic: Option<Topic>) {
        self.introduction = None;
        self.untold = None;
        let label = passage.label.as_deref().filter(|label| !is_generic(label));
        let of_label = passage.label.as_deref().and_then(topic_of_heading);
        if matches!(of_label, Some(Topic::Proposal | Topic::Instruction | Topic::Open)) {
            self.broken = true;
            return;
        }
        let text = self.entries.tidy_line(&passage.text);
        let text = match label {
            Some(label) if text.is_empty() => label.to_owned(),
            Some(label) => format!("{label}: {text}"),
            None => text,
        };
        let mut parts: Vec<String> = Vec::new();
        for sentence in sentences(&text) {
            if sentence.ends_with(':') {
                let is_told =
                    !(is_phrase(Topic::Talk, sentence) || self.broken && leans_back(sentence));
                let text = sentence.trim_end_matches(':').to_owned();
                if announces_no_fact(&text) || is_phrase(Topic::Instruction, &text) {
                    self.untold = Some(passage.headings.clone());
                }
                self.introduction = is_told.then(|| (text, passage.headings.clone()));
                self.broken = true;
            } else if is_statement(sentence) && !(self.broken && leans_back(sentence)) {
                parts.push(sentence.to_owned());
                self.broken = false;
            } else {
                self.broken = true;
            }
        }
        let topic = of_label.or(topic);
        self.found.push(Quoted { topic, listed: false, introduction: None, parts });
    }

    fn item(&mut self, passage: &Passage, topic: Option<Topic>) {
        self.broken = true;
        let introduction = self.introduced(passage);
        let continues = self.found.last().is_some_and(|last| {
            last.listed && last.introduction == introduction && last.topic == topic
        });
        if !continues {
            let parts = Vec::new();
            self.found.push(Quoted { topic, listed: true, introduction, parts });
        }
        if let Some(text) = item_text(self.entries, passage)
            && let Some(list) = self.found.last_mut()
        {
            list.parts.push(text);
        }
    }

    /// The sentence before the list, or the heading above it, where it says something.
    fn introduced(&self, passage: &Passage) -> Option<String> {
        let sentence = self.introduction.as_ref();
        let sentence = sentence.filter(|(_, headings)| *headings == passage.headings);
        let heading = || passage.headings.last().filter(|heading| names_something(heading));
        let text = sentence.map(|(text, _)| text).or_else(heading)?;
        let text = self.entries.tidy_line(text);
        // `Done. Two notes added:` was read as one heading.
        let text = sentences(&text).last().copied().unwrap_or_default();
        let text = without_number(text);
        let plain = text.trim_start_matches(|c: char| !c.is_alphanumeric() && !"`#/([".contains(c));
        (plain.chars().count() <= INTRODUCTION).then(|| plain.to_owned())
    }

    /// Adds a nested item to the item above it.
    fn nested(&mut self, passage: &Passage) {
        let Some(text) = item_text(self.entries, passage) else { return };
        let Some(above) = self.found.last_mut().and_then(|list| list.parts.last_mut()) else {
            return;
        };
        if above.len() + text.len() <= LIST {
            let is_first = passage.parent.as_deref().is_some_and(|parent| {
                above.trim_end_matches([':', '.']).ends_with(parent.trim_end_matches([':', '.']))
            });
            let mark = if is_first || above.ends_with(':') { ": " } else { ", " };
            *above = format!("{}{mark}{text}", without_full_stop(above));
        }
    }
}

/// Whether a sentence is about what the one before it names.
pub(super) fn leans_back(sentence: &str) -> bool {
    leans(sentence)
        // What was put back stands in the sentence before.
        || pattern!(r"(?i)^(?:reverted|restored|switched|changed|moved|set|put) (?:it |them )?(?:back )?to\b").is_match(sentence)
        || pattern!(r"(?i)^(?:not|already|still|worth|just|only|same|likewise|right now|until then|because|which|so|with (?:no|this|that)|without (?:it|this|that)|similar(?:ly)?|again|even|no need|at (?:this|that) point|as a result|therefore|meanwhile)\b")
            .is_match(sentence)
}

/// Whether a heading or an introduction announces a plan or a guess.
fn announces_no_fact(text: &str) -> bool {
    let text = sentences(text).last().copied().unwrap_or_default();
    is_phrase(Topic::Proposal, text)
        || is_phrase(Topic::Guess, text)
        || announces_contents(text)
        || pattern!(r"(?i), (?:it|this|that|they|you|we|i)$").is_match(text)
        || matches!(topic_of_heading(text), Some(Topic::Proposal | Topic::Instruction))
}

/// Whether a heading says of what the items below it are.
fn names_something(heading: &str) -> bool {
    let heading = sentences(heading).last().copied().unwrap_or_default();
    let plain = heading.trim_matches(|c: char| !c.is_alphanumeric());
    // `All findings fixed` says more than `Done`.
    let is_telling = match topic_of_heading(heading) {
        None => true,
        Some(Topic::Done | Topic::Fix) => plain.split_whitespace().count() >= 3,
        Some(_) => false,
    };
    !is_generic(plain) && !is_phrase(Topic::Talk, heading) && is_telling
}

/// An item with its label, in whole sentences.
fn item_text(entries: &Entries<'_>, passage: &Passage) -> Option<String> {
    let text = entries.tidy_line(&passage.text);
    let all = sentences(&text);
    let mut told: Vec<&str> = all.into_iter().take_while(|one| is_part(one)).collect();
    let label = passage.label.as_deref().map(one_line);
    let label = label.map(|label| entries.tidy_line(&label));
    while told.len() > 1 && told.iter().map(|one| one.len()).sum::<usize>() > ITEM {
        told.pop();
    }
    let text = cut_at_clause(&told.join(" "), ITEM);
    let text = without_full_stop(&text);
    let line = match label {
        Some(label) if label.ends_with('?') => return None,
        Some(label) if text.is_empty() => label,
        Some(label) => format!("{label}: {text}"),
        None => text.to_owned(),
    };
    let says = line.chars().filter(|c| c.is_alphanumeric()).count() >= 4;
    (says && is_balanced(&line)).then_some(line)
}

/// Whether a sentence is part of what an item states.
fn is_part(sentence: &str) -> bool {
    !sentence.ends_with('?')
        && !is_phrase(Topic::Proposal, sentence)
        && !is_phrase(Topic::PublishOffer, sentence)
        && !is_phrase(Topic::LeftToUser, sentence)
        // The numbers of a list are not told.
        && !pattern!(r"(?i)\b(?:same|identical|as|like)\b[\w ]* #\d{1,2}\b").is_match(sentence)
}

/// Whether a sentence of a paragraph orders the next step.
fn is_next_step(sentence: &str) -> bool {
    pattern!(r"(?i)^(?:clean up|remove|delete|run|create|check|verify|make|write|install|restart|stop|start|kill|unmount|wait for|try) (?:the|an?|all|any|it|this|that|these|those|them|my|our|your)\b")
        .is_match(sentence)
}

/// Whether a sentence of a paragraph states something about the work.
fn is_statement(sentence: &str) -> bool {
    let letters = sentence.chars().filter(|c| c.is_alphabetic()).count();
    letters >= LETTERS
        && !is_next_step(sentence)
        && is_part(sentence)
        && !is_phrase(Topic::Talk, sentence)
        && !is_phrase(Topic::Hope, sentence)
        && !is_phrase(Topic::Instruction, sentence)
        && !matches!(topic_of_sentence(sentence), Some(Topic::Open))
        && is_balanced(sentence)
}

/// Whether brackets and quotes have their partners: a text without one is cut.
pub(super) fn is_balanced(text: &str) -> bool {
    let count = |mark: char| text.matches(mark).count();
    count('`').is_multiple_of(2) && count('(') == count(')') && count('"').is_multiple_of(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_its_surroundings_explain_is_no_statement() {
        for sentence in
            ["Clean up the test files and unmount.", "Same change as #2 for directories."]
        {
            assert!(!is_statement(sentence), "{sentence}");
        }
        assert!(is_statement("Build passes without new warnings."));
        assert!(is_statement("The crash is the same as in acme/app#212."));
        assert!(leans_back("Reverted back to `debug`."));
        assert!(!leans_back("Reverted the log level to `debug`."));
    }
}
