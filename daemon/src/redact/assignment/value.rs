//! Where a value ends, and whether it is a secret.

use std::ops::Range;

use memchr::{memchr, memchr2};

use crate::redact::{
    assignment::{
        name::{Meaning, Strength},
        separator::{self, Tie},
    },
    basic,
    placeholder::{is_code, is_hash, is_label, is_location, is_placeholder, is_plain_word},
    randomness::looks_drawn,
};

/// The longest literal that is looked for the end of, in bytes: session tokens of clouds come to
/// some 2,000.
const LONGEST: usize = 8_192;

/// How much of a value is judged, and of a value without quotation marks read before that: this
/// bounds the work on text that is all names. Once it is a secret it is read to its end.
const JUDGED: usize = 256;

/// A value as found in the text.
#[derive(Clone, Copy, Debug)]
pub(in crate::redact) struct Value<'t> {
    /// The value without what surrounds it.
    pub(in crate::redact) text: &'t str,
    /// Whether it stood in quotation marks.
    pub(in crate::redact) quoting: Quoting,
}

/// How a value is delimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::redact) enum Quoting {
    /// By quotation marks or tags: a literal.
    Literal,
    /// By quotation marks, as one of several in a row: `("password", "…")`.
    Argument,
    /// Not at all, in `NAME=value` at the beginning of a line or among other such pairs.
    Setting,
    /// Not at all, as the only thing on its line: `name: value`.
    Line,
    /// Not at all, behind a flag.
    Flag,
    /// Not at all, and nothing but a blank ties it to its name.
    Beside,
    /// Not at all, behind a `|`.
    Cell,
    /// Not at all: may be code or prose.
    Bare,
}

/// The value at `at`: its place in `text` and the value itself.
pub(super) fn read(text: &str, name_start: usize, tie: Tie, at: usize) -> Option<Found<'_>> {
    let bytes = text.as_bytes();
    let at = past_type(bytes, tie, at);
    if let Some(range) = literal(bytes, at) {
        let is_argument = matches!(tie, Tie::Literal | Tie::Beside | Tie::Cell);
        let quoting = if is_argument { Quoting::Argument } else { Quoting::Literal };
        return Found::new(text, range, quoting);
    }
    let end = match tie {
        Tie::Literal => return None,
        Tie::Element => at + element_length(limited(bytes, at)),
        _ => bare_end(bytes, at, JUDGED),
    };
    let quoting = match tie {
        Tie::Element => Quoting::Literal,
        Tie::Equals if is_setting(bytes, name_start, end) => Quoting::Setting,
        Tie::Colon if is_whole_line(bytes, name_start, end) => Quoting::Line,
        Tie::Beside if bytes[..name_start].ends_with(b"ENV ") => Quoting::Setting,
        Tie::Beside => Quoting::Beside,
        Tie::Cell => Quoting::Cell,
        Tie::Flag if is_last_or_before_flag(bytes, end) => Quoting::Setting,
        Tie::Flag => Quoting::Flag,
        _ => Quoting::Bare,
    };
    Found::new(text, at..end, quoting)
}

/// A value and where it stands.
pub(super) struct Found<'t> {
    pub(super) range: Range<usize>,
    pub(super) value: Value<'t>,
}

impl<'t> Found<'t> {
    fn new(text: &'t str, range: Range<usize>, quoting: Quoting) -> Option<Found<'t>> {
        let end = text.floor_char_boundary(range.end);
        let range = range.start..end;
        let value = text.get(range.clone())?;
        Some(Found { range, value: Value { text: value, quoting } })
    }
}

impl Found<'_> {
    /// Its end, also of a value that was longer than what is read before it is judged.
    pub(super) fn whole_end(&self, text: &str) -> usize {
        let bytes = text.as_bytes();
        let was_cut = self.range.len() + 4 >= JUDGED;
        match self.value.quoting {
            Quoting::Literal | Quoting::Argument if self.range.len() + 4 >= LONGEST => {
                bare_end(bytes, self.range.end, text.len())
            }
            Quoting::Literal | Quoting::Argument => self.range.end,
            _ if was_cut => bare_end(bytes, self.range.start, text.len()).max(self.range.end),
            _ => self.range.end,
        }
    }
}

impl Value<'_> {
    /// Whether it is a secret, given what its name promises.
    pub(in crate::redact) fn is_secret(self, meaning: Meaning) -> bool {
        let text = self.text.trim();
        let text = &text[..text.floor_char_boundary(text.len().min(JUDGED))];
        if text.len() < 3 || is_placeholder(text) {
            return false;
        }
        match meaning.strength {
            Strength::Password => self.is_password(text),
            Strength::LikelyPassword => self.is_likely_password(text),
            Strength::Key if matches!(self.quoting, Quoting::Beside | Quoting::Cell) => {
                self.is_hinted(text)
            }
            Strength::Key => self.is_key(text),
            Strength::Hint => self.is_hinted(text),
            Strength::Credential => self.is_hinted(text) || basic::is_pair(text),
            Strength::Authorization => is_authorization(text),
            Strength::Cookie => is_cookie(text),
        }
    }

    fn is_password(self, text: &str) -> bool {
        let first = text.split('|').next().unwrap_or(text);
        if is_plain_word(first) || is_location(text) || says_password(text) {
            return false;
        }
        if text.contains(char::is_whitespace) {
            return self.quoting == Quoting::Literal && is_phrase(text);
        }
        let is_word =
            text.bytes().all(|byte| byte.is_ascii_alphabetic() || b"_-.:/[]".contains(&byte));
        match self.quoting {
            Quoting::Literal => true,
            // `("md5", "scram-sha-256")` lists words, `("password", "hunter2")` gives one away.
            Quoting::Argument => !is_word && !text.contains(['-', '/', '.', ':']),
            Quoting::Beside => is_told_password(text),
            Quoting::Cell => false,
            Quoting::Setting => text.len() >= 4 && !is_code(text),
            Quoting::Line => text.len() >= 4 && !is_code(text) && !is_type_name(text),
            Quoting::Flag | Quoting::Bare => {
                text.len() >= 4 && !is_word && !is_code(text) && !is_type_name(text)
            }
        }
    }

    /// `{ user: "bob", pass: "hunter2" }`, but neither `pass: 12` nor `PASS: TestLogin2`.
    fn is_likely_password(self, text: &str) -> bool {
        let is_tied = matches!(self.quoting, Quoting::Literal | Quoting::Setting | Quoting::Flag);
        let is_plain =
            text.bytes().all(|byte| byte.is_ascii_alphabetic() || b"_-.:/".contains(&byte));
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        is_tied && !is_plain && !is_number && self.is_password(text)
    }

    fn is_key(self, text: &str) -> bool {
        let is_literal = matches!(self.quoting, Quoting::Literal | Quoting::Argument);
        if text.len() < 8 || text.contains(char::is_whitespace) || is_location(text) {
            return false;
        }
        if text.contains('@') && text.contains('.') && !looks_drawn(text) {
            return false;
        }
        (is_literal || !is_code(text)) && looks_drawn(text)
    }

    fn is_hinted(self, text: &str) -> bool {
        let parts = text.split(['-', '_', '.', ':', '/']);
        let drawn: usize = parts
            .filter(|part| part.len() >= 8 && !is_hash(part) && looks_drawn(part))
            .map(str::len)
            .sum();
        text.len() >= 20 && drawn * 10 >= text.len() * 6 && !is_hash(text) && self.is_key(text)
    }
}

/// Whether `text`, said right after "password", is one: letters with digits or signs.
fn is_told_password(text: &str) -> bool {
    let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
    let has_letter = text.bytes().any(|byte| byte.is_ascii_alphabetic());
    let is_one_word = !text.contains(['_', '/', '.', ':', '(', '-', '=']);
    (6..=64).contains(&text.len()) && has_digit && has_letter && is_one_word && !is_type_name(text)
}

/// Whether `text` is a pass phrase rather than a label or a message.
fn is_phrase(text: &str) -> bool {
    text.len() <= 200 && !is_label(text) && text.split_whitespace().count() <= 12
}

/// Whether `text` is words about passwords (`auth/wrong-password`) rather than one.
fn says_password(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    ["password", "passwd", "passphrase", "required"].iter().any(|word| lower.contains(word))
        && !text.bytes().any(|byte| byte.is_ascii_digit() || b"!@#$%^&*+=".contains(&byte))
}

/// Types and algorithms that are named with a number.
#[rustfmt::skip]
const SIZED: &[&str] = &[
    "argon", "base", "bcrypt", "f", "float", "hs", "i", "int", "md", "ntlmv", "oauth", "pbkdf",
    "rs", "sha", "str", "u", "uint", "utf", "v", "vec",
];

/// `CharArray`, `SecretStr`, `__u32`: what stands behind a colon in code.
fn is_type_name(text: &str) -> bool {
    let name = text.trim_start_matches('_').trim_end_matches("_t");
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let lower = stem.to_ascii_lowercase();
    let is_sized = SIZED.contains(&lower.as_str());
    let is_named = name == stem
        && name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && !looks_drawn(name);
    let is_number =
        text.starts_with("0x") && text.bytes().skip(2).all(|byte| byte.is_ascii_hexdigit());
    is_sized || is_named || is_number
}

/// `Bearer abc…`, `Basic …`, `Digest username="…", …`, or a bare key.
fn is_authorization(text: &str) -> bool {
    let (scheme, rest) = text.split_once(' ').unwrap_or(("", text));
    let rest = rest.trim();
    if rest.is_empty() || is_placeholder(rest) || is_plain_word(rest) {
        return false;
    }
    let is_scheme = !scheme.is_empty()
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if rest.starts_with('=') || (!is_scheme && !scheme.is_empty()) {
        return false;
    }
    if rest.contains(' ') {
        return is_scheme
            && rest.contains('=')
            && rest.split([',', ' ', '"', '=']).any(looks_drawn);
    }
    basic::is_pair(rest)
        || looks_drawn(rest)
        || (is_scheme && rest.len() >= 6 && rest.bytes().any(|byte| byte.is_ascii_digit()))
}

/// `name=value; name=value` with at least one value that says nothing to a reader.
fn is_cookie(text: &str) -> bool {
    text.split(';').any(|pair| {
        pair.split_once('=').is_some_and(|(name, value)| {
            !name.ends_with(' ') && value.len() >= 8 && !is_placeholder(value) && looks_drawn(value)
        })
    })
}

/// `password: &str = "…"`: the value is behind the type.
fn past_type(text: &[u8], tie: Tie, at: usize) -> usize {
    if tie != Tie::Colon || separator::quote(&text[at..]).is_some() {
        return at;
    }
    let is_type = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_&<>[]?.|*' ".contains(byte);
    let length = text[at..].iter().take(48).take_while(is_type).count();
    if text.get(at + length) != Some(&b'=') || text.get(at + length + 1) == Some(&b'=') {
        return at;
    }
    let value = separator::after_blanks(text, at + length + 1);
    if literal(text, value).is_some() { value } else { at }
}

/// Calls that only wrap a literal: `String::from("…")`, `[]byte("…")`, `Some("…")`.
#[rustfmt::skip]
const WRAPPERS: &[&str] = &[
    "Buffer.from(", "Just(", "Ok(", "Secret(", "SecretStr(", "SecretString::from(",
    "SecretString::new(", "Some(", "String(", "String::from(", "[]byte(", "bytes(", "new
    String(", "new Buffer(", "str(", "Secret::new(", "SecretBox::new(", "std::string(",
];

/// The inside of a string literal that begins at `at`, with its prefixes and wrappers.
fn literal(text: &[u8], at: usize) -> Option<Range<usize>> {
    let wrapper = WRAPPERS.iter().find(|wrapper| text[at..].starts_with(wrapper.as_bytes()));
    let at = at + wrapper.map_or(0, |wrapper| wrapper.len());
    let is_prefix = |byte: &&u8| b"bBrRuUfFlL@$#".contains(byte);
    let prefix = text[at..].iter().take(3).take_while(is_prefix).count();
    let open = at + prefix;
    let length = separator::quote(&text[open..])?;
    let mark = &text[open..open + length];
    let mut start = open + length;
    if text[start..].starts_with(mark) {
        let is_triple = text[start + length..].starts_with(mark);
        start += if is_triple { length * 2 } else { return None };
    }
    Some(start..closing(text, start, mark))
}

/// Where the literal that `mark` opened ends: at the same mark, as often escaped; at the end of
/// the line when there is none.
fn closing(text: &[u8], start: usize, mark: &[u8]) -> usize {
    let region = limited(text, start);
    let last = mark[mark.len() - 1];
    let escapes = mark.len() - 1;
    let is_plain = mark[..escapes].iter().all(|byte| *byte == b'\\');
    let mut from = 0;
    while let Some(found) = memchr(last, &region[from..]) {
        let at = from + found;
        let begins = (at + 1).saturating_sub(mark.len());
        let before = region[..at].iter().rev().take_while(|byte| **byte == b'\\').count();
        let closes = match escapes {
            0 => before % 2 == 0,
            _ if is_plain => before == escapes,
            _ => region[begins..].starts_with(mark),
        };
        if closes {
            return start + begins;
        }
        from = at + 1;
    }
    start + memchr(b'\n', region).unwrap_or(region.len())
}

/// The length of what a tag encloses; of a cut text what is left of the line.
fn element_length(text: &[u8]) -> usize {
    memchr2(b'<', b'\n', text).unwrap_or(text.len())
}

/// Where a value without quotation marks ends.
fn bare_end(text: &[u8], at: usize, limit: usize) -> usize {
    let region = &text[at..text.len().min(at + limit)];
    let ends = |index: usize| match region[index] {
        b'"' | b'\'' | b'`' | b'<' | b'>' | b'&' | b';' | b'|' => true,
        byte if byte.is_ascii_whitespace() => true,
        b'\\' => matches!(region.get(index + 1), Some(b'n' | b'r' | b't' | b'"' | b'\\' | b'\'')),
        b'%' => region[index..].starts_with(b"%26") || region[index..].starts_with(b"%20"),
        // A further pair or argument follows.
        b',' => is_next_pair(&region[index + 1..]),
        _ => false,
    };
    let end = (0..region.len()).find(|index| ends(*index)).unwrap_or(region.len());
    at + trim_closers(&region[..end])
}

/// Whether `name=` or `name:` or a blank follows a comma.
fn is_next_pair(text: &[u8]) -> bool {
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-. ".contains(byte);
    let name = text.iter().take(40).take_while(is_name).count();
    text.is_empty() || text[0] == b' ' || (name > 0 && matches!(text.get(name), Some(b'=' | b':')))
}

/// The length without the punctuation that belongs to the sentence or the code around.
fn trim_closers(value: &[u8]) -> usize {
    let mut length = value.len();
    while let Some(last) = value[..length].last() {
        let opener = match last {
            b')' => b'(',
            b']' => b'[',
            b'}' => b'{',
            b',' | b'.' | b':' => 0,
            _ => break,
        };
        if opener != 0 && value[..length].contains(&opener) {
            break;
        }
        length -= 1;
    }
    length
}

/// Whether `NAME=value` stands where settings do: at the beginning of a line, behind `export`,
/// `ENV` or `-e`, or among pairs of a connection string.
fn is_setting(text: &[u8], name_start: usize, value_end: usize) -> bool {
    let before = &text[name_start.saturating_sub(12)..name_start];
    let is_line_start = before.is_empty()
        || matches!(before.last(), Some(b'\n' | b';' | b'?' | b'&'))
        || (before.ends_with(b"n") && before.ends_with(b"\\n"));
    let is_shouted = text[name_start..value_end]
        .split(|byte| *byte == b'=')
        .next()
        .is_some_and(|name| !name.iter().any(u8::is_ascii_lowercase));
    let follows_pair = text.get(value_end) == Some(&b';')
        && text.get(value_end + 1).is_some_and(|byte| !byte.is_ascii_whitespace());
    let is_flag = text[name_start] == b'-';
    is_line_start || is_flag || is_declared(text, name_start) || is_shouted || follows_pair
}

/// Whether the value ends the command or another flag follows, so that it is no word of prose.
fn is_last_or_before_flag(text: &[u8], value_end: usize) -> bool {
    let rest = &text[separator::after_blanks(text, value_end)..];
    matches!(rest.first(), None | Some(b'-' | b'\n' | b'\r' | b'|' | b';' | b'&' | b'\\' | b'"'))
}

/// Whether a word that declares settings precedes the name.
fn is_declared(text: &[u8], name_start: usize) -> bool {
    ["export ", "ENV ", "env ", "set ", "-e ", "--env ", "ARG ", "setx "]
        .iter()
        .any(|word| text[..name_start].ends_with(word.as_bytes()))
}

/// Whether the line holds nothing but `name: value`, as in YAML.
fn is_whole_line(text: &[u8], name_start: usize, value_end: usize) -> bool {
    let before = &text[name_start.saturating_sub(80)..name_start];
    let line = before.iter().rposition(|byte| *byte == b'\n').map_or(before, |at| &before[at..]);
    let is_begun = line.iter().all(|byte| byte.is_ascii_whitespace() || b"-\"'".contains(byte));
    let is_ended = matches!(text.get(value_end), None | Some(b'\n' | b'\r'));
    is_begun && is_ended
}

fn limited(text: &[u8], at: usize) -> &[u8] {
    &text[at..text.len().min(at + LONGEST)]
}
