//! Columns that line up, whatever the width of characters and screens.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Rows of cells under headings.
pub(crate) struct TextTable {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

pub(crate) struct Column {
    pub(crate) heading: &'static str,
    /// Where its text stands.
    pub(crate) align: Align,
    /// The width that it may be cut down to on a narrow screen; `None` when it is never cut.
    pub(crate) least: Option<usize>,
}

/// Where the text of a column stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

struct Cell {
    text: String,
    style: Option<Styling>,
}

/// Puts colours around the text of a cell.
pub(crate) type Styling = Box<dyn Fn(&str) -> String>;

const GAP: &str = "  ";

impl Column {
    /// A column as wide as its text.
    pub(crate) fn new(heading: &'static str, align: Align) -> Column {
        Column { heading, align, least: None }
    }

    /// A column that may be cut down to `least`. The first one of a table gives way first.
    pub(crate) fn flexible(heading: &'static str, least: usize) -> Column {
        Column { heading, align: Align::Left, least: Some(least) }
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

    /// The lines of the table, headings first, none wider than `width`; `dim` styles the headings.
    pub(crate) fn lines(&self, width: usize, dim: impl Fn(&str) -> String) -> Vec<String> {
        let widths = self.widths(width);
        let headings = self
            .columns
            .iter()
            .zip(&widths)
            .map(|(column, width)| pad(&cut(column.heading, *width), *width, column.align));
        let headings = headings.collect::<Vec<_>>().join(GAP);
        let mut lines = vec![dim(headings.trim_end())];
        for row in &self.rows {
            let cells =
                row.iter().zip(self.columns.iter().zip(&widths)).map(|(cell, (column, width))| {
                    let text = pad(&cut(&cell.text, *width), *width, column.align);
                    cell.style.as_ref().map_or(text.clone(), |style| style(&text))
                });
            lines.push(cells.collect::<Vec<_>>().join(GAP).trim_end().to_owned());
        }
        lines
    }

    fn widths(&self, width: usize) -> Vec<usize> {
        let of_cells = |at: usize| self.rows.iter().filter_map(move |row| row.get(at));
        let mut widths: Vec<usize> = self
            .columns
            .iter()
            .enumerate()
            .map(|(at, column)| {
                of_cells(at)
                    .map(|cell| cell.text.width())
                    .max()
                    .unwrap_or(0)
                    .max(column.heading.width())
            })
            .collect();
        let gaps = GAP.len() * self.columns.len().saturating_sub(1);
        let mut excess = (widths.iter().sum::<usize>() + gaps).saturating_sub(width);
        for (width, column) in widths.iter_mut().zip(&self.columns) {
            let spare = column.least.map_or(0, |least| width.saturating_sub(least)).min(excess);
            *width -= spare;
            excess -= spare;
        }
        widths
    }
}

/// A row being filled.
pub(crate) struct TableRow<'t> {
    cells: &'t mut Vec<Cell>,
}

impl TableRow<'_> {
    pub(crate) fn cell(self, text: impl Into<String>) -> Self {
        self.cells.push(Cell { text: text.into(), style: None });
        self
    }

    /// Adds a cell that `style` colours.
    pub(crate) fn styled(self, text: impl Into<String>, style: Styling) -> Self {
        self.cells.push(Cell { text: text.into(), style: Some(style) });
        self
    }
}

/// `text` in at most `width` columns.
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
    kept.truncate(kept.trim_end().len());
    kept.push('…');
    kept
}

fn pad(text: &str, width: usize, align: Align) -> String {
    let room = " ".repeat(width.saturating_sub(text.width()));
    match align {
        Align::Left => format!("{text}{room}"),
        Align::Right => format!("{room}{text}"),
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
}
