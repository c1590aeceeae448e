//! Finds the findings of a review: in the report of a turn without changes, the items that contain
//! a place in the code, such as `src/list.rs:12`.

use crate::{
    report::{Form, Passage, Report},
    summarize::from_evidence::{
        entries::{Entries, cut_at_clause, without_number},
        reported::quotable::{depends_on_previous, is_balanced, is_part},
        request::wording::begins_as_order,
    },
    text::{one_line, pattern, sentences},
};

/// Number of bytes at the start of an item that are searched for a place in the code.
const START: usize = 160;
/// Number of bytes at the start of a prompt that are searched for an order such as `review`.
const ASKED: usize = 200;

/// Whether a report is a review: its turn changed nothing, and the user asked for a review or the
/// report calls its items findings.
pub(crate) fn is_review(entries: &Entries<'_>, report: &Report) -> bool {
    let is_asked = || {
        asked_for(entries, report, |start| pattern!(r"(?i)\b(?:code )?review\b").is_match(start))
    };
    !report.changed && (is_asked() || is_headed(report))
}

/// Whether items of a report that mention a place in the code are quoted whole: in a review, and in
/// an answer to an order such as `Point to where the code would change`.
pub(crate) fn has_places(entries: &Entries<'_>, report: &Report) -> bool {
    let asks_where = |start: &str| {
        pattern!(r"(?i)\b(?:point|show me|tell me|list|find) (?:out |me )?(?:to )?(?:where|the places)\b[^.?!]{0,60}\b(?:change[ds]?|changing|fail(?:s|ed)?|break(?:s|ing)?|go(?:es)?|belongs?|needed|needs)\b")
            .is_match(start)
    };
    is_review(entries, report) || !report.changed && asked_for(entries, report, asks_where)
}

/// Whether the start of the prompt before a report satisfies `is_wanted`.
fn asked_for(entries: &Entries<'_>, report: &Report, is_wanted: impl Fn(&str) -> bool) -> bool {
    let before = |line: u64| line < report.origin.line;
    let asked = entries.evidence.prompts.iter().rfind(|prompt| before(prompt.origin.line));
    asked.is_some_and(|asked| is_wanted(&asked.text[..asked.text.floor_char_boundary(ASKED)]))
}

/// Returns the first place in the code in the start of an item of a report.
pub(crate) fn place(entries: &Entries<'_>, passage: &Passage) -> Option<String> {
    let text = item(entries, passage)?;
    first_place(&text[..text.floor_char_boundary(START)])
}

/// Returns the place of a finding: the first one in the start of an item, or else the first one in
/// the whole item if the item begins with a severity.
pub(crate) fn place_of_finding(entries: &Entries<'_>, passage: &Passage) -> Option<String> {
    let rated = || item(entries, passage).filter(|text| begins_with_severity(text));
    place(entries, passage).or_else(|| first_place(&rated()?))
}

/// Whether a finding begins with its severity.
pub(crate) fn begins_with_severity(text: &str) -> bool {
    pattern!(r"(?i)^\W*(?:critical|high|medium|low|blocker|major|minor|nit|p[0-3])\b")
        .is_match(text)
}

fn first_place(text: &str) -> Option<String> {
    let named = pattern!(r"[A-Za-z0-9_./@-]+\.[a-z]{1,5}:[0-9]{1,6}(?:-[0-9]{1,6})?\b");
    named.find(text).map(|place| place.as_str().to_owned())
}

/// Returns an item with its label; `None` for rows, nested items and paragraphs without a label.
fn item(entries: &Entries<'_>, passage: &Passage) -> Option<String> {
    if matches!(passage.form, Form::Row | Form::Item { depth: 2.., .. })
        || passage.form == Form::Paragraph && passage.label.is_none()
    {
        return None;
    }
    let label = passage.label.as_deref().unwrap_or_default();
    Some(entries.tidy_line(&one_line(&format!("{label} {}", passage.text))))
}

/// Returns sentences of a finding, of about `budget` bytes, in order. The first sentence and the
/// remedy are chosen before the others.
pub(crate) fn parts(entries: &Entries<'_>, passage: &Passage, budget: usize) -> Vec<String> {
    let label = passage.label.as_deref().map(one_line);
    let label = label.map(|label| entries.tidy_line(without_number(&label)));
    let text = entries.tidy_line(&passage.text);
    let all: Vec<&str> = sentences(&text);
    let mut taken = vec![false; all.len()];
    let mut left = budget;
    let order = |at: &usize| (*at != 0, !is_remedy(all[*at]), *at);
    let mut by_weight: Vec<usize> = (0..all.len()).collect();
    by_weight.sort_by_key(order);
    for at in by_weight {
        let sentence = all[at];
        let is_sound = |one: &str| (is_part(one) || is_remedy(one)) && is_balanced(one);
        // A sentence that depends on the one before it is only taken together with that one.
        let before = (at > 0 && depends_on_previous(sentence) && !taken[at - 1]).then(|| at - 1);
        let size = sentence.len() + 1 + before.map_or(0, |at| all[at].len() + 1);
        if !taken[at]
            && is_sound(sentence)
            && before.is_none_or(|at| is_sound(all[at]) && !depends_on_previous(all[at]))
            && size <= left
        {
            taken[at] = true;
            before.into_iter().for_each(|at| taken[at] = true);
            left -= size;
        }
    }
    let mut parts: Vec<String> =
        (0..all.len()).filter(|at| taken[*at]).map(|at| all[at].to_owned()).collect();
    // Without the first sentence the others have no subject.
    if !taken.first().is_some_and(|first| *first) {
        parts = all.first().map(|first| cut_at_clause(first, budget)).into_iter().collect();
    }
    if let (Some(label), Some(first)) = (label, parts.first_mut()) {
        *first = format!("{}: {first}", label.trim_end_matches([':', '.']));
    }
    parts
}

/// Whether a sentence of a finding says what to do.
fn is_remedy(sentence: &str) -> bool {
    begins_as_order(sentence)
        || pattern!(
            r"(?i)^(?:tighten|either|consider|keep|pass|reject|return|guard|require|narrow|propagate|restrict|drop|store|treat|expose|record|clear|emit|validate|wrap|escape|bound|cap|surface|preserve|release|cover|assert|(?:the )?(?:fix|remedy)\b|i(?:.d| would) \w+|if .+, [a-z]+ (?:the|a|an|this|that|it)\b)|\bshould (?:be|use|also|instead|not)\b"
        )
        .is_match(sentence)
}

/// Whether a report calls its items findings.
fn is_headed(report: &Report) -> bool {
    report.passages.iter().any(|passage| {
        let headings = passage.headings.iter().map(String::as_str);
        let mut all = headings.chain([passage.text.as_str()]);
        all.any(|text| pattern!(r"(?i)^\W*(?:review )?findings?\b|^\[P[0-3]\]").is_match(text))
            || passage.label.as_deref().is_some_and(|label| {
                pattern!(r"(?i)^\W*(?:\[P[0-3]\]|findings?\b)").is_match(label)
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::evidence::{Evidence, Quote, TurnReport},
        report::Reports,
    };

    const REVIEW: &str = "**Findings**\n\n1. [src/parse.rs:227](/app/src/parse.rs:227) treats broken files as parsed. The parser returns a tree even when it holds errors, so the list of failures stays empty and the level stays `ok`. I reproduced this with an invalid file: the header reported one parsed file and no failure at all. This breaks the contract and can make readers trust an incomplete graph. Add error detection and a test with one malformed file.\n\n2. [src/cli.rs:19](/app/src/cli.rs:19) rejects `--worktree`. The caller passes it. If this is meant to be compatible, add the flag.\n";

    fn with<T>(changed: bool, text: &str, read: impl Fn(&Entries<'_>, &Report) -> T) -> T {
        let report = TurnReport { text: text.to_owned(), changed, ..TurnReport::default() };
        let evidence = Evidence { reports: vec![report], ..Evidence::default() };
        let reports = Reports::of(&evidence);
        let entries = Entries { evidence: &evidence, reports: &reports, project: None };
        read(&entries, &reports.reports[0])
    }

    #[test]
    fn each_finding_of_a_review_has_its_remedy() {
        let lines = with(false, REVIEW, |entries, report| {
            let items = report.passages.iter().filter(|one| place(entries, one).is_some());
            items.map(|item| parts(entries, item, 440).join(" ")).collect::<Vec<String>>()
        });
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[0].starts_with("src/parse.rs:227 treats"));
        assert!(lines[0].ends_with("Add error detection and a test with one malformed file."));
        assert!(lines[1].ends_with("If this is meant to be compatible, add the flag."));
    }

    #[test]
    fn the_places_that_the_user_asked_for_are_findings() {
        let is_asked = |prompt: &str| {
            let origin = |line| crate::model::transcript::Origin { source: 0, line };
            let report = TurnReport { origin: origin(5), ..TurnReport::default() };
            let prompt = Quote { text: prompt.to_owned(), origin: origin(1), at: None };
            let evidence =
                Evidence { prompts: vec![prompt], reports: vec![report], ..Evidence::default() };
            let reports = Reports::of(&evidence);
            let entries = Entries { evidence: &evidence, reports: &reports, project: None };
            has_places(&entries, &reports.reports[0])
        };
        assert!(is_asked("Refunds need an approval. Point to where the code would change."));
        assert!(is_asked("show me where the upload fails"));
        assert!(!is_asked("Where is the server? Start it."));
        assert!(!is_asked("tell me where you are"));
    }

    #[test]
    fn a_list_of_places_without_findings_is_no_review() {
        let text = "The name is used here:\n\n- src/a.rs:12 has it in a log\n- src/b.rs:3 has it in a test\n";
        assert!(!with(false, text, is_review));
        assert!(with(false, REVIEW, is_review));
    }
}
