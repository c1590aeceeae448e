//! Formats the outcome of a call in a few words, because the output itself is not kept.

use crate::model::transcript::{Outcome, ToolResult};

/// Returns `ok`, or the kind of failure with a line of the error.
pub(crate) fn outcome_text(result: &ToolResult<'_>) -> String {
    let outcome = match result.outcome {
        Outcome::Succeeded => return "ok".to_owned(),
        Outcome::Failed(Some(code)) => format!("failed (exit {code})"),
        Outcome::Failed(None) => "failed".to_owned(),
        Outcome::Rejected => return "refused by the user".to_owned(),
        Outcome::Interrupted if is_not_permitted(&result.content.decode(1 << 10)) => {
            return "not permitted".to_owned();
        }
        Outcome::Interrupted => return "interrupted".to_owned(),
    };
    let content = result.content.decode(4 << 10);
    match significant_line(&content) {
        Some(line) => format!("{outcome}: {line}"),
        None => outcome,
    }
}

/// Returns the most significant line of an error's output: the first line that mentions an error,
/// or else the first line.
fn significant_line(content: &str) -> Option<&str> {
    let content = content.strip_prefix("<tool_use_error>").unwrap_or(content);
    let mut lines = content
        .lines()
        .map(|line| line.trim().trim_end_matches("</tool_use_error>"))
        .filter(|line| !line.is_empty() && !line.starts_with("Exit code "));
    let first = lines.clone().next()?;
    let mentions_error = |line: &&str| {
        let line = line.to_ascii_lowercase();
        ["error", "failed", "fatal", "panicked", "exception", "not found", "no such", "cannot"]
            .iter()
            .any(|word| line.contains(word))
    };
    Some(lines.find(mentions_error).unwrap_or(first))
}

/// Whether the result of a call says that the program did not run it because nobody permitted it.
pub(crate) fn is_not_permitted(content: &str) -> bool {
    const ANSWERS: [&str; 3] = [
        "Claude requested permissions",
        "This command requires approval",
        "Permission for this action was denied",
    ];
    ANSWERS.iter().any(|answer| content.starts_with(answer))
}
