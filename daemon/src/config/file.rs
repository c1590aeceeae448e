//! Parses a configuration file (JSON with comments and trailing commas) into a tree with line
//! numbers.

use std::path::Path;

use jsonc_parser::{CollectOptions, ParseOptions, ast, common::Ranged, parse_to_ast};

use crate::{
    config::problem::{ConfigProblem, FilePosition, Problems},
    redact::Redactor,
};

/// Maximum length, in characters, of a value in a message.
const MAX_SHOWN_CHARS: usize = 60;

/// A value and the line where it begins.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub(super) line: usize,
    pub(super) value: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Node>),
    Object(Vec<KeyValue>),
}

/// A key with its line and its value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct KeyValue {
    pub(super) key: String,
    pub(super) line: usize,
    pub(super) node: Node,
}

/// Parses `text`, the content of `file`. An empty file is an empty object.
pub(super) fn parse(file: &Path, text: &str) -> Result<Node, Problems> {
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options).map_err(|error| {
        let place = FilePosition::new(file, error.line_display());
        let error = error.kind().to_string().to_lowercase();
        Problems { problems: vec![ConfigProblem::Syntax { place, error }], notices: Vec::new() }
    })?;
    let lines = LineIndex::of(text);
    Ok(parsed
        .value
        .map_or(Node { line: 1, value: Value::Object(Vec::new()) }, |value| lines.node(value)))
}

impl Node {
    /// Formats the value for a message: shortened, and without secrets.
    pub(super) fn shown(&self, redactor: &Redactor) -> String {
        let text = match &self.value {
            Value::Null => "null".to_owned(),
            Value::Bool(value) => value.to_string(),
            Value::Number(number) => number.clone(),
            Value::Text(text) => {
                let clean = redactor.redact(text).text;
                let quoted = serde_json::Value::from(clean.as_ref()).to_string();
                return shorten(&quoted);
            }
            Value::List(_) => "a list".to_owned(),
            Value::Object(_) => "an object".to_owned(),
        };
        shorten(&text)
    }
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// The byte offset at which each line of a text begins.
struct LineIndex(Vec<usize>);

impl LineIndex {
    fn of(text: &str) -> LineIndex {
        let starts =
            text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        LineIndex(std::iter::once(0).chain(starts).collect())
    }

    fn line(&self, at: usize) -> usize {
        self.0.partition_point(|start| *start <= at)
    }

    fn node(&self, value: ast::Value<'_>) -> Node {
        let line = self.line(value.range().start);
        let value = match value {
            ast::Value::StringLit(text) => Value::Text(text.value.into_owned()),
            ast::Value::NumberLit(number) => Value::Number(number.value.to_owned()),
            ast::Value::BooleanLit(value) => Value::Bool(value.value),
            ast::Value::NullKeyword(_) => Value::Null,
            ast::Value::Array(list) => {
                Value::List(list.elements.into_iter().map(|item| self.node(item)).collect())
            }
            ast::Value::Object(object) => Value::Object(
                object.properties.into_iter().map(|field| self.entry(field)).collect(),
            ),
        };
        Node { line, value }
    }

    fn entry(&self, field: ast::ObjectProp<'_>) -> KeyValue {
        KeyValue {
            line: self.line(field.range.start),
            key: field.name.into_string(),
            node: self.node(field.value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Node, Problems> {
        parse(Path::new("c.json"), text)
    }

    #[test]
    fn comments_and_trailing_commas_are_allowed() {
        let node =
            parsed("\u{FEFF}{\n  // why\n  \"a\": 1, /* and */\n  \"b\": [true, null,],\n}\n");
        let Value::Object(entries) = node.unwrap().value else { panic!("no object") };
        let keys: Vec<(&str, usize)> =
            entries.iter().map(|entry| (entry.key.as_str(), entry.line)).collect();
        assert_eq!(keys, [("a", 3), ("b", 4)]);
    }

    #[test]
    fn an_empty_file_is_an_empty_object() {
        assert_eq!(parsed("").unwrap().value, Value::Object(Vec::new()));
        assert_eq!(parsed(" // nothing\n").unwrap().value, Value::Object(Vec::new()));
    }

    #[test]
    fn invalid_json_is_reported_with_its_line() {
        for (text, wanted) in [
            (
                "{\n  \"a\": 1\n  \"b\": 2\n}",
                "c.json:2: is not JSON from here on (expected comma); apart from comments and \
                trailing commas, the file must be JSON",
            ),
            (
                "{\n  \"a\": tru\n}",
                "c.json:2: is not JSON from here on (unexpected word); apart from comments and \
                trailing commas, the file must be JSON",
            ),
            (
                "{ \"a\": 1",
                "c.json:1: is not JSON from here on (unterminated object); apart from comments \
                and trailing commas, the file must be JSON",
            ),
            (
                "{ 'a': 1 }",
                "c.json:1: is not JSON from here on (single-quoted strings are not allowed); \
                apart from comments and trailing commas, the file must be JSON",
            ),
        ] {
            assert_eq!(parsed(text).unwrap_err().to_string(), wanted);
        }
    }

    #[test]
    fn a_value_is_shown_without_its_secrets() {
        let redactor = Redactor::new();
        let shown = |text: &str| parsed(text).unwrap().shown(&redactor);
        assert_eq!(shown("12.50"), "12.50");
        assert_eq!(shown("\"a \\\"b\\\"\""), "\"a \\\"b\\\"\"");
        assert_eq!(shown("[1]"), "a list");
        let token = ["gh", "p_", "kJ8s2Lq0Zx9Vb4NmkJ8s2Lq0Zx9Vb4NmQw12"].concat();
        assert_eq!(shown(&format!("\"{token}\"")), "\"[REDACTED:github-token]\"");
        assert_eq!(shown(&format!("\"{}\"", "x".repeat(90))).chars().count(), MAX_SHOWN_CHARS + 1);
    }
}
