//! Finds the failure that a root cause explains.

use super::{draft::Draft, fact_selection, locate};
use crate::{
    graph::{statement_states, text},
    model::{evidence::Quote, transcript::Origin},
    pattern::pattern,
    report::{Topic, is_phrase},
};

/// An error has a given cause if its own cause contains at least this share of the words of the
/// given cause.
const SAME_CAUSE_SHARE: f64 = 0.6;
/// Maximum number of prompts before a cause that are searched for the failure.
const MAX_SEARCHED_PROMPTS: usize = 3;
/// Maximum length, in characters, of a failure.
const MAX_CHARS: usize = 200;

/// Returns the failure that the `cause` in `line` explains: the message of an error with this
/// cause, or else what the user reported in one of the prompts before the line.
pub(super) fn of_cause(draft: &Draft<'_>, cause: &str, line: Option<Origin>) -> Option<String> {
    let evidence = draft.evidence;
    let words = text::words(cause);
    let mut errors = evidence.errors.iter().rev();
    let error = errors.find(|error| {
        error
            .cause
            .as_deref()
            .is_some_and(|known| text::share(&words, &text::words(known)) >= SAME_CAUSE_SHARE)
    });
    if let Some(error) = error {
        return Some(text::cut(error.message.trim(), MAX_CHARS));
    }
    let line = line?;
    let is_before =
        |prompt: &&Quote| line.follows(prompt.origin) && !locate::is_compaction(&prompt.text);
    let before = evidence.prompts.iter().rev().filter(is_before);
    before.take(MAX_SEARCHED_PROMPTS).find_map(|prompt| reported(&prompt.text))
}

/// Returns the first sentence in `prompt` that is about a failure and contains a name. A sentence
/// that begins with `The issue is` states a cause.
fn reported(prompt: &str) -> Option<String> {
    let paragraphs: Vec<String> = prompt.split("\n\n").map(text::single_spaced).collect();
    let sentences = paragraphs.iter().flat_map(|lines| lines.split_inclusive(". "));
    let states_cause = |sentence: &str| {
        pattern!(r"(?i)^(?:the )?(?:issue|problem|cause) (?:is|was)\b").is_match(sentence)
    };
    let mut failing = sentences.filter(|sentence| is_failure(sentence) && !states_cause(sentence));
    let found = failing.find(|sentence| fact_selection::names_something(sentence))?;
    Some(text::cut(text::without_full_stop(found), MAX_CHARS))
}

/// Whether a text is about something that does not work.
fn is_failure(text: &str) -> bool {
    is_phrase(Topic::Failure, text)
}

/// Whether a sentence about a root cause says what failed: the cause is about a failure, or the
/// task at the end of the sentence is about a failure or a repair.
pub(super) fn says_what_failed(sentence: &str) -> bool {
    let (cause, task) = match sentence.rfind(statement_states::DECIDED_FOR) {
        Some(at) => sentence.split_at(at),
        None => (sentence, ""),
    };
    let repairs = pattern!(
        r"(?i)\b(?:fix(?:e[sd])?|repair\w*|debug\w*|resolve[sd]?|investigat\w*|find out|behebe|arregla|corrige|speed up|faster)\b|修复|修正"
    );
    is_failure(cause) || is_failure(task) || repairs.is_match(task)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::extract::scenarios::{SessionFixture, line};

    const CAUSE: &str = "The hooks in `settings.json` interfere with `--print`";

    #[test]
    fn a_cause_explains_what_the_user_reported_or_the_error_with_this_cause() {
        let mut session = SessionFixture::new(10, "Summarise the sessions");
        for (prompt, wanted) in [
            (
                "debug: I am seeing\n`unexpected end of input`\nwhen I run `explain`. It worked before.",
                Some("debug: I am seeing `unexpected end of input` when I run `explain`"),
            ),
            ("commit and push it", None),
            ("the issue is the formatter, not `db:generate`, I think", None),
            ("why?", None),
        ] {
            session.evidence.prompts =
                vec![Quote { text: prompt.to_owned(), origin: line(5), at: None }];
            let draft = Draft::new(&session.episode, &session.evidence);
            assert_eq!(of_cause(&draft, CAUSE, Some(line(7))).as_deref(), wanted, "{prompt}");
            assert_eq!(of_cause(&draft, CAUSE, Some(line(3))), None, "the prompt is later");
        }
        session.error("Error: empty reply of `claude`", None);
        session.evidence.errors[0].cause = Some(CAUSE.to_owned());
        let draft = Draft::new(&session.episode, &session.evidence);
        assert_eq!(
            of_cause(&draft, CAUSE, None).as_deref(),
            Some("Error: empty reply of `claude`")
        );
    }

    #[test]
    fn a_cause_may_contain_its_failure() {
        for (sentence, wanted) in [
            ("Root cause: `parse()` fails because `$1` is empty", true),
            ("Root cause: The hooks run twice. (For “Fix the login”.)", true),
            ("Root cause: The hooks run twice. (For “Summarise the sessions”.)", false),
        ] {
            assert_eq!(says_what_failed(sentence), wanted, "{sentence}");
        }
    }
}
