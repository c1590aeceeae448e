//! A paragraph or list of a report as the summary quotes it: as a whole, with its heading or
//! introduction, but without what is addressed only to the user.

use crate::{
    report::Topic,
    summarize::from_evidence::{
        entries::cut_at_clause,
        reported::{
            introductions::Introduction,
            items::{begins_with_pronoun, first_that_fit, is_step, shortened_to_fit},
            quotable::depends_on_previous,
        },
    },
    text::{capitalised, pattern, without_full_stop},
};

/// Maximum length, in bytes, of a paragraph.
const PARAGRAPH: usize = 420;
/// Maximum length, in bytes, of a list in one entry.
const LIST: usize = 800;
/// Maximum length, in bytes, of an answer to which the next paragraph is added.
const SHORT_ANSWER: usize = 120;
/// Number of bytes at the start of an answer that are searched for its verdict.
const VERDICT: usize = 40;
/// Maximum length, in bytes, of an item that is only a name.
const NAME: usize = 50;
/// Minimum number of words of an item that can be understood without a heading or a name in code.
const WORDS: usize = 5;
/// Smallest limit, in characters, to which a first sentence is cut.
const MIN_BEGINNING: usize = 120;

/// A paragraph or a list of a report.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct QuotedPassage {
    /// The topic according to the heading or the label.
    pub(crate) topic: Option<Topic>,
    pub(crate) listed: bool,
    /// The heading or sentence above a list.
    pub(crate) introduction: Option<Introduction>,
    /// The question or request of the user that the text answers.
    pub(crate) question: Option<String>,
    /// The verdict with which the report begins, such as `No`, if the start of this text does not
    /// contain it.
    pub(crate) verdict: Option<String>,
    /// Sentences or items.
    pub(crate) parts: Vec<String>,
    /// The number of items that are not in `parts`.
    pub(crate) left_out: usize,
    /// Whether the label or the first sentence announces the conclusion of the report.
    pub(crate) concludes: bool,
    /// Whether this is one finding of a review.
    pub(crate) is_of_review: bool,
    /// Whether the heading or the label is `Answer`.
    pub(crate) is_answer: bool,
}

impl QuotedPassage {
    /// Returns an entry of about `budget` bytes: whole sentences, or items that are shortened if
    /// they do not fit. A list ends with the number of omitted items. `None` if there is no text,
    /// or if only one item of several fits; one of two items is enough after an introduction.
    pub(crate) fn line(&self, budget: usize) -> Option<String> {
        let (first, rest) = self.parts.split_first()?;
        let start = self.start();
        if self.listed {
            let budget = budget.min(LIST).saturating_sub(start.len());
            let short = shortened_to_fit(&self.parts, budget).map(|items| (items, 0));
            let (items, left) = short.unwrap_or_else(|| first_that_fit(&self.parts, budget));
            return self.list(&items, left);
        }
        let budget = budget.min(if self.is_of_review { LIST } else { PARAGRAPH });
        let mut line = format!("{start}{first}");
        for part in rest {
            if line.len() + 1 + part.len() > budget {
                break;
            }
            line.extend([" ", part]);
        }
        Some(capitalised(&line))
    }

    /// Returns a list as an entry of about `budget` bytes with its first items. If at most a third
    /// of the items does not fit, returns all items instead if they can be shortened to [`LIST`]
    /// bytes.
    pub(crate) fn line_of_first_items(&self, budget: usize) -> Option<String> {
        let budget = budget.min(LIST).saturating_sub(self.start().len());
        let (items, left) = first_that_fit(&self.parts, budget);
        let rest = (left * 3 <= self.parts.len()).then(|| budget.max(LIST));
        match rest.and_then(|budget| shortened_to_fit(&self.parts, budget)) {
            Some(all) => self.list(&all, 0),
            None => self.list(&items, left),
        }
    }

    /// Returns an entry of the given items and the number of the omitted ones. `None` for one item
    /// of several, because it says little; one of two items is enough after an introduction.
    fn list(&self, items: &[String], left: usize) -> Option<String> {
        let left = left + self.left_out;
        let more = if left > 0 { format!("; +{left} more") } else { String::new() };
        let items: Vec<&str> = items.iter().map(|item| item.trim_end_matches([',', ';'])).collect();
        let line = format!("{}{}{more}", self.start(), items.join("; "));
        let is_introduced = self.parts.len() <= 2 && self.introduction.is_some();
        (items.len() > 1 || self.parts.len() == 1 || is_introduced).then(|| capitalised(&line))
    }

    /// Returns the text before the first sentence or item.
    fn start(&self) -> String {
        let introduction = self.introduction.as_ref().map(Introduction::line);
        let introduction = introduction.map_or(String::new(), |text| format!("{text}: "));
        let verdict = self.verdict.as_ref().map_or(String::new(), |verdict| format!("{verdict}. "));
        match &self.question {
            Some(question) => format!("Asked: {question} Answer: {verdict}{introduction}"),
            None => introduction,
        }
    }

    /// Returns an entry of about `budget` bytes. If [`QuotedPassage::line`] returns no entry that
    /// fits, only the first sentence or item is used, cut at a clause.
    pub(crate) fn beginning(&self, budget: usize) -> Option<String> {
        if let Some(line) = self.line(budget).filter(|line| line.len() <= budget) {
            return Some(line);
        }
        let (first, rest) = self.parts.split_first()?;
        let mut short = self.clone();
        let start = self.start().len();
        let cut = cut_at_clause(first, budget.saturating_sub(start).max(MIN_BEGINNING));
        short.parts = vec![without_full_stop(&cut).to_owned()];
        short.left_out += rest.len();
        short.line(budget)
    }

    /// Whether this is a list of names of code or files.
    pub(crate) fn lists_names(&self) -> bool {
        let is_name = |part: &String| {
            part.len() <= NAME && part.split(' ').count() <= 3 && part.contains(['`', '/', '_'])
        };
        self.listed && self.parts.len() >= 2 && self.parts.iter().all(is_name)
    }

    /// Whether this is a list without a heading, and most of its items are too short to be
    /// understood.
    pub(crate) fn lists_fragments(&self) -> bool {
        let is_short =
            |part: &str| part.is_ascii() && !part.contains('`') && part.split(' ').count() < WORDS;
        self.listed && self.introduction.is_none() && self.share(is_short) > 0.5
    }

    /// Sets the question or request that the text answers.
    pub(crate) fn answering(mut self, question: &str) -> QuotedPassage {
        self.question = Some(question.to_owned());
        self
    }

    /// Keeps the sentences or items that satisfy `holds`, and drops sentences or items that depend
    /// on a dropped one, for example `This file is read first`.
    pub(crate) fn retain(&mut self, holds: impl Fn(&str) -> bool) {
        let (mut broken, listed) = (false, self.listed);
        self.parts.retain(|part| {
            let depends =
                if listed { begins_with_pronoun(part) } else { depends_on_previous(part) };
            broken = !holds(part) || broken && depends;
            !broken
        });
    }

    /// Drops the sentences or items that satisfy `is_repeated`, except a sentence on which the next
    /// one depends.
    pub(crate) fn remove_repeated(&mut self, is_repeated: impl Fn(&str) -> bool) {
        let repeated: Vec<bool> = self.parts.iter().map(|part| is_repeated(part)).collect();
        let is_needed = |at: usize| {
            !self.listed
                && repeated.get(at + 1) == Some(&false)
                && depends_on_previous(&self.parts[at + 1])
        };
        let kept: Vec<bool> =
            (0..repeated.len()).map(|at| !repeated[at] || is_needed(at)).collect();
        let mut kept = kept.into_iter();
        self.parts.retain(|_| kept.next().unwrap_or(true));
    }

    /// Prepares a list that had `count` items before some were dropped. If at most a third of them
    /// is left, keeps only those that contain code, have at least eight words and do not refer to
    /// other items. Removes the number in `Three changes`, because it no longer fits.
    pub(crate) fn adjust_after_removal(&mut self, count: usize) {
        if !self.listed || self.parts.len() == count {
            return;
        }
        if self.parts.len() * 3 <= count {
            self.parts.retain(|part| {
                part.contains('`') && part.split(' ').count() >= 8 && !depends_on_previous(part)
            });
        }
        if let Some(introduction) = &mut self.introduction {
            let number = pattern!(
                r"(^|[^-0-9] )(?i:two|three|four|five|six|seven|eight|nine|ten|[2-9]|1[0-9]) ((?:[a-z-]+ )?[a-z-]+s\b)"
            );
            let text = number.replace(&introduction.text, "$1$2").into_owned();
            // `Two issues` says nothing without its number.
            let is_bare = text != introduction.text && !text.contains([' ', '`']);
            introduction.text = text;
            if is_bare {
                self.introduction = None;
            }
        }
    }

    /// Marks a heading such as `Problem` as the state before the change that the report
    /// describes.
    pub(crate) fn before_the_change(mut self) -> QuotedPassage {
        self.introduction.iter_mut().for_each(Introduction::end);
        self
    }

    /// Replaces each sentence or item with the result of `words`.
    pub(crate) fn reworded(mut self, words: impl Fn(&str) -> String) -> QuotedPassage {
        self.parts.iter_mut().for_each(|part| *part = words(part));
        self
    }

    /// Whether at least half of the items are instructions rather than statements.
    pub(crate) fn is_steps(&self) -> bool {
        let steps = self.parts.iter().filter(|part| is_step(part)).count();
        self.listed && steps * 2 >= self.parts.len()
    }

    /// Whether `is` holds for the heading or sentence above the list.
    pub(crate) fn is_introduced_by(&self, is: impl Fn(&str) -> bool) -> bool {
        self.introduction.as_ref().is_some_and(|one| is(&one.text))
    }

    /// Returns the share of the sentences or items for which `is` holds.
    pub(crate) fn share(&self, is: impl Fn(&str) -> bool) -> f64 {
        let count = self.parts.iter().filter(|part| is(part)).count();
        count as f64 / self.parts.len().max(1) as f64
    }

    pub(crate) fn first(&self) -> Option<&str> {
        self.parts.first().map(String::as_str)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }
}

/// Completes the answer at the beginning of a report: adds the next paragraph to a short answer,
/// and the `verdict` with which the report begins.
pub(crate) fn complete_answer(found: &mut Vec<QuotedPassage>, verdict: Option<String>) {
    let is_short =
        |one: &QuotedPassage| one.parts.iter().map(String::len).sum::<usize>() < SHORT_ANSWER;
    if let [answer, next, ..] = found.as_slice()
        && is_short(answer)
        && ![answer, next].iter().any(|one| one.listed || one.is_of_review)
        && answer.topic == next.topic
    {
        let next = found.remove(1);
        found[0].parts.extend(next.parts);
    }
    if let Some(answer) = found.first_mut() {
        let start = format!(" {}{}", answer.start(), answer.parts[0]).to_lowercase();
        let start = start[..start.floor_char_boundary(VERDICT)].replace([',', '.', ':', ';'], " ");
        let is_said = |verdict: &String| start.contains(&format!(" {} ", verdict.to_lowercase()));
        answer.verdict = verdict.filter(|verdict| !is_said(verdict));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(introduction: &str, parts: &[&str]) -> QuotedPassage {
        QuotedPassage {
            listed: true,
            introduction: Some(Introduction {
                text: introduction.to_owned(),
                ..Introduction::default()
            }),
            parts: parts.iter().map(|part| (*part).to_owned()).collect(),
            ..QuotedPassage::default()
        }
    }

    #[test]
    fn a_list_has_the_number_of_items_that_do_not_fit() {
        let fixed = list("Fixed", &["the reader", "the writer", "the index"]);
        assert_eq!(fixed.line(400).unwrap(), "Fixed: the reader; the writer; the index");
        assert_eq!(fixed.line(35).unwrap(), "Fixed: the reader; the writer; +1 more");
        assert_eq!(list("Fixed", &[]).line(400), None);
        let mut two = list("Fixed", &["the reader of rows", "the writer of all the rows"]);
        assert_eq!(two.line(30).unwrap(), "Fixed: the reader of rows; +1 more");
        two.introduction = None;
        assert_eq!(two.line(30), None);
    }

    #[test]
    fn a_list_without_most_of_its_items_is_left_out() {
        let left = |introduction: &str, kept: &[&str], count| {
            let mut list = list(introduction, kept);
            list.adjust_after_removal(count);
            list.line(400)
        };
        assert_eq!(
            left("New features", &["Same marks `a` as in the list of all the rows"], 5),
            None
        );
        let two = &["`a` reads rows", "`b` writes rows"];
        let fixes = "Fixes of rows: `a` reads rows; `b` writes rows";
        let bare = "`a` reads rows; `b` writes rows";
        assert_eq!(left("Three issues", two, 3).unwrap(), bare);
        assert_eq!(left("Three fixes of rows", two, 3).unwrap(), fixes);
        let all = "Fixes in `c`: `a` reads rows; `b` writes rows";
        assert_eq!(left("Fixes in `c`", two, 3).unwrap(), all);
    }

    #[test]
    fn an_item_that_does_not_fit_is_cut_to_its_first_sentence() {
        let items =
            list("It is", &["one row at a time", "The text stays in the list. It is long."]);
        let wanted = "It is: one row at a time; The text stays in the list";
        assert_eq!(items.line(60).unwrap(), wanted);
        assert_eq!(items.line(50).unwrap(), "It is: one row at a time; +1 more");
        let many = list("Rows", &["the first of all", "the second of all", "the third of all"]);
        assert_eq!(
            many.line_of_first_items(42).unwrap(),
            "Rows: the first of all; the second of all; the third of all"
        );
    }

    #[test]
    fn short_items_without_a_heading_are_fragments() {
        let mut items = list("Local files", &["fast; one file", "no server", "`a.rs` reads it"]);
        assert!(!items.lists_fragments());
        items.introduction = None;
        assert!(items.lists_fragments());
        items.parts[0] = "The list is sorted by the day of each row".to_owned();
        assert!(!items.lists_fragments());
    }

    #[test]
    fn steps_are_orders_and_not_subjects_of_commits() {
        assert!(list("Next", &["First: run the tests", "Then: fix the reader"]).is_steps());
        let commits = ["`c4aa58f`: fix: sort the rows", "`aa5a3e7`: test(rows): cover the sorting"];
        assert!(!list("Two commits", &commits).is_steps());
    }

    #[test]
    fn an_item_that_depends_on_a_dropped_one_is_dropped() {
        let mut items = list("Default", &["The hook calls `a` directly", "This file is shared"]);
        items.retain(|part| !part.contains("`a`"));
        assert!(items.is_empty());
        let mut items = list("Default", &["The hook calls `a` directly", "This file is shared"]);
        items.retain(|_| true);
        assert_eq!(items.parts.len(), 2);
    }
}
