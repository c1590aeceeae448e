//! Recognises a pasted error message, and shortens a pasted log.

use std::{borrow::Cow, collections::HashSet};

use crate::query::Query;

/// Minimum number of words of an error message.
const LEAST_WORDS: usize = 3;

/// The marks of an error message, in lower case.
const MARKS: [&str; 14] = [
    "error:",
    "error[",
    "error (",
    "err!",
    "exception:",
    "exception in ",
    "panicked at",
    "traceback (most recent",
    "fatal:",
    "failed:",
    "failure:",
    "segmentation fault",
    "undefined reference to",
    "command not found",
];

/// Whether a text looks like an error message, rather than a question about one.
pub(super) fn is_error(text: &str) -> bool {
    if text.split_whitespace().count() < LEAST_WORDS || text.trim_end().ends_with('?') {
        return false;
    }
    let text = text.to_lowercase();
    MARKS.iter().any(|mark| text.contains(mark))
}

/// Removes the lines that repeat an earlier line: they add no words, and make the search slower.
pub(super) fn distinct_lines(text: &str) -> Cow<'_, str> {
    let mut known = HashSet::new();
    let lines = text.lines().count();
    let distinct: Vec<&str> = text.lines().filter(|line| known.insert(*line)).collect();
    if distinct.len() == lines { text.into() } else { distinct.join("\n").into() }
}

/// Removes the middle of a text that is longer than [`Query::LONGEST`].
pub(super) fn shortened(text: &str) -> Cow<'_, str> {
    if text.len() <= Query::LONGEST {
        return Cow::Borrowed(text);
    }
    let head = text.floor_char_boundary(Query::LONGEST * 3 / 4);
    let tail = text.ceil_char_boundary(text.len() - Query::LONGEST / 4);
    Cow::Owned(format!("{}\n{}", &text[..head], &text[tail..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_message_has_a_mark_and_is_not_a_question() {
        for text in [
            "TypeError: undefined is not a function",
            "error[E0382]: borrow of moved value",
            "thread 'main' panicked at src/main.rs:4:5",
            "fatal: not a git repository",
        ] {
            assert!(is_error(text), "{text}");
        }
        for text in ["what was the TypeError: in the login?", "error: x", "the login failed again"]
        {
            assert!(!is_error(text), "{text}");
        }
    }
}
