//! Prepares the source of a report for the Markdown parser.

use std::borrow::Cow;

use crate::text::{after_symbol, is_crossed, is_glob, is_symbol, states_failure};

/// Turns lines that begin with a symbol such as a tick into list items. Lines that begin
/// with a cross become open tasks if they state a failure. Otherwise, they are omitted, because
/// they state something that is not true. A line that begins in bold directly above list items
/// stays the heading of these items.
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
        let is_cross = is_crossed(line);
        if let Some(failure) = after_symbol(line).filter(|text| is_cross && states_failure(text)) {
            let indent = &line[..line.len() - line.trim_start().len()];
            marked.extend([indent, "- [ ] ", &failure.replace("**", "")]);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crossed_failure_is_an_open_task_and_other_crossed_lines_are_omitted() {
        for (markdown, wanted) in [
            (
                "✅ Unit tests pass\n❌ E2E tests fail: timeout in the login\n",
                "- ✅ Unit tests pass\n- [ ] E2E tests fail: timeout in the login\n",
            ),
            ("  - **❌ Not implemented**: PDF export\n", "  - [ ] Not implemented: PDF export\n"),
            ("❌ Before: each row is read twice\n", "\n"),
            ("- ❌ `any` in the types\n", "\n"),
        ] {
            assert_eq!(with_list_marks(markdown), wanted);
        }
    }
}
