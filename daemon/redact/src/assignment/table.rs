//! Secrets in tables: a column of a Markdown table, of a CSV file or of the answer to an SQL query
//! whose heading is the name of a secret.

use std::ops::Range;

use memchr::memchr;

use crate::{
    SecretKind,
    assignment::{
        name::{self, NameMeaning},
        value::{Quoting, Value},
    },
};

/// Maximum number of bytes of the heading row before a name. The whole row may be twice as long.
const HEADING: usize = 400;

/// Maximum length, in bytes, of all rows of a table together.
const TABLE: usize = 64 * 1024;

/// Maximum number of blanks at the end of a heading of `psql`.
const MAX_PADDING: usize = 200;

/// The secrets in the rows below a heading.
pub(crate) struct SecretTable {
    /// The cells that are secrets, from columns whose headings denote secrets.
    pub(crate) secrets: Vec<(Range<usize>, SecretKind)>,
    /// The end of the rows that were read.
    pub(crate) end: usize,
}

#[derive(Clone, Copy)]
enum Notation {
    /// `| a | b |`, with a line of dashes below the heading.
    Markdown,
    /// `| a | b |` between lines such as `+---+---+`, as `mysql` prints them.
    Boxed,
    /// ` a | b ` with a line such as `---+---` below the heading, as `psql` prints it.
    Aligned,
    /// `a,b` with this separator.
    Separated(u8),
}

impl Notation {
    /// Returns the number of bars before the first cell.
    fn borders(self) -> usize {
        usize::from(matches!(self, Notation::Markdown | Notation::Boxed))
    }
}

/// Returns the table whose heading is the line with the name at `at`; `None` for any other line.
pub(crate) fn below(text: &str, at: usize) -> Option<SecretTable> {
    let bytes = text.as_bytes();
    let floor = at.saturating_sub(HEADING);
    let start =
        bytes[floor..at].iter().rposition(|byte| *byte == b'\n').map(|line| floor + line + 1);
    let start = start.or((floor == 0).then_some(0))?;
    let heading = line(text, start).filter(|heading| heading.len() <= 2 * HEADING)?;
    let (notation, rows) = notation(text, heading.clone())?;
    let meanings: Vec<_> = cells(text, heading.clone(), notation)
        .map(|cell| name::classify(content(text, cell).1.trim_end_matches(':')))
        .collect();
    let bars = text[heading].chars().enumerate().filter(|(_, c)| *c == '|').map(|(at, _)| at);
    let columns = TableColumns { notation, meanings, bars: bars.collect() };
    let end = text.floor_char_boundary(text.len().min(rows + TABLE));
    let mut table = SecretTable { secrets: Vec::new(), end: rows };
    while let Some(row) = line(&text[..end], table.end).filter(|row| !row.is_empty()) {
        let count = cells(text, row.clone(), notation).count();
        let wanted = columns.meanings.len();
        let is_row = match notation {
            Notation::Markdown | Notation::Boxed => text[row.clone()].trim_start().starts_with('|'),
            Notation::Aligned => text[row.clone()].starts_with(' ') && count >= wanted,
            Notation::Separated(_) => count == wanted || (row.end == end && count < wanted),
        };
        if !is_row {
            break;
        }
        let has_bar_in_value =
            count > wanted && matches!(notation, Notation::Boxed | Notation::Aligned);
        match columns.aligned(text, row.clone()).filter(|_| has_bar_in_value) {
            Some(cells) => columns.add_secrets(text, cells.into_iter(), &mut table),
            None if has_bar_in_value => table.secrets.extend(columns.remainder(text, row.clone())),
            None => columns.add_secrets(text, cells(text, row.clone(), notation), &mut table),
        }
        table.end = next_line(text, row.end);
    }
    Some(table)
}

/// The columns of a table, as its heading shows them.
struct TableColumns {
    notation: Notation,
    /// The meaning of each heading; `None` if the heading does not denote a secret.
    meanings: Vec<Option<NameMeaning>>,
    /// The positions of the bars in the heading, in characters.
    bars: Vec<usize>,
}

impl TableColumns {
    fn add_secrets(
        &self,
        text: &str,
        cells: impl Iterator<Item = Range<usize>>,
        table: &mut SecretTable,
    ) {
        for (cell, meaning) in cells.zip(&self.meanings) {
            let (range, value) = content(text, cell);
            let quoting = match self.notation {
                Notation::Markdown => Quoting::Cell,
                Notation::Boxed | Notation::Aligned | Notation::Separated(_) => Quoting::Literal,
            };
            let value = Value { text: value, quoting, is_cut: false };
            if let Some(meaning) = meaning.filter(|meaning| value.is_secret_in_column(*meaning)) {
                table.secrets.push((range, meaning.kind));
            }
        }
    }

    /// Returns the cells of a row whose values contain bars, by the positions of the bars in the
    /// heading; `None` if the row has other characters there, for example because it contains wide
    /// characters or replaced secrets.
    fn aligned(&self, text: &str, row: Range<usize>) -> Option<Vec<Range<usize>>> {
        let mut cells = Vec::new();
        let mut start = row.start;
        let mut characters = text[row.clone()].char_indices().enumerate();
        for bar in &self.bars {
            let (_, (at, _)) = characters.find(|(index, (_, c))| index == bar && *c == '|')?;
            cells.push(start..row.start + at);
            start = row.start + at + 1;
        }
        cells.push(start..row.end);
        Some(cells.into_iter().skip(self.notation.borders()).collect())
    }

    /// Returns the row from the first column with secrets to its end, unless this part was replaced
    /// already.
    fn remainder(&self, text: &str, row: Range<usize>) -> Option<(Range<usize>, SecretKind)> {
        let mut columns = cells(text, row.clone(), self.notation).zip(&self.meanings);
        let (cell, meaning) =
            columns.find_map(|(cell, meaning)| meaning.map(|meaning| (cell, meaning)))?;
        let is_around = |c: char| c.is_whitespace() || c == '|';
        let rest = &text[cell.start..row.end];
        let trimmed = rest.trim_start_matches(is_around);
        let start = row.end - trimmed.len();
        let secret = start..start + trimmed.trim_end_matches(is_around).len();
        (!rest.contains(&meaning.kind.mark())).then_some((secret, meaning.kind))
    }
}

/// Returns the notation of the table with this heading, and the start of its rows.
fn notation(text: &str, heading: Range<usize>) -> Option<(Notation, usize)> {
    let next = line(text, next_line(text, heading.end))?;
    let below = text.get(next.start..next.end.min(next.start + 2 * HEADING)).unwrap_or("").trim();
    let rows = next_line(text, next.end);
    if text[heading.clone()].trim_start().starts_with('|') {
        let is_rule = below.contains("--") && below.bytes().all(|byte| b"|-:+ ".contains(&byte));
        let notation = if below.starts_with('+') { Notation::Boxed } else { Notation::Markdown };
        return is_rule.then_some((notation, rows));
    }
    if is_aligned(&text[heading.clone()], below) {
        return Some((Notation::Aligned, rows));
    }
    let separator = *b",;\t".iter().find(|sign| text[heading.clone()].as_bytes().contains(sign))?;
    let notation = Notation::Separated(separator);
    let is_heading = cells(text, heading.clone(), notation).all(|cell| is_heading(&text[cell]));
    is_heading.then_some((notation, next.start))
}

/// Whether a heading and the line `below` begin a table of `psql`.
fn is_aligned(heading: &str, below: &str) -> bool {
    let count = |text: &str, sign| text.bytes().filter(|byte| *byte == sign).count();
    heading.starts_with(' ')
        && below.starts_with("--")
        && below.bytes().all(|byte| b"-+".contains(&byte))
        && below.len().abs_diff(heading.trim_end().len()) <= MAX_PADDING
        && count(heading, b'|') == count(below, b'+')
}

/// Whether `cell` is the heading of a column in a CSV file.
fn is_heading(cell: &str) -> bool {
    let name = cell.trim_matches('"');
    name.starts_with(char::is_alphabetic)
        && name.len() <= 32
        && name.chars().all(|c| c.is_alphanumeric() || " _-.".contains(c))
}

/// Returns the cells of a row. If the row begins with a bar, the first cell begins after the bar.
fn cells(text: &str, row: Range<usize>, notation: Notation) -> impl Iterator<Item = Range<usize>> {
    let sign = match notation {
        Notation::Markdown | Notation::Boxed | Notation::Aligned => b'|',
        Notation::Separated(sign) => sign,
    };
    let may_quote = !matches!(notation, Notation::Boxed | Notation::Aligned);
    let mut is_quoted = false;
    let mut at = Some(row.start);
    let cells = std::iter::from_fn(move || {
        let start = at?;
        let ends = |byte: &u8| {
            is_quoted ^= may_quote && *byte == b'"';
            *byte == sign && !is_quoted
        };
        let length = text.as_bytes()[start..row.end].iter().position(ends);
        at = length.map(|length| start + length + 1);
        Some(start..length.map_or(row.end, |length| start + length))
    });
    cells.skip(notation.borders())
}

/// Returns a cell without spaces, quotes and emphasis.
fn content(text: &str, cell: Range<usize>) -> (Range<usize>, &str) {
    let is_around = |c: char| c.is_whitespace() || "\"'`*".contains(c);
    let whole = &text[cell.clone()];
    let trimmed = whole.trim_start_matches(is_around);
    let start = cell.start + whole.len() - trimmed.len();
    let trimmed = trimmed.trim_end_matches(is_around);
    (start..start + trimmed.len(), trimmed)
}

/// Returns the line that begins at `at`, without its line break.
fn line(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = text.as_bytes().get(at..).filter(|rest| !rest.is_empty())?;
    let length = memchr(b'\n', rest).unwrap_or(rest.len());
    let length = if rest[..length].ends_with(b"\r") { length - 1 } else { length };
    Some(at..at + length)
}

/// Returns the start of the line after the line that ends at `end`.
fn next_line(text: &str, end: usize) -> usize {
    let line_break = if text.as_bytes()[end..].starts_with(b"\r\n") { 2 } else { 1 };
    text.len().min(end + line_break)
}
