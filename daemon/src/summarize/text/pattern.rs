//! One way to write a pattern that is compiled once.

/// A regular expression, compiled when it is first used.
///
/// `\b` is a boundary between ASCII words: with Unicode's own, text beyond ASCII costs a hundred
/// times as much.
macro_rules! pattern {
    ($pattern:expr) => {{
        static PATTERN: std::sync::LazyLock<regex::Regex> = std::sync::LazyLock::new(|| {
            let pattern = $pattern.replace(r"\b", r"(?-u:\b)");
            regex::Regex::new(&pattern).expect("patterns in the source are valid")
        });
        &*PATTERN
    }};
}

pub(crate) use pattern;
