//! Quotes reports: each paragraph and each list as a whole, with its heading or introduction, but
//! without what is addressed only to the user.
//!
//! A sentence that cannot be understood without the previous one is quoted with it or not at all.
//! Items are quoted with the heading or sentence that introduces them.

use crate::summarize::{
    from_evidence::{
        entries::{Entries, cut_at_clause, is_generic},
        introductions::{Introduction, name_of_made, with_name},
        items::{NEST, begins_with_pronoun, first_sentence, is_numbered, is_step, item_text},
        quotable::{addresses_user, announces_no_fact, is_statement, leans_back, limits},
        review,
    },
    report::{Form, Passage, Report, Topic, is_phrase, topic_of_heading},
    text::{capitalised, pattern, sentences, without_full_stop},
};

/// Maximum length, in bytes, of a paragraph.
const PARAGRAPH: usize = 420;
/// Maximum length, in bytes, of a list in one entry.
const LIST: usize = 800;
/// Smallest limit, in characters, to which a first sentence is cut.
const MIN_BEGINNING: usize = 120;

/// A paragraph or a list of a report.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Quoted {
    /// The topic that its heading or its label gives it.
    pub(super) topic: Option<Topic>,
    pub(super) listed: bool,
    /// The heading or sentence above a list.
    introduction: Option<Introduction>,
    /// The question or request of the user that it answers.
    question: Option<String>,
    /// Sentences or items.
    parts: Vec<String>,
    /// The number of items that are not in `parts`.
    left_out: usize,
    /// Whether it is one finding of a review.
    pub(super) is_of_review: bool,
}

impl Quoted {
    /// Returns an entry of about `room` bytes: whole sentences or items. A list ends with the
    /// number of omitted items. `None` if only one item of more than two has room.
    pub(super) fn line(&self, room: usize) -> Option<String> {
        self.filled(room, false)
    }

    /// Returns the same entry, but of an item without room its first sentence.
    pub(super) fn line_with_beginnings(&self, room: usize) -> Option<String> {
        self.filled(room, true)
    }

    fn filled(&self, room: usize, shortens: bool) -> Option<String> {
        let (first, rest) = self.parts.split_first()?;
        let is_long = self.listed || self.is_of_review;
        let room = room.min(if is_long { LIST } else { PARAGRAPH });
        let mut line = format!("{}{first}", self.start());
        let mark = if self.listed { "; " } else { " " };
        let mut told = 1;
        for part in rest {
            // Without room for an item, its first sentence says more than its number.
            let short = if self.listed && shortens { first_sentence(part) } else { part };
            let fits = |part: &str| line.len() + mark.len() + part.len() <= room;
            let Some(part) = [part.as_str(), short].into_iter().find(|part| fits(part)) else {
                break;
            };
            line.extend([mark, part]);
            told += 1;
        }
        let left = self.left_out + self.parts.len() - told;
        // One item of many says little.
        if self.listed && told == 1 && self.parts.len() > 2 {
            return None;
        }
        if self.listed && left > 0 {
            line.push_str(&format!("; +{left} more"));
        }
        Some(capitalised(&line))
    }

    /// Returns the text before the first sentence or item.
    fn start(&self) -> String {
        match (&self.question, self.introduction.as_ref().map(Introduction::line)) {
            (Some(question), None) => format!("Asked: {question} Answer: "),
            (Some(question), Some(text)) => format!("Asked: {question} Answer: {text}: "),
            (None, Some(text)) => format!("{text}: "),
            (None, None) => String::new(),
        }
    }

    /// Returns an entry of about `room` bytes. If the whole text is longer, only the first
    /// sentence or item is used, cut at a clause.
    pub(super) fn beginning(&self, room: usize) -> Option<String> {
        if let Some(line) = self.line(room).filter(|line| line.len() <= room) {
            return Some(line);
        }
        let (first, rest) = self.parts.split_first()?;
        let mut short = self.clone();
        let start = self.start().len();
        let cut = cut_at_clause(first, room.saturating_sub(start).max(MIN_BEGINNING));
        short.parts = vec![without_full_stop(&cut).to_owned()];
        short.left_out += rest.len();
        short.line(room)
    }

    /// Sets the question or request that the text answers.
    pub(super) fn answering(mut self, question: &str) -> Quoted {
        self.question = Some(question.to_owned());
        self
    }

    /// Keeps the sentences or items that satisfy `holds`, and drops those that depend on a dropped
    /// one: `This file is read first`.
    pub(super) fn retain(&mut self, holds: impl Fn(&str) -> bool) {
        let (mut broken, listed) = (false, self.listed);
        self.parts.retain(|part| {
            let depends = if listed { begins_with_pronoun(part) } else { leans_back(part) };
            broken = !holds(part) || broken && depends;
            !broken
        });
    }

    /// Drops the sentences or items that satisfy `is_told`, except a sentence on which the next
    /// one depends.
    pub(super) fn without_told(&mut self, is_told: impl Fn(&str) -> bool) {
        let told: Vec<bool> = self.parts.iter().map(|part| is_told(part)).collect();
        let is_needed = |at: usize| {
            !self.listed && told.get(at + 1) == Some(&false) && leans_back(&self.parts[at + 1])
        };
        let kept: Vec<bool> = (0..told.len()).map(|at| !told[at] || is_needed(at)).collect();
        let mut kept = kept.into_iter();
        self.parts.retain(|_| kept.next().unwrap_or(true));
    }

    /// Prepares a list of which `count` items are left after others were dropped: of few, only those
    /// that name code are quoted, and the number in `Three changes` no longer fits.
    pub(super) fn after_losses(&mut self, count: usize) {
        if !self.listed || self.parts.len() == count {
            return;
        }
        if self.parts.len() * 3 <= count {
            self.parts.retain(|part| {
                part.contains('`') && part.split(' ').count() >= 8 && !leans_back(part)
            });
        }
        if let Some(introduction) = &mut self.introduction {
            let number = pattern!(
                r"(^|[^-0-9] )(?i:two|three|four|five|six|seven|eight|nine|ten|[2-9]|1[0-9]) ((?:[a-z-]+ )?[a-z-]+s\b)"
            );
            introduction.text = number.replace(&introduction.text, "$1$2").into_owned();
        }
    }

    /// Marks a heading such as `Problem` as the state before the change that the report
    /// describes.
    pub(super) fn before_the_change(mut self) -> Quoted {
        self.introduction.iter_mut().for_each(Introduction::end);
        self
    }

    /// Replaces each sentence or item with the result of `words`.
    pub(super) fn reworded(mut self, words: impl Fn(&str) -> String) -> Quoted {
        self.parts.iter_mut().for_each(|part| *part = words(part));
        self
    }

    /// Whether at least half of the items are instructions rather than statements.
    pub(super) fn is_steps(&self) -> bool {
        let steps = self.parts.iter().filter(|part| is_step(part)).count();
        self.listed && steps * 2 >= self.parts.len()
    }

    /// Returns the number of the sentences or items.
    pub(super) fn count(&self) -> usize {
        self.parts.len()
    }

    /// Whether the sentence above the list tells the user what to do.
    pub(super) fn is_for_the_user(&self) -> bool {
        self.is_introduced_by(addresses_user)
    }

    /// Whether `is` holds for the heading or sentence above the list.
    pub(super) fn is_introduced_by(&self, is: impl Fn(&str) -> bool) -> bool {
        self.introduction.as_ref().is_some_and(|one| is(&one.text))
    }

    /// Returns the share of the sentences or items for which `is` holds.
    pub(super) fn share(&self, is: impl Fn(&str) -> bool) -> f64 {
        let count = self.parts.iter().filter(|part| is(part)).count();
        count as f64 / self.parts.len().max(1) as f64
    }

    /// Returns the first sentence or item.
    pub(super) fn first(&self) -> Option<&str> {
        self.parts.first().map(String::as_str)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }
}

/// Returns the paragraphs and lists that a report states, in order.
pub(super) fn quoted(entries: &Entries<'_>, report: &Report) -> Vec<Quoted> {
    let mut reader = QuoteCollector {
        entries,
        is_review: review::is_review(entries, report),
        found: Vec::new(),
        introduction: None,
        untold: None,
        broken: true,
        made: None,
    };
    for passage in &report.passages {
        reader.take(passage);
    }
    reader.found.retain(|one| !one.is_empty());
    reader.found
}

struct QuoteCollector<'e> {
    entries: &'e Entries<'e>,
    /// Whether items that name a place in the code are findings of a review.
    is_review: bool,
    found: Vec<Quoted>,
    /// The sentence directly before that ends in a colon, and the headings above it.
    introduction: Option<(String, Vec<String>)>,
    /// The headings above a list whose introduction announces plans, guesses or instructions: the
    /// list is not quoted.
    untold: Option<Vec<String>>,
    /// Whether the text directly before is not quoted, so that nothing may depend on it.
    broken: bool,
    /// The only name in the sentence directly before, which says that it was added.
    made: Option<String>,
}

impl QuoteCollector<'_> {
    fn take(&mut self, passage: &Passage) {
        let topic = passage.headings.iter().rev().find_map(|heading| topic_of_heading(heading));
        // Decisions, open ends and known failures have sections of their own; proposals and
        // instructions state no fact.
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
            // `**1. Name:** text` is an item, too.
            Form::Paragraph if is_numbered(passage) => self.item(passage, topic),
            Form::Paragraph => self.paragraph(passage, topic),
            Form::Item { ticked: Some(false), .. } => {}
            Form::Item { depth, .. } if depth > 1 => self.nested(passage),
            Form::Item { .. } | Form::Row => self.item(passage, topic),
        }
    }

    fn paragraph(&mut self, passage: &Passage, topic: Option<Topic>) {
        self.introduction = None;
        self.untold = None;
        let made = self.made.take();
        // Without `Before` or `Problem` the text would be told as the present state.
        let label = passage.label.as_deref();
        let label = label.filter(|label| !is_generic(label) || limits(label));
        let of_label = passage.label.as_deref().and_then(topic_of_heading);
        if matches!(of_label, Some(Topic::Proposal | Topic::Instruction | Topic::Open)) {
            self.broken = true;
            return;
        }
        let text = self.entries.tidy_line(&passage.text);
        let text = match label {
            // A label alone is the heading of what follows.
            Some(label) if text.is_empty() => format!("{label}:"),
            Some(label) => format!("{label}: {text}"),
            None => with_name(text, made.as_deref()),
        };
        self.made = sentences(&text).last().and_then(|last| name_of_made(last));
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
            } else if (is_statement(sentence) || is_phrase(Topic::Resolved, sentence))
                && !(self.broken && leans_back(sentence))
            {
                parts.push(sentence.to_owned());
                self.broken = false;
            } else {
                self.broken = true;
            }
        }
        let topic = of_label.or(topic);
        self.found.push(Quoted { topic, parts, ..Quoted::default() });
    }

    fn item(&mut self, passage: &Passage, topic: Option<Topic>) {
        self.broken = true;
        if self.is_review && review::names_place(self.entries, passage) {
            let parts = review::parts(self.entries, passage, NEST);
            self.found.push(Quoted { topic, parts, is_of_review: true, ..Quoted::default() });
            return;
        }
        let introduction = self.introduced(passage);
        let continues = self.found.last().is_some_and(|last| {
            last.listed && last.introduction == introduction && last.topic == topic
        });
        if !continues {
            self.found.push(Quoted { topic, listed: true, introduction, ..Quoted::default() });
        }
        if let Some(list) = self.found.last_mut() {
            match item_text(self.entries, passage) {
                Some(text) => list.parts.push(text),
                None => list.left_out += 1,
            }
        }
    }

    /// Returns the introduction of the list to which a passage belongs.
    fn introduced(&self, passage: &Passage) -> Option<Introduction> {
        let sentence = self.introduction.as_ref();
        let sentence = sentence.filter(|(_, headings)| *headings == passage.headings);
        let sentence = sentence.map(|(text, _)| text.as_str());
        Introduction::of(self.entries, sentence, &passage.headings)
    }

    /// Adds a nested item to the item above it, if both fit into [`NEST`] bytes.
    fn nested(&mut self, passage: &Passage) {
        let Some(text) = item_text(self.entries, passage) else { return };
        if self.found.last().is_some_and(|last| last.is_of_review) {
            return;
        }
        let Some(above) = self.found.last_mut().and_then(|list| list.parts.last_mut()) else {
            return;
        };
        if above.len() + text.len() <= NEST {
            let is_first = passage.parent.as_deref().is_some_and(|parent| {
                above.trim_end_matches([':', '.']).ends_with(parent.trim_end_matches([':', '.']))
            });
            let mark = if is_first || above.ends_with(':') { ": " } else { ", " };
            // `Added a list with:` ends before the nested items.
            let open = pattern!(r"(?i),? (?:with|including|for|by|in|such as|e\.g\.):?$");
            let above_items = without_full_stop(above);
            let head =
                open.find(above_items).map_or(above_items, |end| &above_items[..end.start()]);
            *above = format!("{head}{mark}{text}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::evidence::{Evidence, TurnReport},
        summarize::report::Reports,
    };

    fn list(introduction: &str, parts: &[&str]) -> Quoted {
        Quoted {
            listed: true,
            introduction: Some(Introduction {
                text: introduction.to_owned(),
                ..Introduction::default()
            }),
            parts: parts.iter().map(|part| (*part).to_owned()).collect(),
            ..Quoted::default()
        }
    }

    #[test]
    fn a_list_is_told_with_the_number_of_items_that_have_no_room() {
        let fixed = list("Fixed", &["the reader", "the writer", "the index"]);
        assert_eq!(fixed.line(400).unwrap(), "Fixed: the reader; the writer; the index");
        assert_eq!(fixed.line(35).unwrap(), "Fixed: the reader; the writer; +1 more");
        assert_eq!(list("Fixed", &[]).line(400), None);
    }

    #[test]
    fn a_list_without_most_of_its_items_is_not_told() {
        let left = |introduction: &str, kept: &[&str], count| {
            let mut list = list(introduction, kept);
            list.after_losses(count);
            list.line(400)
        };
        assert_eq!(
            left("New features", &["Same marks `a` as in the list of all the rows"], 5),
            None
        );
        let two = &["`a` reads rows", "`b` writes rows"];
        let fixes = "Fixes: `a` reads rows; `b` writes rows";
        assert_eq!(left("Three fixes", two, 3).unwrap(), fixes);
        let all = "Fixes in `c`: `a` reads rows; `b` writes rows";
        assert_eq!(left("Fixes in `c`", two, 3).unwrap(), all);
    }

    #[test]
    fn an_item_without_room_is_told_by_its_first_sentence() {
        let items =
            list("It is", &["one row at a time", "The text stays in the list. It is long."]);
        let told = "It is: one row at a time; The text stays in the list";
        assert_eq!(items.line_with_beginnings(60).unwrap(), told);
        assert_eq!(items.line(60).unwrap(), "It is: one row at a time; +1 more");
    }

    #[test]
    fn steps_are_orders_and_not_subjects_of_commits() {
        assert!(list("Next", &["First: run the tests", "Then: fix the reader"]).is_steps());
        let commits = ["`c4aa58f`: fix: sort the rows", "`aa5a3e7`: test(rows): cover the sorting"];
        assert!(!list("Two commits", &commits).is_steps());
    }

    fn told(text: &str) -> Vec<String> {
        let report = TurnReport { text: text.to_owned(), ..TurnReport::default() };
        let (evidence, reports) = (Evidence::default(), Reports::default());
        let entries = Entries { evidence: &evidence, reports: &reports, project: None };
        quoted(&entries, &Report::of(&report)).iter().filter_map(|one| one.line(400)).collect()
    }

    #[test]
    fn an_item_keeps_what_stands_behind_a_sentence_that_is_not_told() {
        assert_eq!(
            told(
                "Two parts stay:\n\n- Want it gone? The reader closes the file.\n- Is it fast? It is.\n"
            ),
            ["Two parts stay: The reader closes the file; +1 more"]
        );
        assert_eq!(
            told("**1. Speed:** The index is read once.\n\n**2. Size:** A row has ten bytes.\n"),
            ["Speed: The index is read once; Size: A row has ten bytes"]
        );
    }

    #[test]
    fn an_item_that_ends_with_a_preposition_continues_with_its_nested_items() {
        assert_eq!(
            told(
                "Changes:\n\n- Added a list of archives with:\n  - Nested archives\n  - Times\n- Added a test of it all\n"
            ),
            ["Added a list of archives: Nested archives, Times; Added a test of it all"]
        );
    }

    #[test]
    fn a_list_of_questions_is_not_told() {
        for question in ["Two things to decide", "Do these tools exist already as"] {
            assert!(announces_no_fact(question), "{question}");
        }
        assert!(
            !announces_no_fact("Does not need a lock") && !announces_no_fact("Done in the list")
        );
    }

    #[test]
    fn a_pronoun_is_told_as_its_noun_or_not_at_all() {
        assert_eq!(
            told("Added `max_size` for uploads.\n\nIt limits each file to ten megabytes.\n"),
            ["Added `max_size` for uploads.", "`max_size` limits each file to ten megabytes."]
        );
        let mut items = list("Default", &["The hook calls `a` directly", "This file is shared"]);
        items.retain(|part| !part.contains("`a`"));
        assert!(items.is_empty());
        let mut items = list("Default", &["The hook calls `a` directly", "This file is shared"]);
        items.retain(|_| true);
        assert_eq!(items.parts.len(), 2);
    }

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
