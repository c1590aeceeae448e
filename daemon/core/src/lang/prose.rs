//! Distinguishes prose from code and output, and compares texts by their words.

use std::collections::BTreeSet;

/// Minimum length, in characters, of a line with many symbols.
const MIN_CHARS: usize = 13;

/// Whether more than a quarter of the characters of a line are symbols that prose rarely contains,
/// so that the line is probably code, a table or the output of a program.
pub fn has_many_symbols(line: &str) -> bool {
    let symbols = line.chars().filter(|c| "{}[]()=;<>|_/\\·─│█".contains(*c)).count();
    let total = line.chars().count();
    total >= MIN_CHARS && symbols * 4 > total
}

/// Returns the fraction of the words in `of` that are also in `other`, from 0 to 1; 0 when `of` is
/// empty.
pub fn share_of_words(of: &BTreeSet<String>, other: &BTreeSet<String>) -> f64 {
    if of.is_empty() {
        return 0.0;
    }
    let shared = of.intersection(other).count();
    f64::from(u32::try_from(shared).unwrap_or(u32::MAX))
        / f64::from(u32::try_from(of.len()).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_tables_have_many_symbols() {
        for line in ["│ make │ ── │ exit 1 │ ──", "f(a[i], b[j]) => { g(); }"] {
            assert!(has_many_symbols(line), "{line}");
        }
        for line in ["Call f(x) in src/a.rs, please", "{ }", ""] {
            assert!(!has_many_symbols(line), "{line}");
        }
    }
}
