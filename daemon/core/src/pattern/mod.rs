//! A macro for a regular expression that is compiled on first use, and a set of expressions.
//!
//! A pattern stays in memory until the daemon is idle ([`releasable`](crate::releasable)), together
//! with a cache for each thread that used it. The size of both depends on the number of states of
//! the automaton. Unicode's classes and counted repetitions multiply this number. heaptrack
//! measured 774 patterns at the end of an import of 100 MB: with Unicode's `\w`, they have 855,000
//! states and take 132 MB; with the `\w` of [`compact`], 308,000 states and 85 MB.

mod required;
mod set;

pub use regex_automata::util::syntax::Config as Syntax;

pub use set::{Candidates, ExpressionSet};

/// Returns a regular expression, as an [`Arc`](std::sync::Arc), that is compiled when it is first
/// used. [`compact`] describes the meaning of `\b`, `\d` and `\w`.
#[doc(hidden)]
#[macro_export]
macro_rules! compiled_pattern {
    ($pattern:expr) => {{
        static PATTERN: $crate::releasable::Releasable<$crate::pattern::Regex> =
            $crate::releasable::Releasable::new(|| {
                $crate::pattern::Regex::new(&$crate::pattern::compact($pattern))
                    .expect("patterns in the source are valid")
            });
        PATTERN.get()
    }};
}

/// Returns an [`ExpressionSet`], as an [`Arc`](std::sync::Arc), of expressions that few texts
/// match. A search in a set costs less than a search by each expression, and an expression is not
/// compiled until a text contains its literals. [`compact`] describes the meaning of `\b`, `\d` and
/// `\w`.
#[doc(hidden)]
#[macro_export]
macro_rules! compiled_patterns {
    ($($pattern:expr),+ $(,)?) => {{
        static PATTERNS: $crate::releasable::Releasable<$crate::pattern::ExpressionSet> =
            $crate::releasable::Releasable::new(|| {
                let patterns = [$($crate::pattern::compact($pattern)),+];
                let patterns = patterns.into_iter().map(|pattern| (0, pattern)).collect();
                $crate::pattern::ExpressionSet::new(patterns, $crate::pattern::Syntax::new())
            });
        PATTERNS.get()
    }};
}

#[doc(hidden)]
pub use regex::Regex;

pub use compiled_pattern as pattern;
pub use compiled_patterns as patterns;

/// The characters of words, as a part of a class: the letters and digits of ASCII, `_`, and all
/// other characters except those of the blocks that consist of punctuation, symbols and spaces.
const WORD: &str = r"0-9A-Za-z_\u{AA}\u{B5}\u{BA}\u{C0}-\u{1FFF}\u{2C00}-\u{2DFF}\u{3005}-\u{D7FF}\u{F900}-\u{FDFF}\u{10000}-\u{1EFFF}\u{20000}-\u{3FFFF}";

/// Rewrites `pattern` so that its automaton has few states: `\b` and `\d` match only ASCII words
/// and digits, and `\w` matches the characters of [`WORD`]. Unicode boundaries make the search in
/// text that is not ASCII a hundred times slower.
pub fn compact(pattern: &str) -> String {
    let mut compact = String::with_capacity(2 * pattern.len());
    let mut class = None;
    let mut classes = 0;
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        let is_in_class = classes > 0;
        match c {
            '\\' => match rest.next() {
                Some('b') if !is_in_class => compact.push_str(r"(?-u:\b)"),
                Some('d') if is_in_class => compact.push_str("0-9"),
                Some('d') => compact.push_str("[0-9]"),
                Some('w') if is_in_class => compact.push_str(WORD),
                Some('W') if is_in_class => compact.extend(["[^", WORD, "]"]),
                // `-i` prevents slow case folding. The class already contains both cases.
                Some('w') => compact.extend(["(?-i:[", WORD, "])"]),
                Some('W') => compact.extend(["(?-i:[^", WORD, "])"]),
                escaped => compact.extend(std::iter::once('\\').chain(escaped)),
            },
            '[' => {
                classes += 1;
                class.get_or_insert(compact.len());
                compact.push('[');
            }
            ']' => {
                classes = usize::saturating_sub(classes, 1);
                compact.push(']');
                if classes == 0
                    && let Some(start) = class.take()
                    && compact[start..].contains(WORD)
                {
                    compact.insert_str(start, "(?-i:");
                    compact.push(')');
                }
            }
            _ => compact.push(c),
        }
    }
    compact
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn word_boundaries_and_digits_are_only_ascii() {
        assert_eq!(compact(r"\bv\d+\.\d{1,3}\b"), r"(?-u:\b)v[0-9]+\.[0-9]{1,3}(?-u:\b)");
        assert_eq!(compact(r"[^\d\]]\d[\d.-]"), r"[^0-9\]][0-9][0-9.-]");
        assert_eq!(compact(r"\\d\["), r"\\d\[");
        assert_eq!(compact(r"a]\d"), r"a][0-9]");
        assert!(!pattern!(r"^\w+ \d\b").is_match("größe ٧"));
    }

    #[test]
    fn words_have_letters_of_any_language_and_no_punctuation() {
        for word in ["größe", "naïve_2", "Привет", "日本語", "한국어", "שלום", "ไทย"]
        {
            assert!(pattern!(r"^\w+$").is_match(word), "{word}");
            assert!(!pattern!(r"[\W_]$").is_match(word), "{word}");
            assert!(pattern!(r"^[\w.-]+$").is_match(word), "{word}");
            assert!(pattern!(r"(?i)^x[.\w]+Y\w\W[^\w]$").is_match(&format!("X{word}yß. ")));
        }
        for mark in ["’", "—", "…", "→", "✓", "。", "“", "\u{a0}", "🙂", "«", "·"]
        {
            assert!(pattern!(r"^\W$").is_match(mark), "{mark}");
            assert!(!pattern!(r"\w").is_match(mark), "{mark}");
        }
    }
}
