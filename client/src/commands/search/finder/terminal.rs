//! The terminal of the interactive search. It is in raw mode and shows the alternate screen until
//! [`RawTerminal`] is dropped.

use std::{
    io::{self, Write},
    panic,
};

use base64::{Engine, prelude::BASE64_STANDARD};
use crossterm::{
    cursor::{Hide, MoveTo, Show},
    event::{DisableBracketedPaste, EnableBracketedPaste},
    execute, queue,
    style::Print,
    terminal::{
        BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen,
        LeaveAlternateScreen, disable_raw_mode, enable_raw_mode, size,
    },
};

use super::view::{Frame, TerminalSize};

/// The assumed size of a terminal that does not report its size.
const USUAL: (u16, u16) = (80, 24);

/// A terminal in raw mode.
pub(super) struct RawTerminal {
    output: io::Stdout,
}

impl RawTerminal {
    /// Prepares the terminal. A panic restores the terminal before the message is printed.
    pub(super) fn enter() -> io::Result<RawTerminal> {
        enable_raw_mode()?;
        let earlier = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            restore();
            earlier(panic);
        }));
        let mut terminal = RawTerminal { output: io::stdout() };
        execute!(terminal.output, EnterAlternateScreen, EnableBracketedPaste)?;
        Ok(terminal)
    }

    pub(super) fn size() -> TerminalSize {
        let (columns, rows) = size().unwrap_or(USUAL);
        TerminalSize { columns: usize::from(columns), rows: usize::from(rows) }
    }

    /// Replaces the screen.
    pub(super) fn draw(&mut self, frame: &Frame) -> io::Result<()> {
        let output = &mut self.output;
        queue!(output, BeginSynchronizedUpdate, Hide)?;
        for (row, text) in (0..).zip(&frame.lines) {
            // Without the reset, a style would continue on the next line.
            queue!(output, MoveTo(0, row), Print(text), Print("\u{1b}[0m"))?;
            queue!(output, Clear(ClearType::UntilNewLine))?;
        }
        queue!(output, Clear(ClearType::FromCursorDown))?;
        if let Some(column) = frame.cursor {
            queue!(output, MoveTo(u16::try_from(column).unwrap_or(u16::MAX), 0), Show)?;
        }
        queue!(output, EndSynchronizedUpdate)?;
        output.flush()
    }

    /// Asks the terminal to copy `text` to the clipboard. Over SSH, this is the clipboard of the
    /// user's own machine.
    pub(super) fn copy(&mut self, text: &str) -> io::Result<()> {
        let text = BASE64_STANDARD.encode(text);
        execute!(self.output, Print(format!("\u{1b}]52;c;{text}\u{7}")))
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        restore();
    }
}

fn restore() {
    // Errors are ignored, because the terminal may be gone. Raw mode ends first, because the user may
    // type as soon as the ordinary screen is back.
    let _ = disable_raw_mode();
    let _ = execute!(io::stdout(), DisableBracketedPaste, LeaveAlternateScreen, Show);
}
