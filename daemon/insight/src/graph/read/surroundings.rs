//! Finds the context of a sentence in its report: what a reader needs to understand the sentence,
//! and what limits it.

use super::{condensed, draft::Draft, phrases, reference, worth};
use crate::{graph::text, pattern::pattern};

/// Minimum length, in characters, of a sentence that is searched for in a report, and maximum
/// number of its characters that are compared.
const MIN_CHARS: usize = 16;
const COMPARED_CHARS: usize = 60;
/// Maximum length, in characters, of a sentence with its neighbours.
const MAX_CHARS: usize = 480;
/// Maximum length, in characters, of a heading that names a subject.
const MAX_HEADING_CHARS: usize = 70;

/// A sentence with the context that it needs.
#[derive(Debug, PartialEq)]
pub(super) struct CompleteSentence {
    /// The heading above the sentence, if the subject of the sentence has no name.
    pub(super) heading: Option<String>,
    pub(super) text: String,
}

/// Returns the sentence with its context. The previous sentence is added if the sentence refers to
/// it or limits it. The next sentence is added if it limits the sentence. The heading above is
/// added if the subject of the sentence has no name. Returns `None` if the needed context is
/// missing, or if the sentence with its context is too long.
pub(super) fn complete(draft: &Draft<'_>, sentence: &str) -> Option<CompleteSentence> {
    let place = find(draft, sentence);
    let mut extended = sentence.trim().to_owned();
    if phrases::CONTRAST.matches(&extended) || reference::points_back(&extended) {
        let before = place.as_ref().and_then(|place| place.before.as_deref());
        let before = before.filter(|before| {
            !reference::points_back(before)
                && !phrases::CONTRAST.matches(before)
                && worth::names_something(before)
        });
        extended = format!("{} {extended}", text::sentence(before?));
    }
    if let Some(after) = place.as_ref().and_then(|place| place.after.as_deref())
        && phrases::CONTRAST.matches(after)
    {
        extended = format!("{} {after}", text::sentence(&extended));
    }
    let heading = match phrases::BARE_NOUN.matches(&extended) {
        true => Some(place.and_then(|place| place.heading)?),
        false => None,
    };
    let is_short = extended.chars().count() <= MAX_CHARS || extended == sentence.trim();
    is_short.then_some(CompleteSentence { heading, text: extended })
}

/// The context of a sentence in a report.
struct SentenceContext {
    /// The heading above the sentence, if it names a subject.
    heading: Option<String>,
    /// The sentences before and after the sentence, in its paragraph or item.
    before: Option<String>,
    after: Option<String>,
}

fn find(draft: &Draft<'_>, sentence: &str) -> Option<SentenceContext> {
    let plain = text::plain(sentence);
    if plain.chars().count() < MIN_CHARS {
        return None;
    }
    let evidence = draft.evidence;
    let reports = evidence.reports.iter().map(|report| report.text.as_str());
    let last = evidence.last_reply.iter().map(|reply| reply.text.as_str());
    reports.chain(last).find_map(|report| in_report(report, &plain))
}

fn in_report(report: &str, plain: &str) -> Option<SentenceContext> {
    let mut heading = None;
    for block in condensed::blocks(report) {
        heading = block.heading.or(heading);
        let sentences: Vec<String> = block.sentences.iter().map(|one| text::plain(one)).collect();
        let start: String = plain.chars().take(COMPARED_CHARS).collect();
        let begins = |one: &String| {
            one.chars().count() >= MIN_CHARS
                && (one.contains(&start) || plain.starts_with(one.as_str()))
        };
        let Some(at) = sentences.iter().position(begins) else { continue };
        let mut end = at + 1;
        while end < sentences.len() && !sentences[end].is_empty() && plain.contains(&sentences[end])
        {
            end += 1;
        }
        return Some(SentenceContext {
            heading: heading.filter(|heading: &String| names_subject(heading)),
            before: at.checked_sub(1).map(|before| block.sentences[before].clone()),
            after: block.sentences.get(end).cloned(),
        });
    }
    None
}

/// Whether a heading names a subject, unlike `Summary` or `Next steps`.
fn names_subject(heading: &str) -> bool {
    let general = pattern!(
        r"(?i)^\W*(?:summary|overview|findings?|results?|conclusions?|recommend\w*|next steps?|key (?:points?|findings?|insights?|takeaways?|changes?)|changes?|what (?:i|was|we|changed|works|does)\b.*|how it works|why\b.*|background|context|analysis|details?|notes?|problem|issue|root cause|cause|fix|solution|status|verification|tests?|testing|done|completed|answer|tl;?dr|options?|pros?|cons?|verdict|in short|bottom line|step \d+\b.*|option \w\b.*)\W*$"
    );
    heading.chars().count() <= MAX_HEADING_CHARS
        && !general.is_match(heading)
        && (worth::names_something(heading) || text::words(heading).len() >= 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        graph::read::scenarios::{SessionFixture, line},
        model::evidence::TurnReport,
    };

    const REPORT: &str = "\
## Importer of dates
The script fails on dates before 1970. But it reads them with `--old`.

## Summary
The section lists no names. `parse()` keeps the raw date. It never reads the zone of a date.

The lexer keeps comments only in debug builds.";

    #[test]
    fn a_sentence_is_completed_by_its_context() {
        let mut session = SessionFixture::new(10, "Read old dates");
        session.evidence.reports =
            vec![TurnReport { text: REPORT.to_owned(), origin: line(3), ..TurnReport::default() }];
        let draft = Draft::new(&session.episode, &session.evidence);
        for (sentence, wanted) in [
            (
                "The script fails on dates before 1970.",
                Some(
                    "Importer of dates: The script fails on dates before 1970. But it reads them with `--old`.",
                ),
            ),
            ("The section lists no names.", None),
            (
                "It never reads the zone of a date.",
                Some("`parse()` keeps the raw date. It never reads the zone of a date."),
            ),
            (
                "The lexer keeps comments only in debug builds",
                Some("The lexer keeps comments only in debug builds"),
            ),
            ("It is not in the report at all", None),
        ] {
            let extended = complete(&draft, sentence).map(|found| match found.heading {
                Some(heading) => format!("{heading}: {}", found.text),
                None => found.text,
            });
            assert_eq!(extended.as_deref(), wanted, "{sentence}");
        }
    }
}
