//! Finds the text that makes a decision clear: what the user added to a chosen option, and the text
//! to which a short sentence of the user refers.

use super::{condensed, draft::Draft, fact_selection, preferences, reference};
use crate::{
    graph::text,
    model::{
        evidence::{Choice, Quote},
        transcript::Origin,
    },
    pattern::pattern,
};

/// Maximum length, in characters, of the quoted prompt with which the user chose an option.
const MAX_QUOTED_CHARS: usize = 300;
/// Minimum number of words of a prompt that says more than the choice.
const MIN_ADDED_WORDS: usize = 10;
/// Minimum number of words of an addition to an option. `And continue` adds nothing.
const MIN_ADDITION_WORDS: usize = 4;
/// Maximum length, in characters, of the text that a short sentence refers to.
const MAX_OBJECT_CHARS: usize = 240;
/// Minimum number of words of a quote that is clear alone.
const MIN_CLEAR_WORDS: usize = 8;
/// Maximum length, in characters, of a question that a prompt answers.
const MAX_QUESTION_CHARS: usize = 200;

/// Returns the user's words, as a sentence, if the user chose an option and changed it or said
/// more, for example `B, but with the prompts`.
pub(super) fn addition_to_option(draft: &Draft<'_>, asked: &Choice) -> Option<String> {
    let mut prompts = draft.evidence.prompts.iter();
    let prompt = prompts.find(|prompt| prompt.origin == asked.origin && !asked.typed);
    let prompt = asked.words.as_deref().or(prompt.map(|prompt| prompt.text.as_str()))?;
    let words = without_questions(prompt);
    let says_more = words.split_whitespace().count() >= MIN_ADDED_WORDS
        && prompt.chars().count() <= MAX_QUOTED_CHARS;
    let verb = match () {
        () if adds_to_option(&words) => "added",
        () if changes_option(&words) => "changed it",
        () if says_more => "said",
        () => return None,
    };
    Some(format!(" The user {verb}: “{}”.", text::cut(&words, MAX_QUOTED_CHARS)))
}

/// Returns a prompt on one line without its questions, and without the number or letter of the
/// chosen option at its start, such as `Option 2:`.
fn without_questions(prompt: &str) -> String {
    let mark = pattern!(
        r"(?i)^(?:i(?:.d)? (?:think|say|prefer|choose|go (?:with|for)) |let.?s go with )?(?:option )?\(?[a-e1-9]\)[,.:]? *"
    );
    let asides = pattern!(r" ?\([^()?]*\?\)");
    let ends = pattern!(r"[.!?]+(?: +|$)| +[-–—] +");
    let prompt = text::single_spaced(prompt);
    let prompt = mark.replace(&prompt, "");
    let prompt = asides.replace_all(&prompt, "");
    let mut starts = vec![0];
    starts.extend(ends.find_iter(&prompt).map(|end| end.end()));
    starts.push(prompt.len());
    let parts = starts.windows(2).map(|part| &prompt[part[0]..part[1]]);
    let stated: String = parts.filter(|part| !part.trim_end().ends_with('?')).collect();
    stated.trim().trim_end_matches([' ', '-', '–', '—', '.']).to_owned()
}

/// Whether the words that choose an option only add to it.
fn adds_to_option(words: &str) -> bool {
    pattern!(r"(?i)^(?:\(?[a-e1-9][).:,]* )?(?:yes,? )?(?:and |plus |also\b|in addition\b|additionally\b|y también\b|et aussi\b|und auch\b)").is_match(words)
        && !pattern!(r"(?i)\b(?:but|except|instead|without|aber|außer|ohne|pero|excepto|sin|mais|sauf|sans)\b").is_match(words)
        && words.split_whitespace().count() >= MIN_ADDITION_WORDS
}

/// Whether the words that choose an option change it.
fn changes_option(words: &str) -> bool {
    pattern!(
        r"(?i)\b(?:but|except|however|without|instead|only|plus|as well|also|require\w*|make sure|must|should|keep|needs?|not|don.t|aber|außer|ohne|nur|pero|excepto|sin|mais|sauf|sans)\b|但|不过|ただし|でも"
    )
    .is_match(words)
}

/// Returns what a quote of the prompt in `line` refers to: what the user wrote before the quote in
/// the same prompt, such as a pasted review, or the question of the agent that the prompt answers.
pub(super) fn referent_of(draft: &Draft<'_>, quote: &str, line: Origin) -> Option<String> {
    let evidence = draft.evidence;
    let prompt = evidence.prompts.iter().find(|prompt| prompt.origin == line)?;
    if let Some(before) = named_text_before(prompt, quote) {
        return Some(format!("About: “{}”.", text::cut(&before, MAX_OBJECT_CHARS)));
    }
    let report = draft.report_before(line)?;
    let question = condensed::last_question(&report.text, MAX_QUESTION_CHARS)?;
    (fact_selection::is_clear_question(&question) && fact_selection::names_something(&question))
        .then(|| format!("Asked: “{question}”"))
}

/// Whether a quote is unclear alone, even if it contains a name: it has few words, or refers to a
/// thing only by a common noun.
pub(super) fn is_vague(quote: &str) -> bool {
    quote.split_whitespace().count() < MIN_CLEAR_WORDS || preferences::has_bare_object(quote)
}

/// Returns the two sentences directly before a quote of the prompt in `line`, or only the last
/// sentence if the other one refers to an earlier text. Returns `None` if the sentences are
/// unclear.
pub(super) fn sentences_before(draft: &Draft<'_>, quote: &str, line: Origin) -> Option<String> {
    let prompt = draft.evidence.prompts.iter().find(|prompt| prompt.origin == line)?;
    let before = sentences_before_quote(prompt, quote)?;
    // Users also begin sentences with a small letter.
    let ends = pattern!(r"[.!?]+ +");
    let mut starts: Vec<usize> = ends.find_iter(&before).map(|end| end.end()).collect();
    starts.insert(0, 0);
    let last = starts.into_iter().rev().take(2).map(|start| &before[start..]);
    let is_clear = |text: &&str| {
        text.split_whitespace().count() >= MIN_CLEAR_WORDS && !reference::points_back(text)
    };
    let mut clear = last.filter(is_clear);
    let nearest = clear.next()?;
    let before = clear.next().unwrap_or(nearest);
    Some(format!("About: “{}”.", text::cut(before.trim_end_matches('.'), MAX_OBJECT_CHARS)))
}

/// Returns the text of [`sentences_before_quote`] if the text contains a name.
fn named_text_before(prompt: &Quote, quote: &str) -> Option<String> {
    sentences_before_quote(prompt, quote).filter(|before| fact_selection::names_something(before))
}

/// Returns the sentences directly before a quote in its prompt, at most twice [`MAX_OBJECT_CHARS`]
/// characters.
fn sentences_before_quote(prompt: &Quote, quote: &str) -> Option<String> {
    let first = quote.trim_matches('"').split(" … ").next()?.trim();
    let line = text::single_spaced(&prompt.text);
    let before = line[..line.find(first)?].trim();
    let start = before.char_indices().rev().nth(MAX_OBJECT_CHARS * 2).map_or(0, |(at, _)| at);
    let before = &before[start..];
    // A text that was cut at its beginning begins at its next sentence.
    let begins = if start == 0 { 0 } else { before.find(". ").map_or(0, |at| at + 2) };
    Some(before[begins..].trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        graph::extract::scenarios::{SessionFixture, line},
        model::evidence::TurnReport,
    };

    #[test]
    fn questions_and_the_mark_of_an_option_are_no_part_of_the_users_words() {
        for (prompt, wanted) in [
            (
                "I think B), let's start with all prompts (they are in order right?) - can't we see the files?",
                "let's start with all prompts",
            ),
            ("b. and keep `meta.json` small. Can we try it?", "b. and keep `meta.json` small"),
            ("only the first one", "only the first one"),
            ("why?", ""),
        ] {
            assert_eq!(without_questions(prompt), wanted, "{prompt}");
        }
    }

    #[test]
    fn the_user_adds_to_an_option_or_changes_it() {
        let session = SessionFixture::new(10, "Speed up the importer");
        let draft = Draft::new(&session.episode, &session.evidence);
        let addition = |words: &str| {
            let asked = Choice { words: Some(words.to_owned()), ..Choice::default() };
            addition_to_option(&draft, &asked)
        };
        for (words, wanted) in [
            (
                "b. also it must run on Windows",
                Some(" The user added: “b. also it must run on Windows”."),
            ),
            ("b, but only on Linux", Some(" The user changed it: “b, but only on Linux”.")),
            (
                "and also b but without the cache",
                Some(" The user changed it: “and also b but without the cache”."),
            ),
            ("b it is", None),
            ("A) and continue", None),
            (
                "et aussi b mais sans la cache",
                Some(" The user changed it: “et aussi b mais sans la cache”."),
            ),
        ] {
            assert_eq!(addition(words).as_deref(), wanted, "{words}");
        }
    }

    #[test]
    fn a_short_quote_refers_to_the_text_before_it_or_to_a_question() {
        let mut session = SessionFixture::new(10, "Speed up the importer");
        let report = |text: &str| TurnReport {
            text: text.to_owned(),
            origin: line(3),
            ..TurnReport::default()
        };
        let mut found = |prompt: &str, asked: &str| {
            session.evidence.prompts =
                vec![Quote { text: prompt.to_owned(), origin: line(5), at: None }];
            session.evidence.reports = vec![report(asked)];
            let draft = Draft::new(&session.episode, &session.evidence);
            referent_of(&draft, "\"Let's keep one per call.\"", line(5))
        };
        assert_eq!(
            found("`send()` caches its client.\n\nLet's keep one per call.", "Done.").as_deref(),
            Some("About: “`send()` caches its client.”.")
        );
        assert_eq!(
            found("Let's keep one per call.", "Should `send()` share its client?").as_deref(),
            Some("Asked: “Should `send()` share its client?”")
        );
        assert_eq!(found("Let's keep one per call.", "Done."), None);
        assert_eq!(found("Ok. Let's keep one per call.", "Shall I do that?"), None);
    }
}
