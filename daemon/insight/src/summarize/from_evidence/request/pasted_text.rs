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

/// Minimum number of words of a line that a person may have typed.
const TYPED_WORDS: usize = 4;

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
/// Paragraphs become sentences, and the items of a list become one sentence. A prompt of one line
/// is kept if it has at least [`TYPED_WORDS`] words, because it may only look like a log.
pub(crate) fn written(prompt: &str) -> String {
    let kept = written_lines(prompt);
    let line = prompt.trim();
    let may_be_typed = kept.trim().is_empty()
        && !line.contains(['\n', '`'])
        && !line.starts_with(['❯', '>', '$', '|', '<', '{', '[', '│', '┃', '║'])
        && !has_many_symbols(line)
        && line.split_whitespace().count() >= TYPED_WORDS;
    if may_be_typed { line.to_owned() } else { kept }
}

fn written_lines(prompt: &str) -> String {
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
        r#"^(?:[❯>] |\[\+\]|=> |\d{4}-\d\d-\d\d|[│┃║|]|\+\+\+|---|@@|diff --git|index [0-9a-f]+\.\.|Traceback|File "|npm (?:ERR|error|warn)|\d+ \||(?:GET|POST)$)"#
    )
    .is_match(line)
        || is_of_shell(line)
        || is_of_log(line)
        || is_of_code(line)
        || has_many_symbols(line)
        || (total > 90 && words <= 2)
        || line.contains("····")
        || (words <= 8 && line.ends_with(['{', '}']) && !line.contains('`'))
        || (words <= 8 && is_statement_of_code(line))
}

/// Whether a line is a command behind the prompt of a shell. `$ is missing before each price` is no
/// command.
fn is_of_shell(line: &str) -> bool {
    line.starts_with(['$', '%'])
        && !pattern!(r"^. (?:is|are|was|were|should|must|signs?|symbols?|before|after|in|and|or|needs?|has|does|isn.t|doesn.t)\b|^.[^ ]")
            .is_match(line)
}

/// Whether a line is from a log or a stack trace. `at the moment` and `ERROR messages` are no part
/// of a log.
fn is_of_log(line: &str) -> bool {
    let frame = pattern!(
        r"^at (?:(?:async|new) )?(?:\S+$|\S+\(|\S+(?: \[as \S+\])? \(.*\)$|[\w.]+ \(index \d+\)$)"
    );
    let time = pattern!(
        r"^\d{1,2}:\d{2}(?::\d{2}|[.,]\d{3}| +(?:ERROR|WARN|INFO|DEBUG)\b|\s{2,}(?:error|warning|info)\b)"
    );
    let level = pattern!(
        r"^(?:ERROR|WARN(?:ING)?|INFO|DEBUG)(?:[:\]]|\s{2,}| +[\[\d]| [—–-] | [\w/]+(?:\.|::|/)[\w.:/]+(?:[:\]]| ))|^(?:ERROR|WARN|INFO|DEBUG) (?:in \S*[./]\S|[A-Z][a-z]\w*[: ])"
    );
    frame.is_match(line) || time.is_match(line) || level.is_match(line)
}

/// Whether a line begins with a keyword of a programming language and continues like code.
fn is_of_code(line: &str) -> bool {
    pattern!(r#"^(?:from \S+ import |import [\w{*"'].* from ["']|import ["'{(]|(?:def|fn|func) (?:\([^)]*\) ?)?\w+(?:<[^>]*>)?\(|class \w+(?:\(.*\)|<.*>)?(?: (?:extends|implements) .*)? ?[:{]$)"#)
        .is_match(line)
        || pattern!(r"^(?:const|let|var) (?:mut )?(?:\w+|[\[{(][^=]*[\]})]|\w+\([^=]*\))(?:: ?[^=]{1,40}?)? = |^return (?:await |new |!)?[\w.:!]+\(.*\)[;,]?$|^return [\[{(]$")
            .is_match(line)
        || pattern!(r"^(?:public|private) (?:static|readonly|final|abstract|async|void|int|string|String|bool|class|fn|interface|enum|function) .*[;{(:=]")
            .is_match(line)
        || pattern!(r"^(?:import|from|const|let|var|def|fn|func|class|return|public|private) .*[;{(:=,)]$")
            .is_match(line)
            && pattern!(r"=|\(\)|::|\{").is_match(line)
}

/// Whether a short line with a semicolon at its end is a statement of code or a style. `fix the
/// login; then add a test;` is neither.
fn is_statement_of_code(line: &str) -> bool {
    line.ends_with(';')
        && !line.contains('`')
        && (line.contains(['=', '(', ')', '<', '>', '{'])
            || line.split_whitespace().count() <= 2
            || pattern!(r"^[\w-]+: |^(?:import|use|return|public|private|static|package|export|using|throw|yield|let|const|var|int|string|bool) [\w.:\[\]*-]+(?: [\w.:\[\]*-]+)?;$")
                .is_match(line))
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
    fn typed_lines_are_distinguished_from_code_and_logs() {
        for typed in [
            "at the moment the list of invoices is sorted by name, please sort it by date",
            "at startup the app crashes",
            "at least add a test for the parser",
            "at src/list.rs:28 the list is sorted by name, sort it by date",
            "import the customers from the CSV (see data/customers.csv) into the new table",
            "let users sign in with GitHub (OAuth)",
            "let admins see all orders (read only)",
            "return 404 instead of 500 when the user is missing (see #12)",
            "from now on the export should write UTC: please change it",
            "class names are inconsistent: rename them to PascalCase",
            "public pages need a title; add one to each of them",
            "const names should be upper case: rename them",
            "10:30 meetings are shown one hour late, fix that",
            "$ is missing before each price on the page",
            "% signs are missing in the table of the taxes",
            "ERROR messages should be red in the log view",
            "ERROR in the list of invoices, please fix it",
            "INFO and DEBUG lines are missing on the page of the logs",
            "WARN I think the page of the shop is too slow",
            "WARNING Never touch the table of the orders",
            "ERROR in production. Please find the cause",
            "fix the login; then add a test;",
        ] {
            assert!(!is_pasted(typed), "{typed}");
        }
        for pasted in [
            "at foo (a.js:1:2)",
            "at async Promise.all (index 0)",
            "at Object.<anonymous> (/app/src/a.js:10:5)",
            "at a.js:1",
            "at Shop.Orders.List(String name) in C:\\app\\Orders.cs:line 12",
            "import { useState } from 'react';",
            "from app.orders import (",
            "from app import orders as o, items  # type: ignore[import]",
            "import java.util.List;",
            "const total = rows.reduce((a, b) => a + b, 0)",
            "let mut rows: Vec<Row> = Vec::new();",
            "let x = 5",
            "var rows = [",
            "def total(rows, tax=0.2):",
            "fn main() {",
            "func (s *Server) Start(ctx context.Context) error {",
            "class Orders(Base):",
            "class Orders extends Base {",
            "return rows.map(render)",
            "return (",
            "return total;",
            "public static void main(String[] args) {",
            "private final Map<String, Integer> totals;",
            "private readonly rows: Row[] = [];",
            "10:30:07 started the server of the shop",
            "10:30 INFO started the server of the shop",
            "12:34  error  'rows' is never read",
            "$ npm run build",
            "ERROR: could not open the file of the shop",
            "ERROR [main] could not open the file of the shop",
            "WARN shop::orders: could not open the file",
            "INFO  started the server of the shop",
            "ERROR in ./src/App.tsx 12:5-20",
            "ERROR in src/main.ts:12:5",
            "ERROR Failed to compile with 2 errors",
            "INFO Starting server on port 8080",
            "INFO SparkContext: Running Spark version 3.5",
            "color: red;",
            "render(rows);",
        ] {
            assert!(is_pasted(pasted), "{pasted}");
        }
    }

    #[test]
    fn a_prompt_of_one_line_is_never_only_pasted() {
        let line = "WARNING: this repo has two logins. Remove the old one";
        assert_eq!(one_line(&written(line)), line);
        assert_eq!(one_line(&written("ERROR: no such file\nERROR: no such folder")), "");
        assert_eq!(one_line(&written("$ npm run build")), "");
        assert_eq!(one_line(&written("fix this\nERROR: the list has no file")), "fix this");
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
