//! Normalises texts to keys, so that equal entities of different sessions are unified.

use std::collections::BTreeSet;

use crate::pattern::pattern;

/// Stop words.
const COMMON: &[&str] = &[
    "and", "are", "because", "been", "but", "can", "did", "does", "for", "from", "had", "has",
    "have", "her", "his", "how", "into", "its", "not", "now", "our", "out", "over", "that", "the",
    "their", "them", "then", "there", "these", "they", "this", "those", "use", "used", "uses",
    "using", "was", "were", "what", "when", "which", "will", "with", "would", "you", "your",
];

/// Returns the words of `text` in lower case, with three letters or more, without stop words.
pub(super) fn words(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() >= 3)
        .map(str::to_lowercase)
        .filter(|word| !COMMON.contains(&word.as_str()))
        .collect()
}

/// Returns the fraction of the words of `of` that `other` contains, from 0 to 1; 0 when `of` is
/// empty.
pub(super) fn share(of: &BTreeSet<String>, other: &BTreeSet<String>) -> f64 {
    if of.is_empty() {
        return 0.0;
    }
    of.intersection(other).count() as f64 / of.len() as f64
}

/// Normalises `text` for comparisons: letters and digits in lower case, single spaces.
pub(super) fn plain(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// Removes the variable parts of an error message: numbers, addresses, times, and the folders of
/// paths.
pub(super) fn error_key(message: &str) -> String {
    let folders = pattern!(r#"(?:[A-Za-z]:)?(?:[\w.@~-]*[/\\])+([\w.@-]+)"#);
    let numbers = pattern!(r"0x[0-9a-fA-F]+|[0-9a-f]{12,}|\d+");
    let line = message.lines().next().unwrap_or_default();
    let line = folders.replace_all(line, "$1");
    let line = numbers.replace_all(&line, "0").to_lowercase();
    let words: Vec<&str> = line.split_whitespace().collect();
    words.join(" ").chars().take(160).collect()
}

/// Normalises a command line for comparisons: without a leading `cd`, and with single spaces.
pub(super) fn command_key(command: &str) -> String {
    let folder = pattern!(r"^\s*cd\s+\S+\s*(?:&&|;)\s*");
    let tail = pattern!(r"(?:\s*2>&1)?\s*(?:\|\s*(?:head|tail|grep|cat|tee|less)\b.*)?$");
    let command = folder.replace(command, "");
    let command = tail.replace(&command, "");
    command.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns `text` for use within a sentence: without a final full stop.
pub(super) fn part(text: &str) -> &str {
    text.trim().trim_end_matches('.')
}

/// Returns `text` as a separate sentence.
pub(super) fn sentence(text: &str) -> String {
    let text = text.trim();
    if text.ends_with(['.', '!', '?', '…', ':']) { text.to_owned() } else { format!("{text}.") }
}

/// Returns the first `length` characters.
pub(super) fn cut(text: &str, length: usize) -> String {
    match text.char_indices().nth(length) {
        Some((at, _)) => format!("{}…", text[..at].trim_end()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_the_same_wherever_it_happens() {
        let key = error_key("/home/ann/app/src/a.rs:12:5: error[E0382]: use of moved value: `x`");
        assert_eq!(key, error_key("/ci/7/src/a.rs:40:9: error[E0382]: use of moved value: `x`"));
        assert_ne!(error_key("No module named 'foo'"), error_key("No module named 'bar'"));
    }

    #[test]
    fn a_command_is_the_same_wherever_it_is_run_and_whatever_is_shown_of_it() {
        for command in [
            "cd /app && cargo  test 2>&1 | tail -20",
            "cargo test",
            "cargo test 2>&1",
            "cargo test | head",
        ] {
            assert_eq!(command_key(command), "cargo test", "{command}");
        }
        assert_ne!(command_key("cargo test --lib"), "cargo test");
    }

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(cut("größer", 4), "größ…");
        assert_eq!(cut("groß", 4), "groß");
    }
}
