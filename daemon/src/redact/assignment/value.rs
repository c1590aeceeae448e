//! The value that a name is given: where it stands and how it is delimited.

use std::ops::Range;

use crate::redact::assignment::{
    extent::{self, LONGEST, Reach},
    position,
    separator::{self, Tie},
};

/// How much of a value is judged, and of a value without quotation marks read before that: this
/// bounds the work on text that is all names. Once it is a secret it is read to its end.
pub(super) const JUDGED: usize = 256;

/// A value as found in the text.
#[derive(Clone, Copy, Debug)]
pub(in crate::redact) struct Value<'t> {
    /// The value without what surrounds it.
    pub(in crate::redact) text: &'t str,
    /// Whether it stood in quotation marks.
    pub(in crate::redact) quoting: Quoting,
    /// Whether what follows belongs to it, as the literal in `getenv("TOKEN")` does.
    pub(in crate::redact) is_cut: bool,
}

/// How a value is delimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::redact) enum Quoting {
    /// By quotation marks or tags: a literal.
    Literal,
    /// By quotation marks, in `NAME='value'` or behind a flag.
    QuotedSetting,
    /// As a field of JSON.
    Field,
    /// By quotation marks, as one of several in a row: `("password", "…")`.
    Argument,
    /// Not at all, in `NAME=value` at the beginning of a line or among other such pairs.
    Setting,
    /// Not at all, as the only thing on its line: `name: value`.
    Line,
    /// The same with a blank on both sides of the `=`: a setting or an assignment.
    Assigned,
    /// Not at all, in `name=value` between blanks.
    Pair,
    /// Not at all, behind a flag.
    Flag,
    /// Not at all, and nothing but a blank ties it to its name.
    Beside,
    /// Not at all, behind a `|`.
    Cell,
    /// Not at all, in a sentence: `name is value`.
    Told,
    /// Not at all, as the last thing on a line that other things precede.
    Last,
    /// Not at all: may be code or prose.
    Bare,
}

/// A value and where it stands.
pub(super) struct LocatedValue<'t> {
    pub(super) range: Range<usize>,
    pub(super) value: Value<'t>,
    reach: Reach,
}

/// The value at `at`, which `tie` ties to the name at `name`.
pub(super) fn read(
    text: &str,
    name: Range<usize>,
    tie: Tie,
    at: usize,
) -> Option<LocatedValue<'_>> {
    let bytes = text.as_bytes();
    let at = past_type(bytes, tie, at);
    // `'passwd:' and 'group:'`: the mark closes what opened before the name.
    let opened = position::enclosing_quote(bytes, &name);
    if at == name.end + 1 && opened.is_some() && bytes.get(at).copied() == opened {
        return None;
    }
    if let Some(range) = extent::literal(bytes, at) {
        let quoting = literal_quoting(bytes, &name, tie, range.end);
        return LocatedValue::new(text, range, quoting, Reach::Narrow);
    }
    if tie == Tie::Colon
        && let Some(range) = extent::block(bytes, name.start, at)
    {
        return LocatedValue::of_block(text, range);
    }
    match tie {
        Tie::Literal | Tie::Setter => None,
        Tie::Cell if !position::is_in_row(bytes, name.start) => None,
        Tie::Element => {
            let end = extent::element_end(bytes, at)?;
            LocatedValue::new(text, at..end, Quoting::Literal, Reach::Narrow)
        }
        _ => read_bare(text, &name, tie, at),
    }
}

/// A value without quotation marks: as far as it would reach as a setting, if it is one.
fn read_bare<'t>(
    text: &'t str,
    name: &Range<usize>,
    tie: Tie,
    at: usize,
) -> Option<LocatedValue<'t>> {
    let bytes = text.as_bytes();
    let quote = position::enclosing_quote(bytes, name);
    if tie == Tie::Equals
        && let Some(range) = quote.and_then(|quote| extent::enclosed(bytes, at, quote))
    {
        return LocatedValue::new(text, range, Quoting::QuotedSetting, Reach::Narrow);
    }
    let reach = Reach::Word(quote);
    let end = extent::bare_end(bytes, at, JUDGED, reach);
    let quoting = match tie {
        Tie::Equals if position::is_setting(bytes, name, end) => Some(Quoting::Setting),
        Tie::Equals if position::is_pair(bytes, name.start, end) => Some(Quoting::Pair),
        Tie::Colon if position::is_whole_line(bytes, name, end) => Some(Quoting::Line),
        Tie::Assigns if position::is_whole_line(bytes, name, end) => {
            let is_setting = position::is_in_section(bytes, name.start);
            Some(if is_setting { Quoting::Line } else { Quoting::Assigned })
        }
        Tie::Colon if position::ends_line(bytes, end) => {
            let is_pair = position::follows_pair(bytes, name.start, b": ");
            Some(if is_pair { Quoting::Line } else { Quoting::Last })
        }
        Tie::Prose if position::ends_line(bytes, end) => Some(Quoting::Last),
        Tie::Beside if position::is_declared_beside(bytes, name.start) => Some(Quoting::Setting),
        Tie::Beside if position::is_whole_line(bytes, name, end) => Some(Quoting::Cell),
        Tie::Column if position::is_whole_line(bytes, name, end) => Some(Quoting::Cell),
        Tie::Flag if position::is_flag_of_sentence(bytes, name.start) => Some(Quoting::Bare),
        Tie::Flag => Some(Quoting::Flag),
        _ => None,
    };
    if let Some(quoting) = quoting {
        let is_quoted_pair =
            quoting == Quoting::Pair && matches!(bytes.get(end), Some(b'"' | b'\''));
        let reach = if is_quoted_pair { Reach::Word(bytes.get(end).copied()) } else { reach };
        return LocatedValue::new(text, at..end, quoting, reach);
    }
    let end = extent::bare_end(bytes, at, JUDGED, Reach::Narrow);
    let quoting = match tie {
        Tie::Beside | Tie::Column => Quoting::Beside,
        Tie::Cell => Quoting::Cell,
        Tie::Prose => Quoting::Told,
        _ => Quoting::Bare,
    };
    LocatedValue::new(text, at..end, quoting, Reach::Narrow)
}

fn literal_quoting(text: &[u8], name: &Range<usize>, tie: Tie, end: usize) -> Quoting {
    let is_flag = text[name.start] == b'-';
    match tie {
        Tie::Equals if is_flag || position::is_shouted(&text[name.clone()]) => {
            Quoting::QuotedSetting
        }
        Tie::Flag => Quoting::QuotedSetting,
        Tie::Literal if position::is_declared_beside(text, name.start) => Quoting::QuotedSetting,
        // `storePassword 'x'`, alone on its line, as build files have it.
        Tie::Literal
            if position::begins_line(text, name.start) && text.get(name.end) == Some(&b' ') =>
        {
            if position::ends_line(text, end + 1) {
                Quoting::Literal
            } else {
                Quoting::Argument
            }
        }
        Tie::Literal if is_key_of_pair(text, name) || is_lisp(text, name) => Quoting::Literal,
        Tie::Cell if position::is_in_row(text, name.start) => Quoting::Cell,
        Tie::Literal | Tie::Cell | Tie::Beside | Tie::Column => Quoting::Argument,
        _ => Quoting::Literal,
    }
}

/// `:password "x"`, `(setq smtp-password "x")`.
fn is_lisp(text: &[u8], name: &Range<usize>) -> bool {
    let before = &text[..name.start];
    text.get(name.end) == Some(&b' ') && (before.ends_with(b" :") || before.ends_with(b"(setq "))
}

/// Whether the name is the first argument of a call that sets or reads something by its name, so
/// that the second is its value: `setProperty("db.password", "…")`, `getenv("PASSWORD", "…")`.
fn is_key_of_pair(text: &[u8], name: &Range<usize>) -> bool {
    const VERBS: [&[u8]; 14] = [
        b"set",
        b"put",
        b"define",
        b"getenv",
        b"env",
        b"setdefault",
        b"fetch",
        b"append",
        b"property",
        b"item",
        b"header",
        b"cookie",
        b"fill",
        b"type",
    ];
    let before = &text[name.start.saturating_sub(40)..name.start];
    let is_selector = |byte: &&u8| byte.is_ascii_alphanumeric() || b"#.[=-_".contains(byte);
    let selector = before.iter().rev().take_while(is_selector).count();
    let before = &before[..before.len() - selector];
    let Some(before) = before.strip_suffix(b"\"").or_else(|| before.strip_suffix(b"'")) else {
        return false;
    };
    let Some(before) = before.strip_suffix(b"(") else { return false };
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_.".contains(byte);
    let length = before.iter().rev().take_while(is_name).count();
    let call = before[before.len() - length..].to_ascii_lowercase();
    let method = call.rsplit(|byte| *byte == b'.').next().unwrap_or(&call);
    let is_environment = call.ends_with(b"environ.get");
    is_environment || VERBS.iter().any(|verb| method.starts_with(verb) || method.ends_with(verb))
}

impl<'t> LocatedValue<'t> {
    pub(super) fn new(
        text: &'t str,
        range: Range<usize>,
        quoting: Quoting,
        reach: Reach,
    ) -> Option<LocatedValue<'t>> {
        let end = text.floor_char_boundary(range.end);
        let range = range.start..end;
        let value = text.get(range.clone())?;
        let behind = text.as_bytes().get(end).copied();
        let is_enclosed = behind.is_some() && reach == Reach::Word(behind);
        let is_cut = !is_enclosed && matches!(behind, Some(b'"' | b'\'' | b'`' | b','));
        Some(LocatedValue { range, value: Value { text: value, quoting, is_cut }, reach })
    }

    /// A block scalar, which its first line tells to be a secret.
    fn of_block(text: &'t str, range: Range<usize>) -> Option<LocatedValue<'t>> {
        let mut found = LocatedValue::new(text, range, Quoting::Literal, Reach::Narrow)?;
        let first = found.value.text.lines().next()?;
        found.value.text = first.split("\\n").next()?.trim_end();
        Some(found)
    }

    /// Its end, also of a value that was longer than what is read before it is judged.
    pub(super) fn whole_end(&self, text: &str) -> usize {
        let bytes = text.as_bytes();
        let was_cut = self.range.len() + 4 >= JUDGED;
        match self.value.quoting {
            Quoting::Literal | Quoting::QuotedSetting | Quoting::Field | Quoting::Argument => {
                if self.range.len() + 4 < LONGEST {
                    return self.range.end;
                }
                extent::bare_end(bytes, self.range.end, text.len(), Reach::Narrow)
            }
            _ if was_cut => {
                let whole = extent::bare_end(bytes, self.range.start, text.len(), self.reach);
                whole.max(self.range.end)
            }
            _ => self.range.end,
        }
    }
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
    if extent::literal(text, value).is_some() { value } else { at }
}
