//! Finds the options in a report that the user refers to by letter or number.

use crate::{
    model::{evidence::Evidence, transcript::Origin},
    report::Report,
    summarize::from_evidence::{
        entries::Entries,
        request::{Request, prompt_of},
    },
    text::{cut, one_line, pattern},
};

/// Maximum number of reports before a prompt that are searched for the options that the prompt
/// picks.
const REPORTS: usize = 3;

/// Whether a quote picks options by letter or number, for example `do B, C and D` or `go for 1-3`.
/// Such a quote cannot be understood without the list of options.
pub(crate) fn names_options(quote: &str) -> bool {
    pattern!(
        r"(?:^|\s)[B-H](?:[,.]| and\b|$)|(?:^|\s)[1-9] ?(?:[-–,]|and) ?[1-9](?:$|[,.;:!?)–-]| (?i:with|and|but|then|as|first|please|now|too|only|are|is|should|looks?|sounds?|in|for)\b)|\b(?i:options?|number|points?|items?|findings?) (?:[1-9]|[A-H])\b"
    )
    .is_match(quote)
        // `C` beside another language is a language.
        && !pattern!(r"\bC,? (?i:and|not|or|over|instead of|rather than) (?:C\+\+|Rust|rust|Go|Zig|Python|Java|TypeScript)\b|\b(?:in|from|to) C\b")
            .is_match(quote)
}

/// Returns the labels of the options whose letters or numbers are in `words`, from the last report
/// that lists them. The user may ask about options in other prompts before picking one.
pub(crate) fn named_options(entries: &Entries<'_>, words: &str, at: Origin) -> Vec<String> {
    let before = entries.reports.reports.iter().rev().filter(|report| report.origin.line < at.line);
    let named = before.take(REPORTS).map(|report| named_in(entries, report, words));
    named.into_iter().find(|found| !found.is_empty()).unwrap_or_default()
}

fn named_in(entries: &Entries<'_>, before: &Report, words: &str) -> Vec<String> {
    let named: Vec<&str> =
        pattern!(r"(?:^|[\s,(#])([A-H1-9])(?:[,.):]| ?[-–—] | (?:and|or|is|are)\b|$)")
            .captures_iter(words)
            .filter_map(|found| found.get(1))
            .map(|mark| mark.as_str())
            .collect();
    let named = named.into_iter().filter_map(|mark| {
        let label = option_named(before, mark)?;
        Some(format!("{mark}: {}", cut(&entries.tidy_line(&label), 80)))
    });
    named.take(6).collect()
}

/// Returns the item that a request picks by number or letter from the agent's previous report.
pub(crate) fn picked(evidence: &Evidence, request: &Request) -> Option<String> {
    let mark = pattern!(r"(?i)^(?:option )?([a-e1-9])\b").captures(&request.text)?;
    let asked = prompt_of(evidence, request)?;
    let shown = evidence.reports.iter().rfind(|one| one.origin.line < asked.origin.line)?;
    let label = option_named(&Report::of(shown), &mark[1])?;
    Some(one_line(&label))
}

/// Returns the text of the option that a report lists under the number or letter `mark`: a heading
/// or label such as `Option 1: Extract a helper`, or else the first item with that number.
pub(crate) fn option_named(report: &Report, mark: &str) -> Option<String> {
    let begins = |text: &str| {
        let found = pattern!(
            r"^(?:[Ff]inding |[Oo]ption |[Ii]ssue |[Aa]pproach )?([A-H1-9])[.:)\s—-]+(\S.{7,})$"
        )
        .captures(text)?;
        found[1].eq_ignore_ascii_case(mark).then(|| found[2].to_owned())
    };
    let headings = report.passages.iter().flat_map(|passage| &passage.headings);
    let labels = report.claims.iter().map(|claim| claim.label.as_ref().unwrap_or(&claim.text));
    let named = headings.filter(|heading| is_option(heading)).chain(labels);
    if let Some(text) = named.into_iter().find_map(|text| begins(text)) {
        return Some(text);
    }
    let mut claims = report.claims.iter();
    let marked = claims
        .find(|claim| claim.mark.as_deref().is_some_and(|own| own.eq_ignore_ascii_case(mark)));
    marked.map(|claim| claim.label.as_ref().unwrap_or(&claim.text).clone())
}

/// Whether a heading or label begins with the mark of an option, such as `Option 1` or `B.`
pub(crate) fn is_option(label: &str) -> bool {
    pattern!(r"(?i)^(?:option|approach|alternative) [a-h1-9]\b|^[A-H][.):]").is_match(label)
}

/// Returns the number or letter of an option, such as `1` of `Option 1: Drop the lock`.
fn option_mark(name: &str) -> Option<char> {
    let mark = pattern!(r"(?i)^(?:option |approach |alternative )?([a-h1-9])\b").captures(name)?;
    mark[1].chars().next().map(|mark| mark.to_ascii_lowercase())
}

/// Returns the names of the options in a report, at most `most`.
pub(crate) fn all_options(entries: &Entries<'_>, report: &Report, most: usize) -> Vec<String> {
    let numbered = report.claims.iter().filter(|claim| claim.mark.is_some());
    let numbered: Vec<&String> = numbered.filter_map(|claim| claim.label.as_ref()).collect();
    let headings = report.passages.iter().flat_map(|passage| &passage.headings);
    let labels = report.claims.iter().filter_map(|claim| claim.label.as_ref());
    let mut named: Vec<&String> = headings.chain(labels).filter(|text| is_option(text)).collect();
    // Some names may be in headings and others in labels, so they are put in order.
    named.sort_by_key(|name| option_mark(name));
    // If some items are marked as options, the numbers of the remaining items belong to other
    // lists.
    let all = if named.is_empty() { numbered } else { named };
    let mut names: Vec<String> = Vec::new();
    for name in all {
        let name = cut(&entries.tidy_line(name), 80);
        if !names.contains(&name) && names.len() < most {
            names.push(name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::evidence::TurnReport;

    #[test]
    fn ranges_and_languages_are_no_options() {
        for (quote, wanted) in [
            ("do B, C and D", true),
            ("go for 1-3", true),
            ("do 1-3 with a test each", true),
            ("fix 1, 2 and skip the rest", true),
            ("use option 2", true),
            ("use C.", true),
            ("use 3-5 workers instead of one per core", false),
            ("keep 2 and 3 copies of each", false),
            ("let's use C, not Rust", false),
            ("write it in C.", false),
        ] {
            assert_eq!(names_options(quote), wanted, "{quote}");
        }
    }

    #[test]
    fn an_option_is_found_by_its_heading_before_other_lists() {
        let text = "Differences:\n1. **Type**: other types\n2. **Name**: other names\n\n### Option 1: Extract a helper\n\nIt is small.\n\n### Option 2: Keep both\n\nNothing changes.\n";
        let report = Report::of(&TurnReport { text: text.to_owned(), ..TurnReport::default() });
        assert_eq!(option_named(&report, "1").as_deref(), Some("Extract a helper"));
        let list = "1. Extract a helper\n2. Keep both of them\n";
        let report = Report::of(&TurnReport { text: list.to_owned(), ..TurnReport::default() });
        assert_eq!(option_named(&report, "2").as_deref(), Some("Keep both of them"));
    }
}
