//! Finds the reports of formatters and linters that change files without listing them.

use crate::text::pattern;

/// Returns the phrases about changed files in an output, in lower case: `6 files reformatted`.
pub(super) fn reports(output: &str) -> Vec<String> {
    let report = pattern!(
        r"(?m)^(?:(?P<a>[1-9]\d* files? reformatted)\b.*|(?:Formatted \d+ files? in .*)?(?P<b>Fixed [1-9]\d* files?)\b.*|(?P<d>Formatted [1-9]\d* files?)\.?|Found \d+ errors? \((?P<c>[1-9]\d* fixed), .*)$"
    );
    let reports = report.captures_iter(output).filter_map(|found| {
        let phrase = ["a", "b", "c", "d"].into_iter().find_map(|name| found.name(name))?;
        Some(phrase.as_str().to_lowercase())
    });
    reports.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_of_changed_files_are_kept_and_checks_are_not() {
        for (output, wanted) in [
            ("6 files reformatted, 10 files left unchanged\n", Some("6 files reformatted")),
            ("Formatted 12 files in 3ms. Fixed 2 files.\n", Some("fixed 2 files")),
            ("Formatted 3 files.\n", Some("formatted 3 files")),
            ("Formatted 2 files in 5ms. No fixes applied.\n", None),
            ("Found 3 errors (3 fixed, 0 remaining).\n", Some("3 fixed")),
            ("6 files would be reformatted\n", None),
            ("0 files reformatted\n", None),
            ("Formatted 0 files in 3ms. No fixes applied.\n", None),
        ] {
            let kept = reports(output).into_iter().next();
            assert_eq!(kept.as_deref(), wanted, "{output}");
        }
    }
}
