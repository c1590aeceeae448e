//! Extracts what a person wrote from a prompt with pasted text: code, logs, diffs and terminal
//! windows.

use std::borrow::Cow;

use crate::{
    lang::prose::has_many_symbols,
    text::{cut, one_line, pattern, sentence_ends, without_code},
};

/// Minimum length, in bytes, of a prompt that the evidence may have shortened.
const SHORTENED: usize = 600;

/// Maximum length, in characters, of a pasted text that the user introduced.
const QUOTATION: usize = 80;

/// If the evidence left out the middle of a prompt, removes the broken word before the gap and the
/// broken sentence after the gap.
pub(crate) fn without_gap(prompt: &str) -> Cow<'_, str> {
    let parts = prompt.split_once(" … ").filter(|_| prompt.len() >= SHORTENED);
    let Some((head, tail)) = parts else { return Cow::Borrowed(prompt) };
    let (head, _) = head.rsplit_once(' ').unwrap_or((head, ""));
    let tail = sentence_ends(tail).next().map_or("", |end| &tail[end..]);
    Cow::Owned(format!("{head}…\n\n{tail}"))
}

/// Returns the part of a prompt that a person wrote, without code, logs and other pasted text.
/// Paragraphs become sentences, and the items of a list become one sentence.
pub(crate) fn written(prompt: &str) -> String {
    let prose = with_short_quotation(&without_code(prompt));
    let numbered = pattern!(r"(?m)^\s*\d{1,2}[.)]\s").find_iter(&prose).count();
    let short_answers = pattern!(
        r"(?im)^\s*\d{1,2}[.)]\s+(?:yes|yeah|yep|no|nope|ok|okay|skip|(?:\w+ ){1,2}(?:it|that|this))\b[\w ]{0,12}[.!]?\s*$"
    )
    .find_iter(&prose)
    .count();
    let answers_by_number = short_answers > 0 && short_answers * 2 >= numbered;
    let mut kept = String::new();
    let mut in_diff = false;
    for line in prose.lines().map(|line| line.trim_end_matches('\\')) {
        in_diff = is_diff(line, in_diff);
        let line = &without_boxes(line.trim());
        if in_diff || is_pasted(line) || pattern!(r"^\[\[ ## \w+ ## \]\]$").is_match(line) {
            // The introduction of the pasted text becomes a sentence.
            if let Some(introduction) = kept.trim_end().strip_suffix(':') {
                kept = format!("{introduction}. ");
            }
            continue;
        }
        let item = pattern!(r"^(?:[-*•]|\d{1,2}[.)])\s+").find(line);
        let ends = kept.trim_end_matches(['"', '”', ' ']);
        let ends = ends.ends_with(['.', '!', '?', ',', ';', ':', '。']);
        if line.is_empty() {
            if kept.trim_end().ends_with(':') {
                kept.push(' ');
            } else if !kept.is_empty() && !ends {
                kept.push_str(". ");
            }
        } else if let Some(mark) = item {
            kept.push_str(if kept.is_empty() || ends { " " } else { "; " });
            // A short answer such as `2. leave it` is clear only with its number.
            if answers_by_number && line.starts_with(|c: char| c.is_ascii_digit()) {
                kept.push_str(&format!(
                    "{}: ",
                    line[..mark.end()].trim_end_matches(['.', ')', ' '])
                ));
            }
            kept.push_str(&line[mark.end()..]);
        } else {
            kept.push(' ');
            kept.push_str(line);
        }
    }
    kept
}

/// Shortens a text that the user pasted after an introduction such as `especially this part:`. The
/// pasted text ends after its first paragraph or, if the prompt begins in lower case, before the
/// first paragraph that begins in lower case. A list is not shortened, because the user may have
/// written it.
fn with_short_quotation(prose: &str) -> String {
    let introduction = pattern!(
        r"(?i)\b(?:this|following) (?:bit|clause|comment|line|note|paragraph|part|passage|section|sentence|statement|text|wording):[ \t]*\n\s*"
    );
    let Some(begin) = introduction.find(prose).map(|found| found.end()) else {
        return prose.to_owned();
    };
    let (before, pasted) = prose.split_at(begin);
    if pattern!(r"^(?:[-*•]|\d{1,2}[.)]) ").is_match(pasted) {
        return prose.to_owned();
    }
    let is_own =
        |(at, mark): &(usize, &str)| pasted[at + mark.len()..].starts_with(char::is_lowercase);
    let writes_lower_case = prose.trim_start().starts_with(char::is_lowercase);
    let own = pasted.match_indices("\n\n").find(is_own).filter(|_| writes_lower_case);
    let own = own.map(|(at, _)| at);
    let end = own.or_else(|| pasted.find("\n\n")).unwrap_or(pasted.len());
    let quoted = cut(&one_line(&pasted[..end]), QUOTATION).replace('"', "'");
    format!("{}: \"{quoted}\"\n\n{}", before.trim_end().trim_end_matches(':'), &pasted[end..])
}

/// Whether a line is part of a pasted diff. A diff begins with a header and ends before the first
/// line that cannot be part of a diff.
fn is_diff(line: &str, in_diff: bool) -> bool {
    pattern!(r"^(?:diff --git |@@ -[0-9]|index [0-9a-f]{7,}\.\.|(?:---|\+\+\+) [ab]/)")
        .is_match(line)
        || in_diff && (line.is_empty() || line.starts_with([' ', '+', '-', '\t', '\\']))
}

/// Returns a line without the terminal window that was pasted into it, but with the errors of that
/// window:
/// `why do I get │ make │ exit 1 ┃ Denied by the hook` becomes `why do I get: Denied by the hook`.
fn without_boxes(line: &str) -> String {
    let is_box = |c: char| ('\u{2500}'..='\u{257f}').contains(&c);
    if !line.starts_with(char::is_alphabetic) || !line.contains(is_box) {
        return line.to_owned();
    }
    let mut parts = line.split(is_box).map(str::trim);
    let typed = parts.next().unwrap_or_default();
    let error =
        pattern!(r"(?i)\b(?:denied|errors?|failed|failure|cannot|not found|refused|panic)\b");
    let shown: Vec<&str> = parts.filter(|part| error.is_match(part)).collect();
    match shown.is_empty() {
        true => typed.to_owned(),
        false => format!("{typed}: {}", shown.join("; ")),
    }
}

/// Whether a line is from a log, a shell session, data or code.
fn is_pasted(line: &str) -> bool {
    let total = line.chars().count();
    let words = line.split_whitespace().count();
    pattern!(
        r#"^(?:[❯$>%] |\[\+\]|=> |at |\d{1,2}:\d{2}|\d{4}-\d\d-\d\d|[│┃║|]|\+\+\+|---|@@|diff --git|index [0-9a-f]+\.\.|Traceback|File "|\s*(?:import|from|const|let|var|def|fn|func|class|return|public|private) .*[;{(:=]|(?:ERROR|WARN|INFO|DEBUG|npm (?:ERR|error|warn))|\d+ \||(?:GET|POST)$)"#
    )
    .is_match(line)
        || has_many_symbols(line)
        || (total > 90 && words <= 2)
        || line.contains("····")
        || (words <= 8 && line.ends_with(['{', '}', ';']) && !line.contains('`'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_leaves_whole_words() {
        let head = "Read the guide of the list first, as it names all parts. ".repeat(12);
        let prompt = format!("{head}Then let the oth … eady at last. Commit it then.");
        let whole = without_gap(&prompt);
        assert!(whole.ends_with("parts. Then let the…\n\n Commit it then."), "{whole}");
        assert_eq!(without_gap("one … two"), "one … two");
    }

    #[test]
    fn a_pasted_passage_is_a_short_quotation() {
        let passage = "The list was sorted by name on purpose, because all readers expect it to be sorted by name.";
        let prompt = format!(
            "the guide is bad. especially this part:\n\n{passage}\n\n    It is short.\n\nalso, name the new list."
        );
        let quoted = one_line(&written(&prompt));
        assert!(quoted.contains("this part: \"The list was sorted by name on purpose"), "{quoted}");
        assert!(quoted.ends_with("…\". also, name the new list."), "{quoted}");
        assert!(!quoted.contains("It is short"), "{quoted}");
    }

    #[test]
    fn short_answers_keep_their_numbers() {
        let prompt = "apply the fixes:\n\n1. fail loudly.\n\n2. leave it alone.";
        assert_eq!(
            one_line(&written(prompt)),
            "apply the fixes: 1: fail loudly. 2: leave it alone."
        );
        assert_eq!(one_line(&written("fix:\n1. the list\n2. the tree")), "fix: the list; the tree");
    }
}
