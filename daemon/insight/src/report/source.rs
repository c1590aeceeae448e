//! Prepares the source of a report for the Markdown parser.

use std::borrow::Cow;

use crate::text::{
    after_symbol, is_crossed, is_glob, is_of_earlier_state, is_symbol, states_failure,
};

/// Turns lines that begin with a symbol such as a tick into list items. Lines that begin with a
/// cross become open tasks if they state a failure and no heading such as `Before` is above them,
/// because the work may have repaired such a failure. Other crossed lines state something that is
/// not true, and are omitted. A line that begins in bold directly above list items stays the
/// heading of these items.
pub(super) fn with_list_marks(markdown: &str) -> Cow<'_, str> {
    if !markdown.contains(is_symbol) {
        return Cow::Borrowed(markdown);
    }
    let mut marked = String::with_capacity(markdown.len() + 64);
    let mut lines = markdown.lines().peekable();
    let mut is_earlier_state = false;
    while let Some(line) = lines.next() {
        let is_heading = line.trim_start().starts_with("**")
            && lines.peek().is_some_and(|next| is_list_item(next));
        let start = line.trim_start_matches(['-', '*', ' ']);
        let is_cross = is_crossed(line);
        if is_heading || is_heading_line(line) {
            is_earlier_state = is_of_earlier_state(line);
        }
        let is_failure = |text: &&str| is_cross && !is_earlier_state && states_failure(text);
        if let Some(failure) = after_symbol(line).filter(is_failure) {
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

/// Whether a line outside of a list is a heading, is in bold, or ends with a colon.
fn is_heading_line(line: &str) -> bool {
    let line = line.trim_end();
    line.starts_with('#')
        || line.starts_with("**") && line.trim_end_matches(':').ends_with("**")
        || line.starts_with(char::is_uppercase) && line.trim_end_matches('*').ends_with(':')
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
            ("## Before\n- ❌ CI fails on every push\n", "## Before\n\n"),
            ("**Problem:**\n\n- ❌ CI fails on every push\n", "**Problem:**\n\n\n"),
            (
                "## Before\n- a\n## After\n- ❌ CI fails on every push\n",
                "## Before\n- a\n## After\n- [ ] CI fails on every push\n",
            ),
        ] {
            assert_eq!(with_list_marks(markdown), wanted);
        }
    }
}
