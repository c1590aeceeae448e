//! JSON pointers (RFC 6901), which select the members of a record.

use std::fmt;

use crate::format::json::{self, Object};

/// A pointer to a member of a record, such as `/message/content/0`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pointer {
    text: String,
    /// The keys and indexes, without escapes. Never empty.
    tokens: Vec<String>,
}

/// Why a text is not a pointer to a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PointerError {
    #[error("a JSON pointer begins with /")]
    NoSlash,
    #[error("/ alone selects the member with an empty name; add a name, as in /message/role")]
    NoName,
    #[error("in a JSON pointer, ~ must be followed by 0 (for ~) or 1 (for /)")]
    Escape,
}

impl Pointer {
    pub fn parse(text: &str) -> Result<Pointer, PointerError> {
        let rest = text.strip_prefix('/').ok_or(PointerError::NoSlash)?;
        if rest.is_empty() {
            return Err(PointerError::NoName);
        }
        let tokens = rest.split('/').map(unescaped).collect::<Option<Vec<_>>>();
        Ok(Pointer { text: text.to_owned(), tokens: tokens.ok_or(PointerError::Escape)? })
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the raw text of the member in `record`; `None` if it is missing or `null`.
    pub(super) fn find<'a>(&self, record: &Object<'a>) -> Option<&'a str> {
        let (first, rest) = self.tokens.split_first().expect("a pointer has a token");
        let found = rest.iter().try_fold(record.raw(first)?, |raw, token| member(raw, token));
        found.filter(|raw| *raw != "null")
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Returns a member of an object or an element of an array.
fn member<'a>(raw: &'a str, token: &str) -> Option<&'a str> {
    if raw.starts_with('{') {
        return Object::parse(raw)?.raw(token);
    }
    let is_index = token == "0" || !token.starts_with(['0', '+']);
    let index: usize = token.parse().ok().filter(|_| is_index)?;
    json::items(raw).get(index).copied()
}

fn unescaped(token: &str) -> Option<String> {
    let without = token.replace("~0", "").replace("~1", "");
    (!without.contains('~')).then(|| token.replace("~1", "/").replace("~0", "~"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 6901, section 5.
    #[test]
    fn pointers_select_members_as_in_rfc_6901() {
        let text = r#"{"foo":["bar","baz"],"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8}"#;
        let record = Object::parse(text).unwrap();
        for (pointer, value) in [
            ("/foo", "[\"bar\",\"baz\"]"),
            ("/foo/0", "\"bar\""),
            ("/a~1b", "1"),
            ("/c%d", "2"),
            ("/e^f", "3"),
            ("/g|h", "4"),
            ("/i\\j", "5"),
            ("/k\"l", "6"),
            ("/ ", "7"),
            ("/m~0n", "8"),
        ] {
            assert_eq!(Pointer::parse(pointer).unwrap().find(&record), Some(value), "{pointer}");
        }
        for pointer in ["/bar", "/foo/2", "/foo/00", "/foo/-", "/foo/+1", "/foo/0/x", "/a"] {
            assert_eq!(Pointer::parse(pointer).unwrap().find(&record), None, "{pointer}");
        }
    }

    #[test]
    fn null_is_treated_as_missing() {
        let record = Object::parse(r#"{"a":{"b":null}}"#).unwrap();
        assert_eq!(Pointer::parse("/a/b").unwrap().find(&record), None);
    }

    #[test]
    fn an_invalid_pointer_is_refused_with_the_reason() {
        for (text, error) in [
            ("", PointerError::NoSlash),
            ("message.role", PointerError::NoSlash),
            ("#/role", PointerError::NoSlash),
            ("/", PointerError::NoName),
            ("/a~2b", PointerError::Escape),
            ("/a~", PointerError::Escape),
        ] {
            assert_eq!(Pointer::parse(text), Err(error), "{text}");
        }
    }
}
