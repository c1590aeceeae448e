//! Finds many short patterns in one pass over a text, and checks the characters around each match.

use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

/// What is required next to one end of a pattern.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Edge {
    /// A word boundary, which may be a capital: `addTodo` contains the word `add`.
    Border,
    /// A letter or digit: `config.` needs an extension after it, `.json` needs a name before it.
    Name,
    /// No requirement.
    Any,
}

/// Returns the required context before and after a pattern. A letter or digit must precede a
/// leading dot or `_`, and must follow a trailing dot or `_`, unless the pattern is a whole name
/// (`.env`). After a trailing `/`, anything is allowed.
pub(super) fn edges(pattern: &str) -> (Edge, Edge) {
    const NAMES: [&str; 3] = [".env", ".gitignore", "__tests__"];
    if NAMES.contains(&pattern) {
        return (Edge::Border, Edge::Border);
    }
    let before = if pattern.starts_with(['.', '_']) { Edge::Name } else { Edge::Border };
    let after = match pattern.chars().next_back() {
        Some('.' | '_') => Edge::Name,
        Some('/') => Edge::Any,
        _ => Edge::Border,
    };
    (before, after)
}

pub(super) struct Pattern {
    /// The text to match, case-insensitively.
    pub(super) text: String,
    /// The keyword that is reported for a match; `text` may be an inflected form of the keyword.
    pub(super) keyword: &'static str,
    pub(super) edges: (Edge, Edge),
}

pub(super) struct KeywordScanner {
    automaton: AhoCorasick,
    patterns: Vec<Pattern>,
}

impl KeywordScanner {
    pub(super) fn new(patterns: Vec<Pattern>) -> KeywordScanner {
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::DFA))
            .ascii_case_insensitive(true)
            .build(patterns.iter().map(|pattern| &pattern.text))
            .expect("a few hundred short patterns fit");
        KeywordScanner { automaton, patterns }
    }

    /// Calls `found` with the keyword and byte range of each match in `text` with valid edges.
    pub(super) fn each(&self, text: &str, mut found: impl FnMut(&'static str, Range<usize>)) {
        let bytes = text.as_bytes();
        for hit in self.automaton.find_overlapping_iter(text) {
            let pattern = &self.patterns[hit.pattern().as_usize()];
            let (start, end) = (hit.start(), hit.end());
            if fits_before(bytes, start, pattern.edges.0) && fits_after(bytes, end, pattern.edges.1)
            {
                found(pattern.keyword, start..end);
            }
        }
    }
}

fn fits_before(text: &[u8], start: usize, edge: Edge) -> bool {
    let before = start.checked_sub(1).map(|before| text[before]);
    match edge {
        Edge::Any => true,
        Edge::Name => before.is_some_and(is_letter),
        Edge::Border => before.is_none_or(|before| {
            !is_letter(before) || (before.is_ascii_lowercase() && text[start].is_ascii_uppercase())
        }),
    }
}

fn fits_after(text: &[u8], end: usize, edge: Edge) -> bool {
    let after = text.get(end).copied();
    match edge {
        Edge::Any => true,
        Edge::Name => after.is_some_and(is_letter),
        Edge::Border => {
            let last = text[end - 1];
            after.is_none_or(|after| {
                !is_letter(after) || (last.is_ascii_lowercase() && after.is_ascii_uppercase())
            })
        }
    }
}

/// Non-ASCII bytes count as parts of words.
fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80
}
