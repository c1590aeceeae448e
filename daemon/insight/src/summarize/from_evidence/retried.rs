//! Words the commands that failed and then worked in another form.

use crate::{
    model::evidence::Retry,
    summarize::{
        from_evidence::entries::{Entries, cut_at_clause},
        text::{before_gap, one_line, without_full_stop},
    },
};

/// Maximum number of lines. If there are more, the latest are kept.
const LINES: usize = 4;
/// Maximum length, in characters, of a command and of an error message.
const COMMAND: usize = 120;
const MESSAGE: usize = 90;

/// Returns a line for each command that worked in another form.
pub(super) fn retried_commands(entries: &Entries<'_>) -> Vec<String> {
    let retries = &entries.evidence.retries;
    let latest = &retries[retries.len().saturating_sub(LINES)..];
    latest.iter().filter_map(|retry| line(entries, retry)).collect()
}

/// Returns the line for a retry; `None` if the difference between the commands is cut off.
fn line(entries: &Entries<'_>, retry: &Retry) -> Option<String> {
    let plain = |text: &str| entries.tidy_line(&one_line(&before_gap(text))).replace('`', "'");
    let command = |text: &str| cut_at_clause(&plain(text), COMMAND);
    let (failed, worked) = (command(&retry.failed), command(&retry.worked));
    let message = match retry.message.is_empty() {
        true => String::new(),
        false => format!(" ({})", cut_at_clause(&plain(&retry.message), MESSAGE)),
    };
    let said = retry.said.as_deref().map(|said| entries.tidy_line(said));
    let said = said.map_or(String::new(), |said| format!(". {}", without_full_stop(&said)));
    let is_visible = !failed.starts_with(worked.trim_end_matches(['…', ' ']));
    is_visible.then(|| format!("`{failed}` failed{message}; `{worked}` worked{said}"))
}
