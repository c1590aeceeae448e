//! Finds and repairs JSON in a model's answer.
//!
//! These usual defects are accepted: prose and code fences around the JSON, reasoning before the
//! JSON, trailing commas, comments, line breaks in strings, and a missing end.

use serde_json::{Map, Value};

/// Returns the longest object or list in `text`. If the text ends inside the object or list,
/// returns its complete values. Returns `None` if there is no object or list, or no complete value.
pub fn find(text: &str) -> Option<Value> {
    let text = without_thoughts(text).trim();
    if let Ok(value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text) {
        return Some(value);
    }
    let starts = text.match_indices(['{', '[']).map(|(at, _)| at).take(TRIES);
    let mut best: Option<(usize, Value)> = None;
    let mut passed = 0;
    for start in starts {
        if start < passed {
            continue;
        }
        let Some((length, value)) = repaired(&text[start..]) else { continue };
        passed = start + length;
        if best.as_ref().is_none_or(|(longest, _)| length > *longest) {
            best = Some((length, value));
        }
    }
    best.map(|(_, value)| value)
}

/// The tags around the reasoning of known models.
const THOUGHTS: [(&str, &str); 2] = [("<think>", "</think>"), ("<thinking>", "</thinking>")];

/// Returns `text` without the reasoning that precedes the answer in known tags. The opening tag may
/// be missing, because the templates of some models put it into the prompt.
pub fn without_thoughts(text: &str) -> &str {
    let trimmed = text.trim_start();
    for (begin, end) in THOUGHTS {
        if trimmed.starts_with(begin) {
            return trimmed.split_once(end).map_or("", |(_, answer)| answer.trim_start());
        }
    }
    // In JSON and code, a string may contain a tag.
    if trimmed.starts_with(['{', '[', '`']) {
        return text;
    }
    THOUGHTS.iter().find_map(|(begin, end)| after_closing_tag(text, begin, end)).unwrap_or(text)
}

/// Returns the answer after the first closing tag at the end of a line, if no opening tag precedes
/// this tag.
fn after_closing_tag<'t>(text: &'t str, begin: &str, end: &str) -> Option<&'t str> {
    let mut tags = text.match_indices(end).map(|(at, _)| (at, &text[at + end.len()..]));
    let ends_line = |rest: &str| rest.lines().next().is_some_and(|line| line.trim().is_empty());
    let (at, rest) = tags.find(|(_, rest)| ends_line(rest))?;
    let answer = rest.trim_start();
    (!answer.is_empty() && !text[..at].contains(begin)).then_some(answer)
}

/// Maximum number of opening brackets that are considered. Brackets within a value that was read
/// count, too.
const TRIES: usize = 200;
/// Maximum nesting of objects and lists.
const DEPTH: usize = 64;

/// Parses the value at the start of `text`, with repairs, and returns it with its length in bytes.
fn repaired(text: &str) -> Option<(usize, Value)> {
    let mut reader = JsonScanner { text, at: 0 };
    match reader.value(0) {
        ScanResult::Whole(value) | ScanResult::Ended(Some(value)) => {
            let is_empty = value.as_object().is_some_and(Map::is_empty)
                || value.as_array().is_some_and(Vec::is_empty);
            (!is_empty || reader.at < text.len() || text.len() == 2).then_some((reader.at, value))
        }
        ScanResult::Ended(None) | ScanResult::Wrong => None,
    }
}

struct JsonScanner<'t> {
    text: &'t str,
    at: usize,
}

enum ScanResult {
    Whole(Value),
    /// The text ended inside the value. Contains the usable part of the value.
    Ended(Option<Value>),
    Wrong,
}

impl JsonScanner<'_> {
    fn value(&mut self, depth: usize) -> ScanResult {
        self.skip_blanks();
        match self.peek() {
            None => ScanResult::Ended(None),
            Some('{') if depth < DEPTH => self.object(depth),
            Some('[') if depth < DEPTH => self.list(depth),
            Some('"') => match self.string() {
                Some(text) => ScanResult::Whole(Value::String(text)),
                None => ScanResult::Ended(None),
            },
            Some(_) => self.word(),
        }
    }

    fn object(&mut self, depth: usize) -> ScanResult {
        self.at += 1;
        let mut map = Map::new();
        loop {
            self.skip_separators();
            match self.peek() {
                None => return ScanResult::Ended(Some(Value::Object(map))),
                Some('}') => {
                    self.at += 1;
                    return ScanResult::Whole(Value::Object(map));
                }
                Some('"') => {}
                Some(_) => return ScanResult::Wrong,
            }
            let Some(key) = self.string() else {
                return ScanResult::Ended(Some(Value::Object(map)));
            };
            self.skip_blanks();
            match self.peek() {
                None => return ScanResult::Ended(Some(Value::Object(map))),
                Some(':') => self.at += 1,
                Some(_) => return ScanResult::Wrong,
            }
            match self.value(depth + 1) {
                ScanResult::Whole(value) => {
                    map.insert(key, value);
                }
                ScanResult::Ended(value) => {
                    map.extend(value.map(|value| (key, value)));
                    return ScanResult::Ended(Some(Value::Object(map)));
                }
                ScanResult::Wrong => return ScanResult::Wrong,
            }
        }
    }

    fn list(&mut self, depth: usize) -> ScanResult {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.skip_separators();
            match self.peek() {
                None => return ScanResult::Ended(Some(Value::Array(items))),
                Some(']') => {
                    self.at += 1;
                    return ScanResult::Whole(Value::Array(items));
                }
                Some(_) => {}
            }
            match self.value(depth + 1) {
                ScanResult::Whole(value) => items.push(value),
                // An incomplete item of a list is omitted, because parts of it may be missing.
                ScanResult::Ended(_) => return ScanResult::Ended(Some(Value::Array(items))),
                ScanResult::Wrong => return ScanResult::Wrong,
            }
        }
    }

    /// Parses a string; `None` when the text ends inside the string.
    fn string(&mut self) -> Option<String> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut end = start + 1;
        while *bytes.get(end)? != b'"' {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        self.at = end + 1;
        let quoted = &self.text[start..=end];
        serde_json::from_str(quoted).ok().or_else(|| {
            let repaired = quoted.replace('\n', "\\n").replace('\r', "\\r").replace('\t', "\\t");
            let inner = &quoted[1..quoted.len() - 1];
            Some(serde_json::from_str(&repaired).unwrap_or_else(|_| inner.to_owned()))
        })
    }

    fn word(&mut self) -> ScanResult {
        let rest = &self.text[self.at..];
        let is_part = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        self.at += end;
        match &rest[..end] {
            // A number at the end of the text may be truncated.
            _ if self.at == self.text.len() => ScanResult::Ended(None),
            "None" => ScanResult::Whole(Value::Null),
            "True" => ScanResult::Whole(Value::Bool(true)),
            "False" => ScanResult::Whole(Value::Bool(false)),
            word => serde_json::from_str(word).map_or(ScanResult::Wrong, ScanResult::Whole),
        }
    }

    fn skip_separators(&mut self) {
        self.skip_blanks();
        while self.peek() == Some(',') {
            self.at += 1;
            self.skip_blanks();
        }
    }

    fn skip_blanks(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            self.at += rest.len() - rest.trim_start().len();
            let rest = &self.text[self.at..];
            let end = match rest {
                _ if rest.starts_with("//") => rest.find('\n'),
                _ if rest.starts_with("/*") => rest.find("*/").map(|at| at + 2),
                _ => return,
            };
            self.at += end.unwrap_or(rest.len());
        }
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn json_is_found_and_repaired() {
        for (text, expected) in [
            ("{\"a\": 1}", json!({"a": 1})),
            (
                "Sure! Here it is:\n```json\n{\"a\": [1, 2]}\n```\nAnything else?",
                json!({"a": [1, 2]}),
            ),
            ("{\"a\": [1, 2,], \"b\": {\"c\": true,},}", json!({"a": [1, 2], "b": {"c": true}})),
            ("{\"a\": 1, // one\n /* two */ \"b\": 2}", json!({"a": 1, "b": 2})),
            ("{\"a\": \"two\nlines\tand \\\"more\\\"\"}", json!({"a": "two\nlines\tand \"more\""})),
            ("{\"a\": \"C:\\path\"}", json!({"a": "C:\\path"})),
            (
                "{\"a\": None, \"b\": True, \"c\": -1.5e3}",
                json!({"a": null, "b": true, "c": -1500.0}),
            ),
            ("<think>{\"a\": 0}</think>\n{\"a\": 1}", json!({"a": 1})),
            ("The set {x} is small, [sic]: {\"a\": 1}", json!({"a": 1})),
            ("{\"a\": 1} and {\"a\": 2, \"b\": \"longer\"}", json!({"a": 2, "b": "longer"})),
            ("[{\"a\": 1}]", json!([{"a": 1}])),
            ("{}", json!({})),
        ] {
            assert_eq!(find(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn reasoning_before_the_answer_is_removed() {
        for (text, expected) in [
            ("<think>The user wants it.</think>\nFixed the login.", "Fixed the login."),
            ("Okay, the user wants it.\n</think>\n\nFixed the login.", "Fixed the login."),
            ("Okay.</think>\r\n\r\nFixed the login.", "Fixed the login."),
            ("Okay.\n</thinking>\nFixed the login.", "Fixed the login."),
        ] {
            assert_eq!(without_thoughts(text), expected, "{text}");
        }
        for text in [
            "Fixed the login.",
            "The parser removes all text before </think>",
            "The parser removes all text before </think>\n",
            "The parser removes text before </think> at the start.\nTests pass.",
            "The parser removes `</think>`\nand `<think>`.",
            "The parser reads <think> and\n</think>\nas one tag.",
            "{\"a\": \"text before </think>\n\", \"b\": 1}",
            "```json\n{\"a\": \"text before </think>\n\"}\n```",
        ] {
            assert_eq!(without_thoughts(text), text);
        }
        let text = "I could write {\"a\": 0}.\n</think>\n{\"a\": 1}";
        assert_eq!(find(text), Some(json!({"a": 1})));
    }

    #[test]
    fn complete_parts_of_a_truncated_text_are_kept() {
        for (text, expected) in [
            ("{\"a\": 1, \"b\": \"hal", json!({"a": 1})),
            ("{\"a\": [\"one\", \"two\", \"thr", json!({"a": ["one", "two"]})),
            ("{\"a\": [{\"b\": 1}, {\"b\": 2, \"c\"", json!({"a": [{"b": 1}]})),
            ("{\"a\": 1, \"b\": 12", json!({"a": 1})),
            ("{\"a\": 1, \"b\": tru", json!({"a": 1})),
            ("{\"a\": 1, \"b\":", json!({"a": 1})),
            ("{\"a\": {\"b\": 1,", json!({"a": {"b": 1}})),
            ("```json\n{\"a\": 1,\n", json!({"a": 1})),
        ] {
            assert_eq!(find(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn nothing_is_found_in_text_without_json() {
        for text in ["", "no", "{", "[", "{x}", "\"text\"", "1", "<think>{\"a\": 1}", "{\"a\" 1}"] {
            assert_eq!(find(text), None, "{text}");
        }
        assert_eq!(find(&"[".repeat(100_000)), None);
        assert_eq!(find(&"{\"a\":".repeat(100_000)), None);
    }

    proptest! {
        #[test]
        fn any_text_can_be_read(text in "([{}\\[\\]\",:\\\\ a1/*\n語]|true|\"a\"){0,60}") {
            let _ = find(&text);
        }

        #[test]
        fn valid_json_is_found_unchanged(
            entries in prop::collection::btree_map("[a-z\"\\\\{语\n]{0,5}", any::<Option<i32>>(), 1..5),
        ) {
            let value = json!(entries);
            let text = format!("Here:\n```json\n{value:#}\n```\n");
            prop_assert_eq!(find(&text), Some(value));
        }

        #[test]
        fn truncated_json_has_no_new_keys(cut in 0usize..60) {
            let value = json!({"a": ["one", "two"], "b": {"c": 12.5}, "d": "語 text"});
            let text = value.to_string();
            let cut = text.floor_char_boundary(cut);
            if let Some(Value::Object(found)) = find(&text[..cut]) {
                prop_assert!(found.keys().all(|key| value.get(key).is_some()));
            }
        }
    }
}
