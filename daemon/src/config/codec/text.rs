//! Codecs for words and for texts of a certain form.

use serde_json::{Value as Json, json};

use crate::{
    config::{
        codec::{Codec, CodecContext, InvalidValue, Remark},
        file::{Node, Value},
    },
    graph::config::GroupId,
    model::Namespace,
};

pub(in crate::config) struct Flag;

/// One of several words.
pub(in crate::config) struct Choice<T: 'static> {
    /// Each word with its value. If several words have the same value, the first is current and the
    /// others are deprecated.
    pub(in crate::config) words: &'static [(&'static str, T)],
}

/// A text of a certain form.
pub(in crate::config) struct Text {
    /// The description for the message "`key` must be …".
    what: &'static str,
    example: &'static str,
    /// What a message adds to the example.
    hint: &'static str,
    /// The pattern of the JSON Schema. Without a pattern, any text that is not empty is valid.
    pattern: Option<&'static str>,
    /// Converts a text. The error is the remedy; without a remedy, the message has the example.
    parse: fn(&str) -> Result<String, Option<&'static str>>,
}

pub(in crate::config) const ENV_NAME: Text = Text {
    hint: ", not the key itself",
    pattern: Some("^[A-Za-z_][A-Za-z0-9_]*$"),
    parse: parse_env_name,
    ..Text::new("the name of an environment variable", "ANTHROPIC_API_KEY")
};

pub(in crate::config) const URL: Text = Text {
    pattern: Some("^https?://\\S+$"),
    parse: parse_url,
    ..Text::new("an address", "http://localhost:11434/v1")
};

/// A list of non-empty texts.
pub(in crate::config) struct Texts {
    pub(in crate::config) what: &'static str,
    pub(in crate::config) example: &'static str,
}

/// A program and its arguments as a list; a program without arguments may also be a text.
pub(in crate::config) struct CommandCodec;

/// A group id. Characters that are not allowed are replaced.
pub(in crate::config) struct GroupCodec;

pub(in crate::config) struct Namespaces;

impl Codec for Flag {
    type Item = bool;

    fn read(&self, node: &Node, _: &mut CodecContext<'_>) -> Result<bool, InvalidValue> {
        match &node.value {
            Value::Bool(value) => Ok(*value),
            Value::Text(text) if matches!(text.as_str(), "true" | "false") => {
                Err(InvalidValue::new(format!("write {text} without quotation marks")))
            }
            _ => Err(InvalidValue::new("write true or false")),
        }
    }

    fn write(&self, item: &bool) -> Json {
        json!(item)
    }

    fn allowed(&self) -> String {
        "true or false".to_owned()
    }

    fn schema(&self) -> Json {
        json!({ "type": "boolean" })
    }
}

impl<T: Copy + PartialEq> Choice<T> {
    fn word(&self, item: &T) -> &'static str {
        let written = self.words.iter().find(|(_, meaning)| meaning == item);
        written.map_or("", |(word, _)| word)
    }

    /// Returns the current words, without deprecated ones.
    fn current_words(&self) -> Vec<&'static str> {
        let is_present = |(word, item): &&(&str, T)| self.word(item) == *word;
        self.words.iter().filter(is_present).map(|(word, _)| *word).collect()
    }
}

impl<T: Copy + PartialEq> Codec for Choice<T> {
    type Item = T;

    fn read(&self, node: &Node, context: &mut CodecContext<'_>) -> Result<T, InvalidValue> {
        let Value::Text(text) = &node.value else {
            return Err(InvalidValue::new(format!("write \"{}\", for example", self.words[0].0)));
        };
        let same = |word: &str| word.eq_ignore_ascii_case(text.trim());
        let Some((_, item)) = self.words.iter().find(|(word, _)| same(word)) else {
            let alike = |word: &&str| strsim::normalized_damerau_levenshtein(word, text) >= 0.6;
            let remedy = match self.current_words().into_iter().find(alike) {
                Some(word) => format!("did you mean \"{word}\"?"),
                None => "write one of these words".to_owned(),
            };
            return Err(InvalidValue::new(remedy));
        };
        if self.word(item) != text {
            context.note_deprecated(&self.write(item));
        }
        Ok(*item)
    }

    fn write(&self, item: &T) -> Json {
        json!(self.word(item))
    }

    fn allowed(&self) -> String {
        let words: Vec<String> =
            self.current_words().iter().map(|word| format!("\"{word}\"")).collect();
        match words.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
            _ => words.concat(),
        }
    }

    fn schema(&self) -> Json {
        json!({ "enum": self.current_words() })
    }
}

impl Text {
    /// Returns the codec of a text that must not be empty.
    pub(in crate::config) const fn new(what: &'static str, example: &'static str) -> Text {
        Text { what, example, hint: "", pattern: None, parse: parse_text }
    }

    fn remedy(&self) -> String {
        format!("write \"{}\", for example{}", self.example, self.hint)
    }
}

impl Codec for Text {
    type Item = String;

    fn read(&self, node: &Node, _: &mut CodecContext<'_>) -> Result<String, InvalidValue> {
        let Value::Text(text) = &node.value else { return Err(InvalidValue::new(self.remedy())) };
        let remedy = |known: Option<&str>| known.map_or_else(|| self.remedy(), str::to_owned);
        (self.parse)(text).map_err(|known| InvalidValue::new(remedy(known)))
    }

    fn write(&self, item: &String) -> Json {
        json!(item)
    }

    fn allowed(&self) -> String {
        self.what.to_owned()
    }

    fn schema(&self) -> Json {
        match self.pattern {
            Some(pattern) => json!({ "type": "string", "pattern": pattern }),
            None => json!({ "type": "string", "minLength": 1 }),
        }
    }
}

fn parse_text(text: &str) -> Result<String, Option<&'static str>> {
    let text = text.trim();
    if text.is_empty() { Err(None) } else { Ok(text.to_owned()) }
}

fn parse_env_name(text: &str) -> Result<String, Option<&'static str>> {
    let is_name = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    match text.strip_prefix('$') {
        _ if is_name(text) => Ok(text.to_owned()),
        Some(name) if is_name(name) => Err(Some("write the name without the $")),
        _ => Err(None),
    }
}

fn parse_url(text: &str) -> Result<String, Option<&'static str>> {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    match rest {
        Some(rest) if !rest.is_empty() && !rest.contains(char::is_whitespace) => {
            Ok(text.trim_end_matches('/').to_owned())
        }
        _ => Err(Some("write an address that begins with http:// or https://")),
    }
}

impl Codec for Texts {
    type Item = Vec<String>;

    fn read(
        &self,
        node: &Node,
        context: &mut CodecContext<'_>,
    ) -> Result<Vec<String>, InvalidValue> {
        let one = Text::new(self.what, self.example);
        match &node.value {
            Value::List(items) => items.iter().map(|item| one.read(item, context)).collect(),
            _ => Err(InvalidValue::new(format!("write [\"{}\"], for example", self.example))),
        }
    }

    fn write(&self, item: &Vec<String>) -> Json {
        json!(item)
    }

    fn allowed(&self) -> String {
        self.what.to_owned()
    }

    fn schema(&self) -> Json {
        json!({ "type": "array", "items": { "type": "string", "minLength": 1 } })
    }
}

impl Codec for CommandCodec {
    type Item = Vec<String>;

    fn read(&self, node: &Node, _: &mut CodecContext<'_>) -> Result<Vec<String>, InvalidValue> {
        let word = |node: &Node| match &node.value {
            Value::Text(text) => Some(text.clone()),
            _ => None,
        };
        let remedy = "write the program and each argument as separate texts, such as \
                      [\"pass\", \"show\", \"key\"]";
        let words: Option<Vec<String>> = match &node.value {
            Value::Text(text) if !text.contains(char::is_whitespace) => Some(vec![text.clone()]),
            Value::List(items) => items.iter().map(word).collect(),
            _ => None,
        };
        let words = words.filter(|words| words.first().is_some_and(|program| !program.is_empty()));
        words.ok_or_else(|| InvalidValue::new(remedy))
    }

    fn write(&self, item: &Vec<String>) -> Json {
        json!(item)
    }

    fn allowed(&self) -> String {
        "a program with its arguments".to_owned()
    }

    fn schema(&self) -> Json {
        json!({ "anyOf": [
            { "type": "array", "minItems": 1, "items": { "type": "string" } },
            { "type": "string", "pattern": "^\\S+$" },
        ] })
    }
}

impl Codec for GroupCodec {
    type Item = GroupId;

    fn read(&self, node: &Node, context: &mut CodecContext<'_>) -> Result<GroupId, InvalidValue> {
        let Value::Text(text) = &node.value else {
            return Err(InvalidValue::new("write \"my_group\", for example"));
        };
        if text.trim().is_empty() {
            return Err(InvalidValue::new(
                "write a name, or null for the namespace of each project",
            ));
        }
        let group = GroupId::sanitised(text);
        if group.as_str() != text {
            context.remarks.push(Remark::Adjusted {
                used: json!(group.as_str()).to_string(),
                reason: "a group id has only letters, digits and _, and must not be a common word",
            });
        }
        Ok(group)
    }

    fn write(&self, item: &GroupId) -> Json {
        json!(item.as_str())
    }

    fn allowed(&self) -> String {
        "a name of letters, digits and _".to_owned()
    }

    fn schema(&self) -> Json {
        json!({ "type": "string", "pattern": "^[A-Za-z0-9_]+$" })
    }
}

impl Codec for Namespaces {
    type Item = Vec<Namespace>;

    fn read(&self, node: &Node, _: &mut CodecContext<'_>) -> Result<Vec<Namespace>, InvalidValue> {
        let remedy =
            "write [\"a1b2c3d4\"], for example; `graphiti list --json` shows the namespaces";
        let namespace = |node: &Node| match &node.value {
            // Longer hashes begin with the same eight digits.
            Value::Text(text) if text.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
                text.get(..8).and_then(Namespace::parse)
            }
            _ => None,
        };
        match &node.value {
            Value::List(items) => items.iter().map(namespace).collect::<Option<Vec<Namespace>>>(),
            _ => None,
        }
        .ok_or_else(|| InvalidValue::new(remedy))
    }

    fn write(&self, item: &Vec<Namespace>) -> Json {
        item.iter().map(|namespace| json!(namespace.to_string())).collect()
    }

    fn allowed(&self) -> String {
        "a list of project namespaces, each of eight hexadecimal digits".to_owned()
    }

    fn schema(&self) -> Json {
        json!({ "type": "array", "items": { "type": "string", "pattern": "^[0-9A-Fa-f]{8,}$" } })
    }
}
