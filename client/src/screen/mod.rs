//! The output: formatted text for a terminal, or plain text for a pipe.

mod bar;
mod clean;
mod markdown;
mod page;
mod table;
mod time;

use std::{
    cell::RefCell,
    fmt::Display,
    io::{self, IsTerminal, Write},
};

use anstyle::{AnsiColor, Style};

pub(crate) use self::{
    bar::Bar,
    clean::{block, line},
    table::{Align, Column, Styling, TextTable, cut},
    time::{ago, instant, local, now, span},
};
use crate::{cli::Color, connection::AskError};

/// The destination of answers.
pub(crate) struct Screen {
    colors: bool,
    width: usize,
    terminal: bool,
    /// The first error of printing.
    unprinted: RefCell<Option<io::Error>>,
    /// Receives the output instead of standard output.
    captured: Option<RefCell<Vec<u8>>>,
}

/// Width, in columns, of text if the width of the output is not known.
const DEFAULT_WIDTH: usize = 100;
/// Maximum width, in columns, of text: longer lines are hard to read.
const MAX_WIDTH: usize = 140;

impl Screen {
    pub(crate) fn new(color: Color) -> Screen {
        let terminal = io::stdout().is_terminal();
        let colors = match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                terminal && std::env::var_os("NO_COLOR").is_none_or(|set| set.is_empty())
            }
        };
        let size = terminal_size::terminal_size().filter(|_| terminal);
        let width =
            size.map_or(DEFAULT_WIDTH, |(width, _)| usize::from(width.0)).clamp(40, MAX_WIDTH);
        Screen { colors, width, terminal, unprinted: RefCell::default(), captured: None }
    }

    /// Returns the lines that `print` prints on a terminal with `columns` columns and with the
    /// colours of this screen. Wider lines are wrapped.
    pub(crate) fn captured(&self, columns: usize, print: impl FnOnce(&Screen)) -> Vec<String> {
        let mut screen = Screen {
            colors: self.colors,
            width: columns.min(MAX_WIDTH),
            terminal: true,
            unprinted: RefCell::default(),
            captured: Some(RefCell::default()),
        };
        print(&screen);
        let bytes = screen.captured.take().map(RefCell::into_inner).unwrap_or_default();
        let fits = |line: &str| textwrap::core::display_width(line) <= columns;
        let lines = String::from_utf8_lossy(&bytes);
        let wrapped = lines.lines().flat_map(|line| match fits(line) {
            true => vec![line.to_owned()],
            false => screen.within_width(line, 2),
        });
        wrapped.collect()
    }

    /// Returns the maximum width of a line, in columns.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Whether the output is a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.terminal
    }

    pub(crate) fn print(&self, text: impl Display) {
        self.print_bytes(format!("{text}\n").as_bytes());
    }

    /// Prints a table. On a terminal, the table is fitted to its width. Programs get whole texts.
    pub(crate) fn print_table(&self, table: &TextTable) {
        let width = if self.terminal { self.width } else { usize::MAX };
        for text in table.lines(width, |heading| self.dim(heading)) {
            self.print(text);
        }
    }

    /// Prints bytes unchanged.
    pub(crate) fn print_bytes(&self, bytes: &[u8]) {
        if let Some(captured) = &self.captured {
            captured.borrow_mut().extend_from_slice(bytes);
            return;
        }
        let mut output = io::stdout().lock();
        if let Err(error) = output.write_all(bytes).and_then(|()| output.flush()) {
            self.unprinted.borrow_mut().get_or_insert(error);
        }
    }

    /// Returns the first error of printing. A closed pipe is not an error, for example in
    /// `graphiti list | head`.
    pub(crate) fn unprinted(&self) -> Option<AskError> {
        let error = self.unprinted.borrow_mut().take();
        let error = error.filter(|error| error.kind() != io::ErrorKind::BrokenPipe)?;
        Some(AskError::Failed(format!("cannot print: {error}")))
    }

    pub(crate) fn print_json(&self, answer: &impl serde::Serialize) {
        let text = if self.terminal {
            serde_json::to_string_pretty(answer)
        } else {
            serde_json::to_string(answer)
        };
        self.print(clean::json(&text.expect("answers have only string keys")));
    }

    pub(crate) fn complain(&self, error: &AskError) {
        let mut message = block(&error.to_string());
        for candidate in error.details()["candidates"].as_array().into_iter().flatten() {
            let text = |key: &str| line(candidate[key].as_str().unwrap_or_default());
            let row = format!("{}  {:<9}  {}", text("session_id"), text("state"), text("project"));
            message.push_str(&format!("\n  {}", row.trim_end()));
        }
        // If standard error is closed, there is no other place for the message.
        let _ = writeln!(anstream::stderr().lock(), "graphiti: {message}");
    }

    pub(crate) fn bold(&self, text: impl Display) -> String {
        self.styled(Style::new().bold(), text)
    }

    fn heading(&self, text: impl Display) -> String {
        self.styled(AnsiColor::Cyan.on_default().bold(), text)
    }

    pub(crate) fn dim(&self, text: impl Display) -> String {
        self.styled(Style::new().dimmed(), text)
    }

    pub(crate) fn good(&self, text: impl Display) -> String {
        self.styled(AnsiColor::Green.on_default(), text)
    }

    pub(crate) fn warn(&self, text: impl Display) -> String {
        self.styled(AnsiColor::Yellow.on_default(), text)
    }

    pub(crate) fn bad(&self, text: impl Display) -> String {
        self.styled(AnsiColor::Red.on_default(), text)
    }

    pub(crate) fn accent(&self, text: impl Display) -> String {
        self.styled(AnsiColor::Cyan.on_default(), text)
    }

    pub(crate) fn mark(&self, text: impl Display) -> String {
        if self.colors {
            self.styled(AnsiColor::Yellow.on_default().bold(), text)
        } else {
            format!("[{text}]")
        }
    }

    /// Highlights a selected line, if colours are enabled.
    pub(crate) fn selected(&self, text: impl Display) -> String {
        self.styled(Style::new().invert(), text)
    }

    fn styled(&self, style: Style, text: impl Display) -> String {
        if self.colors { format!("{style}{text}{style:#}") } else { text.to_string() }
    }
}

#[cfg(test)]
impl Screen {
    /// Creates a terminal without colours.
    pub(crate) fn of_test(width: usize) -> Screen {
        Screen {
            colors: false,
            width,
            terminal: true,
            unprinted: RefCell::default(),
            captured: None,
        }
    }
}
