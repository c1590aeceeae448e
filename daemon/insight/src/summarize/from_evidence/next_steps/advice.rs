//! Finds the agent's recommendations that the user did not answer and later work did not carry out.

use crate::{
    report::{Form, Passage, Report},
    summarize::{
        from_evidence::{
            entries::{Entries, cut_at_clause},
            reported::{
                fate::{Fate, fate, next_prompt},
                review,
            },
        },
        lists::keep_latest,
    },
    text::{capitalised, pattern, sentences, share_of_words, without_full_stop, words},
};

/// Maximum number of recommendations. If there are more, the latest are kept.
const RECOMMENDATIONS: usize = 3;
/// Maximum length, in characters, of a recommendation.
const LENGTH: usize = 240;
/// Minimum number of words of a recommendation that can be understood without other text.
const OBJECT: usize = 7;
/// Later work carried a recommendation out if the report of a turn with changes, or a commit,
/// contains at least this share of the recommendation's words.
const CARRIED_OUT: f64 = 0.4;

/// Returns the last recommendation of each report of a turn without changes, if the recommendation
/// is still open.
pub(crate) fn recommendations(entries: &Entries<'_>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for report in entries.reports.reports.iter().filter(|report| !report.changed) {
        let given = report.passages.iter().rev().find_map(recommended);
        let given = given.or_else(|| recommended_items(&report.passages));
        let is_open = |text: &String| {
            !review::is_review(entries, report)
                && fate(entries, report) == Fate::Kept
                && !is_answered(entries, report)
                && !is_carried_out(entries, report, text)
        };
        let Some(text) = given.filter(is_open) else { continue };
        let text = cut_at_clause(&entries.tidy_line(&text), LENGTH);
        found.push(format!("Recommended: {}", without_full_stop(&capitalised(&text))));
    }
    keep_latest(&mut found, RECOMMENDATIONS);
    found
}

/// Returns the recommendation in a paragraph, without `I would`.
fn recommended(passage: &Passage) -> Option<String> {
    let is_heading = |text: &str| {
        pattern!(r"(?i)^(?:my |final |overall )?(?:recommendation|advice)$").is_match(text)
    };
    if passage.form != Form::Paragraph {
        return None;
    }
    let all = sentences(&passage.text);
    let is_labelled = passage.label.as_deref().is_some_and(is_heading);
    let recommends = pattern!(
        r"(?i)^(?:(?:so|overall|then|therefore|for now),? )*(?:i(?:['\u{2019}]d| would) (?:recommend(?: that you)? |suggest |(not |(?:treat|keep|leave|use|prefer|avoid|merge|hold|stay|wait|stick) ))|my (?:recommendation|advice|preference) (?:is|would be)(?: to)? )(.+)$"
    );
    let text = if is_labelled {
        all.first().map(|first| (*first).to_owned())
    } else {
        all.iter().rev().find_map(|one| {
            let found = recommends.captures(one)?;
            Some(format!("{}{}", found.get(1).map_or("", |verb| verb.as_str()), &found[2]))
        })
    };
    text.filter(|text| stands_alone(text))
}

/// Returns the items of the last list below an introduction such as `So my recommendation:`, with
/// their labels. Items that are done, and items that cannot be understood alone, are left out.
fn recommended_items(passages: &[Passage]) -> Option<String> {
    let is_item = |passage: &&Passage| {
        matches!(passage.form, Form::Item { .. })
            && passage.headings.last().is_some_and(|heading| {
                pattern!(
                r"(?i)^(?:so,? )?(?:my |the )?(?:overall |final )?recommendations?(?: is| are)?$"
            )
            .is_match(heading)
            })
    };
    let last = passages.iter().rposition(|passage| is_item(&passage))?;
    let is_of_list = |passage: &&Passage| passage.headings == passages[last].headings;
    let list = passages[..=last].iter().rev().take_while(is_item).take_while(is_of_list);
    let is_open = |item: &&Passage| !matches!(item.form, Form::Item { ticked: Some(true), .. });
    let mut items: Vec<String> = list
        .filter(is_open)
        .map(|item| {
            let label = item.label.as_ref().map_or(String::new(), |label| format!("{label}: "));
            format!("{label}{}", without_full_stop(&item.text))
        })
        .filter(|item| mentions_object(item))
        .collect();
    items.reverse();
    let is_clear = items.len() > 1 || items.first().is_some_and(|item| stands_alone(item));
    is_clear.then(|| items.join("; "))
}

/// Whether a recommendation can be understood alone.
fn stands_alone(text: &str) -> bool {
    text.split(' ').count() >= OBJECT
        && mentions_object(text)
        && !pattern!(r"(?i)\bif you\b").is_match(text)
}

/// Whether a recommendation mentions its object, and not only a pronoun or an option's number.
fn mentions_object(text: &str) -> bool {
    !text.ends_with([':', '?'])
        && !pattern!(
            r"(?i)\b(?:option|approach|alternative)s? \**[0-9a-d]\b|#[0-9]\b|^\**\(?[0-9a-d][).]|^(?:not |treat |keep |leave |use |prefer |avoid |merge |remove |drop )?(?:it|this|that|these|those|them|both|the (?:first|second|latter|former|same|one))\b|\b(?:here|just for this)$"
        )
        .is_match(text)
}

/// Whether the user answered a report: the next prompt makes a choice, or agrees or disagrees.
fn is_answered(entries: &Entries<'_>, report: &Report) -> bool {
    let Some(next) = next_prompt(entries.evidence, report) else { return false };
    entries.evidence.choices.iter().any(|choice| choice.origin == next.origin)
        || pattern!(r"(?i)^(?:[a-d1-9][).]|(?:yes|yeah|yep|no|nope|ok|okay|sure|agreed|great|perfect|let.?s|i (?:think|like|want|prefer|would|don.?t)|go|do)\b)")
            .is_match(next.text.trim_start())
}

/// Whether later work did what `text`, a recommendation of a report, asks for.
fn is_carried_out(entries: &Entries<'_>, report: &Report, text: &str) -> bool {
    let wanted = words(text);
    let reports = &entries.evidence.reports;
    let later = reports.iter().filter(|one| one.changed && one.origin.follows(report.origin));
    let at = reports.iter().find(|one| one.origin == report.origin).and_then(|one| one.at);
    let commits = entries.evidence.commits.iter();
    let commits = commits.filter(|one| one.origin.is_after(one.at, report.origin, at));
    let commits = commits.map(|commit| format!("{} {}", commit.subject, commit.body));
    let mut done = later.map(|one| one.text.clone()).chain(commits);
    done.any(|done| share_of_words(&wanted, &words(&done)) >= CARRIED_OUT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::{
            evidence::{Commit, Evidence, TurnReport},
            time::Timestamp,
            transcript::Origin,
        },
        report::Reports,
    };

    fn found(reports: &[(&str, bool)]) -> Vec<String> {
        let reports = reports.iter().zip(1..).map(|((text, changed), line)| TurnReport {
            text: (*text).to_owned(),
            changed: *changed,
            origin: Origin { line, ..Origin::default() },
            ..TurnReport::default()
        });
        let evidence = Evidence { reports: reports.collect(), ..Evidence::default() };
        let reports = Reports::of(&evidence);
        recommendations(&Entries { evidence: &evidence, reports: &reports, project: None })
    }

    #[test]
    fn the_items_below_a_recommendation_are_listed() {
        let advice = "The rows are sorted.\n\nSo my recommendation:\n\n- Keep the index in memory.\n- If the rows grow, write it to a file of its own.\n";
        assert_eq!(
            found(&[(advice, false)]),
            [
                "Recommended: Keep the index in memory; If the rows grow, write it to a file of its own"
            ]
        );
        assert_eq!(found(&[(advice, true)]), [""; 0]);
        let of_tests = advice.replace("So my recommendation", "Testing recommendations");
        assert_eq!(found(&[(&of_tests, false)]), [""; 0]);
        let discussed = advice.replace("So my recommendation", "What my recommendation changes");
        assert_eq!(found(&[(&discussed, false)]), [""; 0]);
    }

    #[test]
    fn the_items_of_one_list_are_quoted_with_their_labels() {
        for (advice, wanted) in [
            (
                "- **Cache**: LRU with 100 rows\n- **Name**: keep\n",
                Some("Cache: LRU with 100 rows; Name: keep"),
            ),
            (
                "- [x] Added the index\n- [ ] Read the rows twice\n- Sort the days\n",
                Some("Read the rows twice; Sort the days"),
            ),
            (
                "- Keep the index in memory\n- If you want less memory, keep it in a file\n",
                Some("Keep the index in memory; If you want less memory, keep it in a file"),
            ),
            ("- Option 2\n", None),
            ("- Keep it\n", None),
            (
                "| Part | Advice |\n| --- | --- |\n| Cache | Keep the rows of the last week |\n",
                None,
            ),
        ] {
            let report = format!("My recommendation:\n\n{advice}");
            let wanted: Vec<String> =
                wanted.iter().map(|items| format!("Recommended: {items}")).collect();
            assert_eq!(found(&[(&report, false)]), wanted, "{advice}");
        }
        let two = "## Parser\n\n### Recommendation\n\n- Keep the old parser\n\n## Queue\n\n### Recommendation\n\n- Remove the queue of rows; nothing reads it\n";
        assert_eq!(
            found(&[(two, false)]),
            ["Recommended: Remove the queue of rows; nothing reads it"]
        );
    }

    #[test]
    fn a_recommendation_is_listed_until_it_is_carried_out() {
        let advice = "Two requests are open.\n\n- **#12** is a draft.\n\nI would treat **#14** as the only one that can be merged now.\n";
        let wanted = "Recommended: Treat #14 as the only one that can be merged now";
        assert_eq!(found(&[(advice, false)]), [wanted]);
        assert_eq!(found(&[(advice, true)]), [""; 0]);
        assert_eq!(
            found(&[(advice, false), ("Merged #14, the only one that can be merged now.", true)]),
            [""; 0]
        );
        let labelled =
            "**My recommendation:** Keep the old index until all lists are read. It is small.\n";
        assert_eq!(
            found(&[(labelled, false)]),
            ["Recommended: Keep the old index until all lists are read"]
        );
    }

    #[test]
    fn a_recommendation_mentions_its_object() {
        for text in [
            "I'd recommend option 2, because it needs no second list.\n",
            "I would leave it as it is for the next two weeks.\n",
            "I'd keep the list:\n",
            "I would recommend a lock if you want to keep both of the lists.\n",
        ] {
            assert_eq!(found(&[(text, false)]), [""; 0], "{text}");
        }
    }

    #[test]
    fn a_commit_of_a_sub_agent_before_the_recommendation_does_not_carry_it_out() {
        let at = |second| Some(Timestamp::from_seconds(second));
        let open = |second| {
            let report = TurnReport {
                text: "I would keep the old index until all lists are read.\n".to_owned(),
                origin: Origin { source: 0, line: 5 },
                at: at(50),
                ..TurnReport::default()
            };
            let commit = Commit {
                hash: "1a2b3c4".to_owned(),
                subject: "Keep the old index until all lists are read".to_owned(),
                body: String::new(),
                origin: Origin { source: 1, line: 3 },
                at: at(second),
            };
            let (reports, commits) = (vec![report], vec![commit]);
            let evidence = Evidence { reports, commits, ..Evidence::default() };
            let reports = Reports::of(&evidence);
            let entries = Entries { evidence: &evidence, reports: &reports, project: None };
            recommendations(&entries).len()
        };
        assert_eq!((open(40), open(60)), (1, 0));
    }
}
