//! Prepares the source of a report for the Markdown parser.

use std::borrow::Cow;

use crate::text::{is_glob, is_symbol};

/// Turns lines that begin with a symbol such as a tick into list items. Lines that begin
/// with a cross are omitted, because they state something that is not true. A line that
/// begins in bold directly above list items stays the heading of these items.
pub(super) fn with_list_marks(markdown: &str) -> Cow<'_, str> {
    if !markdown.contains(is_symbol) {
        return Cow::Borrowed(markdown);
    }
    let mut marked = String::with_capacity(markdown.len() + 64);
    let mut lines = markdown.lines().peekable();
    while let Some(line) = lines.next() {
        let is_heading = line.trim_start().starts_with("**")
            && lines.peek().is_some_and(|next| is_list_item(next));
        let start = line.trim_start_matches(['-', '*', ' ']);
        let is_cross = start.starts_with(['\u{274C}', '\u{2717}', '\u{2718}']);
        let is_marked = line.trim_start().starts_with(['-', '#']);
        if start.starts_with(is_symbol) && !is_marked && !is_cross && !is_heading {
            marked.push_str("- ");
        }
        if !is_cross {
            marked.push_str(line);
        }
        marked.push('\n');
    }
    Cow::Owned(marked)
}

fn is_list_item(line: &str) -> bool {
    let line = line.trim_start();
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark))
        || digits.len() < line.len() && [". ", ") "].iter().any(|mark| digits.starts_with(mark))
}

/// Escapes the stars of path patterns outside of code, because Markdown parses them as bold text.
pub(super) fn with_globs_escaped(markdown: &str) -> Cow<'_, str> {
    if !markdown.contains("**/") && !markdown.contains("/**") {
        return Cow::Borrowed(markdown);
    }
    let mut escaped = String::with_capacity(markdown.len() + 64);
    for word in markdown.split_inclusive(char::is_whitespace) {
        if !word.contains('`') && word.contains("**") && is_glob(word.trim()) {
            escaped.push_str(&word.replace('*', "\\*"));
        } else {
            escaped.push_str(word);
        }
    }
    Cow::Owned(escaped)
}
