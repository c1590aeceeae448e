//! Parses the syntax between a name and its value, in the common notations.

use memchr::memmem;

use crate::assignment::{
    marks::{self, BLANKS},
    sentence, sibling,
};

/// The syntax between a name and its value, which decides which unquoted values are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tie {
    /// `name=value`, without spaces.
    Equals,
    /// `name = value`, `name := value`, `name => value`, `name || value`.
    Assigns,
    /// `set_name(value)`.
    Setter,
    /// `name: value`.
    Colon,
    /// `name("value")`, `name == "value"`, `("name", "value")`: only a literal is accepted.
    Literal,
    /// `--name value`.
    Flag,
    /// `name is value`.
    Prose,
    /// `set name to value`, `name -> value`, `name (value)`: other words or signs of a sentence.
    Told,
    /// `<name>value</name>`.
    Element,
    /// `name value`.
    Beside,
    /// `name    value` in columns.
    Column,
    /// `| name | value |`, possibly a shell pipe.
    Cell,
}

/// Words between a name and its value in a sentence, in English, German, French and Spanish.
#[rustfmt::skip]
const PROSE: &[&str] = &[
    "is set to ", "is now ", "is ", "was ", "set to ", "ist ", "lautet ",
    "est ", "es ",
];

/// Operators between a name and a value. No value follows an operator with `None`.
const SIGNS: &[(&str, Option<Tie>)] = &[
    (":-", Some(Tie::Equals)),
    (":=", Some(Tie::Assigns)),
    ("||=", Some(Tie::Assigns)),
    ("?=", Some(Tie::Assigns)),
    ("=>", Some(Tie::Assigns)),
    ("||", Some(Tie::Assigns)),
    ("??=", Some(Tie::Assigns)),
    ("??", Some(Tie::Assigns)),
    ("===", Some(Tie::Literal)),
    ("!==", Some(Tie::Literal)),
    ("==", Some(Tie::Literal)),
    ("!=", Some(Tie::Literal)),
    ("=~", Some(Tie::Literal)),
    ("::", None),
    ("://", None),
];

/// Returns the separator after the name at `start..end`, and the start of the value.
pub(super) fn read(text: &[u8], start: usize, end: usize) -> Option<(Tie, usize)> {
    let close = after_closers(text, end);
    let close = sentence::closing_emphasis(text, close).unwrap_or(close);
    let at = after_bracketed_note(text, marks::after_blanks(text, close));
    let is_spaced = at > close;
    let rest = &text[at..];
    let is_sign = rest.first().is_some_and(|byte| b":=|?!".contains(byte));
    let sign = SIGNS.iter().find(|(sign, _)| is_sign && rest.starts_with(sign.as_bytes()));
    let found = if let Some(at) = next_element(&text[end..]).map(|length| end + length) {
        Some((Tie::Element, at))
    } else if let Some(length) = typed(&text[close..]) {
        Some((Tie::Assigns, close + length))
    } else if is_value_with_sign(text, start, end, at) {
        Some((Tie::Equals, at + 1))
    } else if rest.starts_with(b":-") && !text[..start].ends_with(b"{") {
        None
    } else if let Some((sign, tie)) = sign {
        tie.map(|tie| (tie, at + sign.len()))
    } else if rest.starts_with(b">") && text[..start].ends_with(b"<") {
        // In `scheme://<user>:<password>@host` the tags are placeholders.
        let is_element = !text[..start].ends_with(b":<");
        is_element.then_some((Tie::Element, at + 1))
    } else if rest.starts_with(b">") && is_attribute(&text[..start]) {
        Some((Tie::Element, at + 1))
    } else if rest.starts_with("：".as_bytes()) {
        Some((Tie::Colon, at + 3))
    } else if let Some(length) = sentence::asian_link(&text[start..end], rest) {
        Some((Tie::Prose, at + length))
    } else if rest.starts_with(b":")
        && let Some(length) = sibling::later(&text[end..])
    {
        Some((Tie::Equals, end + length))
    } else if rest.starts_with(b":") {
        // `/pass:value` is a flag on Windows.
        let is_flag = text[..start].ends_with(b" /");
        Some((if is_flag { Tie::Flag } else { Tie::Colon }, at + 1))
    } else if rest.starts_with(b"=") {
        let is_tight = !is_spaced && rest.get(1).is_none_or(|byte| *byte != b' ');
        Some((if is_tight { Tie::Equals } else { Tie::Assigns }, at + 1))
    } else if let Some(length) = encoded(rest) {
        Some((Tie::Equals, at + length))
    } else if let Some(length) = sibling_value(&text[end..]) {
        Some((Tie::Equals, end + length))
    } else if let Some(length) = sibling::later(&text[end..]) {
        Some((Tie::Equals, end + length))
    } else if is_spaced && sentence::is_in_brackets(rest) {
        Some((Tie::Told, at + 1))
    } else if rest.starts_with(b"(") && is_setter(&text[start..end]) {
        Some((Tie::Setter, at + 1))
    } else if rest.starts_with(b"(") && is_getter(&text[start..end]) {
        None
    } else if rest.starts_with(b"(") || (rest.starts_with(b",") && close > end) {
        Some((Tie::Literal, at + 1))
    } else if rest.starts_with(b"|") {
        Some((Tie::Cell, at + 1))
    } else {
        by_words(text, start, end, at)
    };
    found.map(|(tie, at)| (tie, marks::after_blanks(text, after_emphasis(text, start, at))))
}

/// Skips the end of emphasis around the name: `**Password:** x`, `<b>Password:</b> x`.
fn after_emphasis(text: &[u8], start: usize, at: usize) -> usize {
    [("**", "**"), ("__", "__"), ("*", "*"), ("<b>", "</b>"), ("<strong>", "</strong>")]
        .iter()
        .find(|(open, close)| {
            text[..start].ends_with(open.as_bytes()) && text[at..].starts_with(close.as_bytes())
        })
        .map_or(at, |(_, close)| at + close.len())
}

/// Whether the name is the value of an attribute: `<entry key="name">value</entry>`.
fn is_attribute(before: &[u8]) -> bool {
    [" key=\"", " Key=\"", " name=\"", " Name=\"", " key='", " name='"]
        .iter()
        .any(|attribute| before.ends_with(attribute.as_bytes()))
}

/// Returns the length of a call such as `.type(`, with which UI tests fill the named field.
fn typed(after_name: &[u8]) -> Option<usize> {
    if after_name.first() != Some(&b'.') {
        return None;
    }
    [".type(", ".fill(", ".send_keys(", ".sendKeys(", ".setValue(", ".clear().type("]
        .iter()
        .find(|call| after_name.starts_with(call.as_bytes()))
        .map(|call| call.len())
}

/// Returns the start of a value in the element after the element with the name, as in
/// `<key>name</key><string>value` and `<td>name</td><td>value`.
fn next_element(after_name: &[u8]) -> Option<usize> {
    const PAIRS: [(&[u8], &[u8]); 5] = [
        (b"</key>", b"<string>"),
        (b"</name>", b"<value>"),
        (b"</td>", b"<td>"),
        (b"</th>", b"<td>"),
        (b"</dt>", b"<dd>"),
    ];
    if !matches!(after_name.first(), Some(b':' | b'<')) {
        return None;
    }
    let colon = usize::from(after_name.first() == Some(&b':'));
    let (close, open) = PAIRS.iter().find(|(close, _)| after_name[colon..].starts_with(close))?;
    let gap = &after_name[colon + close.len()..];
    let blanks = gap.iter().take(BLANKS).take_while(|byte| byte.is_ascii_whitespace()).count();
    let is_open = gap[blanks..].starts_with(open);
    is_open.then_some(colon + close.len() + blanks + open.len())
}

/// Whether the second sign of `NAME==value` or `NAME=~value` belongs to the value, because no
/// shell or language has such an operator there.
fn is_value_with_sign(text: &[u8], start: usize, end: usize, at: usize) -> bool {
    if at != end || text.get(at) != Some(&b'=') {
        return false;
    }
    let is_upper_case = !text[start..end].iter().any(u8::is_ascii_lowercase);
    let is_setting = is_upper_case || text[start] == b'-' || text[..start].ends_with(b"--");
    let is_followed = text.get(at + 2).is_some_and(u8::is_ascii_alphanumeric);
    let rest = &text[at..];
    is_followed && (rest.starts_with(b"=~") || (is_setting && rest.starts_with(b"==")))
}

/// Skips the characters that close a name: its quote, brackets, the `?` of an optional field.
fn after_closers(text: &[u8], mut at: usize) -> usize {
    for _ in 0..3 {
        match text.get(at) {
            Some(b']' | b')' | b'?' | b'}') => at += 1,
            _ => match marks::quote(&text[at..]) {
                Some(length) => at += length,
                None => break,
            },
        }
    }
    at
}

/// Skips a note in brackets: `Secret Access Key [None]: `, `API key (production): `.
fn after_bracketed_note(text: &[u8], at: usize) -> usize {
    let close = match text.get(at) {
        Some(b'[') => b']',
        Some(b'(') => b')',
        _ => return at,
    };
    let note = &text[at..text.len().min(at + 24)];
    let Some(length) = note.iter().position(|byte| *byte == close) else { return at };
    let is_words = note[1..length].iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b' ');
    // In `The password (…): …`, the brackets may contain the password.
    let is_words = is_words && !str::from_utf8(&note[1..length]).is_ok_and(sentence::is_told);
    let after = at + length + 1;
    if is_words && text.get(after) == Some(&b':') { after } else { at }
}

/// Matches `setPassword` and `with_password`, whose argument is the password.
fn is_setter(name: &[u8]) -> bool {
    begins_with_verb(name, &["set", "with", "Set", "With"])
}

/// Matches `getPassword` and `has_token`, whose argument selects the password.
fn is_getter(name: &[u8]) -> bool {
    begins_with_verb(name, &["get", "has", "is", "find", "fetch", "read", "load", "Get"])
}

fn begins_with_verb(name: &[u8], verbs: &[&str]) -> bool {
    let method = name.rsplit(|byte| *byte == b'.').next().unwrap_or(name);
    verbs.iter().any(|verb| {
        let rest = method.strip_prefix(verb.as_bytes());
        rest.is_some_and(|rest| matches!(rest.first(), Some(b'_' | b'A'..=b'Z')))
    })
}

/// Matches `%3D`, `%3A`, `\u003d`, `\u003a`, `&#61;`.
fn encoded(rest: &[u8]) -> Option<usize> {
    if !matches!(rest.first(), Some(b'%' | b'\\' | b'&')) {
        return None;
    }
    let forms: [&[u8]; 5] = [b"%3D", b"%3A", b"\\u003d", b"\\u003a", b"&#61;"];
    forms
        .into_iter()
        .find(|form| rest.len() >= form.len() && rest[..form.len()].eq_ignore_ascii_case(form))
        .map(<[u8]>::len)
}

/// Parses flags, sentences, declarations with a type, and values that follow after blanks.
fn by_words(text: &[u8], start: usize, end: usize, at: usize) -> Option<(Tie, usize)> {
    let rest = &text[at..];
    if at == end {
        return None;
    }
    for (words, length) in [("is: ", 4), ("lautet: ", 8)] {
        if rest.starts_with(words.as_bytes()) {
            return Some((Tie::Colon, at + length));
        }
    }
    if let Some(length) = owner(rest) {
        return Some((Tie::Prose, at + length));
    }
    let is_flag = text[start] == b'-' || text[..start].ends_with(b" /");
    let is_spaced = !is_flag && text[end] == b' ';
    if let Some(length) = sentence::link(&text[..start], rest).filter(|_| is_spaced) {
        return Some((Tie::Told, at + length));
    }
    for word in PROSE {
        if rest.starts_with(word.as_bytes()) {
            return Some((Tie::Prose, at + word.len()));
        }
    }
    if let Some(length) = sentence::foreign_link(&text[start..end], rest) {
        return Some((Tie::Prose, at + length));
    }
    if rest.starts_with(b"--value ") {
        return Some((Tie::Flag, at + 8));
    }
    if is_flag {
        return Some((Tie::Flag, at));
    }
    if marks::quote(rest).is_some() && !rest.starts_with(b"`") {
        return Some((Tie::Literal, at));
    }
    let is_type = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_*[]<>?".contains(byte);
    let type_length = rest.iter().take(24).take_while(is_type).count();
    let assigns = marks::after_blanks(text, at + type_length);
    let is_declared = type_length > 0
        && text.get(assigns) == Some(&b'=')
        && marks::quote(&text[marks::after_blanks(text, assigns + 1)..]).is_some();
    Some(match () {
        () if is_declared => (Tie::Assigns, assigns + 1),
        () if at - end >= 2 || text[end] == b'\t' => (Tie::Column, at),
        () => (Tie::Beside, at),
    })
}

/// Returns the length of text that contains the owner of the password, such as `for bob: ` or
/// `for the server is `.
fn owner(rest: &[u8]) -> Option<usize> {
    let words = ["for ", "für ", "of ", "para ", "pour "];
    let word = words.iter().find(|word| rest.starts_with(word.as_bytes()))?;
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_@.'\" -".contains(byte);
    let name = rest[word.len()..].iter().take(BLANKS).take_while(is_name).count();
    let end = word.len() + name;
    if rest[end..].starts_with(b": ") {
        return Some(end + 2);
    }
    let verbs: [&[u8]; 4] = [b" is ", b" ist ", b" lautet ", b" est "];
    verbs.iter().find_map(|verb| {
        let at = memmem::find(&rest[word.len()..end], verb)?;
        Some(word.len() + at + verb.len())
    })
}

/// Parses `"name": "DB_PASSWORD", "value": "…"`, `- name: DB_PASSWORD\n  value: …` and
/// `key="x" value="…"`.
fn sibling_value(after_name: &[u8]) -> Option<usize> {
    let is_gap = |byte: &&u8| byte.is_ascii_whitespace() || b",;\"'\\".contains(byte);
    let gap = after_name.iter().take(BLANKS).take_while(is_gap).count();
    if gap == 0 {
        return None;
    }
    let rest = &after_name[gap..];
    let keys: [&[u8]; 3] = [b"value", b"ParameterValue", b"OutputValue"];
    let is_key =
        |key: &&&[u8]| rest.len() > key.len() && rest[..key.len()].eq_ignore_ascii_case(key);
    let key = keys.iter().find(is_key)?;
    let close = marks::after_blanks(rest, after_closers(rest, key.len()));
    matches!(rest.get(close), Some(b':' | b'=')).then_some(gap + close + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_notation_is_read() {
        for (text, wanted) in [
            ("NAME=x", Some((Tie::Equals, "x"))),
            ("NAME = x", Some((Tie::Assigns, "x"))),
            ("NAME := x", Some((Tie::Assigns, "x"))),
            ("NAME: x", Some((Tie::Colon, "x"))),
            ("NAME?: x", Some((Tie::Colon, "x"))),
            ("\"NAME\": \"x\"", Some((Tie::Colon, "\"x\""))),
            ("\\\"NAME\\\": \\\"x\\\"", Some((Tie::Colon, "\\\"x\\\""))),
            ("&quot;NAME&quot;:&quot;x", Some((Tie::Colon, "&quot;x"))),
            ("'NAME' => 'x'", Some((Tie::Assigns, "'x'"))),
            ("e['NAME'] = 'x'", Some((Tie::Assigns, "'x'"))),
            ("NAME == 'x'", Some((Tie::Literal, "'x'"))),
            ("NAME('x')", Some((Tie::Literal, "'x')"))),
            ("('NAME', 'x')", Some((Tie::Literal, "'x')"))),
            ("--NAME x", Some((Tie::Flag, "x"))),
            ("NAME is x", Some((Tie::Prose, "x"))),
            ("<NAME>x</", Some((Tie::Element, "x</"))),
            ("${NAME:-x}", Some((Tie::Equals, "x}"))),
            ("NAME || 'x'", Some((Tie::Assigns, "'x'"))),
            ("NAME%3Dx", Some((Tie::Equals, "x"))),
            ("NAME string = \"x\"", Some((Tie::Assigns, "\"x\""))),
            ("name: NAME\n  value: x", Some((Tie::Equals, "x"))),
            ("\"NAME\", \"value\": \"x\"", Some((Tie::Equals, "\"x\""))),
            ("NAME 'x'", Some((Tie::Literal, "'x'"))),
            ("NAME::x", None),
            ("NAME://x", None),
            ("NAME, x", None),
            ("NAME x", Some((Tie::Beside, "x"))),
            ("| NAME | x |", Some((Tie::Cell, "x |"))),
            ("NAME [None]: x", Some((Tie::Colon, "x"))),
            ("NAME", None),
        ] {
            // The dashes of a flag are part of its name.
            let end = text.find("NAME").unwrap() + 4;
            let start = end - 4 - if text.starts_with("--") { 2 } else { 0 };
            let found = read(text.as_bytes(), start, end);
            assert_eq!(found.map(|(tie, at)| (tie, &text[at..])), wanted, "{text}");
        }
    }
}
