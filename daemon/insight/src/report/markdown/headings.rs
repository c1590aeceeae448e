//! Turns headings, bold lines and introductions of lists into the headings of the passages below.

use super::{BOLD, Form, LEAD_IN, PassageParser};
use crate::{
    report::inline::{split_label, statement_and_introduction},
    text::{one_line, pattern, sentences},
};

/// The level of a line that ends in a colon and stands above a bold heading. The levels of Markdown
/// end at six.
const SECTION: usize = 7;
/// Maximum length, in bytes, of a sentence that is the heading of the list or table after it.
const MAX_INTRODUCTION_BYTES: usize = 200;

impl PassageParser {
    pub(super) fn heading(&mut self, depth: usize) {
        self.join_lines();
        // `A few points:` is a heading above the bold headings that follow it.
        if depth == BOLD && self.at_heading == self.passages.len() {
            let leads = self.headings.pop_if(|(known, _)| *known == LEAD_IN);
            if let Some((_, text)) = leads {
                self.headings.retain(|(known, _)| *known < SECTION);
                self.headings.push((SECTION, text));
            }
        }
        let text = one_line(&self.text).trim_end_matches([':', '.']).trim().to_owned();
        self.clear();
        self.headings.retain(|(known, _)| *known < depth);
        if !text.is_empty() {
            self.headings.push((depth, text));
            self.at_heading = self.passages.len();
        }
    }

    /// Turns the last sentence of the text into a heading. If a statement precedes this sentence,
    /// the statement is added as a paragraph first.
    pub(super) fn heading_after_statement(&mut self) {
        if let Some((before, last)) = statement_and_introduction(&self.text) {
            let (label, before) = split_label(&before, self.label_end);
            self.text = last;
            self.push(Form::Paragraph, None, label, &before);
        }
        self.heading(LEAD_IN);
    }

    /// Turns a sentence with a final colon before a list or table into the heading of its items.
    pub(super) fn lead_in(&mut self) {
        let headings = self.headings.iter().map(|(_, heading)| heading);
        let Some(last) = self.passages.last_mut().filter(|last| {
            last.form == Form::Paragraph
                && last.text.ends_with(':')
                && last.headings.iter().eq(headings)
        }) else {
            return;
        };
        let all = sentences(&last.text);
        let [before @ .., introduction] = all.as_slice() else { return };
        let introduction = introduction.trim_end_matches(':');
        let (before, introduction) = match (last.label.as_deref(), before.is_empty()) {
            (Some(label), true) => (String::new(), format!("{label}: {introduction}")),
            _ => (before.join(" "), introduction.to_owned()),
        };
        // `Added a page, covering:` reports work; the items after it are the page's contents.
        let has_contents =
            pattern!(r"(?i)\b(?:cover|document|describ|explain)(?:e?s|ing)(?: the following)?$");
        if introduction.len() > MAX_INTRODUCTION_BYTES || has_contents.is_match(&introduction) {
            return;
        }
        if before.is_empty() {
            self.passages.pop();
        } else {
            last.text = before;
        }
        self.headings.retain(|(depth, _)| *depth < LEAD_IN);
        self.headings.push((LEAD_IN, introduction));
    }
}
