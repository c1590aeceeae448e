//! Compares headings with the patterns of the phrases.

use crate::text::one_line;

/// Returns a heading in lower case, without symbols and punctuation at both ends, and without
/// numbers at the start.
pub(super) fn plain(heading: &str) -> String {
    let heading = one_line(heading).to_lowercase().replace('’', "'");
    let start = heading.trim_start_matches(|c: char| !c.is_alphabetic());
    start.trim_end_matches(|c: char| !c.is_alphanumeric() && c != ')').to_owned()
}

/// Returns whether `text` matches `pattern`, in which `*` matches any text.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(start) else { return false };
    let Some((middle, end)) = rest.rsplit_once('*') else { return text.ends_with(rest) };
    for part in middle.split('*') {
        let Some(at) = text.find(part) else { return false };
        text = &text[at + part.len()..];
    }
    text.ends_with(end)
}
