//! What formatters and linters say of the files that they changed without naming them.

use crate::{
    model::evidence::Evidence,
    summarize::{
        evidence::{bounds, collector::Moment, lists::push_latest},
        text::pattern,
    },
};

/// Reports that are kept.
const REPORTS: usize = 6;

/// Keeps what an output says of changed files, in its own words: `6 files reformatted`.
pub(super) fn note(evidence: &mut Evidence, output: &str, moment: Moment) {
    let report = pattern!(
        r"(?m)^(?:(?P<a>[1-9]\d* files? reformatted)\b.*|(?:Formatted \d+ files? in .*)?(?P<b>Fixed [1-9]\d* files?)\b.*|(?P<d>Formatted [1-9]\d* files?)\.?|Found \d+ errors? \((?P<c>[1-9]\d* fixed), .*)$"
    );
    for found in report.captures_iter(output) {
        let said = ["a", "b", "c", "d"].into_iter().find_map(|name| found.name(name));
        if let Some(said) = said {
            let quote = moment.said(&said.as_str().to_lowercase(), bounds::NAME);
            push_latest(&mut evidence.unnamed_changes, quote, REPORTS);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::transcript::Origin;

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
            let mut evidence = Evidence::default();
            note(&mut evidence, output, Moment { origin: Origin::default(), at: None });
            let kept = evidence.unnamed_changes.first().map(|quote| quote.text.as_str());
            assert_eq!(kept, wanted, "{output}");
        }
    }
}
