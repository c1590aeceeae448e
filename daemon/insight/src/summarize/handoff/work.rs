//! Decides which sessions did work.

use crate::model::{Episode, wording::NOT_FIXED};

/// Maximum length, in characters, of a short answer.
const MAX_SHORT_ANSWER_CHARS: usize = 600;
/// Maximum number of messages of a session that is only a question and its answer.
const MAX_EXCHANGE_MESSAGES: u32 = 4;
/// Prefixes of graphiti's own tools. Calls of these tools are not work of a session.
const OWN_TOOLS: &[&str] = &["mcp__graphiti__", "mcp_graphiti_", "graphiti"];

/// Whether a session did work that another session may continue: it changed something, ran tests or
/// fixed an error. A session also did work if it decided or completed something, left a finding of
/// its review to others, gave a long answer, or was more than a question with its answer. If the
/// session only queried graphiti, only the first sentence applies.
pub fn did_work(episode: &Episode) -> bool {
    let summary = &episode.summary;
    let changed = summary.files_modified.as_ref().is_some_and(|files| !files.is_empty())
        || summary.config_changes.is_some()
        || summary.test_results.is_some()
        || summary.errors_resolved.is_some()
        || summary.repository.as_ref().is_some_and(|state| leaves_work(state));
    let left_findings = summary.next_steps.iter().flatten().any(|step| step.starts_with(NOT_FIXED));
    let settled =
        summary.key_decisions.is_some() || summary.completed_tasks.is_some() || left_findings;
    let words = summary.last_words.as_ref().map_or(0, |words| words.chars().count());
    // Nothing was done, and the agent wrote nothing.
    if !changed && !settled && words == 0 && summary.next_steps.is_none() {
        return false;
    }
    let is_exchange = summary.message_count.is_some_and(|count| count <= MAX_EXCHANGE_MESSAGES);
    changed
        || (settled || words > MAX_SHORT_ANSWER_CHARS || !is_exchange)
            && !only_queried_graphiti(episode)
}

/// Whether the state of a repository shows that the session changed something.
fn leaves_work(state: &str) -> bool {
    let has_changes = state.contains("commit") || state.contains("; merged `");
    has_changes && !state.contains("; no files were changed")
}

fn only_queried_graphiti(episode: &Episode) -> bool {
    let is_own = |tool: &String| OWN_TOOLS.iter().any(|own| tool.starts_with(own));
    let tools = episode.summary.mcp_tools_used.as_deref().unwrap_or_default();
    let is_recall = tools.iter().any(is_own) && tools.iter().all(is_own);
    let asked = episode.summary.objective.trim_start();
    (is_recall || asked.starts_with("/graphiti:"))
        && episode.summary.completed_tasks.is_none()
        && episode.summary.files_modified.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_and_merges_leave_work() {
        for (state, wanted) in [
            ("branch `main`; last commit `1a2b3c4` One", true),
            ("branch `main`; merged `fix/x`; pushed", true),
            ("branch `main` at `1a2b3c4` One; no files were changed", false),
            ("branch `main`", false),
        ] {
            assert_eq!(leaves_work(state), wanted, "{state}");
        }
    }
}
