//! Compares two texts by their meaningful words.

use std::collections::BTreeSet;

use crate::lang::prose::share_of_words;

/// Words that say nothing about the subject, sorted.
const STOP_WORDS: &[&str] = &[
    "about", "after", "again", "all", "also", "and", "any", "are", "because", "been", "before",
    "but", "can", "cannot", "could", "did", "does", "doing", "don", "done", "for", "from", "get",
    "had", "has", "have", "here", "how", "into", "its", "just", "let", "like", "make", "may",
    "more", "most", "need", "needs", "not", "now", "off", "one", "only", "other", "our", "out",
    "over", "please", "shall", "she", "should", "some", "still", "such", "sure", "take", "than",
    "thanks", "that", "the", "their", "them", "then", "there", "these", "they", "thing", "things",
    "think", "this", "those", "through", "too", "try", "use", "used", "using", "very", "want",
    "was", "way", "were", "what", "when", "where", "which", "while", "who", "why", "will", "with",
    "would", "yes", "you", "your",
];

/// Returns the meaningful words of `text` in lower case and without common English endings. Words
/// with fewer than three letters or digits are left out.
pub(crate) fn words(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() >= 3)
        .map(str::to_lowercase)
        .filter(|word| STOP_WORDS.binary_search(&word.as_str()).is_err())
        .map(|word| stem(&word).to_owned())
        .collect()
}

/// Returns the words of a task as [`words`] does, but without a final `e`, so that `update` and
/// `updated` are the same word. The thresholds of other comparisons are made for [`words`].
pub(crate) fn task_words(text: &str) -> BTreeSet<String> {
    words(text).into_iter().map(|word| without_final_e(&word).to_owned()).collect()
}

/// Returns whether the text with more meaningful words contains at least 80% of the meaningful
/// words of the other text. If one text has only one or two such words, the other text must have as
/// many. If a text has no meaningful words, the whole texts are compared.
pub(crate) fn same_words(a: &str, b: &str) -> bool {
    let (a_words, b_words) = (task_words(a), task_words(b));
    if a_words.is_empty() || b_words.is_empty() {
        return a.trim().eq_ignore_ascii_case(b.trim());
    }
    let (small, large) =
        if a_words.len() <= b_words.len() { (&a_words, &b_words) } else { (&b_words, &a_words) };
    share_of_words(small, large) >= 0.8 && (small.len() > 2 || small.len() == large.len())
}

/// Whether a character belongs to a script without blanks between words.
pub(crate) fn is_ideograph(c: char) -> bool {
    ('\u{3040}'..='\u{9fff}').contains(&c)
}

/// Whether a line contains a file name that is not a part of a longer name.
pub(crate) fn contains_name(line: &str, name: &str) -> bool {
    let continues = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    line.match_indices(name).any(|(at, _)| {
        let behind = &line[at + name.len()..];
        !line[..at].ends_with(|c: char| continues(c) || c == '.')
            && !behind.starts_with(continues)
            && !behind.strip_prefix('.').is_some_and(|rest| rest.starts_with(continues))
    })
}

fn stem(word: &str) -> &str {
    let ended = ["ing", "ed", "es", "s"].into_iter().find_map(|ending| word.strip_suffix(ending));
    let base = ended.filter(|stem| stem.len() >= 3).unwrap_or(word);
    // `retry`, `retries` and `retrying` have the stem `retr`; `delay` keeps its `y`.
    let of_y = base.strip_suffix(['y', 'i']);
    of_y.filter(|stem| stem.len() >= 3 && !stem.ends_with(['a', 'e', 'i', 'o', 'u']))
        .unwrap_or(base)
}

fn without_final_e(word: &str) -> &str {
    word.strip_suffix('e').filter(|stem| stem.len() >= 3).unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stop_words_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
    }

    #[test]
    fn endings_and_stop_words_do_not_matter() {
        assert!(same_words("Fix the failing parser tests", "fixed failing parser test"));
        assert!(!same_words("Fix the parser", "Fix the renderer"));
        assert!(!same_words("Add tests", "Add tests for the new parser of dates"));
        assert!(same_words("ok", "OK "));
        assert!(same_words("Retry the delayed queries", "retries: delays, query"));
        assert!(same_words("Simplify the parser", "Simplifying the parser"));
        assert!(same_words("Delete the temp file", "Deleted the temp files"));
        assert!(same_words("Rename the signer, merge the pages", "renamed: signer, merged page"));
        assert!(!same_words("Remove the tree", "Rename the tree"));
        assert!(!same_words("Close the age", "Close the ages of both"));
    }

    #[test]
    fn a_share_refers_to_the_first_set_of_words() {
        let share = share_of_words(&words("parser dates"), &words("the parser reads times"));
        assert!((share - 0.5).abs() < 1e-9);
    }
}
