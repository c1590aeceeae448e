//! Selects what a commit's message says about the work.

use crate::{
    model::evidence::Commit,
    summarize::{
        from_evidence::{entries::cut_at_clause, quotable::is_row_of_numbers, transient},
        report::{Form, Passage, passages},
        text::{pattern, sentences, without_full_stop},
    },
};

/// Maximum length, in characters, of the text that is taken from a commit's body.
const POINT: usize = 560;

/// Whether a commit only records the state of the work: plans, status files, todo lists.
pub(super) fn is_bookkeeping(commit: &Commit) -> bool {
    pattern!(
        r"(?i)^(?:docs|chore|wip)(?:\([^)]*\))?: (?:start work on|begin |complete |completed |finish |close |capture |add todo|(?:re)?move todo|mark |record |update (?:the )?(?:state|status|progress|plan|roadmap|todo)|.{0,40}\b(?:state\.md|roadmap\.md|todos?|handoff|checkpoint)\b)|^(?:wip|checkpoint)\b"
    )
    .is_match(&commit.subject)
}

/// Returns the subject of a commit and the part of its body that the completed tasks show.
pub(super) fn told(commit: &Commit) -> String {
    format!("{}. {}", commit.subject, point(&commit.body).unwrap_or_default())
}

/// Returns the first passages of a commit's body, up to [`POINT`] characters; `None` if they say
/// little.
pub(super) fn point(body: &str) -> Option<String> {
    let mut line = String::new();
    for passage in with_the_fix_first(passages(body)) {
        // A table in a commit message compares or checks something and describes no change.
        if passage.form == Form::Row {
            continue;
        }
        let label = passage.label.map_or(String::new(), |label| format!("{label}: "));
        let text = format!("{label}{}", passage.text);
        let text = without_empty_words(&text);
        if text.is_empty() {
            continue;
        }
        let text = without_full_stop(&text);
        let is_listed = passage.form != Form::Paragraph;
        let joined = match (line.is_empty(), is_listed) {
            (true, _) => text.to_owned(),
            (false, true) => format!("{line}; {text}"),
            (false, false) => format!("{line}. {text}"),
        };
        if joined.chars().count() > POINT {
            let is_short = line.len() * 2 < POINT;
            line = if is_short { cut_at_clause(&joined, POINT) } else { line };
            break;
        }
        line = joined;
    }
    let line = without_full_stop(&line).to_owned();
    (line.len() >= 20).then_some(line)
}

/// Moves a paragraph such as `Fix: …` before the paragraphs that explain the cause, if not all of
/// them have room.
fn with_the_fix_first(mut all: Vec<Passage>) -> Vec<Passage> {
    let length: usize = all.iter().map(|passage| passage.text.chars().count()).sum();
    let is_fix = |passage: &Passage| {
        let label = passage.label.as_deref().map(|label| format!("{label}:"));
        pattern!(r"(?i)^(?:the )?(?:fix|solution|resolution|change)(?: is)?:")
            .is_match(label.as_deref().unwrap_or(&passage.text))
    };
    if let Some(at) = all.iter().position(is_fix).filter(|_| length > POINT / 2) {
        all[..=at].rotate_right(1);
    }
    all
}

/// Returns a passage of a commit's body without sentences that praise the commit, that give
/// numbers, or that describe what it did not change.
fn without_empty_words(passage: &str) -> String {
    let is_empty = |sentence: &&str| {
        transient::is_boast(sentence)
            || transient::claims_effect(sentence)
            || is_row_of_numbers(sentence)
            || pattern!(r"(?i)\balready (?:present|correct|configured|in place|there|handled|done)\b|^[A-Za-z0-9_ /-]{0,40}\b(?:verified|confirmed):")
                .is_match(sentence)
    };
    let told: Vec<&str> = sentences(passage).into_iter().filter(|one| !is_empty(one)).collect();
    told.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fix_of_a_commit_is_told_before_a_long_cause() {
        let cause = "The hook runs in a folder without settings and asks for them. ".repeat(6);
        let body = format!("{cause}\n\nFix: Leave the hook when the file is absent.\n");
        assert!(point(&body).unwrap().starts_with("Fix: Leave the hook when the file is absent."));
        let short = "The hook asks for settings.\n\nFix: Leave the hook.\n";
        assert_eq!(point(short).unwrap(), "The hook asks for settings. Fix: Leave the hook");
    }
}
