//! Writes and recognises the lines of a summary about commands that worked only in another form.

use crate::model::wording::retry_parts;

/// Returns the line about a command that failed and the form of the command that worked. `message`
/// is the error message, and `explanation` is the agent's text about the failure; both may be
/// empty. The commands must not contain backticks.
pub(super) fn retry_line(failed: &str, message: &str, worked: &str, explanation: &str) -> String {
    let message = if message.is_empty() { String::new() } else { format!(" ({message})") };
    let explanation =
        if explanation.is_empty() { String::new() } else { format!(". {explanation}") };
    format!("`{failed}` failed{message}; `{worked}` worked{explanation}")
}

/// Returns the command that failed, if [`retry_line`] wrote the line.
pub(super) fn failed_command(line: &str) -> Option<&str> {
    Some(retry_parts(line)?.failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retried_command_is_recognised_as_it_is_written() {
        for (message, explanation) in [("", ""), ("error: no such command (`x`)", "It is new")] {
            let line = retry_line("rtk bun test", message, "bun test", explanation);
            assert_eq!(failed_command(&line), Some("rtk bun test"), "{line}");
        }
        assert_eq!(failed_command("`bun test` failed"), None);
    }
}
