//! Finds the verdict of a review, in the reports of turns without changes.

use crate::{
    report::{Form, Passage, Report},
    summarize::from_evidence::{
        entries::{Entries, cut_at_clause},
        reported::{
            fate::{Fate, fate},
            review::is_review,
        },
    },
    text::{capitalised, pattern, sentences, without_full_stop},
};

/// Maximum length, in characters, of a verdict.
const VERDICT: usize = 200;

/// Returns the verdict of the last report that states one, such as `Approved with minor
/// suggestions`. Reports of turns with changes do not count.
pub(crate) fn verdict(entries: &Entries<'_>) -> Option<String> {
    let reviews = entries.reports.reports.iter().rev().filter(|report| !report.changed);
    let given = reviews.filter(|report| fate(entries, report) != Fate::Discarded);
    // `Bottom line` in an answer to a question is no verdict of a review.
    let mut given = given.filter_map(|report| {
        let (label, text) = verdict_of(report)?;
        (names_review(&label) || is_headed_as_review(report) || is_review(entries, report))
            .then_some(text)
    });
    let text = given.next()?;
    let text = cut_at_clause(&entries.tidy_line(&text), VERDICT);
    Some(format!("Verdict of the review: {}", capitalised(without_full_stop(&text))))
}

/// Whether a label or a heading says that the text below it is about a review.
fn names_review(label: &str) -> bool {
    pattern!(r"(?i)\b(?:verdict|review|assessment)\b").is_match(label)
}

fn is_headed_as_review(report: &Report) -> bool {
    let mut headings = report.passages.iter().flat_map(|passage| &passage.headings);
    headings.any(|heading| names_review(heading))
}

/// Returns the last judgement in a report and its label, such as `Verdict`.
fn verdict_of(report: &Report) -> Option<(String, String)> {
    let lines = report.passages.iter().flat_map(|passage| {
        let label = passage.label.as_deref().unwrap_or_default();
        let mark = if label.is_empty() || passage.text.is_empty() { "" } else { ": " };
        let line = format!("{label}{mark}{}", passage.text);
        passage.headings.iter().cloned().chain([line, below(passage)])
    });
    let judged = pattern!(
        r"(?i)^\W*(overall|(?:final |overall |my )?verdict|overall assessment|conclusion|(?:review )?summary|bottom line)(?: \([^)]*\))?(?::| [—–-]) *(.+)$"
    );
    let is_judgement = pattern!(
        r"(?i)\b(?:approv\w+|(?:ready|safe|good|ok|fine) to (?:merge|ship|land|go)|ship|lgtm|looks? (?:good|solid|correct)|blocked|blocking|request(?:s|ed)? changes|changes requested|rejected|not ready|needs? (?:work|changes|fixes)|mergeable|merge-ready|sound|no (?:blockers|blocking|critical|required)|0 (?:blocking|critical|required))\b"
    );
    let mut judgements = lines.filter_map(|line| {
        let found = judged.captures(&line)?;
        let first = sentences(&found[2]).first().copied().unwrap_or_default();
        is_judgement.is_match(first).then(|| (found[1].to_owned(), first.to_owned()))
    });
    judgements.next_back()
}

/// Returns a paragraph with its heading as one line; empty for any other passage, or if the heading
/// has a colon.
fn below(passage: &Passage) -> String {
    let heading = passage.headings.last().filter(|heading| !heading.contains(": "));
    match heading.filter(|_| passage.form == Form::Paragraph) {
        Some(heading) => format!("{heading}: {}", passage.text),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::evidence::{Evidence, TurnReport},
        report::Reports,
    };

    fn found_verdict(text: &str) -> Option<String> {
        let report = TurnReport { text: text.to_owned(), ..TurnReport::default() };
        let evidence = Evidence { reports: vec![report], ..Evidence::default() };
        let reports = Reports::of(&evidence);
        verdict(&Entries { evidence: &evidence, reports: &reports, project: None })
    }

    #[test]
    fn the_verdict_of_a_review_is_found() {
        for (text, wanted) in [
            (
                "## Review\n\n**Overall: This PR looks good.** \u{2713}\n\nIt is small.\n\n**Verdict: Ship it.**\n",
                "Ship it",
            ),
            (
                "### Verdict: **Approved with minor suggestions**\n\nThe lock is held.\n",
                "Approved with minor suggestions",
            ),
            (
                "## Verdict\n\nNot ready to merge: the lock is held. I looked at all files.\n",
                "Not ready to merge: the lock is held",
            ),
            ("**Verdict:** approve.\n", "Approve"),
            (
                "## Review of the list\n\n**Summary:** 0 required findings, 4 improvements.\n",
                "0 required findings, 4 improvements",
            ),
        ] {
            assert_eq!(found_verdict(text).unwrap(), format!("Verdict of the review: {wanted}"));
        }
        assert_eq!(found_verdict("**Overall: two files were read.**\n"), None);
        let answer = "The migration has no lock.\n\n**Bottom line:** the migration is safe, but the approach is not ready for two servers.\n";
        assert_eq!(found_verdict(answer), None);
        assert!(found_verdict(&format!("## Code review\n\n{answer}")).is_some());
    }
}
