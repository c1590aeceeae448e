//! Shows the progress of a request on one line that is overwritten.

use std::io::{self, IsTerminal, Write};

use super::line;
use crate::connection::ProgressStep;

/// Length, in columns, of the bar.
const WIDTH: u64 = 24;

/// A bar on standard error. Prints nothing if standard error is not a terminal.
pub(crate) struct Bar {
    columns: usize,
    is_shown: bool,
    is_terminal: bool,
}

impl Bar {
    /// Creates a bar for lines of at most `columns` columns.
    pub(crate) fn new(columns: usize) -> Bar {
        Bar { columns, is_shown: false, is_terminal: io::stderr().is_terminal() }
    }

    pub(crate) fn show(&mut self, step: &ProgressStep) {
        if self.is_terminal {
            let text: String = drawn(step).chars().take(self.columns.saturating_sub(1)).collect();
            // The request continues if its progress cannot be shown.
            let _ = write!(io::stderr().lock(), "\r\x1b[2K{text}");
            self.is_shown = true;
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if self.is_shown {
            // An error is ignored, as in `show`.
            let _ = write!(io::stderr().lock(), "\r\x1b[2K");
        }
    }
}

fn drawn(step: &ProgressStep) -> String {
    let message = line(&step.message);
    if step.total == 0 {
        return message;
    }
    let full = step.progress.min(step.total) * WIDTH / step.total;
    let bar: String = (0..WIDTH).map(|at| if at < full { '#' } else { '.' }).collect();
    format!("[{bar}] {}/{} {message}", step.progress, step.total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_shows_the_progress() {
        let step = |progress, total| ProgressStep { progress, total, message: "a\nb".to_owned() };
        assert_eq!(drawn(&step(0, 0)), "a b");
        assert_eq!(drawn(&step(1, 2)), "[############............] 1/2 a b");
        assert_eq!(drawn(&step(9, 3)), "[########################] 9/3 a b");
    }
}
