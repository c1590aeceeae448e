//! Splits the prompts of users into sentences.

use crate::{
    pattern::pattern,
    text::{one_line, sentences},
};

/// Maximum length, in bytes, of the sentences that are joined because one quotation spans them.
const MAX_QUOTATION_BYTES: usize = 300;

/// Returns the sentences of a prompt, without pasted lines of a terminal or a log. Users may write
/// without capitals, and may end a sentence with a line break or several spaces.
pub(crate) fn spoken_sentences(text: &str) -> Vec<String> {
    let ends = pattern!(r"[.!?][ \t]+|[ \t]{2,}");
    let mut found: Vec<String> = Vec::new();
    let mut in_paste = false;
    for line in text.lines() {
        // A quoted line of the agent, or a heading. The user's own words may follow.
        if pattern!(r"^\s*[>#] ").is_match(line) {
            continue;
        }
        // The lines after a pasted line belong to the paste, up to an empty line.
        in_paste = is_pasted(line) || in_paste && !line.trim().is_empty();
        if in_paste {
            continue;
        }
        let mut start = 0;
        for end in ends.find_iter(line) {
            let head = &line[start..end.start()];
            let last = head.rsplit(' ').next().unwrap_or_default();
            let is_mark = head.len() <= 3 && last.bytes().all(|byte| byte.is_ascii_digit());
            if !is_mark && !["e.g", "i.e", "etc", "vs", "eg", "ie", "cf", "re"].contains(&last) {
                found.push(one_line(&line[start..end.end()]));
                start = end.end();
            }
        }
        found.extend(sentences(&one_line(&line[start..])).into_iter().map(str::to_owned));
    }
    found.retain(|sentence| sentence.chars().any(char::is_alphabetic));
    with_whole_quotes(found)
}

/// If a quotation begins in a sentence, joins the sentence and the following ones, up to the end of
/// the quotation.
fn with_whole_quotes(found: Vec<String>) -> Vec<String> {
    let mut whole: Vec<String> = Vec::with_capacity(found.len());
    let is_odd = |sentence: &String| sentence.matches('"').count() % 2 == 1;
    let mut left = found.iter().filter(|sentence| is_odd(sentence)).count();
    let mut is_quoted = false;
    for sentence in found {
        let fits = |last: &&mut String| last.len() + sentence.len() <= MAX_QUOTATION_BYTES;
        let begun = whole.last_mut().filter(|last| is_quoted && fits(last));
        if is_odd(&sentence) {
            left -= 1;
            is_quoted = !is_quoted && left > 0;
        }
        match begun {
            Some(last) => {
                last.push(' ');
                last.push_str(&sentence);
            }
            None => whole.push(sentence),
        }
    }
    whole
}

/// Whether a line was copied from a terminal or a log. The lines after it are its output.
fn is_pasted(line: &str) -> bool {
    pattern!(r"^\s*(?:[❯$%] |=+ ?>|\[\+\]|={3,}|-{3,}|ERROR|WARN|npm (?:error|ERR)|\w+Error:|at .+:\d+|\d{4}-\d\d-\d\d|[│┌└├])")
        .is_match(line)
}

/// Returns a sentence without opening words such as `ok, so`.
pub(crate) fn without_opener(sentence: &str) -> &str {
    let opener = pattern!(
        r"(?i)^(?:(?:\d{1,2}[.)]|[-*•]) +)?(?:(?:ok(?:ay)?|ah+|oh|uh|u+m+|hmm+|yes|yeah|yep|yup|sure|no(?:pe)?[,.!]|and|so|then|but|also|well|right|actually|great|nice|good|cool|perfect|alright|please|maybe|ja|nein|gut|bitte|oui|non|vale|d.accord)\b[,.!:;]* +|sí[,.!:;]* +|no[,.!] +)*"
    );
    opener.find(sentence).map_or(sentence, |found| &sentence[found.end()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_may_begin_in_lower_case_after_spaces_or_line_breaks() {
        for (text, wanted) in [
            ("it is great. let's go", vec!["it is great.", "let's go"]),
            ("do it safely  it must be local", vec!["do it safely", "it must be local"]),
            ("use e.g. one file\nnot two", vec!["use e.g. one file", "not two"]),
            ("the failure re. coverage can wait", vec!["the failure re. coverage can wait"]),
            ("1. first of all. then this", vec!["1. first of all.", "then this"]),
            ("drop \"Joined. Active.\" and go", vec!["drop \"Joined. Active.\" and go"]),
            ("see\n$ make\nError 2\n\nuse cmake", vec!["see", "use cmake"]),
            ("$ make\n> cc a.c\nError 2\n\nuse cmake", vec!["use cmake"]),
            ("> Shall I update the docs?\nno, leave the docs", vec!["no, leave the docs"]),
            ("follow this:\n# Rules\nNever push", vec!["follow this:", "Never push"]),
        ] {
            assert_eq!(spoken_sentences(text), wanted, "{text}");
        }
        let long = "a".repeat(300);
        let text = format!("he says \"{long}. drop the cut.\"\ncan you drop it?");
        let found = spoken_sentences(&text);
        assert_eq!(found[1..], ["drop the cut.\"", "can you drop it?"]);
    }

    #[test]
    fn opening_words_are_removed() {
        assert_eq!(without_opener("ok, so let's go"), "let's go");
        assert_eq!(without_opener("no need to"), "no need to");
        assert_eq!(without_opener("no, keep it"), "keep it");
        assert_eq!(without_opener("sí, vale, hazlo"), "hazlo");
        assert_eq!(without_opener("síguelo"), "síguelo");
    }
}
