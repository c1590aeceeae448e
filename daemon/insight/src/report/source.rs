//! Prepares the source of a report for the Markdown parser.

use std::borrow::Cow;

use crate::text::{is_glob, is_symbol};

/// Turns lines that begin with a symbol such as a tick into list items. Lines that begin
/// with a cross are omitted, because they state something that is not true.
pub(super) fn with_list_marks(markdown: &str) -> Cow<'_, str> {
    if !markdown.contains(is_symbol) {
        return Cow::Borrowed(markdown);
    }
    let mut marked = String::with_capacity(markdown.len() + 64);
    for line in markdown.lines() {
        let start = line.trim_start_matches(['-', '*', ' ']);
        let is_cross = start.starts_with(['\u{274C}', '\u{2717}', '\u{2718}']);
        if start.starts_with(is_symbol) && !line.trim_start().starts_with(['-', '#']) && !is_cross {
            marked.push_str("- ");
        }
        if !is_cross {
            marked.push_str(line);
        }
        marked.push('\n');
    }
    Cow::Owned(marked)
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
