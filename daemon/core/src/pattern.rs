//! A macro for a regular expression that is compiled on first use.
//!
//! A pattern stays in memory until the daemon is idle ([`releasable`](crate::releasable)), together
//! with a cache for each thread that used it. All patterns together take 77 MB after an import of
//! 100 MB (heaptrack). To save memory, digits are ASCII only, and `\w`, `\S` and classes that
//! contain them never have a counted repetition. With one cache, `\w` takes 86 kB, but `\w{2,40}`
//! takes 3.3 MB (regex 1, `memory_usage` of its parts). `[A-Za-z0-9_ ]{0,40}` takes little.

/// Returns a regular expression, as an [`Arc`](std::sync::Arc), that is compiled when it is first
/// used. [`ascii`] describes the meaning of `\b` and `\d`.
#[doc(hidden)]
#[macro_export]
macro_rules! compiled_pattern {
    ($pattern:expr) => {{
        static PATTERN: $crate::releasable::Releasable<$crate::pattern::Regex> =
            $crate::releasable::Releasable::new(|| {
                $crate::pattern::Regex::new(&$crate::pattern::ascii($pattern))
                    .expect("patterns in the source are valid")
            });
        PATTERN.get()
    }};
}

#[doc(hidden)]
pub use regex::Regex;

pub use compiled_pattern as pattern;

/// Rewrites `pattern` so that `\b` and `\d` match only ASCII words and digits. Unicode boundaries
/// make the search in text beyond ASCII a hundred times slower, and Unicode digits make the
/// patterns for test counts eight times larger.
pub fn ascii(pattern: &str) -> String {
    let mut ascii = String::with_capacity(2 * pattern.len());
    let mut classes = 0;
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => match rest.next() {
                Some('b') if classes == 0 => ascii.push_str(r"(?-u:\b)"),
                Some('d') if classes == 0 => ascii.push_str("[0-9]"),
                Some('d') => ascii.push_str("0-9"),
                escaped => ascii.extend(std::iter::once('\\').chain(escaped)),
            },
            '[' => {
                classes += 1;
                ascii.push('[');
            }
            ']' => {
                classes = usize::saturating_sub(classes, 1);
                ascii.push(']');
            }
            _ => ascii.push(c),
        }
    }
    ascii
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_digits_are_those_of_ascii() {
        assert_eq!(ascii(r"\bv\d+\.\d{1,3}\b"), r"(?-u:\b)v[0-9]+\.[0-9]{1,3}(?-u:\b)");
        assert_eq!(ascii(r"[^\d\]]\d[\d.-]"), r"[^0-9\]][0-9][0-9.-]");
        assert_eq!(ascii(r"\\d\["), r"\\d\[");
        assert_eq!(ascii(r"a]\d"), r"a][0-9]");
        assert!(pattern!(r"^\w+ \d\b").is_match("größe 7"));
        assert!(!pattern!(r"^\w+ \d\b").is_match("größe ٧"));
    }
}
