//! Finds lines that report an error in the output of a command that succeeded according to its exit
//! code, for example `make | tail` or `make || true`.
//!
//! The rules are strict, because most outputs with words such as `error` come from commands without
//! an error. If a command searches for such lines (`rg 'error: '`), the lines that it prints are
//! kept, too.

use std::ops::Range;

use crate::pattern::pattern;

/// Maximum number of lines that are kept.
const MAX_LINES: usize = 3;
/// Maximum length, in bytes, of a kept line.
const MAX_LINE_BYTES: usize = 300;
/// Maximum length, in bytes, of a line that is examined.
const MAX_MESSAGE_BYTES: usize = 600;

/// The beginnings of lines that report an error.
const STARTS: [&str; 16] = [
    "error: ",
    "error[E",
    "Error: ",
    "ERROR: ",
    "ERROR ",
    "fatal: ",
    "fatal error: ",
    "make: *** ",
    "npm ERR! ",
    "npm error ",
    "panic: ",
    "BUILD FAILED",
    "--- FAIL: ",
    "FAIL: ",
    "CONFLICT (",
    "Segmentation fault",
];

/// Parts of lines that report an error.
const PARTS: [&str; 8] = [
    " error TS",
    "\' panicked at ",
    ": error: ",
    ": fatal error: ",
    ": command not found",
    "]: *** ",
    ": No such file or directory",
    ": Permission denied",
];

/// Returns the lines of `output` that report an error, joined with newlines, or `None` if no line
/// reports an error.
pub(crate) fn error_lines(output: &str) -> Option<String> {
    let mut lines: Vec<&str> = Vec::new();
    let mut end = 0;
    // Most outputs contain none of these words. Searching for them is much faster than looking at
    // each line.
    let words = pattern!(
        r"rror|ERROR|atal|\*\*\*|ERR!|anic|xception: |FAIL|not found|No such|denied|CONFLICT|fault"
    );
    for found in words.find_iter(output) {
        if found.start() < end {
            continue;
        }
        let span = line_at(output, found.start());
        end = span.end;
        let line = output[span].trim();
        if line.len() <= MAX_MESSAGE_BYTES && reports_error(line) && !lines.contains(&line) {
            lines.push(line);
            if lines.len() == MAX_LINES {
                break;
            }
        }
    }
    let cut = |line: &&str| line[..line.floor_char_boundary(MAX_LINE_BYTES)].trim_end().to_owned();
    let lines: Vec<String> = lines.iter().map(cut).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn line_at(text: &str, at: usize) -> Range<usize> {
    let start = text[..at].rfind('\n').map_or(0, |before| before + 1);
    let end = text[at..].find('\n').map_or(text.len(), |after| at + after);
    start..end
}

fn reports_error(line: &str) -> bool {
    STARTS.iter().any(|start| line.starts_with(start))
        || PARTS.iter().any(|part| line.contains(part))
        || is_exception(line)
}

/// Whether a line begins with the name of an exception and its message: `app.PoolError: full`.
fn is_exception(line: &str) -> bool {
    let Some((name, message)) = line.split_once(": ") else { return false };
    let is_name = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'));
    is_name
        && !message.trim().is_empty()
        && ["Error", "Exception"].iter().any(|end| name.len() > end.len() && name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_report_an_error_are_kept() {
        for (output, wanted) in [
            (
                "a\n  error[E0382]: borrow of moved value\n --> src/a.rs:3:5\n",
                "error[E0382]: borrow of moved value",
            ),
            (
                "src/a.ts(3,4): error TS2304: Cannot find x",
                "src/a.ts(3,4): error TS2304: Cannot find x",
            ),
            (
                "thread \'main\' panicked at src/a.rs:3:5:\nx",
                "thread \'main\' panicked at src/a.rs:3:5:",
            ),
            (
                "Traceback (most recent call last):\n  x\napp.PoolError: full\n",
                "app.PoolError: full",
            ),
            ("sh: 1: jqq: command not found", "sh: 1: jqq: command not found"),
            (
                "make[1]: *** [Makefile:3: all] Error 2\nmake: *** [all] Error 2",
                "make[1]: *** [Makefile:3: all] Error 2\nmake: *** [all] Error 2",
            ),
        ] {
            assert_eq!(error_lines(output).as_deref(), Some(wanted), "{output}");
        }
    }

    #[test]
    fn each_beginning_and_part_is_searched_for() {
        for words in STARTS.iter().chain(&PARTS) {
            let line =
                if STARTS.contains(words) { format!("{words}x") } else { format!("a{words}x") };
            assert_eq!(error_lines(&format!("first\n{line}\nlast")), Some(line.clone()), "{line}");
        }
    }

    #[test]
    fn other_lines_are_not_kept() {
        for output in [
            "",
            "test result: ok. 12 passed; 0 failed",
            "12 files, 0 errors\nno error here",
            "src/error.rs:3: pub struct Error;\nfn fatal() {}",
            "Error handling: see below\nThisError: \n",
        ] {
            assert_eq!(error_lines(output), None, "{output}");
        }
    }

    #[test]
    fn the_lines_are_few_and_short() {
        let output = "error: one\nerror: one\nerror: two\nerror: three\nerror: four\n";
        assert_eq!(error_lines(output).unwrap(), "error: one\nerror: two\nerror: three");
        let long = format!("error: {}", "ö".repeat(200));
        assert_eq!(error_lines(&long).unwrap().len(), 299);
        assert_eq!(error_lines(&format!("error: {}", "x".repeat(700))), None);
    }
}
