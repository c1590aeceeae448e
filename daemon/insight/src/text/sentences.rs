//! Splits text into sentences.

use std::ops::RangeInclusive;

/// Returns the sentences of `text`, trimmed, without empty sentences.
pub(crate) fn sentences(text: &str) -> Vec<&str> {
    let mut start = 0;
    let mut found = Vec::new();
    for end in sentence_ends(text).chain([text.len()]) {
        let sentence = text[start..end].trim();
        if !sentence.is_empty() {
            found.push(sentence);
        }
        start = end;
    }
    found
}

/// Returns the byte index after each end of a sentence: a line break, a mark such as `。`, or a `.`,
/// `!` or `?` before the start of a new sentence or the end of the text. Marks inside back quotes,
/// and the full stops of abbreviations and list numbers, do not count.
pub(crate) fn sentence_ends(text: &str) -> impl Iterator<Item = usize> + '_ {
    let mut quoted = false;
    text.char_indices().filter_map(move |(at, c)| {
        if c == '`' {
            quoted = !quoted;
        }
        let closing =
            text[at + c.len_utf8()..].bytes().take_while(|b| b"\"')*".contains(b)).count();
        let after = at + c.len_utf8() + closing;
        let ends = match c {
            _ if quoted => false,
            '。' | '！' | '？' => true,
            '\n' => true,
            '.' | '!' | '?' => {
                begins_anew(&text[after..]) && !(c == '.' && is_abbreviation(&text[..at]))
            }
            _ => false,
        };
        ends.then_some(after)
    })
}

/// Programs whose names are written in lower case even at the start of a sentence.
const PROGRAMS: &[&str] = &[
    "bun", "cargo", "docker", "eslint", "gh", "git", "go", "gradle", "kubectl", "mise", "mvn",
    "node", "npm", "npx", "pip", "pnpm", "pytest", "python", "ruff", "rustc", "tsc", "uv", "yarn",
];

/// Capitalises the first letter of `text`, unless it is part of a name such as `iPhone`, `foo.rs`
/// or `npm`.
pub(crate) fn capitalised(text: &str) -> String {
    let first_word = text.split(' ').next().unwrap_or_default();
    if PROGRAMS.contains(&first_word) {
        return text.to_owned();
    }
    let is_plain =
        first_word.chars().all(|c| c.is_lowercase() || matches!(c, '\'' | ',' | '-' | ':'));
    let mut chars = text.chars();
    match chars.next() {
        Some(first) if is_plain => first.to_uppercase().chain(chars).collect(),
        _ => text.to_owned(),
    }
}

pub(crate) fn without_full_stop(text: &str) -> &str {
    let trimmed = text.trim_end_matches([':', ' ']);
    match trimmed.strip_suffix('.') {
        Some(rest) if !rest.ends_with('.') => rest,
        _ => trimmed,
    }
}

/// Returns the sentence without the colon that introduces a list; `None` when the sentence is
/// incomplete without the list.
pub(crate) fn without_list_colon(sentence: &str) -> Option<String> {
    let Some(introduction) = sentence.strip_suffix(':') else { return Some(sentence.to_owned()) };
    let last = introduction.rsplit(' ').next().unwrap_or_default();
    const OPEN_ENDS: [&str; 20] = [
        "by",
        "that",
        "with",
        "to",
        "covering",
        "including",
        "will",
        "for",
        "following",
        "containing",
        "the",
        "and",
        "setting",
        "because",
        "as",
        "into",
        "of",
        "in",
        "from",
        "where",
    ];
    (!OPEN_ENDS.contains(&last)).then(|| introduction.trim_end().to_owned())
}

/// Returns whether `sentence` begins with a label such as `Root cause:` whose length is in
/// `lengths`.
pub(crate) fn has_label(sentence: &str, lengths: RangeInclusive<usize>) -> bool {
    sentence.split_once(':').is_some_and(|(label, _)| {
        label.starts_with(|c: char| c.is_ascii_alphabetic())
            && label.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '_'))
            && lengths.contains(&label.chars().count())
    })
}

fn begins_anew(rest: &str) -> bool {
    let Some(next) = rest.strip_prefix([' ', '\t']) else { return rest.is_empty() };
    let next = next.trim_start_matches(['"', '(', '[', '*', ' ', '“']);
    next.starts_with(|c: char| !c.is_lowercase())
}

fn is_abbreviation(before: &str) -> bool {
    const ABBREVIATIONS: [&str; 12] =
        ["e.g", "i.e", "etc", "vs", "cf", "approx", "Mr", "Dr", "re", "resp", "incl", "ca"];
    let word = before.rsplit([' ', '(', '\n']).next().unwrap_or_default();
    let is_list_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let starts_line =
        before.len() == word.len() || before[..before.len() - word.len()].ends_with('\n');
    ABBREVIATIONS.contains(&word) || (is_list_number && starts_line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_a_few_words_before_a_colon() {
        for (sentence, wanted) in [
            ("Root cause: a race.", true),
            ("größe: 7", true),
            ("No: never.", true),
            ("I: me", false),
            ("the value of everything here: 7", false),
            ("7 days: a week", false),
            ("src/a.rs: fixed", false),
            ("Fixed", false),
        ] {
            assert_eq!(has_label(sentence, 2..=25), wanted, "{sentence}");
        }
    }

    #[test]
    fn sentences_end_at_marks_before_a_new_sentence() {
        for (given, wanted) in [
            ("One. Two! Three?", vec!["One.", "Two!", "Three?"]),
            (
                "Use v1.2.3 of foo.rs, e.g. `a. B` here. Then go.",
                vec!["Use v1.2.3 of foo.rs, e.g. `a. B` here.", "Then go."],
            ),
            ("It is 3.5 s. and so on. `x` works.", vec!["It is 3.5 s. and so on.", "`x` works."]),
            ("He said \"no.\" Then he left.", vec!["He said \"no.\"", "Then he left."]),
            ("No stop", vec!["No stop"]),
            ("The mail re. Bills is old. Drop it.", vec!["The mail re. Bills is old.", "Drop it."]),
            ("これは。それは。", vec!["これは。", "それは。"]),
            ("1. First thing. 2 more", vec!["1. First thing.", "2 more"]),
        ] {
            assert_eq!(sentences(given), wanted, "{given:?}");
        }
    }

    #[test]
    fn only_plain_words_are_capitalised() {
        assert_eq!(capitalised("fix the bug"), "Fix the bug");
        assert_eq!(capitalised("main.rs fails"), "main.rs fails");
        assert_eq!(capitalised("mySQL fails"), "mySQL fails");
        assert_eq!(without_full_stop("Done."), "Done");
        assert_eq!(without_full_stop("And so on..."), "And so on...");
    }
}
