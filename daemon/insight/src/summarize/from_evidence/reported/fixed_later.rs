//! Determines whether later work fixed what a report describes.

use crate::{
    report::Report,
    summarize::from_evidence::{
        entries::Entries,
        reported::{fate::next_prompt, review},
    },
    text::{pattern, share_of_words, words},
};

/// A later commit with at least this share of the words of a finding fixed what the finding
/// describes. Half of this share is enough if the commit mentions a file or code of the finding. A
/// later report needs the whole share. It must also mention a file or code of the finding, or be
/// the next report with changes after the user agreed to the findings.
const FIXED_SHARE: f64 = 0.4;

/// Whether a later commit or change fixed what `part` of a report describes. Then the summary
/// contains the fix instead. If the turn of the report changed something, only findings with a
/// severity count.
pub(crate) fn is_fixed_later(entries: &Entries<'_>, report: &Report, part: &str) -> bool {
    if report.changed && !names_severity(part) {
        return false;
    }
    let part_words = words(part);
    let quoted = part.split('`').skip(1).step_by(2);
    let files = part.split([' ', ':']);
    let files = files.map(|word| word.trim_end_matches(|c: char| !c.is_alphanumeric()));
    let files = files.filter(|word| pattern!(r"^[\w./-]+\.[a-z]{1,4}$").is_match(word));
    let named: Vec<&str> = quoted.chain(files).filter(|name| name.len() >= 4).collect();
    let later =
        entries.evidence.commits.iter().filter(|commit| commit.origin.follows(report.origin));
    let mut mending = later.filter(|commit| {
        !pattern!(r"(?i)^(?:docs|chore|style|test|ci|build)\b").is_match(&commit.subject)
    });
    let names = |text: &str| named.iter().any(|name| text.contains(name));
    // A change without a commit is described by its report.
    let reported = entries
        .evidence
        .reports
        .iter()
        .filter(|later| later.changed && later.origin.follows(report.origin));
    mending.any(|commit| {
        let text = format!("{} {}", commit.subject, commit.body);
        let share = share_of_words(&part_words, &words(&text));
        share >= FIXED_SHARE || share >= FIXED_SHARE / 2.0 && names(&text)
    }) || reported.enumerate().any(|(at, later)| {
        let answers = at == 0
            && (names_severity(part) || review::is_review(entries, report))
            && is_agreed(entries, report);
        (answers || names(&later.text))
            && share_of_words(&part_words, &words(&later.text)) >= FIXED_SHARE
    })
}

/// Whether the prompt after a report allows the agent to do what the report proposes.
pub(crate) fn is_agreed(entries: &Entries<'_>, report: &Report) -> bool {
    next_prompt(entries.evidence, report).is_some_and(|next| {
        pattern!(r"(?i)^(?:(?:ok(?:ay)?|yes|yeah|yep|sure|great|good|perfect|sounds good|please|then|let['\u{2019}]?s)[,. ]+)*(?:do|fix|implement|address|tackle|resolve|build|go with|take) (?:it|this|that|these|those|them|all|both|so|the (?:mvp|plan|fix(?:es)?|next)|option)\b|^(?:(?:ok(?:ay)?|yes|yeah|sure)[,. ]+)?(?:please )?(?:go (?:ahead|for it)|proceed)\b|^(?:yes|yeah|yep|ok(?:ay)?|sure)(?: please)?[.!]?$")
            .is_match(next.text.trim())
    })
}

/// Whether a part is a finding of a review with its severity. The severity distinguishes such
/// findings in a turn with changes, for example a turn that writes its review into a file.
fn names_severity(part: &str) -> bool {
    pattern!(r"(?i)^\W*(?:critical|high|medium|low|blocker|major|minor|nit|p[0-3])(?: (?:priority|severity))?\b ?[:(\u{2014}-]|^\W*(?:CRIT|HIGH|MED|LOW|BLOCK|WARN|INFO)[A-Z]*-[0-9]+\b")
        .is_match(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::{
            evidence::TurnReport,
            transcript::{Origin, Outcome},
        },
        report::Reports,
        summarize::evidence::scenarios::Script,
    };

    #[test]
    fn a_commit_fixes_a_finding_that_was_written_into_a_file() {
        let mut script = Script::default();
        script.prompt("Mend the list");
        script.run(
            "a",
            "git commit -qam 'fix: close the reader of the list after the last row'",
            Outcome::Succeeded,
            "[list 1a2b3c4] fix: close the reader of the list after the last row\n",
        );
        let evidence = script.collect();
        let reports = Reports::default();
        let entries = Entries { evidence: &evidence, reports: &reports, project: None };
        let origin = Origin::default();
        let of = |changed| Report::of(&TurnReport { changed, origin, ..TurnReport::default() });
        let finding = "The reader of the list is not closed after the last row.";
        for (changed, part, wanted) in [
            (false, finding.to_owned(), true),
            (true, finding.to_owned(), false),
            (true, format!("High: {finding}"), true),
            (true, format!("HIGH-01: {finding}"), true),
            (true, "High: The day of each invoice is read as a text.".to_owned(), false),
        ] {
            assert_eq!(is_fixed_later(&entries, &of(changed), &part), wanted, "{changed} {part}");
        }
    }
}
