//! The cache key of a call as the specification (intelligent-session-summarization, 3.4) defines
//! it: `name::` and eight hex digits of the MD5 of the arguments.
//!
//! The arguments are hashed in the form that Python's `json.dumps(params, sort_keys=True)` prints,
//! so that a cache written by the program of the specification can be imported.

use std::io::{self, Write};

use md5::{Digest, Md5};
use serde::Serialize;
use serde_json::{Value, ser::Formatter};

use crate::model::hex;

/// Returns the key of a call with these arguments. Arguments that are null are ignored.
pub fn of_call(tool: &str, params: &Value) -> String {
    let digest = Md5::digest(python_json(params).as_bytes());
    format!("{tool}::{}", hex::encode(&digest[..4]))
}

fn python_json(params: &Value) -> String {
    let given = match params {
        Value::Object(map) => sorted(&Value::Object(
            map.iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect(),
        )),
        _ => Value::Object(serde_json::Map::new()),
    };
    let mut bytes = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, Python);
    given.serialize(&mut serializer).expect("writing a JSON value to memory cannot fail");
    String::from_utf8(bytes).expect("the formatter writes ASCII")
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut pairs: Vec<(&String, &Value)> = map.iter().collect();
            pairs.sort_by_key(|(key, _)| *key);
            Value::Object(
                pairs.into_iter().map(|(key, value)| (key.clone(), sorted(value))).collect(),
            )
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        other => other.clone(),
    }
}

/// A formatter that prints JSON like Python: a space after `,` and `:`, and only ASCII.
struct Python;

impl Formatter for Python {
    fn begin_array_value<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        separate(writer, first)
    }

    fn begin_object_key<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        separate(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        for letter in fragment.chars() {
            if letter.is_ascii() {
                writer.write_all(&[letter as u8])?;
            } else {
                for unit in letter.encode_utf16(&mut [0; 2]) {
                    write!(writer, "\\u{unit:04x}")?;
                }
            }
        }
        Ok(())
    }
}

fn separate<W: ?Sized + Write>(writer: &mut W, first: bool) -> io::Result<()> {
    if first { Ok(()) } else { writer.write_all(b", ") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The keys were computed with Python 3: `hashlib.md5(json.dumps(...,
    /// sort_keys=True).encode())`.
    #[test]
    fn keys_equal_the_keys_of_the_specification() {
        for (params, key) in KEYS {
            let params: Value = serde_json::from_str(params).expect("valid");
            assert_eq!(of_call("t", &params), format!("t::{key}"), "{params}");
        }
    }

    #[test]
    fn order_and_nulls_make_no_difference() {
        let one = of_call("t", &json!({"b": {"y": 1, "x": 2}, "a": null, "c": 1}));
        assert_eq!(one, of_call("t", &json!({"c": 1, "b": {"x": 2, "y": 1}})));
        assert_ne!(one, of_call("t", &json!({"c": 2, "b": {"x": 2, "y": 1}})));
    }

    #[test]
    fn json_is_formatted_as_python_does() {
        let params = json!({"b": [1, 2.5, "é\n😀"], "a": {"x": true}});
        assert_eq!(
            python_json(&params),
            r#"{"a": {"x": true}, "b": [1, 2.5, "\u00e9\n\ud83d\ude00"]}"#
        );
        assert_eq!(python_json(&Value::Null), "{}");
    }

    const KEYS: &[(&str, &str)] = &[
        (r#"{}"#, "99914b93"),
        (r#"{"query": "login"}"#, "72a50fd7"),
        (r#"{"b": 1, "a": null, "c": [1, 2]}"#, "7758b445"),
        (r#"{"path": "/x/é.md", "n": 2.5}"#, "5fc15a8b"),
        (r#"{"z": {"b": "\"q\"", "a": []}, "t": true}"#, "74a5c67d"),
        (r#"{"emoji": "😀", "tab": "a\tb"}"#, "7130b313"),
    ];
}
