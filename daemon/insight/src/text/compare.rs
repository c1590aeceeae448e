//! Compares two texts by their meaningful words.

use std::collections::BTreeSet;

use crate::{lang::prose::share_of_words, pattern::pattern};

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
    let shortened = words(text).into_iter().map(|mut word| {
        word.truncate(without_final_e(&word).len());
        word
    });
    shortened.collect()
}

/// Minimum number of meaningful words of a text of which the other text may lack some. In a shorter
/// text, each word counts: `Add the CSV export` is not `Add the PDF export`.
const MIN_COMPARED_BY_SHARE: usize = 6;

/// Returns whether the text with more meaningful words contains at least 80% of the meaningful
/// words of the other text, or all words if there are fewer than six. If one text has only one or
/// two such words, the other text must have as many. If a text has no meaningful words, the whole
/// texts are compared. Texts with different numbers, such as `#12` and `#13`, are not the same.
pub(crate) fn same_words(a: &str, b: &str) -> bool {
    let (a_words, b_words) = (task_words(a), task_words(b));
    if a_words.is_empty() || b_words.is_empty() {
        return a.trim().eq_ignore_ascii_case(b.trim());
    }
    let (small, large) =
        if a_words.len() <= b_words.len() { (&a_words, &b_words) } else { (&b_words, &a_words) };
    let least = if small.len() < MIN_COMPARED_BY_SHARE { 1.0 } else { 0.8 };
    share_of_words(small, large) >= least
        && (small.len() > 2 || small.len() == large.len())
        && !(lacks_number(a, b) && lacks_number(b, a))
}

/// Whether `part` has a number that identifies something, such as `#12`, `phase 2` or `v3`, that
/// `whole` lacks, although `whole` has a number of this kind. Counts such as `3 tests` identify
/// nothing.
pub(crate) fn lacks_number(whole: &str, part: &str) -> bool {
    let wanted = numbers(part);
    if wanted.is_empty() {
        return false;
    }
    let known = numbers(whole);
    wanted.iter().any(|number| {
        !known.contains(number) && known.iter().any(|other| other.kind == number.kind)
    })
}

/// A number that identifies something.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct IdentifyingNumber {
    /// The word before the number. `#` for issues and pull requests, empty for names and versions.
    kind: String,
    number: String,
}

fn numbers(text: &str) -> BTreeSet<IdentifyingNumber> {
    if !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return BTreeSet::new();
    }
    let number = pattern!(
        r"(?ix) \b(?<label>phase|step|stage|part|task|milestone|sprint|version|release|chapter|section|item|point|round|iteration|wave|batch|slice|level|week|day|option|question|finding|rule|layer|epic|story|lesson|group|track|table|appendix)s?[\x20-](?<number>\d+(?:\.\d+)*)\b
            | (?:\b(?:prs?|mrs?|issues?|tickets?|bugs?|pull\x20requests?)[\x20-]\#?|\#)(?<reference>\d+)\b
            | \bv?(?<version>\d+\.\d+\.\d+)\b | \b(?<name>[a-z]{1,3}\d{1,4})\b"
    );
    let found = number.captures_iter(text).filter_map(|found| {
        let part = |name: &str| found.name(name).map(|part| part.as_str().to_lowercase());
        let (kind, number) = match (part("label"), part("reference")) {
            (Some(label), _) => (label, part("number")?),
            (None, Some(reference)) => ("#".to_owned(), reference),
            (None, None) => (String::new(), part("version").or_else(|| part("name"))?),
        };
        Some(IdentifyingNumber { kind, number })
    });
    found.collect()
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
    fn texts_about_different_things_are_not_the_same() {
        for (a, b, wanted) in [
            ("Merge PR #41", "Merge PR #42", false),
            ("Fix issue 12", "Fix issue #13", false),
            ("Write the docs of phase 2", "Write the docs of phase 3", false),
            ("Migrate the API to v2", "Migrate the API to v3", false),
            ("Release 1.2.3 to the mirror", "Release 1.2.4 to the mirror", false),
            ("Add a test for the S3 upload", "Add a test for the R2 upload", false),
            (
                "Rotate the staging API key in the vault",
                "Rotate the production API key in the vault",
                false,
            ),
            (
                "Add the CSV export to the invoices page",
                "Add the PDF export to the invoices page",
                false,
            ),
            ("Merge PR #41", "Merged PR 41", true),
            ("Merge PR #41", "Merge the PR", true),
            ("Fix 3 failing tests of the parser", "Fix 2 failing tests of the parser", true),
            ("Write the docs of phase 2 in 3 days", "Write the docs of phase 2 in 4 days", true),
            (
                "Rotate the staging API key in the central vault today",
                "Rotate the staging API key in the central vault",
                true,
            ),
        ] {
            assert_eq!(same_words(a, b), wanted, "{a} / {b}");
        }
    }

    #[test]
    fn a_number_is_lacked_only_if_the_other_text_has_one_of_its_kind() {
        for (whole, part, wanted) in [
            ("Merged PR #41", "Merge PRs #41 and #42", true),
            ("Merged the PRs #41 and #42", "Merge PR #41", false),
            ("Implemented phase 2 of the plan", "Implement phase 3 of the plan", true),
            ("Implemented the plan", "Implement phase 3 of the plan", false),
            ("Fixed #12 in phase 2", "Fix issue 12 in step 3", false),
            ("Fixed 4 tests", "Fix 3 tests", false),
        ] {
            assert_eq!(lacks_number(whole, part), wanted, "{whole} / {part}");
        }
    }

    #[test]
    fn a_share_refers_to_the_first_set_of_words() {
        let share = share_of_words(&words("parser dates"), &words("the parser reads times"));
        assert!((share - 0.5).abs() < 1e-9);
    }
}
