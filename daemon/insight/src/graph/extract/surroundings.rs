//! Finds the context of a sentence in its report: what a reader needs to understand the sentence,
//! and what limits it.

use super::{condensed::ReportBlock, draft::Draft, fact_selection, names, reference};
use crate::{
    graph::text,
    model::transcript::Origin,
    pattern::pattern,
    report::{Topic, is_phrase},
};

/// Minimum length, in characters, of a sentence that is searched for in a report.
const MIN_CHARS: usize = 16;
/// Maximum number of characters of such a sentence that are compared.
const COMPARED_CHARS: usize = 60;
/// Maximum length, in characters, of a sentence with its neighbours.
const MAX_CHARS: usize = 480;
/// Maximum length, in characters, of a heading that describes a subject.
const MAX_HEADING_CHARS: usize = 70;
/// Maximum length, in characters, of the verdict before an answer.
const MAX_VERDICT_CHARS: usize = 120;
/// Maximum number of paragraphs or items after a sentence that are searched for a limitation of the
/// sentence.
const MAX_SEARCHED_BLOCKS: usize = 2;
/// Minimum number of words of another sentence about the same name.
const MIN_ABOUT_WORDS: usize = 6;
/// Maximum length, in characters, of another sentence about the same name.
const MAX_ABOUT_CHARS: usize = 280;

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
    if is_phrase(Topic::Contrast, &extended) || reference::points_back(&extended) {
        let before = place.as_ref().and_then(|place| place.before.as_deref());
        let before = before.filter(|before| {
            !reference::points_back(before)
                && !is_phrase(Topic::Contrast, before)
                && fact_selection::names_something(before)
        });
        extended = format!("{} {extended}", text::sentence(before?));
    }
    if let Some(after) = place.as_ref().and_then(|place| place.after.as_deref())
        && is_phrase(Topic::Contrast, after)
    {
        extended = format!("{} {after}", text::sentence(&extended));
    }
    let heading = match is_phrase(Topic::BareNoun, &extended) {
        true => Some(place.and_then(|place| place.heading)?),
        false => None,
    };
    let is_short = extended.chars().count() <= MAX_CHARS || extended == sentence.trim();
    is_short.then_some(CompleteSentence { heading, text: extended })
}

/// The context of a sentence in a report.
struct SentenceContext {
    /// The heading above the sentence, if the heading describes a subject.
    heading: Option<String>,
    /// The previous sentence in the same paragraph or item.
    before: Option<String>,
    /// The next sentence in the same paragraph or item, or else a limitation from one of the next
    /// paragraphs or items.
    after: Option<String>,
}

fn find(draft: &Draft<'_>, sentence: &str) -> Option<SentenceContext> {
    let plain = text::plain(sentence);
    if plain.chars().count() < MIN_CHARS {
        return None;
    }
    draft.report_blocks().iter().find_map(|blocks| in_report(blocks, &plain))
}

/// Returns a question with its answer, and with the verdict before the answer in the report, for
/// example `Yes.` or `No — only the id`. Returns any other text unchanged.
pub(super) fn with_verdict(draft: &Draft<'_>, text: &str) -> String {
    let verdict = pattern!(
        r"(?i)^(?:(?:yes|no|yep|nope|correct|not quite|exactly|partly|ja|nein|oui|non)\b|sí(?:[\s.,:;!]|$))"
    );
    let Some((question, answer)) = fact_selection::split_question(text) else {
        return text.to_owned();
    };
    let before = find(draft, answer).and_then(|place| place.before);
    let before = before.filter(|before| {
        verdict.is_match(before)
            && !verdict.is_match(answer)
            && before.chars().count() <= MAX_VERDICT_CHARS
    });
    before.map_or_else(
        || text.to_owned(),
        |before| format!("Asked: {question} Answer: {} {answer}", text::sentence(&before)),
    )
}

/// Returns another sentence about a name that `text` has in backticks. The sentence comes from the
/// first report at or after `line`.
pub(super) fn sentence_about(draft: &Draft<'_>, text: &str, line: Origin) -> Option<String> {
    let mut reports = draft.evidence.reports.iter();
    let report = reports.position(|report| {
        report.origin.source == line.source && report.origin.line >= line.line
    })?;
    let named: Vec<String> = names::quoted(text).map(|name| format!("`{name}`")).collect();
    let own = text::plain(text);
    let is_about = |sentence: &str| {
        let plain = text::plain(sentence);
        named.iter().any(|name| sentence.contains(name.as_str()))
            && plain.split(' ').count() >= MIN_ABOUT_WORDS
            && !own.contains(&plain)
            && !plain.contains(&own)
            && sentence.chars().count() <= MAX_ABOUT_CHARS
            && !reference::has_bare_subject(sentence)
            && !reference::points_back(sentence)
    };
    let mut sentences = draft.report_blocks()[report].iter().flat_map(|block| &block.sentences);
    let found = sentences.find(|sentence| is_about(sentence))?;
    Some(format!("About: “{}”.", text::without_full_stop(found)))
}

fn in_report(blocks: &[ReportBlock], plain: &str) -> Option<SentenceContext> {
    let mut heading = None;
    let start: String = plain.chars().take(COMPARED_CHARS).collect();
    for (number, block) in blocks.iter().enumerate() {
        heading = block.heading.clone().or(heading);
        let sentences = &block.plain;
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
            heading: heading.filter(|heading: &String| describes_subject(heading)),
            before: at.checked_sub(1).map(|before| block.sentences[before].clone()),
            after: block.sentences.get(end).cloned().or_else(|| limit(&blocks[number + 1..])),
        });
    }
    None
}

/// Returns a sentence that begins one of the next blocks of the section and limits the text before
/// it.
fn limit(later: &[ReportBlock]) -> Option<String> {
    let section = later.iter().take_while(|block| block.heading.is_none());
    let mut first = section.take(MAX_SEARCHED_BLOCKS).filter_map(|block| block.sentences.first());
    first.find(|sentence| is_phrase(Topic::Contrast, sentence)).cloned()
}

/// Whether a heading describes a subject, unlike `Summary` or `Next steps`.
fn describes_subject(heading: &str) -> bool {
    let general = pattern!(
        r"(?i)^\W*(?:summary|overview|findings?|results?|conclusions?|recommend\w*|next steps?|key (?:points?|findings?|insights?|takeaways?|changes?)|changes?|what (?:i|was|we|changed|works|does)\b.*|how it works|why\b.*|background|context|analysis|details?|notes?|problem|issue|root cause|cause|fix|solution|status|verification|tests?|testing|done|completed|answer|tl;?dr|options?|pros?|cons?|verdict|in short|bottom line|step \d+\b.*|option \w\b.*)\W*$"
    );
    heading.chars().count() <= MAX_HEADING_CHARS
        && !general.is_match(heading)
        && (fact_selection::names_something(heading) || text::words(heading).len() >= 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        graph::extract::scenarios::{SessionFixture, line},
        model::evidence::TurnReport,
    };

    const REPORT: &str = "\
## Importer of dates
The script fails on dates before 1970. But it reads them with `--old`.

## Summary
The section lists no names. `parse()` keeps the raw date. It never reads the zone of a date.

The lexer keeps comments only in debug builds.

## Old dates
No. The parser of dates needs no zone:
- `zone()` is read only once. It is kept.
- But `zone()` is read again after midnight.";

    #[test]
    fn another_sentence_of_the_report_says_what_a_name_is_about() {
        let mut session = SessionFixture::new(10, "Reject bad paths");
        let text = "Done.\n\n- `parse()`: if the path has a query, `start()` now returns an error.\n\n- Guard lives in `parse()`, not in `new()`.";
        session.evidence.reports =
            vec![TurnReport { text: text.to_owned(), origin: line(3), ..TurnReport::default() }];
        let draft = Draft::new(&session.episode, &session.evidence);
        let about = |text: &str, at| sentence_about(&draft, text, line(at));
        let guard = "Guard lives in `parse()`, not in `new()`";
        assert_eq!(
            about(guard, 2).as_deref(),
            Some("About: “`parse()`: if the path has a query, `start()` now returns an error”.")
        );
        assert_eq!(about(guard, 4), None, "no later report");
        assert_eq!(about("Guard lives in `lex()`", 2), None);
    }

    #[test]
    fn an_answer_has_the_verdict_before_it() {
        let mut session = SessionFixture::new(10, "Read old dates");
        session.evidence.reports =
            vec![TurnReport { text: REPORT.to_owned(), origin: line(3), ..TurnReport::default() }];
        let draft = Draft::new(&session.episode, &session.evidence);
        let asked = "Asked: is a zone needed? Answer:";
        assert_eq!(
            with_verdict(&draft, &format!("{asked} The parser of dates needs no zone")),
            format!("{asked} No. The parser of dates needs no zone")
        );
        let other = format!("{asked} The lexer keeps comments only in debug builds.");
        assert_eq!(with_verdict(&draft, &other), other);
        session.evidence.reports[0].text = REPORT.replace("\nNo. ", "\nSí. ");
        let draft = Draft::new(&session.episode, &session.evidence);
        assert_eq!(
            with_verdict(&draft, &format!("{asked} The parser of dates needs no zone")),
            format!("{asked} Sí. The parser of dates needs no zone")
        );
    }

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
            (
                "`zone()` is read only once. It is kept.",
                Some(
                    "`zone()` is read only once. It is kept. But `zone()` is read again after midnight.",
                ),
            ),
        ] {
            let extended = complete(&draft, sentence).map(|found| match found.heading {
                Some(heading) => format!("{heading}: {}", found.text),
                None => found.text,
            });
            assert_eq!(extended.as_deref(), wanted, "{sentence}");
        }
    }
}
