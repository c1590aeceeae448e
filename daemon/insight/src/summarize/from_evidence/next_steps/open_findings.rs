//! Finds the findings of reviews that the session did not fix.

use crate::{
    model::{transcript::Origin, wording::NOT_FIXED},
    report::Report,
    summarize::{
        from_evidence::{
            entries::{Entries, push},
            reported::{
                fate::{Fate, fate},
                review::{is_review, place_of_finding},
            },
        },
        lists::shortened,
    },
};

/// Maximum number of places that are listed.
const PLACES: usize = 6;

/// Adds the places of the findings of each review after which nothing was changed.
pub(crate) fn unfixed(entries: &Entries<'_>, list: &mut Vec<String>) {
    let evidence = entries.evidence;
    let is_unfixed = |review: &&Report| {
        let is_later =
            |origin: Origin| origin.source != review.origin.source || origin > review.origin;
        !evidence.changed_files().any(|(_, work)| is_later(work.last))
            && !evidence.commits.iter().any(|commit| is_later(commit.origin))
            // `Discarded`: the user refused the findings, or a later review found them fixed.
            && fate(entries, review) != Fate::Discarded
    };
    let reviews = entries.reports.reports.iter().filter(|report| is_review(entries, report));
    let mut places: Vec<String> = Vec::new();
    let mut count = 0;
    for review in reviews.filter(is_unfixed) {
        let found = review.passages.iter().filter_map(|passage| place_of_finding(entries, passage));
        let found: Vec<String> = found.map(|place| format!("`{place}`")).collect();
        count += usize::from(!found.is_empty());
        found.into_iter().for_each(|place| push(&mut places, place));
    }
    if places.is_empty() {
        return;
    }
    let noun = if places.len() == 1 { "finding" } else { "findings" };
    let of = if count > 1 { format!("{count} reviews") } else { "the review".to_owned() };
    let places = shortened(places, PLACES).join(", ");
    list.push(format!("{NOT_FIXED}the {noun} of {of} at {places}"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::evidence::{Evidence, Quote, TurnReport},
        report::Reports,
    };

    const REVIEW: &str = "**Findings**\n\n1. [src/parse.rs:227](/app/src/parse.rs:227) treats broken files as parsed.\n\n2. [src/cli.rs:19](/app/src/cli.rs:19) rejects `--worktree`.\n";

    fn open(prompts: Vec<Quote>, reports: Vec<TurnReport>) -> Vec<String> {
        let evidence = Evidence { prompts, reports, ..Evidence::default() };
        let reports = Reports::of(&evidence);
        let mut open = Vec::new();
        unfixed(&Entries { evidence: &evidence, reports: &reports, project: None }, &mut open);
        open
    }

    fn asked(line: u64) -> Quote {
        Quote { text: "review it".to_owned(), origin: Origin { source: 0, line }, at: None }
    }

    fn report(line: u64, text: &str) -> TurnReport {
        let origin = Origin { source: 0, line };
        TurnReport { text: text.to_owned(), origin, ..TurnReport::default() }
    }

    #[test]
    fn the_findings_of_a_review_are_open_if_nothing_was_changed() {
        assert_eq!(
            open(Vec::new(), vec![report(2, REVIEW)]),
            [
                "Not fixed in this session: the findings of the review at `src/parse.rs:227`, `src/cli.rs:19`"
            ]
        );
    }

    #[test]
    fn the_findings_of_all_reviews_are_open() {
        let other = "**Findings**\n\n1. [src/list.rs:7](/app/src/list.rs:7) reads a row twice.\n";
        assert_eq!(
            open(Vec::new(), vec![report(2, REVIEW), report(4, other)]),
            [
                "Not fixed in this session: the findings of 2 reviews at `src/parse.rs:227`, `src/cli.rs:19`, `src/list.rs:7`"
            ]
        );
    }

    #[test]
    fn the_place_of_a_finding_with_a_severity_may_come_late() {
        let long = "the list of the rows is read twice, ".repeat(6);
        let review =
            format!("1. Medium: {long}in src/list.rs:7.\n\n2. Low: {long}in src/row.rs:9.\n");
        assert_eq!(
            open(vec![asked(1)], vec![report(2, &review)]),
            [
                "Not fixed in this session: the findings of the review at `src/list.rs:7`, `src/row.rs:9`"
            ]
        );
    }

    #[test]
    fn findings_that_a_later_review_calls_fixed_are_not_open() {
        let count = |last: &str| {
            let first = REVIEW.replace("1. [", "1. Medium: [");
            open(vec![asked(1), asked(3)], vec![report(2, &first), report(4, last)]).len()
        };
        assert_eq!(count("No findings in the current diff. The tests cover both cases."), 0);
        assert_eq!(count("I read the tests, too. They cover one of the cases."), 1);
    }
}
