//! Reads the response of a tool: its text, and how the call ended.
//!
//! For a shell command that failed, the tool reports success. The exit code is in a line after the
//! output.

use std::{borrow::Cow, ops::Range};

use crate::{
    format::json::{self, Object},
    model::transcript::{Outcome, without_middle},
};

/// Maximum length, in bytes, of the start and the end of a response together, which are examined
/// for the outcome.
const EXAMINED: usize = 4_096;
const SHELL: &str = "run_shell_command";

/// Returns how a call of `tool` ended, given the raw response and, if the record of the call has a
/// status, the status.
pub(crate) fn of(tool: &str, status: Option<&str>, response: &str) -> Outcome {
    let text = reported(response, EXAMINED);
    let is_error = Object::parse(response).is_some_and(|object| object.raw("error").is_some());
    match status {
        _ if text.starts_with("[Operation Cancelled]") => cancelled(&text),
        Some("cancelled") => cancelled(&text),
        Some("error") => Outcome::Failed(exit_code(&text)),
        _ if is_error => Outcome::Failed(exit_code(&text)),
        _ if tool == SHELL => of_shell(&text),
        _ => Outcome::Succeeded,
    }
}

/// Returns the text of a raw response, truncated to about `limit` bytes and without the lines that
/// the shell tool adds.
pub(crate) fn text(response: &str, limit: usize) -> Cow<'_, str> {
    let text = reported(response, limit);
    let range = shell_output(&text);
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[range]),
        Cow::Owned(text) => Cow::Owned(text[range].to_owned()),
    }
}

/// Returns the text that the model receives, without the tag around untrusted text.
fn reported(response: &str, limit: usize) -> Cow<'_, str> {
    let raw = match Object::parse(response) {
        Some(object) => object.raw("output").or_else(|| object.raw("error")).unwrap_or(response),
        None => response,
    };
    let text = json::string_within(raw, limit).unwrap_or_else(|| without_middle(raw, limit));
    let trusted = without_tag(&text).map(str::to_owned);
    trusted.map_or(text, Cow::Owned)
}

fn without_tag(text: &str) -> Option<&str> {
    let inside = text.strip_prefix("<untrusted_context>")?.strip_prefix('\n')?;
    let inside = inside.strip_suffix("</untrusted_context>").unwrap_or(inside);
    Some(inside.strip_suffix('\n').unwrap_or(inside))
}

fn cancelled(text: &str) -> Outcome {
    let refusals = ["denied", "did not allow", "rejected", "declined", "not approved"];
    if refusals.iter().any(|word| text.contains(word)) {
        Outcome::Rejected
    } else {
        Outcome::Interrupted
    }
}

fn of_shell(text: &str) -> Outcome {
    if text.starts_with("Command was cancelled by user") {
        return Outcome::Interrupted;
    }
    if text.starts_with("Command was automatically cancelled")
        || text.starts_with("Command timed out")
    {
        return Outcome::Failed(None);
    }
    let is_signalled = matches!(value_of(text, "Signal: "), Some(signal) if !is_none(signal));
    match exit_code(text) {
        Some(0) => Outcome::Succeeded,
        Some(code) => Outcome::Failed(Some(code)),
        None if is_signalled => Outcome::Failed(None),
        None => Outcome::Succeeded,
    }
}

fn is_none(value: &str) -> bool {
    matches!(value, "(none)" | "0" | "null")
}

fn exit_code(text: &str) -> Option<i32> {
    value_of(text, "Exit Code: ")?.parse().ok()
}

/// The lines that the shell tool adds after the output.
const ENDING: &[&str] = &[
    "Error: (none)",
    "Exit Code: ",
    "Signal: ",
    "Background PIDs: ",
    "Process Group PGID: ",
    "Process Group PID: ",
];

/// Returns the lines after the output, the last line first.
fn ending(text: &str) -> impl Iterator<Item = &str> {
    let is_added = |line: &&str| ENDING.iter().any(|start| line.starts_with(start));
    text.trim_end().rsplit('\n').take_while(is_added)
}

fn value_of<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    ending(text).find_map(|line| line.strip_prefix(name)).map(str::trim)
}

/// Returns the range of the command's output in a response of the shell tool; for another response,
/// the whole range.
fn shell_output(text: &str) -> Range<usize> {
    let start = if text.starts_with("Output: ") {
        "Output: ".len()
    } else if text.starts_with("Command: ")
        && let Some(at) = text.find("\nOutput: ")
    {
        at + "\nOutput: ".len()
    } else {
        return 0..text.len();
    };
    let added: usize = ending(text).map(|line| line.len() + 1).sum();
    if added == 0 {
        return 0..text.len();
    }
    let end = text.trim_end().len().saturating_sub(added).max(start);
    if &text[start..end] == "(empty)" { end..end } else { start..end }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn output(text: &str) -> String {
        json!({ "output": text }).to_string()
    }

    #[test]
    fn the_exit_code_of_a_command_is_in_a_line_after_its_output() {
        let new = "<untrusted_context>\nOutput: it broke\nExit Code: 1\nProcess Group PGID: 7\n\
            </untrusted_context>";
        let old = "Command: ls\nDirectory: (root)\nOutput: it broke\nError: (none)\nExit Code: 2\n\
            Signal: 0\nBackground PIDs: (none)\nProcess Group PGID: 7";
        for (response, code) in [(new, 1), (old, 2)] {
            let response = output(response);
            assert_eq!(of(SHELL, Some("success"), &response), Outcome::Failed(Some(code)));
            assert_eq!(text(&response, 999), "it broke");
        }
        for response in [new.replace("Exit Code: 1\n", ""), old.replace(": 2", ": 0")] {
            assert_eq!(of(SHELL, Some("success"), &output(&response)), Outcome::Succeeded);
        }
        let killed = "Output: (empty)\nSignal: 9\nProcess Group PGID: 7";
        assert_eq!(of(SHELL, Some("success"), &output(killed)), Outcome::Failed(None));
        assert_eq!(text(&output(killed), 999), "");
    }

    #[test]
    fn a_line_within_the_output_is_not_an_exit_code() {
        let printed = "Output: Exit Code: 3\nExit Code: 4\nall fine\nProcess Group PGID: 7";
        assert_eq!(of(SHELL, Some("success"), &output(printed)), Outcome::Succeeded);
        assert_eq!(text(&output(printed), 999), "Exit Code: 3\nExit Code: 4\nall fine");
        let of_a_file = output("a file\nExit Code: 3");
        assert_eq!(of("read_file", Some("success"), &of_a_file), Outcome::Succeeded);
        assert_eq!(text(&of_a_file, 999), "a file\nExit Code: 3");
    }

    #[test]
    fn a_truncated_output_keeps_its_last_lines() {
        let long = format!("Output: {}\nExit Code: 101\nProcess Group PGID: 7", "x".repeat(9_000));
        assert_eq!(of(SHELL, Some("success"), &output(&long)), Outcome::Failed(Some(101)));
        assert!(text(&output(&long), 600).starts_with("xxx"));
    }

    #[test]
    fn a_refusal_differs_from_an_interruption_and_a_failure() {
        let error = |text: &str| json!({ "error": text }).to_string();
        for (reason, wanted) in [
            ("User denied execution.", Outcome::Rejected),
            ("User did not allow tool call", Outcome::Rejected),
            ("User cancelled the operation.", Outcome::Interrupted),
        ] {
            let response = error(&format!("[Operation Cancelled] Reason: {reason}"));
            assert_eq!(of("replace", Some("cancelled"), &response), wanted, "{reason}");
            assert_eq!(of("replace", None, &response), wanted, "{reason}");
        }
        let missing = error("File not found: a.py");
        assert_eq!(of("replace", Some("error"), &missing), Outcome::Failed(None));
        assert_eq!(of("replace", None, &missing), Outcome::Failed(None));
        let stopped = output("Command was cancelled by user before it could complete. Below is");
        assert_eq!(of(SHELL, Some("success"), &stopped), Outcome::Interrupted);
    }

    #[test]
    fn an_unknown_response_is_read_as_text() {
        assert_eq!(text("\"plain\"", 99), "plain");
        assert_eq!(text(r#"{"content":[1]}"#, 99), r#"{"content":[1]}"#);
        assert_eq!(text(r#"{"output":{"a":1}}"#, 99), r#"{"a":1}"#);
        assert_eq!(text("null", 99), "null");
    }
}
