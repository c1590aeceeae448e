//! Finds the value of a name: its position and its delimiters.

use std::ops::Range;

use crate::assignment::{
    extent::{self, LONGEST, Reach},
    marks, position,
    separator::Tie,
};

/// Maximum number of bytes of a value that are judged. An unquoted value is first read only up to
/// this length, which bounds the work on text that consists of names. If the value is a secret, it
/// is then read to its end.
pub(super) const JUDGED: usize = 256;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Value<'t> {
    /// The value without its delimiters.
    pub(crate) text: &'t str,
    pub(crate) quoting: Quoting,
    /// Whether a quote or a comma follows the value, so that it may be only a part of an
    /// expression, like `getenv(` in `getenv("TOKEN")`.
    pub(crate) is_cut: bool,
}

/// How a value is delimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quoting {
    /// By quotes or tags, as the value of a header, or as a cell of a CSV file or of the answer to
    /// an SQL query.
    Literal,
    /// By quotes, in `NAME='value'` or after a flag.
    QuotedSetting,
    /// As a field of JSON.
    Field,
    /// By quotes, as one of several arguments: `("password", "…")`.
    Argument,
    /// Unquoted, in a setting: `NAME=value` or `ENV NAME value`.
    Setting,
    /// Unquoted, in `name: value` as the only content of its line or after another pair, or in
    /// `name = value` below a `[section]`.
    Line,
    /// Unquoted, as the only content of its line with spaces around `=`: a setting or an
    /// assignment.
    Assigned,
    /// Unquoted, in `name=value` between spaces.
    Pair,
    /// Unquoted, after a flag.
    Flag,
    /// Unquoted, with only blanks between name and value, in a line with other content.
    Beside,
    /// In a cell of a Markdown table, or unquoted after only blanks in a line without other
    /// content.
    Cell,
    /// Unquoted, in a sentence: `name is value`.
    Prose,
    /// Unquoted, at the end of a line with other content.
    Last,
    /// Unquoted, after other words or signs of a sentence: `set name to value`.
    Told,
    /// By quotes, after other words or signs of a sentence: `set name to "value"`.
    ToldInQuotes,
    /// Unquoted, possibly code or prose.
    Bare,
}

pub(super) struct LocatedValue<'t> {
    pub(super) range: Range<usize>,
    pub(super) value: Value<'t>,
    reach: Reach,
}

/// Returns the value at `at`. `tie` is the syntax between this value and the name at `name`.
pub(super) fn read(
    text: &str,
    name: Range<usize>,
    tie: Tie,
    at: usize,
) -> Option<LocatedValue<'_>> {
    let bytes = text.as_bytes();
    let at = past_type(bytes, tie, at);
    // `'passwd:' and 'group:'`: this is the closing quote of a text that contains the name.
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
        Tie::Cell
            if !position::is_in_row(bytes, name.start)
                && !position::is_in_record(bytes, name.start) =>
        {
            None
        }
        Tie::Element => {
            let end = extent::element_end(bytes, at)?;
            LocatedValue::new(text, at..end, Quoting::Literal, Reach::Narrow)
        }
        _ => read_bare(text, &name, tie, at),
    }
}

/// Reads an unquoted value. The value ends as in [`Reach::Narrow`] if it may be code, and as in
/// [`Reach::Word`] otherwise.
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
        Tie::Told => Some(Quoting::Told),
        Tie::Prose if position::ends_line(bytes, end) => Some(Quoting::Last),
        Tie::Beside if position::is_declared_beside(bytes, name.start) => Some(Quoting::Setting),
        Tie::Beside if position::is_whole_line(bytes, name, end) => Some(Quoting::Cell),
        Tie::Column if position::is_whole_line(bytes, name, end) => Some(Quoting::Cell),
        Tie::Cell if position::is_in_record(bytes, name.start) => Some(Quoting::Literal),
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
        Tie::Prose => Quoting::Prose,
        _ => Quoting::Bare,
    };
    LocatedValue::new(text, at..end, quoting, Reach::Narrow)
}

fn literal_quoting(text: &[u8], name: &Range<usize>, tie: Tie, end: usize) -> Quoting {
    let is_flag = text[name.start] == b'-';
    match tie {
        Tie::Equals if is_flag || position::is_upper_case(&text[name.clone()]) => {
            Quoting::QuotedSetting
        }
        Tie::Flag => Quoting::QuotedSetting,
        Tie::Told => Quoting::ToldInQuotes,
        Tie::Literal if position::is_declared_beside(text, name.start) => Quoting::QuotedSetting,
        // `storePassword 'x'` is alone on its line in build files.
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

/// Matches `:password "x"` and `(setq smtp-password "x")`.
fn is_lisp(text: &[u8], name: &Range<usize>) -> bool {
    let before = &text[..name.start];
    text.get(name.end) == Some(&b' ') && (before.ends_with(b" :") || before.ends_with(b"(setq "))
}

/// Whether the name is the first argument of a call that sets or reads a value by name, so that the
/// second argument is the value: `setProperty("db.password", "…")`, `getenv("PASSWORD", "…")`.
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
        let next = text.as_bytes().get(end).copied();
        let is_enclosed = next.is_some() && reach == Reach::Word(next);
        let is_cut = !is_enclosed && matches!(next, Some(b'"' | b'\'' | b'`' | b','));
        Some(LocatedValue { range, value: Value { text: value, quoting, is_cut }, reach })
    }

    /// Returns a block scalar, of which only the first line is judged.
    fn of_block(text: &'t str, range: Range<usize>) -> Option<LocatedValue<'t>> {
        let mut found = LocatedValue::new(text, range, Quoting::Literal, Reach::Narrow)?;
        let first = found.value.text.lines().next()?;
        found.value.text = first.split("\\n").next()?.trim_end_matches("\\r").trim_end();
        Some(found)
    }

    /// Returns the end of the value, even if only its first part was judged.
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
            _ if bytes[self.range.end - 1].is_ascii_alphanumeric() => {
                self.range.end + extent::tail(&bytes[self.range.end..])
            }
            _ => self.range.end,
        }
    }
}

/// Returns the start of the value after a type, as in `password: &str = "…"`. Without a type,
/// returns `at`.
fn past_type(text: &[u8], tie: Tie, at: usize) -> usize {
    if tie != Tie::Colon || marks::quote(&text[at..]).is_some() {
        return at;
    }
    let is_type = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_&<>[]?.|*' ".contains(byte);
    let length = text[at..].iter().take(48).take_while(is_type).count();
    if text.get(at + length) != Some(&b'=') || text.get(at + length + 1) == Some(&b'=') {
        return at;
    }
    let value = marks::after_blanks(text, at + length + 1);
    if extent::literal(text, value).is_some() { value } else { at }
}
