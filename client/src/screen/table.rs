//! Formats tables, with wide characters and on narrow screens.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A table with headings.
pub(crate) struct TextTable {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

pub(crate) struct Column {
    pub(crate) heading: &'static str,
    pub(crate) align: Align,
    narrowing: Narrowing,
}

/// How a column adapts to a narrow screen.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Narrowing {
    /// Keeps the width of the text.
    Never,
    /// Dropped if the table is still too wide after its last column of the kind `Cut` was cut to
    /// the wanted width. Of several columns of the kind `Dropped`, the first is dropped first.
    Dropped,
    /// Cut to the wanted width. The last column of the kind `Cut` is cut before a column is
    /// dropped. The other columns of this kind are cut after all columns of the kind `Dropped` were
    /// dropped. If the table is still too wide, the columns of this kind are cut to the minimum
    /// width, the first column first.
    Cut { wanted: usize, least: usize },
}

/// The alignment of a column.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

struct Cell {
    text: String,
    style: Option<Styling>,
}

/// Adds colours to the text of a cell.
pub(crate) type Styling = Box<dyn Fn(&str) -> String>;

const GAP: &str = "  ";

impl Column {
    /// Creates a column with the width of its text.
    pub(crate) fn new(heading: &'static str, align: Align) -> Column {
        Column { heading, align, narrowing: Narrowing::Never }
    }

    /// Creates a column that may be dropped ([`Narrowing::Dropped`]).
    pub(crate) fn optional(heading: &'static str, align: Align) -> Column {
        Column { heading, align, narrowing: Narrowing::Dropped }
    }

    /// Creates a column that may be cut down to `least`.
    pub(crate) fn flexible(heading: &'static str, least: usize) -> Column {
        Column::wanted(heading, least, least)
    }

    /// Creates a column that may be cut to `wanted`, and to `least` when nothing else can be cut.
    pub(crate) fn wanted(heading: &'static str, wanted: usize, least: usize) -> Column {
        Column { heading, align: Align::Left, narrowing: Narrowing::Cut { wanted, least } }
    }
}

impl TextTable {
    pub(crate) fn new(columns: Vec<Column>) -> TextTable {
        TextTable { columns, rows: Vec::new() }
    }

    pub(crate) fn row(&mut self) -> TableRow<'_> {
        self.rows.push(Vec::new());
        TableRow { cells: self.rows.last_mut().expect("a row was just added") }
    }

    /// Returns the lines of the table, fitted to `width` columns. The first line has the headings,
    /// which `dim` styles.
    pub(crate) fn lines(&self, width: usize, dim: impl Fn(&str) -> String) -> Vec<String> {
        let widths = self.widths(width);
        let shown = || self.columns.iter().zip(&widths).map(|(column, width)| (column, *width));
        let heading = |(column, width): (&Column, Option<usize>)| {
            Some(fitted(column.heading, width?, column.align))
        };
        let headings: Vec<String> = shown().filter_map(heading).collect();
        let mut lines = vec![dim(headings.join(GAP).trim_end())];
        for row in &self.rows {
            let cells = row.iter().zip(shown()).filter_map(|(cell, (column, width))| {
                let text = fitted(&cell.text, width?, column.align);
                Some(cell.style.as_ref().map_or(text.clone(), |style| style(&text)))
            });
            lines.push(cells.collect::<Vec<_>>().join(GAP).trim_end().to_owned());
        }
        lines
    }

    /// Returns the width of each column, `None` for a column that is dropped.
    fn widths(&self, width: usize) -> Vec<Option<usize>> {
        let mut widths: Vec<Option<usize>> =
            (0..self.columns.len()).map(|at| Some(self.natural_width(at))).collect();
        let cuts = |at: usize| match self.columns[at].narrowing {
            Narrowing::Cut { wanted, least } => Some((wanted, least)),
            Narrowing::Never | Narrowing::Dropped => None,
        };
        for at in (0..self.columns.len()).rev() {
            let Some((wanted, _)) = cuts(at) else { continue };
            shrink(&mut widths, at, wanted, width);
            // Earlier columns are not cut as long as a column can be dropped.
            while excess(&widths, width) > 0
                && let Some(dropped) = self.next_dropped(&widths)
            {
                widths[dropped] = None;
                widths[at] = Some(self.natural_width(at));
                shrink(&mut widths, at, wanted, width);
            }
        }
        for at in 0..self.columns.len() {
            cuts(at).into_iter().for_each(|(_, least)| shrink(&mut widths, at, least, width));
        }
        widths
    }

    fn natural_width(&self, at: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.text.width());
        cells.max().unwrap_or(0).max(self.columns[at].heading.width())
    }

    fn next_dropped(&self, widths: &[Option<usize>]) -> Option<usize> {
        let is_dropped = |at: &usize| self.columns[*at].narrowing == Narrowing::Dropped;
        (0..self.columns.len()).filter(is_dropped).find(|at| widths[*at].is_some())
    }
}

/// Cuts column `at` as far as necessary, but not below `least`.
fn shrink(widths: &mut [Option<usize>], at: usize, least: usize, screen: usize) {
    let excess = excess(widths, screen);
    widths[at] = widths[at].map(|width| width - width.saturating_sub(least).min(excess));
}

/// Returns the number of columns by which the table is too wide.
fn excess(widths: &[Option<usize>], screen: usize) -> usize {
    let shown: Vec<usize> = widths.iter().copied().flatten().collect();
    let gaps = GAP.len() * shown.len().saturating_sub(1);
    (shown.iter().sum::<usize>() + gaps).saturating_sub(screen)
}

pub(crate) struct TableRow<'t> {
    cells: &'t mut Vec<Cell>,
}

impl TableRow<'_> {
    pub(crate) fn cell(self, text: impl Into<String>) -> Self {
        self.cells.push(Cell { text: text.into(), style: None });
        self
    }

    /// Adds a cell with a style.
    pub(crate) fn styled(self, text: impl Into<String>, style: Styling) -> Self {
        self.cells.push(Cell { text: text.into(), style: Some(style) });
        self
    }
}

/// Pads or cuts `text` to exactly `width` columns.
fn fitted(text: &str, width: usize, align: Align) -> String {
    pad(&cut(text, width), width, align)
}

/// Cuts `text` to at most `width` columns, after a word if the result has at least half of this
/// width.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = 0;
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used >= width {
            break;
        }
        kept.push(c);
    }
    let is_in_word = !text[kept.len()..].starts_with(char::is_whitespace);
    let word = kept.rfind(char::is_whitespace).filter(|_| is_in_word);
    let word = word.filter(|word| kept[..*word].trim_end().width() * 2 >= width);
    kept.truncate(word.unwrap_or(kept.len()));
    kept.truncate(kept.trim_end().len());
    kept.push('…');
    kept
}

fn pad(text: &str, width: usize, align: Align) -> String {
    let padding = " ".repeat(width.saturating_sub(text.width()));
    match align {
        Align::Left => format!("{text}{padding}"),
        Align::Right => format!("{padding}{text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> TextTable {
        let mut table = TextTable::new(vec![
            Column::new("WHEN", Align::Left),
            Column::new("MSGS", Align::Right),
            Column::flexible("TITLE", 10),
        ]);
        table.row().cell("now").cell("7").cell("Fix the login");
        table.row().cell("yesterday").cell("1234").cell("日本語のタイトルはとても長いです");
        table
    }

    #[test]
    fn columns_line_up() {
        assert_eq!(
            table().lines(80, str::to_owned),
            [
                "WHEN       MSGS  TITLE",
                "now           7  Fix the login",
                "yesterday  1234  日本語のタイトルはとても長いです",
            ]
        );
    }

    #[test]
    fn a_narrow_screen_cuts_the_flexible_column() {
        let lines = table().lines(30, str::to_owned);
        assert_eq!(lines[1], "now           7  Fix the login");
        assert_eq!(lines[2], "yesterday  1234  日本語のタイ…");
        assert!(lines.iter().all(|line| line.width() <= 30));
    }

    #[test]
    fn a_text_is_cut_after_a_word_unless_too_little_of_it_is_left() {
        for (text, width, wanted) in [
            ("Never push to main", 18, "Never push to main"),
            ("Never push to main", 17, "Never push to…"),
            ("Never push to main", 14, "Never push to…"),
            ("Never push to main", 13, "Never push…"),
            ("Fix Donaudampfschifffahrt", 15, "Fix Donaudampf…"),
            ("Donaudampfschifffahrt", 8, "Donauda…"),
        ] {
            assert_eq!(cut(text, width), wanted, "{width}");
        }
    }

    /// Formats a list of sessions, in which the title is cut before the project.
    fn sessions(width: usize) -> Vec<String> {
        let mut table = TextTable::new(vec![
            Column::new("SESSION", Align::Left),
            Column::optional("ACTIVITY", Align::Left),
            Column::optional("MSGS", Align::Right),
            Column::wanted("PROJECT", 100, 8),
            Column::wanted("TITLE", 20, 10),
        ]);
        let title = "Fix the login of those who come from afar";
        table.row().cell("aaaa-1").cell("exploration").cell("7").cell("oh-my-posh").cell(title);
        table.lines(width, str::to_owned)
    }

    #[test]
    fn the_title_is_cut_first_then_columns_are_dropped_then_the_project_is_cut() {
        for (width, row) in [
            (
                90,
                "aaaa-1   exploration     7  oh-my-posh  Fix the login of those who come from afar",
            ),
            (70, "aaaa-1   exploration     7  oh-my-posh  Fix the login of those who…"),
            (55, "aaaa-1      7  oh-my-posh  Fix the login of those who…"),
            (42, "aaaa-1   oh-my-posh  Fix the login of…"),
            (36, "aaaa-1   oh-my-p…  Fix the login of…"),
            (30, "aaaa-1   oh-my-p…  Fix the…"),
        ] {
            let lines = sessions(width);
            assert_eq!(lines[1], row, "{width}");
            assert!(lines.iter().all(|line| line.width() <= width), "{lines:?}");
        }
    }
}
