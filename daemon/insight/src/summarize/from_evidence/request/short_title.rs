//! Shortens a request to the title of a session.

use crate::{
    summarize::from_evidence::{
        entries::cut_at_clause,
        reported::quotable::is_balanced,
        request::{
            antecedents,
            wording::{self, states_problem},
        },
    },
    text::{capitalised, pattern, sentences, without_full_stop, words},
};

/// Maximum length, in characters, of the title of a session.
pub(crate) const TITLE: usize = 80;
/// Minimum length, in characters, of the part of a longer sentence that becomes the title.
const MAIN_PART: usize = 36;
/// Minimum number of words of a part of a sentence that becomes the title. [`without_reference`]
/// accepts one word less.
const WORDS: usize = 4;

/// Words that do not say what a request is about.
const WORDS_WITHOUT_TOPIC: &str =
    "find out why please fix check look solve debug investigate repair handle help try again now";

/// The title for a request.
pub(crate) struct ShortTitle {
    pub(crate) text: String,
    /// Whether the text contains only the start of the sentence.
    pub(crate) is_cut: bool,
}

/// Returns the title for a request: the sentence `ask`, or the first sentence of `text` if `ask`
/// does not say what the request is about. `None` if both are empty.
pub(crate) fn short_title(text: &str, ask: &str) -> Option<ShortTitle> {
    let first = |text: &str| sentences(text).first().map(|first| (*first).to_owned());
    // `Find out why and fix it` does not say what is to be fixed.
    let says_what = |ask: &String| {
        words(ask).difference(&words(WORDS_WITHOUT_TOPIC)).next().is_some()
            && !ends_with_pronoun(ask)
    };
    let name = first(ask).filter(says_what).or_else(|| first(text))?;
    let name = antecedents::main_request(&without_reading(&name));
    // Users may begin sentences in lower case, and `sentences` does not split such text.
    let end = pattern!(r"^.{24,}?[.!?] ").find(&name).filter(|_| is_long(&name));
    let name = end.map_or(name.as_str(), |end| name[..end.end()].trim_end());
    let name = shorter(without_reference(without_full_stop(name)));
    let cut = cut_at_clause(&name, TITLE);
    let is_cut = name.starts_with(&cut) && cut.len() < name.len();
    let text = match is_cut {
        true => main_part(&name).unwrap_or_else(|| without_cut_word(&name, &cut)),
        false => cut,
    };
    Some(ShortTitle { is_cut: is_cut || text.ends_with('…'), text })
}

/// Returns the longest start of a title that fits, and ends before a main clause or, if there is
/// none, before another clause or a preposition. `None` if the start would be shorter than
/// [`MAIN_PART`].
fn main_part(title: &str) -> Option<String> {
    let main = pattern!(r"(?i)(?:[,;:]| [-–—]|,? (?:and|but|or|so)) | \(");
    let clause = pattern!(r"(?i),? (?:when|while|where|because|as|since|which) ");
    let preposition = pattern!(
        r"(?i) (?:to|for|in|on|of|with|from|by|at|into|via|through|using|about|after|before|during|within) "
    );
    let fits = |start: &&str| {
        let length = start.chars().count();
        (MAIN_PART..=TITLE).contains(&length)
            && is_balanced(start)
            && !ends_with_function_word(start)
    };
    [main, clause, preposition].into_iter().find_map(|joint| {
        let starts = joint.find_iter(title).map(|found| &title[..found.start()]);
        starts.filter(fits).last().map(str::to_owned)
    })
}

/// Whether a text ends with a word that needs another word behind it.
fn ends_with_function_word(text: &str) -> bool {
    pattern!(r"(?i) (?:and|or|but|as|to|of|the|an?|with|in|on|at|by|for|from|into|that|this|which|who|is|are|was|be|not|so|such|same|because|than|then|i|we|it|you|my|our|all|also|just|only|both|either|does|do|has|have|will|can|could|should|instead|rather)$")
        .is_match(text)
}

fn is_long(name: &str) -> bool {
    name.chars().count() > TITLE
}

/// Whether a question ends with a pronoun for something in an earlier sentence, for example
/// `Is something in the settings causing that?`.
fn ends_with_pronoun(ask: &str) -> bool {
    ask.ends_with('?') && pattern!(r"(?i) (?:that|this|it|them|those|these)\?$").is_match(ask)
}

/// Removes a leading instruction to read files: `Read a.js and explain how it sorts` becomes
/// `Explain how it sorts`, and `Read a.js and do a code review` becomes `Code review of a.js`.
fn without_reading(name: &str) -> String {
    let reads = pattern!(
        r"(?i)^(?:please )?(?:read|open|look at|have a look at|check out) (?:the )?([\w./, `@-]+?) and (?:then )?((?:do (?:a|an|the) )?\w+ .{12,}|do (?:a|an|the) (?:[a-z-]+ ){0,3}(?:analysis|audit|check|review|summary))$"
    );
    let Some(found) = reads.captures(name).filter(|found| found[0].contains(['.', '/'])) else {
        return name.to_owned();
    };
    let reviews = pattern!(
        r"(?i)^do (?:a|an|the) ((?:[a-z-]+ ){0,3}(?:analysis|audit|check|review|summary))\b(?:$| (?:with|and|while|then|to|that|,))"
    );
    if let Some(review) = reviews.captures(&found[2]) {
        return capitalised(&format!("{} of {}", &review[1], without_folders(&found[1])));
    }
    let done = pattern!(r"(?i)^do (?:a|an|the) ").replace(&found[2], "");
    capitalised(&wording::plain(&done).0)
}

fn without_folders(text: &str) -> String {
    pattern!(r"(?:[A-Za-z0-9_.@~-]+/)+([A-Za-z0-9_.-]+\.[A-Za-z0-9]{1,8}\b)")
        .replace_all(text, "$1")
        .into_owned()
}

/// Returns a title without a reference to earlier text at its end: `Update the todo to reflect
/// this` becomes `Update the todo`.
fn without_reference(name: &str) -> &str {
    let reference = pattern!(
        r"(?i),? (?:accordingly|(?:to (?:reflect|match|include|incorporate|show|mention|address|support|use|do|handle)|based on|because of|as part of|like|about|with) (?:this|that|these|those|it|them))$"
    );
    let head = reference.find(name).map(|found| &name[..found.start()]);
    head.filter(|head| head.split_whitespace().count() >= WORDS - 1).unwrap_or(name)
}

/// Shortens a title that is too long. Until it fits, removes folders of files, a condition at its
/// start, the background of a problem and the items of a list, in this order.
fn shorter(name: &str) -> String {
    if !is_long(name) {
        return name.to_owned();
    }
    let parts: [fn(&str) -> Option<&str>; 3] = [without_condition, stated_problem, before_list];
    parts.into_iter().fold(without_folders(name), |name, part| match part(&name) {
        Some(part) if is_long(&name) => capitalised(part),
        _ => name,
    })
}

/// Returns the main clause of a text such as `When the token has expired, the page stays empty`.
fn without_condition(name: &str) -> Option<&str> {
    let condition = pattern!(
        r"(?i)^(?:when|while|if|after|since|once|now that|as soon as|although|even though|because|given that)\b[^,]+, (?:then )?(.{16,})$"
    );
    condition.captures(name)?.get(1).map(|rest| rest.as_str())
}

/// Returns the problem at the end of a sentence that begins with what somebody did, for example
/// `We've just moved the parser (see the guide) and most of the tests are failing`.
fn stated_problem(name: &str) -> Option<&str> {
    if !pattern!(r"(?i)^(?:we|i)(?:['’]ve| have| had| just| recently)? ").is_match(name) {
        return None;
    }
    let joint = pattern!(r" (?:and|but) (?:now )?");
    let (start, end) = joint.find_iter(name).last().map(|found| (found.start(), found.end()))?;
    let (before, behind) = (&name[..start], &name[end..]);
    let stands_alone = behind.split_whitespace().count() >= WORDS
        && !pattern!(r"(?i)^(?:it|this|that|they|these|those|i|we|you)\b").is_match(behind);
    (stands_alone && states_problem(behind) && !states_problem(before)).then_some(behind)
}

/// Returns the part of a title before a list of several items.
fn before_list(name: &str) -> Option<&str> {
    let (head, list) = name.split_once(": ")?;
    let open = pattern!(
        r"(?i)(?:,| that| which| to| would| will| and| to understand| to see| in order to| the following)+$"
    );
    let head = open.find(head).map_or(head, |found| &head[..found.start()]);
    (list.contains("; ") && head.split_whitespace().count() >= WORDS).then_some(head)
}

/// Returns `cut`, the start of `title`, without an incomplete word, code span or quotation at its
/// end, and without words such as `and` or `the` before it.
fn without_cut_word(title: &str, cut: &str) -> String {
    let continues = |c: char| c.is_alphanumeric() || matches!(c, '/' | '_' | '-' | '.');
    let is_half = title[cut.len()..].starts_with(continues);
    let mut text = match cut.rfind(' ').filter(|_| is_half) {
        Some(word) => &cut[..word],
        None => cut.trim_end_matches('…').trim_end(),
    };
    for mark in ['`', '"'] {
        if text.matches(mark).count() % 2 == 1 {
            text = text[..text.rfind(mark).unwrap_or(text.len())].trim_end();
        }
    }
    let stump = pattern!(
        r"(?i)[ ,;]+(?:and|or|but|as|to|of|the|an?|with|in|on|at|by|for|from|into|that|this|which|who|is|are|was|be|not|until|if|when|so|because|than|then|i|we|it|you|my|our|all|also|such|just|ones|does|do|has|have|will|can|could|should|and [a-z]+|or [a-z]+)$"
    );
    while let Some(found) = stump.find(text) {
        text = &text[..found.start()];
    }
    format!("{text}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn title(request: &str) -> String {
        short_title(request, request).map(|title| title.text).unwrap_or_default()
    }

    #[test]
    fn a_long_title_loses_folders_conditions_and_lists() {
        for (request, wanted) in [
            (
                "Check if the tests in server/archive/integration_test/setup_archive_hooks_test.go are now not duplicated",
                "Check if the tests in setup_archive_hooks_test.go are now not duplicated",
            ),
            (
                "When the token has expired and the user loads the page of the archive, the page stays in `loading...` for ever",
                "The page stays in `loading...` for ever",
            ),
            (
                "We've just done a large refactoring (second part of docs/REVIEW.md of the team) and a lot of the browser tests are failing",
                "A lot of the browser tests are failing",
            ),
            (
                "Examine the reader of the archive to understand: Where names are cleaned now; How comments are read; What is left out",
                "Examine the reader of the archive",
            ),
            (
                "Review the changes in this branch (`ann/streaming-of-the-archive`) and read the text of its pull request",
                "Review the changes in this branch (`ann/streaming-of-the-archive`)",
            ),
            (
                "I got this feedback for the changes in server/archive/commit_hooks.go:281 \"Truncating the text by its bytes breaks names",
                "I got this feedback for the changes in commit_hooks.go:281…",
            ),
        ] {
            assert_eq!(title(request), wanted);
        }
    }

    #[test]
    fn the_title_of_a_review_contains_the_files_that_were_read() {
        assert_eq!(
            title(
                "Read public/a.css, public/a.js and do a thorough code review with care and keep it simple"
            ),
            "Thorough code review of a.css, a.js"
        );
        assert_eq!(title("Read src/a.js and do a review"), "Review of a.js");
        assert_eq!(
            title("Read src/a.js and explain how its lists are sorted"),
            "Explain how its lists are sorted"
        );
    }

    #[test]
    fn a_title_does_not_refer_to_earlier_text() {
        assert_eq!(title("Update the todo to reflect this"), "Update the todo");
        assert_eq!(title("Do it like that"), "Do it like that");
        let asked = "Is there something in my settings that's causing that?";
        let text = format!("Lately, the list is very slow. {asked}");
        assert_eq!(short_title(&text, asked).unwrap().text, "Lately, the list is very slow");
    }
}
