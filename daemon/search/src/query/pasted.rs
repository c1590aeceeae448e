//! Recognises a pasted error message, and shortens a pasted log.

use std::{borrow::Cow, collections::HashSet};

use crate::query::Query;

/// Minimum number of words of an error message.
const LEAST_WORDS: usize = 3;

/// The marks of an error message, in lower case.
const MARKS: [&str; 15] = [
    "error:",
    "error[",
    "error (",
    "err!",
    "exception:",
    "panic:",
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
        || text.lines().any(|line| line.trim_end().ends_with("killed: 9"))
        || has_error_code(&text)
}

/// Whether a text contains an error with a code: `error TS2345: …`, `ERROR 1045 (28000): …`.
fn has_error_code(text: &str) -> bool {
    text.match_indices("error ").any(|(at, mark)| {
        let rest = &text[at + mark.len()..];
        let length = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let (code, rest) = rest.split_at(length);
        let state = rest.strip_prefix(" (").and_then(|rest| rest.split_once(')'));
        let is_state = |(state, _): &(&str, &str)| state.bytes().all(|b| b.is_ascii_alphanumeric());
        let rest = state.filter(is_state).map_or(rest, |(_, rest)| rest);
        code.bytes().any(|byte| byte.is_ascii_digit()) && rest.starts_with(": ")
    })
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
            "src/a.ts(3,5): error TS2345: Argument of type 'string' is not assignable",
            "error C2065: undeclared identifier",
            "ERROR 1045 (28000): Access denied for user",
            "panic: assignment to entry in nil map",
            "make: *** [test] Killed: 9",
        ] {
            assert!(is_error(text), "{text}");
        }
        for text in [
            "what was the TypeError: in the login?",
            "error: x",
            "the login failed again",
            "the error at 10:30 in the log",
            "the error 10:30 in the log",
            "error handling (step 2): what we decided",
            "error TS2345 in the client",
            "the panic button of the page",
            "workers killed: 9 of 12",
        ] {
            assert!(!is_error(text), "{text}");
        }
    }
}
