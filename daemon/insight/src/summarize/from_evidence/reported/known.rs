//! Compares texts of reports with the texts that other entries of a summary contain.

use std::collections::BTreeSet;

use crate::{
    summarize::from_evidence::{entries::Entries, outcome::ending, repository::commit_messages},
    text::{pattern, share_of_words, words},
};

/// Another text repeats a text if it contains at least this share of the text's words.
const REPEATED: f64 = 0.75;
/// A commit message repeats a result if it contains at least this share of the result's words. A
/// report describes the same change in its own words.
const IN_COMMIT: f64 = 0.5;
/// Minimum number of different words of a result that can repeat a commit message.
const MIN_WORDS: usize = 4;

/// The words of each text that the summary contains.
#[derive(Clone)]
pub(crate) struct KnownTexts {
    texts: Vec<BTreeSet<String>>,
    commits: Vec<CommitText>,
}

#[derive(Clone)]
struct CommitText {
    text: String,
    words: BTreeSet<String>,
}

impl From<String> for CommitText {
    fn from(text: String) -> CommitText {
        CommitText { words: words(&text), text }
    }
}

impl CommitText {
    /// Whether the message contains all numbers of a result, and a word such as `not` if the result
    /// has one.
    fn has_details(&self, result: &str) -> bool {
        let limits = pattern!(r"(?i)\b(?:not|never|no|only|except|unless|without|but)\b|n['’]t\b");
        // Numbers within code, such as those of lines, are no details.
        let prose = result.split('`').step_by(2).flat_map(str::split_whitespace);
        let mut numbers = prose.filter(|word| pattern!(r"^\(?[0-9]+[%)]?[.,;:]?$").is_match(word));
        (limits.is_match(&self.text) || !limits.is_match(result))
            && numbers.all(|number| {
                self.text.contains(number.trim_matches(['(', ')', '.', ',', ';', ':']))
            })
    }
}

impl KnownTexts {
    /// Returns the last words and the commit messages of a session.
    pub(super) fn of(entries: &Entries<'_>) -> KnownTexts {
        let ended = ending::last_words(entries).unwrap_or_default();
        let commits = entries.evidence.commits.iter();
        let commits = commits.map(commit_messages::subject_with_excerpt).map(CommitText::from);
        KnownTexts { texts: vec![words(&ended)], commits: commits.collect() }
    }

    pub(super) fn add(&mut self, line: &str) {
        self.texts.push(words(line));
    }

    /// Whether one of the texts contains most words of `text`.
    pub(super) fn repeats(&self, text: &str) -> bool {
        let words = words(text);
        let commits = self.commits.iter().map(|commit| &commit.words);
        let mut texts = self.texts.iter().chain(commits);
        texts.any(|other| share_of_words(&words, other) >= REPEATED)
    }

    /// Whether the message of one commit describes the same result as `text`.
    pub(super) fn is_in_commit(&self, text: &str) -> bool {
        let words = words(text);
        words.len() >= MIN_WORDS
            && self.commits.iter().any(|commit| {
                share_of_words(&words, &commit.words) >= IN_COMMIT && commit.has_details(text)
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_message_repeats_a_result_in_other_words() {
        let known = KnownTexts {
            texts: vec![words("The list is complete.")],
            commits: vec![
                "fix: sort the list by name. Read the days before the rows".to_owned().into(),
            ],
        };
        for (text, wanted) in [
            ("I fixed the sorting: names and days are now read in this order", true),
            ("I fixed the sorting: the index of cached pages uses less memory", false),
            ("Sorted by name", false),
            ("I fixed the sorting: names and days are read, but not in the archive", false),
            ("I fixed the sorting: names and days of 5 rows are read", false),
        ] {
            assert_eq!(known.is_in_commit(text), wanted, "{text}");
        }
        assert!(!known.repeats("I fixed the sorting: names and days are now read in this order"));
        assert!(known.repeats("Sort the list by name"));
    }
}
