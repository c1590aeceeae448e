//! Reads JSON by its tokens, so that fragments, comments and trailing commas cause no errors.

use crate::summarize::evidence::settings::Pairs;

/// Maximum length, in bytes, of an array that is the value of a setting. A longer array is data.
const ARRAY: usize = 200;

/// Returns each key whose value is a scalar or a short array of scalars, with the visible part of
/// its path.
pub(super) fn pairs(fragment: &str) -> Pairs {
    let mut scanner = Scanner { rest: fragment, found: Vec::new(), parents: Vec::new(), key: None };
    while scanner.step() {}
    scanner.found
}

struct Scanner<'f> {
    rest: &'f str,
    found: Pairs,
    /// The keys of the open objects and arrays. A key is empty if the fragment does not contain
    /// it.
    parents: Vec<String>,
    key: Option<String>,
}

impl<'f> Scanner<'f> {
    fn step(&mut self) -> bool {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r', ',']);
        let Some(c) = self.rest.chars().next() else { return false };
        match c {
            '"' => self.string(),
            '{' => self.open(),
            '[' => {
                if !self.short_array() {
                    self.open();
                }
            }
            '}' | ']' => {
                self.parents.pop();
                self.take(1);
            }
            '/' if self.rest.starts_with("//") => {
                self.take(self.rest.find('\n').unwrap_or(self.rest.len()));
            }
            '/' if self.rest.starts_with("/*") => {
                self.take(self.rest.find("*/").map_or(self.rest.len(), |at| at + 2));
            }
            _ => {
                let stop =
                    |c: char| c.is_whitespace() || matches!(c, ',' | '}' | ']' | '{' | '[' | '"');
                let length = self.rest.find(stop).unwrap_or(self.rest.len()).max(c.len_utf8());
                let literal = self.take(length);
                let is_scalar = literal.starts_with(|c: char| c.is_ascii_digit() || c == '-')
                    || ["true", "false", "null"].contains(&literal);
                match self.key.take() {
                    Some(key) if is_scalar => self.record(&key, literal),
                    _ => {}
                }
            }
        }
        true
    }

    fn take(&mut self, bytes: usize) -> &'f str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        taken
    }

    /// Reads a string, which is a key if a colon follows, and a value otherwise.
    fn string(&mut self) {
        let mut escaped = false;
        let end = self.rest.char_indices().skip(1).find(|(_, c)| {
            let ends = (*c == '"' && !escaped) || *c == '\n';
            escaped = *c == '\\' && !escaped;
            ends
        });
        let end = end.map_or(self.rest.len(), |(at, _)| at);
        let text = self.take(end).trim_start_matches('"');
        self.take(usize::from(self.rest.starts_with('"')));
        let after = self.rest.trim_start();
        if let Some(after) = after.strip_prefix(':') {
            self.rest = after;
            self.key = Some(text.to_owned());
        } else if let Some(key) = self.key.take() {
            self.record(&key, text);
        }
    }

    fn open(&mut self) {
        self.take(1);
        self.parents.push(self.key.take().unwrap_or_default());
    }

    fn short_array(&mut self) -> bool {
        let Some(end) = self.rest.find(']') else { return false };
        let array = &self.rest[..=end];
        if array.len() > ARRAY || array[1..].contains(['{', '[']) {
            return false;
        }
        let value = array.split_whitespace().collect::<Vec<_>>().join(" ");
        self.take(end + 1);
        if let Some(key) = self.key.take() {
            self.record(&key, &value);
        }
        true
    }

    fn record(&mut self, key: &str, value: &str) {
        let parents = self.parents.iter().map(String::as_str).filter(|parent| !parent.is_empty());
        let path: Vec<&str> = parents.chain([key]).collect();
        self.found.push((path.join("."), value.to_owned()));
    }
}
