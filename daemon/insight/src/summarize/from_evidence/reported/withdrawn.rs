//! Finds answers that a later report of the agent corrects or takes back.

use std::collections::BTreeSet;

use crate::{
    model::transcript::Origin,
    report::{Topic, is_phrase, retraction},
    summarize::from_evidence::{entries::Entries, reported::overtaken::agent_revoked_work},
    text::{one_line, pattern, sentences, share_of_words, words},
};

/// Whether a later report corrects an answer, because of a test or explicitly.
pub(crate) fn is_refuted(entries: &Entries<'_>, part: &str, at: Origin) -> bool {
    let answer_words = words(part);
    let later = entries.reports.reports.iter().filter(|report| report.origin.line > at.line);
    later.flat_map(|report| &report.claims).any(|claim| {
        let text = format!("{} {}", claim.label.as_deref().unwrap_or_default(), claim.text);
        pattern!(r"(?i)\b(?:we|i) tested and found\b|\bturn(?:s|ed) out\b|\bcorrection\b|\b(?:was|were) wrong\b|\bcontrary to\b")
            .is_match(&text)
            && share_of_words(&answer_words, &words(&text)) >= 0.2
    })
}

/// Whether the agent took an answer back, or the next prompt contradicted it.
pub(crate) fn is_withdrawn(entries: &Entries<'_>, part: &str, at: Origin) -> bool {
    let share = |other: &str| share_of_words(&words(part), &words(other));
    retraction::is_retracted(entries.evidence, at, &share)
}

/// Whether a part has a figure, and the next report admits that a figure of the report at `at` was
/// wrong or measured in another way, and states another figure.
pub(crate) fn has_withdrawn_figure(entries: &Entries<'_>, part: &str, at: Origin) -> bool {
    let reports = &entries.evidence.reports;
    let Some(index) = reports.iter().position(|report| report.origin == at) else { return false };
    let Some(next) = reports.get(index + 1).filter(|_| part.contains(|c: char| c.is_ascii_digit()))
    else {
        return false;
    };
    let opening = one_line(&next.text);
    let opening = sentences(&opening);
    let concedes = |one: &&&str| {
        [Topic::Concession, Topic::Agreement, Topic::Retraction]
            .iter()
            .any(|topic| is_phrase(*topic, one))
    };
    let Some(at) = opening.iter().take(2).position(|one| concedes(&one)) else { return false };
    let (known, stated) = (figures(&reports[index].text), figures(&next.text));
    // `Right. The 118k was with turbo boost.`
    let admitted = opening[at..].iter().take(2).flat_map(|sentence| figures(sentence));
    admitted.into_iter().any(|figure| known.contains(&figure)) && !stated.is_subset(&known)
}

/// Whether a part states measured numbers, and the agent took work back after a later prompt about
/// the same subject. The numbers then include work that is gone.
pub(crate) fn measures_revoked_work(entries: &Entries<'_>, part: &str, at: Origin) -> bool {
    let mut later = entries.evidence.prompts.iter().filter(|prompt| prompt.origin.follows(at));
    let known = words(part);
    let is_about = |prompt: &str, asked: Origin| {
        let conceded = entries.evidence.concessions.iter().filter(|one| one.origin == asked);
        let mut texts = conceded.map(|one| one.text.as_str()).chain([prompt]);
        texts.any(|text| !words(text).is_disjoint(&known))
    };
    pattern!(r"[0-9] ?(?:%|×|[nµm]?s\b|[KMG]i?B\b)").is_match(part)
        && later.any(|prompt| {
            agent_revoked_work(entries.evidence, prompt.origin)
                && is_about(&prompt.text, prompt.origin)
        })
}

/// Returns the measured numbers of a text, without their units: numbers with a fraction or a unit.
fn figures(text: &str) -> BTreeSet<String> {
    let figure = pattern!(
        r"(?:^|[^0-9A-Za-z_.,-])([0-9]+(?:[.,][0-9]+)?) ?(?:%|％|倍|秒|(?:[kKMG]B?|B|m?s|x)(?-u:\b))|(?:^|[^0-9A-Za-z_.,-])([0-9]+[.,][0-9]+)(?-u:\b)"
    );
    let found = figure.captures_iter(text);
    found
        .filter_map(|found| found.get(1).or(found.get(2)))
        .map(|one| one.as_str().to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_numbers_with_a_fraction_or_a_unit() {
        let found = figures("118k req/s, p99 4.1 ms, 2.9x; 7,9 % of 3 files in v1.2, **46%**");
        let found: Vec<&str> = found.iter().map(String::as_str).collect();
        assert_eq!(found, ["118", "2.9", "4.1", "46", "7,9"]);
    }
}
