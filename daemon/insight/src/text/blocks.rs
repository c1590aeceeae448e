//! Extracts the prose of Markdown (headings, list items and paragraphs), without code and tables.

use std::borrow::Cow;

use crate::text::{clean::is_symbol, code::after_closed_fence, pattern};

/// One unit of a Markdown text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Block<'t> {
    /// A heading, or a line that introduces the next lines, such as `Next steps:`.
    Heading(Cow<'t, str>),
    /// A list item without its marker.
    Item(Cow<'t, str>),
    /// A paragraph with its lines joined.
    Paragraph(Cow<'t, str>),
}

/// Maximum length, in bytes, of an introducing line such as `Remaining tasks:`; longer lines are
/// sentences.
const MAX_LEAD_IN_BYTES: usize = 60;

/// Splits `text` into blocks. Fenced code, lines of [`is_omitted`] and lines that begin with a
/// cross are left out. A crossed line that states a failure is kept, unless the heading above it
/// introduces the state before the work.
pub(crate) fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut found: Vec<Block<'_>> = Vec::new();
    let mut fence: Option<&str> = None;
    let mut joins = false;
    for line in text.lines() {
        let line = match after_closed_fence(line) {
            Some(_) if fence.is_some() => continue,
            prose => prose.unwrap_or(line),
        };
        let trimmed = line.trim();
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        match (fence, mark) {
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, Some(mark)) => fence = Some(mark),
            (Some(_), _) => {}
            (None, None) => {
                joins = add_line(&mut found, line, joins);
                continue;
            }
        }
        joins = false;
    }
    found
}

/// Adds one line outside of code, and returns whether the next line may continue the block.
fn add_line<'t>(found: &mut Vec<Block<'t>>, line: &'t str, joins: bool) -> bool {
    let trimmed = line.trim();
    if trimmed.is_empty() || is_omitted(trimmed) {
        return false;
    }
    if let Some(marked) = after_symbol(trimmed) {
        let is_earlier = || {
            let heading = found.iter().rev().find_map(|block| match block {
                Block::Heading(heading) => Some(heading),
                _ => None,
            });
            heading.is_some_and(|heading| is_of_earlier_state(heading))
        };
        if !marked.is_empty() && (!is_crossed(trimmed) || states_failure(marked) && !is_earlier()) {
            found.push(Block::Item(Cow::Borrowed(marked)));
        }
        return false;
    }
    if let Some(heading) = heading(trimmed) {
        found.push(Block::Heading(Cow::Borrowed(heading)));
        return false;
    }
    if let Some(item) = item(trimmed) {
        found.push(Block::Item(Cow::Borrowed(item)));
        return true;
    }
    if joins && let Some(Block::Item(text) | Block::Paragraph(text)) = found.last_mut() {
        let text = text.to_mut();
        text.push(' ');
        text.push_str(trimmed);
        return true;
    }
    found.push(Block::Paragraph(Cow::Borrowed(trimmed)));
    true
}

/// Whether a line begins with a cross. The cross marks a statement that does not hold, or a failure.
pub(crate) fn is_crossed(line: &str) -> bool {
    line.trim_start_matches(['-', '*', ' ']).starts_with(['❌', '✗', '✘'])
}

/// Whether the text after a cross states a failed check or missing work itself, such as `E2E tests
/// fail`. Otherwise, the cross may mark a bad example or an old state.
pub(crate) fn states_failure(text: &str) -> bool {
    pattern!(
        r"(?i)^\W*(?:not (?:yet )?(?:implemented|done|started|tested|working|fixed|pushed|committed|included|covered|deployed|verified)|still (?:missing|failing|broken)|(?:missing|failed|failing):)|\b(?:is|are) (?:still )?(?:missing\b|not (?:yet )?(?:implemented|done|tested|working|fixed|pushed|committed|deployed|verified))|\b(?:tests?|builds?|lint\w*|clippy|ci|checks?|suites?|type ?check|deploy\w*|migrations?|jobs?)\b.{0,30}\b(?:fail(?:s|ed|ing|ures?)?|broken|timed out|timeout|with \d+ errors?)\b"
    )
    .is_match(text)
        && !pattern!(
            r"(?i)^\W*(?:before|old|wrong|bad|avoid|never|do not|don.?t|instead|ignor\w+|skip\w*|hid\w+)\b|✅|→|->|\b(?:before (?:the|this|that|my|our)|previously|earlier)\b|\bwas:"
        )
        .is_match(text)
}

/// Whether a heading introduces the state before the work.
pub(crate) fn is_of_earlier_state(heading: &str) -> bool {
    pattern!(r"(?i)^\W*(?:before|old|previous(?:ly)?|problems?|fixed)\b").is_match(heading)
}

/// Returns the text after a tick or another symbol that agents use as a list marker.
pub(crate) fn after_symbol(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(['-', '*', ' ']);
    let first = rest.chars().next().filter(|first| is_symbol(*first))?;
    Some(rest[first.len_utf8()..].trim_start_matches(['\u{FE0F}', ' ']))
}

/// Whether a line is a table row, a rule, a quote, an HTML comment or a frame such as
/// `★ Insight ──`.
fn is_omitted(line: &str) -> bool {
    line.starts_with(['|', '>'])
        || line.starts_with("<!--")
        || line.chars().all(|c| matches!(c, '-' | '=' | '*' | '_' | '─' | '━' | '`' | ' ' | '★'))
        || line.starts_with("`★")
}

fn heading(line: &str) -> Option<&str> {
    let stripped = line.trim_start_matches('#');
    if stripped.len() < line.len() && stripped.starts_with(' ') {
        return Some(stripped.trim());
    }
    let bold = line.strip_prefix("**").and_then(|rest| {
        let rest = rest.trim_end_matches(':');
        rest.strip_suffix("**").map(|inside| inside.trim_end_matches(':'))
    });
    if let Some(bold) = bold.filter(|bold| !bold.contains("**") && bold.len() <= MAX_LEAD_IN_BYTES)
    {
        return Some(bold.trim());
    }
    let lead_in = line.strip_suffix(':').filter(|lead| {
        lead.len() <= MAX_LEAD_IN_BYTES
            && !lead.contains(". ")
            && lead.starts_with(char::is_uppercase)
    });
    lead_in.filter(|_| item(line).is_none()).map(|lead| lead.trim_matches('*'))
}

/// Returns the text of a list item after its marker, such as `- `, `• ` or `1. `, and after its
/// check box.
fn item(line: &str) -> Option<&str> {
    let bullet =
        ["- ", "* ", "• ", "+ ", "– ", "→ "].into_iter().find_map(|b| line.strip_prefix(b));
    let rest = bullet.or_else(|| {
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        let rest = (1..=2).contains(&digits).then(|| &line[digits..])?;
        rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "))
    })?;
    let rest = rest.trim_start();
    Some(["[ ] ", "[x] ", "[X] "].into_iter().find_map(|b| rest.strip_prefix(b)).unwrap_or(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_is_split_into_headings_items_and_paragraphs() {
        let text = "Done. It works\nnow.\n\n## What changed\n\n- one\n  goes on\n2) two\n\n\
                    ```rust\n# not a heading\n- not an item\n```\n| a | b |\n---\n**Next steps:**\n* [ ] three\n\
                    Remaining work:\n";
        let heading = |text| Block::Heading(Cow::Borrowed(text));
        let item = |text| Block::Item(Cow::Borrowed(text));
        assert_eq!(
            blocks(text),
            [
                Block::Paragraph(Cow::Borrowed("Done. It works now.")),
                heading("What changed"),
                item("one goes on"),
                item("two"),
                heading("Next steps"),
                item("three"),
                heading("Remaining work"),
            ]
        );
    }

    #[test]
    fn ticks_are_list_marks_and_lines_with_crosses_are_omitted() {
        let item = |text| Block::Item(Cow::Borrowed(text));
        assert_eq!(
            blocks("✅ one\n**✅ Two:** it\n- ❌ not three\n❌ nor four"),
            [item("one"), item("Two:** it")]
        );
    }

    #[test]
    fn crossed_lines_that_state_a_failure_are_kept() {
        for (line, wanted) in [
            ("❌ E2E tests fail: timeout in the login", true),
            ("- ❌ Not implemented: PDF export", true),
            ("✗ The build is broken on Windows", true),
            ("✘ The translations are still missing", true),
            ("❌ Before: each test fails without a network", false),
            ("❌ Don't ignore failing tests", false),
            ("❌ The build ended with 3 errors", true),
            ("❌ Tests failed → ✅ now pass", false),
            ("❌ Previously: tests failed on Windows", false),
            ("❌ E2E tests failed before the fix", false),
            ("❌ 3 tests failed -> 0 failed", false),
            ("❌ Checks for errors by string comparison", false),
            ("❌ Jobs retry on errors forever", false),
            ("❌ Ignoring test failures in CI", false),
            ("❌ Not three", false),
            ("❌ Fails if the network is down", false),
            ("❌ More error-prone", false),
        ] {
            assert_eq!(blocks(line).len(), usize::from(wanted), "{line}");
        }
        for (heading, wanted) in
            [("Before", 0), ("Old state", 0), ("Problem", 0), ("After", 1), ("Oldest clients", 1)]
        {
            let text = format!("## {heading}\n- ❌ CI fails on every push");
            assert_eq!(blocks(&text).len(), 1 + wanted, "{heading}");
        }
    }

    #[test]
    fn an_unclosed_fence_hides_the_rest() {
        assert_eq!(blocks("a\n```\nb\n~~~\nc").len(), 1);
        let text = "```TypeError: x```\nfix it\n```\n```a```\nnot this\n```\n";
        assert_eq!(blocks(text), [Block::Paragraph(Cow::Borrowed("fix it"))]);
    }
}
