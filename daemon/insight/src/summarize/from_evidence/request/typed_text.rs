//! Extracts the text that the user typed from a prompt, without commands, code and pasted lines.

use crate::{
    lang::prompt::slash_command,
    model::evidence::Quote,
    summarize::from_evidence::entries::Entries,
    text::{pattern, without_code},
};

/// Minimum length, in bytes, of a line that may be pasted from a report.
const PASTED: usize = 20;

/// Returns the arguments of a slash command, or else the whole prompt.
pub(crate) fn arguments(prompt: &str) -> &str {
    let command = slash_command(prompt).and_then(|command| command.split_once(char::is_whitespace));
    command.map_or(prompt, |(_, arguments)| arguments.trim_start())
}

/// Returns a prompt without the lines that the user pasted from the previous report.
pub(crate) fn unquoted(entries: &Entries<'_>, prompt: &Quote) -> String {
    // A terminal leaves a backslash at the end of a continued line.
    let lines = prompt.text.lines().map(|line| line.trim_end_matches('\\'));
    if prompt.text.len() < PASTED {
        return lines.collect::<Vec<_>>().join("\n");
    }
    let before = report_before(entries, prompt);
    let own = lines.filter(|line| !is_pasted(&before, line));
    own.collect::<Vec<_>>().join("\n")
}

/// Returns the first line of a prompt, if the user pasted this line and no other from the previous
/// report.
pub(crate) fn quotes_before(entries: &Entries<'_>, prompt: &Quote) -> Option<String> {
    let before = report_before(entries, prompt);
    let mut lines = prompt.text.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next().filter(|line| is_pasted(&before, line))?;
    let is_only = !lines.any(|line| is_pasted(&before, line));
    is_only
        .then(|| first.trim_start_matches(['-', '•', '>', ' ']).trim_end_matches('\\').to_owned())
}

fn report_before(entries: &Entries<'_>, prompt: &Quote) -> String {
    let mut before = entries.evidence.reports.iter();
    let before = before.rfind(|report| report.origin.line < prompt.origin.line);
    before.map_or(String::new(), |report| squeezed(&report.text))
}

/// Whether `before`, the text of the previous report, contains a line.
fn is_pasted(before: &str, line: &str) -> bool {
    let line = squeezed(line);
    let line = line.trim_start_matches(['-', '•', ' ']);
    line.len() >= PASTED && before.contains(line)
}

/// Returns `text` with single spaces and without the marks that a terminal does not show.
fn squeezed(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars().filter(|c| !matches!(c, '`' | '*')) {
        match c.is_whitespace() {
            true if plain.ends_with(' ') => {}
            true => plain.push(' '),
            false => plain.push(c),
        }
    }
    plain.truncate(plain.trim_end().len());
    plain
}

/// Returns the text of a prompt without code; `None` for commands, pasted reviews, plans, and
/// prompts of more than `longest` bytes.
pub(crate) fn spoken(prompt: &str, longest: usize) -> Option<String> {
    let is_review =
        pattern!(r"(?i)\b(?:high|medium|low|critical) severity\b|^\s*>|^in \S+ around lines? \d")
            .is_match(prompt);
    let is_command = is_review
        || slash_command(prompt).is_some()
        || prompt.starts_with(['<', '#'])
        || prompt.starts_with("Implement the following plan");
    let words = without_pasted_code(&without_code(prompt));
    (!is_command && prompt.len() <= longest && words.chars().any(char::is_alphabetic))
        .then_some(words)
}

/// Returns a prompt without the lines of JSON and code that were pasted without back quotes, and
/// without the buttons of a web page above such code.
fn without_pasted_code(prompt: &str) -> String {
    let (mut follows_button, mut follows_code, mut omitted) = (false, false, false);
    let mut kept: Vec<String> = Vec::new();
    let mut lines = prompt.lines().peekable();
    while let Some(line) = lines.next() {
        let is_button = pattern!(r"^\s*(?:Copy|Edit|Copy code)\s*$").is_match(line);
        // The name of the language is above the buttons.
        if is_button && !follows_button {
            kept.pop_if(|above| pattern!(r"^\s*[A-Za-z+#]{1,12}\s*$").is_match(above));
        }
        let is_beside_code = |next: &&str| is_line_of_code(next) || opens_block(next);
        let is_code = is_button
            || is_line_of_code(line)
            || opens_block(line) && (follows_code || lines.peek().is_some_and(is_beside_code));
        follows_code = is_code;
        follows_button = is_button || follows_button && is_code;
        if is_code {
            omitted = true;
            continue;
        }
        // The code is a part of the sentence around it.
        if line.starts_with(|c: char| c.is_lowercase()) && std::mem::take(&mut omitted) {
            while kept.pop_if(|above| above.trim().is_empty()).is_some() {}
            let is_open = |above: &&mut String| above.ends_with(|c: char| c.is_alphanumeric());
            if let Some(above) = kept.last_mut().filter(is_open) {
                above.push_str(&format!(" (code) {line}"));
                continue;
            }
        }
        kept.push(line.to_owned());
    }
    kept.join("\n")
}

/// Whether a line is a statement that opens a block of code. A sentence that introduces a list,
/// such as `for each endpoint (list and detail) do the following:`, may look the same.
fn opens_block(line: &str) -> bool {
    pattern!(r"^\s*(?:with|for|while|if) .*[(=<>\[].*[\w)\]][:{]\s*(?:#.*|//.*)?$").is_match(line)
}

/// Whether a line is JSON, or code that no sentence looks like: the head of a function or a class,
/// or an indented call or assignment.
fn is_line_of_code(line: &str) -> bool {
    pattern!(
        r#"^\s*(?:[{}\[\]]+[,;]?\s*$|"[\w./-]+"\s*:\s*(?:["\[{]|-?\d|true\b|false\b|null\b))|^\s*(?:async (?:with|for|def) .*[\w)\]]|(?:(?:def|fn|func|function) \w+[(<]|func \(\w|class [A-Z]\w*[(<]).*[\w)\]] ?|class [A-Z]\w* ?)[:{]\s*(?:#.*|//.*)?$|^(?: {4,}|\t+)[\w.]+(?:\(.*\)| = \S.*)[;,]?\s*$"#
    )
    .is_match(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pasted_code_is_not_spoken() {
        let prompt = "try this: switch the reader to\n\npython\nCopy\nEdit\nasync with client.get(url) as r:   # shared\n    buf = io.BytesIO()\n    async for part in r.parts(1 << 20):\n        buf.write(part)\nand use 8 workers";
        assert_eq!(
            without_pasted_code(prompt),
            "try this: switch the reader to (code) and use 8 workers"
        );
        let block = "this is slow\nfor row in rows(table):\n    copy(row)\nclass Rows:\ndef read(path):\nfn read(path: &str) {\nwhy?";
        assert_eq!(without_pasted_code(block), "this is slow (code) why?");
        let row = "here's one to try\n\n{\n  \"id\": \"shop-1531\",\n  \"files\": [],\n  \"done\": true\n}\n";
        assert_eq!(without_pasted_code(row), "here's one to try\n");
        for prompt in [
            "for rows:\n    use one list (not two)\n    keep it short",
            "Copy the list, then edit the page",
            "the \"id\": is it read?\n- if it is, keep it",
            "Python\nis fine here",
            "for each endpoint (list and detail) do the following:\n- add a test",
            "if the user is logged in (or has a token) show:\n    - the name",
            "with the new API (v2) we need:\none list",
            "class names must follow this scheme:\nList",
            "class names:\nList",
            "function names (in the parser) should become:\nread",
        ] {
            assert_eq!(without_pasted_code(prompt), prompt);
        }
    }

    #[test]
    fn a_path_is_no_slash_command() {
        let path = "/app/list.rs must stay as it is";
        assert_eq!(arguments(path), path);
        assert!(spoken(path, 100).is_some_and(|text| text.contains("must stay as it is")));
        assert_eq!(arguments("/plan the list of days"), "the list of days");
        assert_eq!(spoken("/plan the list of days", 100), None);
    }
}
