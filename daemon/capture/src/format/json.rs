//! A lazy parser for JSON objects of which only a few members are needed.
//!
//! Most bytes of a transcript belong to members that are not needed. An [`Object`] locates each
//! member and decodes a value on request, so that a hundred kilobytes of tool output cost one scan
//! and no copy.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize,
    de::{Deserializer, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value, value::RawValue};

use crate::format::repair::repair;

/// A JSON object whose members are not decoded.
pub(crate) struct Object<'a> {
    members: Vec<(Cow<'a, str>, &'a str)>,
}

impl<'a> Object<'a> {
    /// Parses `text`, which must be a single object.
    pub(crate) fn parse(text: &'a str) -> Option<Object<'a>> {
        serde_json::from_str(text).ok()
    }

    /// Returns the raw text of a member; for a duplicate key, of the last member.
    pub(crate) fn raw(&self, key: &str) -> Option<&'a str> {
        self.members.iter().rev().find(|(name, _)| name == key).map(|(_, raw)| *raw)
    }

    pub(crate) fn string(&self, key: &str) -> Option<Cow<'a, str>> {
        string(self.raw(key)?)
    }

    /// Returns a string member, truncated to about `limit` bytes.
    pub(crate) fn string_within(&self, key: &str, limit: usize) -> Option<Cow<'a, str>> {
        string_within(self.raw(key)?, limit)
    }

    /// Whether a member is `true`.
    pub(crate) fn is_true(&self, key: &str) -> bool {
        self.raw(key) == Some("true")
    }

    /// Returns a member that is a non-negative integer.
    pub(crate) fn number(&self, key: &str) -> Option<u64> {
        self.raw(key)?.parse().ok()
    }

    pub(crate) fn object(&self, key: &str) -> Option<Object<'a>> {
        Object::parse(self.raw(key)?)
    }

    /// Returns the keys with their raw values.
    pub(crate) fn members(&self) -> impl Iterator<Item = (&str, &'a str)> {
        self.members.iter().map(|(key, raw)| (key.as_ref(), *raw))
    }
}

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Object<'de>, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Object<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<'de>, A::Error> {
                let mut members = Vec::with_capacity(20);
                while let Some(Key(key)) = map.next_key()? {
                    let raw: &'de RawValue = map.next_value()?;
                    members.push((key, raw.get()));
                }
                Ok(Object { members })
            }
        }
        from.deserialize_map(Members)
    }
}

/// A key, borrowed when it contains no escapes.
struct Key<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Key<'de>, D::Error> {
        struct Borrowing;
        impl<'de> Visitor<'de> for Borrowing {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(key)))
            }

            fn visit_str<E>(self, key: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(key.to_owned())))
            }
        }
        from.deserialize_str(Borrowing)
    }
}

/// Decodes a raw string; `None` for any other kind of value.
pub(crate) fn string(raw: &str) -> Option<Cow<'_, str>> {
    let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inner));
    }
    // An unpaired surrogate is valid JSON but not valid text.
    let decoded = serde_json::from_str(raw).or_else(|_| serde_json::from_str(&repair(raw).text));
    decoded.ok().map(Cow::Owned)
}

/// Decodes a raw string. The middle of a string longer than `limit` bytes is omitted without being
/// decoded.
pub(crate) fn string_within(raw: &str, limit: usize) -> Option<Cow<'_, str>> {
    let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
    if inner.len() <= limit {
        return string(raw);
    }
    let (head_end, tail_start) = (limit / 3, inner.len() - (limit - limit / 3));
    let decode = |piece: &str| serde_json::from_str::<String>(&format!("\"{piece}\"")).ok();
    let lossy =
        |piece: &str| serde_json::from_str::<String>(&repair(&format!("\"{piece}\"")).text).ok();
    // The cut may fall inside an escape sequence, which has at most twelve bytes. Then the cut is
    // moved out of the sequence.
    let head_to = |back: usize| &inner[..inner.floor_char_boundary(head_end.saturating_sub(back))];
    let head = (0..=12).find_map(|back| decode(head_to(back))).or_else(|| lossy(head_to(0)))?;
    let tail_from =
        |on: usize| &inner[inner.ceil_char_boundary((tail_start + on).min(inner.len()))..];
    let tail = (0..=12).find_map(|on| decode(tail_from(on))).or_else(|| lossy(tail_from(0)))?;
    let left_out = tail_start - head_end;
    Some(Cow::Owned(format!("{head}\n[... {left_out} bytes left out ...]\n{tail}")))
}

/// Returns the raw elements of an array; empty for any other value.
pub(crate) fn items(raw: &str) -> Vec<&str> {
    struct Items;
    impl<'de> Visitor<'de> for Items {
        type Value = Vec<&'de str>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an array")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            let mut items = Vec::new();
            while let Some(raw) = seq.next_element::<&'de RawValue>()? {
                items.push(raw.get());
            }
            Ok(items)
        }
    }
    if !raw.starts_with('[') {
        return Vec::new();
    }
    serde_json::Deserializer::from_str(raw).deserialize_seq(Items).unwrap_or_default()
}

/// Returns the objects among the elements of a raw array, in one pass.
pub(crate) fn objects(raw: &str) -> Vec<Object<'_>> {
    if !raw.starts_with('[') {
        return Vec::new();
    }
    serde_json::from_str::<Vec<Object<'_>>>(raw)
        .unwrap_or_else(|_| items(raw).into_iter().filter_map(Object::parse).collect())
}

/// Decodes a value. If it is longer than `limit` bytes, truncates its strings to about `limit`
/// bytes, and its arrays to [`ITEMS_KEPT`] elements.
pub(crate) fn value_within(raw: &str, limit: usize) -> Value {
    if raw.len() <= limit {
        return serde_json::from_str(raw).unwrap_or_default();
    }
    if let Some(object) = raw.starts_with('{').then(|| Object::parse(raw)).flatten() {
        let members = object.members().map(|(key, raw)| (key.to_owned(), value_within(raw, limit)));
        return Value::Object(members.collect::<Map<_, _>>());
    }
    if raw.starts_with('[') {
        return items(raw)
            .into_iter()
            .take(ITEMS_KEPT)
            .map(|raw| value_within(raw, limit))
            .collect();
    }
    string_within(raw, limit).map_or(Value::Null, |text| Value::String(text.into_owned()))
}

/// Maximum number of elements of an array in a large value.
const ITEMS_KEPT: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_found_and_decoded() {
        let text = r#"{"a":"x\ny","b":{"c":[1,"2",{"d":null}]},"e":true,"n":7}"#;
        let object = Object::parse(text).unwrap();
        assert_eq!(object.string("a").unwrap(), "x\ny");
        assert_eq!(
            items(object.object("b").unwrap().raw("c").unwrap()),
            ["1", "\"2\"", "{\"d\":null}"]
        );
        assert!(object.is_true("e"));
        assert_eq!(object.number("n"), Some(7));
        assert_eq!(object.string("n"), None);
        assert_eq!(object.raw("missing"), None);
    }

    #[test]
    fn a_duplicate_key_does_not_break_the_record() {
        let object = Object::parse(r#"{"a":1,"a":2}"#).unwrap();
        assert_eq!(object.raw("a"), Some("2"));
    }

    #[test]
    fn values_other_than_objects_are_refused() {
        for text in ["", "[]", "{\"a\":1", "{\"a\":1}{\"b\":2}", "{\"a\":\"\\q\"}"] {
            assert!(Object::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn a_long_string_is_truncated_at_any_position() {
        let text = "\\\"\n\u{1F600}é".repeat(40);
        let raw = serde_json::to_string(&text).unwrap();
        let ascii: String = raw
            .chars()
            .map(|c| match c {
                '\u{1F600}' => "\\ud83d\\ude00".to_owned(),
                c => c.to_string(),
            })
            .collect();
        for raw in [raw, ascii] {
            for limit in 20..120 {
                let cut = string_within(&raw, limit).unwrap();
                assert!(cut.contains("bytes left out"), "{limit}: {cut}");
                assert!(cut.starts_with('\\') && cut.ends_with('é'), "{limit}: {cut}");
            }
        }
    }

    #[test]
    fn a_large_value_keeps_its_structure() {
        let raw = format!(
            r#"{{"path":"a","text":"{}","list":["{}"]}}"#,
            "x".repeat(500),
            "y".repeat(500)
        );
        let value = value_within(&raw, 100);
        assert_eq!(value["path"], "a");
        assert!(value["text"].as_str().unwrap().len() < 200);
        assert!(value["list"][0].as_str().unwrap().contains("left out"));
    }
}
