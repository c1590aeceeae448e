//! Distinguishes prose from code and output.

/// Minimum length, in characters, of a line with many symbols.
const MIN_CHARS: usize = 13;

/// Whether more than a quarter of the characters of a line are symbols that prose rarely contains,
/// so that the line is probably code, a table or the output of a program.
pub fn has_many_symbols(line: &str) -> bool {
    let symbols = line.chars().filter(|c| "{}[]()=;<>|_/\\·─│█".contains(*c)).count();
    let total = line.chars().count();
    total >= MIN_CHARS && symbols * 4 > total
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
