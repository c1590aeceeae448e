//! Finds the part of a text for agents that is outside of quotes.

use serde_json::Value;

/// Maximum length, in characters, of a quote.
const QUOTE: usize = 300;
/// Labels of quoted reports, with the maximum length of such a quote.
const REPORTS: [(&str, usize); 3] = [
    ("It reported at the end:", 900),
    ("Before that it reported:", 450),
    ("Before its last change it reported:", 450),
];

/// Returns the text without its quotes: “…” for words of people and agents, `…` for output and
/// names.
pub(super) fn unquoted(text: &str) -> String {
    text.lines().map(|line| unquoted_line(line) + "\n").collect()
}

fn unquoted_line(line: &str) -> String {
    let (mut bare, mut rest) = (String::new(), line);
    while let Some(start) = rest.find(['“', '`']) {
        bare.push_str(&rest[..start]);
        let quote = rest[start..].chars().next().unwrap();
        let inside = &rest[start + quote.len_utf8()..];
        let end = if quote == '“' { '”' } else { '`' };
        let Some((quoted, behind)) = inside.split_once(end) else {
            panic!("a quote that does not end: {line}");
        };
        let mut reports = REPORTS.iter().filter(|(label, _)| bare.trim() == *label);
        let most = reports.next().map_or(QUOTE, |(_, most)| *most);
        assert!(quoted.chars().count() <= most, "a quote of more than {most} characters: {quoted}");
        // The label before the quote shows who wrote it.
        assert!(!bare.trim().is_empty() || line.starts_with("- "), "no label: {line}");
        rest = behind;
    }
    bare + rest
}

/// Returns every text in an answer.
pub(super) fn texts(answer: &Value) -> Vec<&str> {
    match answer {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(members) => members.values().flat_map(texts).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}
