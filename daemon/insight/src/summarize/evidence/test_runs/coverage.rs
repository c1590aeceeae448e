//! Reads the total test coverage from the output of various tools.

use crate::text::pattern;

/// Returns the total coverage in percent; `None` if the output has no total.
pub(super) fn of(output: &str) -> Option<f64> {
    if !output.contains('%') && !output.contains("All files") {
        return None;
    }
    let last = |pattern: &regex::Regex| {
        let captures = pattern.captures_iter(output).last()?;
        percent(captures.get(1)?.as_str())
    };
    last(&*pattern!(r"(?m)^TOTAL\s+(?:\d+\s+)+(\d+(?:\.\d+)?)%"))
        .or_else(|| last(&*pattern!(r"(?m)^total:\s+\(statements\)\s+(\d+(?:\.\d+)?)%")))
        .or_else(|| bun(output))
        .or_else(|| last(&*pattern!(r"(?m)^All files\s*\|\s*(\d+(?:\.\d+)?)")))
        .or_else(|| last(&*pattern!(r"(?m)^(\d+(?:\.\d+)?)% coverage, \d+/\d+ lines covered")))
        .or_else(|| last(&*pattern!(r"(?m)^\s*Line Coverage:\s+(\d+(?:\.\d+)?)%")))
        .or_else(|| last(&*pattern!(r"(?m)^\s+Lines:\s+(\d+(?:\.\d+)?)%\s+\(\s*\d+/\s*\d+\)")))
        .or_else(|| single(output))
}

/// Reads Bun's table, in which the column of functions is before the column of lines.
fn bun(output: &str) -> Option<f64> {
    output.contains("| % Funcs | % Lines |").then_some(())?;
    let row = pattern!(r"(?m)^All files\s*\|\s*[\d.]+\s*\|\s*(\d+(?:\.\d+)?)").captures(output)?;
    percent(row.get(1)?.as_str())
}

/// Reads Go's figure for a package. `go test` prints no total, so the figure is the total only if
/// there is a single package.
fn single(output: &str) -> Option<f64> {
    let figure = pattern!(r"coverage: (\d+(?:\.\d+)?)% of statements");
    let mut figures = figure.captures_iter(output);
    let first = figures.next()?;
    if figures.next().is_some() {
        return None;
    }
    percent(first.get(1)?.as_str())
}

/// Returns the figure with at most two decimals, so that storing it as text does not change it.
fn percent(text: &str) -> Option<f64> {
    let value: f64 = text.parse().ok()?;
    (0.0..=100.0).contains(&value).then(|| (value * 100.0).round() / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_found_and_parts_are_not() {
        for (output, wanted) in [
            ("Name    Stmts   Miss  Cover\nTOTAL     120     15    87%", Some(87.0)),
            ("TOTAL  120  15  30  2  87.35%", Some(87.35)),
            ("ok a coverage: 81.2% of statements\nok b coverage: 3% of statements", None),
            ("ok a coverage: 81.2% of statements", Some(81.2)),
            ("total:\t\t(statements)\t64.0%", Some(64.0)),
            ("All files |   87.3 |    80 |", Some(87.3)),
            ("File | % Funcs | % Lines | Uncovered\nAll files |  50.00 |  92.50 |", Some(92.5)),
            ("87.31% coverage, 262/300 lines covered", Some(87.31)),
            ("progress 100%", None),
        ] {
            assert_eq!(of(output), wanted, "{output}");
        }
    }
}
