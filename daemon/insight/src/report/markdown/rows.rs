//! Joins the cells of table rows.

use super::{Form, LEAD_IN, PassageParser};
use crate::{
    report::inline::{are_lists, is_blank, is_mark, is_struck_out, with_column},
    text::one_line,
};

impl PassageParser {
    pub(super) fn row(&mut self) {
        let mut raw = self.cells.iter().map(|cell| cell.trim());
        let name = raw.find(|cell| !is_blank(cell) && !is_mark(cell));
        if name.is_some_and(is_struck_out) {
            self.cells.clear();
            return;
        }
        let cells: Vec<String> = self.cells.drain(..).map(|cell| one_line(&cell)).collect();
        let columns = &self.columns;
        if are_lists(columns) {
            for (column, cell) in columns.clone().into_iter().zip(cells) {
                self.headings.push((LEAD_IN, column));
                let text = if is_blank(&cell) { "" } else { &cell };
                self.push(Form::Item { depth: 1, ticked: None }, None, None, text);
                self.headings.pop();
            }
            return;
        }
        let cells = cells.into_iter().enumerate().filter(|(_, cell)| !is_blank(cell));
        let mut cells = cells.peekable();
        let mark = cells.next_if(|(_, cell)| is_mark(cell));
        let mark = mark.map(|(_, mark)| mark.trim_start_matches('#').to_owned());
        let Some((_, first)) = cells.next() else { return };
        let rest: Vec<String> = cells
            .map(|(at, cell)| with_column(columns.get(at).map_or("", String::as_str), &cell))
            .collect();
        let text = rest.join(" – ");
        self.push(
            Form::Row,
            mark,
            (!text.is_empty()).then(|| first.clone()),
            if text.is_empty() { &first } else { &text },
        );
    }
}
