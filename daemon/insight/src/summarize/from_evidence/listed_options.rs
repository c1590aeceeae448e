//! Finds the options in a report that the user names by letter or number.

use crate::{
    model::{evidence::Evidence, transcript::Origin},
    summarize::{
        from_evidence::{
            entries::Entries,
            request::{Request, prompt_of},
        },
        report::Report,
        text::{cut, one_line, pattern},
    },
};

/// Maximum number of reports before a prompt that are searched for the options that it names.
const REPORTS: usize = 3;

/// Whether a quote picks by letters or numbers: `do B, C and D`, `go for 1-3`. Without the list of
/// options, such a quote says nothing.
pub(super) fn names_options(quote: &str) -> bool {
    pattern!(
        r"(?:^|\s)[B-H](?:[,.]| and\b|$)|(?:^|\s)[1-9] ?(?:[-–,]|and) ?[1-9]\b|\b(?i:options?|number|points?|items?|findings?) (?:[1-9]|[A-H])\b"
    )
    .is_match(quote)
}

/// Returns the labels that the prompt names by letter or number, from the previous report that
/// lists them. The user may ask about options before picking one.
pub(super) fn named_options(entries: &Entries<'_>, words: &str, at: Origin) -> Vec<String> {
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
pub(super) fn picked(evidence: &Evidence, request: &Request) -> Option<String> {
    let mark = pattern!(r"(?i)^(?:option )?([a-e1-9])\b").captures(&request.text)?;
    let asked = prompt_of(evidence, request)?;
    let shown = evidence.reports.iter().rfind(|one| one.origin.line < asked.origin.line)?;
    let label = option_named(&Report::of(shown), &mark[1])?;
    Some(one_line(&label))
}

/// Returns the text of the option that a report lists under the number or letter `mark`.
pub(super) fn option_named(report: &Report, mark: &str) -> Option<String> {
    let begins = |text: &str| {
        let found =
            pattern!(r"^(?:finding |option |issue |approach )?([A-H1-9])[.:)\s—-]+(\S.{7,})$")
                .captures(text)?;
        found[1].eq_ignore_ascii_case(mark).then(|| found[2].to_owned())
    };
    report.claims.iter().find_map(|claim| {
        let text = claim.label.as_deref().unwrap_or(&claim.text);
        let is_marked = claim.mark.as_deref().is_some_and(|own| own.eq_ignore_ascii_case(mark));
        begins(text).or_else(|| is_marked.then(|| text.to_owned()))
    })
}
