//! Tells sessions that did work from those that did not.

use crate::model::Episode;

/// Characters of an answer that is more than a short one.
const LONG_ANSWER: usize = 600;
/// Messages of a session that is more than a question and an answer.
const EXCHANGE: u32 = 4;
/// Calls of our own tools are no work of a session.
const OWN_TOOLS: &[&str] = &["mcp__graphiti__", "mcp_graphiti_", "graphiti"];

/// Whether the next session has something to take up from this one: it changed or ran something,
/// settled something, or answered at length.
pub fn did_work(episode: &Episode) -> bool {
    let summary = &episode.summary;
    let changed = summary.files_modified.as_ref().is_some_and(|files| !files.is_empty())
        || summary.config_changes.is_some()
        || summary.test_results.is_some()
        || summary.errors_resolved.is_some()
        || summary.repository.as_ref().is_some_and(|state| leaves_work(state));
    let settled = summary.key_decisions.is_some() || summary.completed_tasks.is_some();
    let words = summary.last_words.as_ref().map_or(0, |words| words.chars().count());
    // Nobody asked for anything, and nothing was done.
    if !changed && !settled && words == 0 && summary.next_steps.is_none() {
        return false;
    }
    let is_exchange = summary.message_count.is_some_and(|count| count <= EXCHANGE);
    changed || (settled || words > LONG_ANSWER || !is_exchange) && !only_recalled(episode)
}

/// Whether the state of a repository is that of a session that changed something.
fn leaves_work(state: &str) -> bool {
    state.contains("commit") && !state.contains("; no files were changed")
}

/// Whether all that the session did was to ask the memory.
fn only_recalled(episode: &Episode) -> bool {
    let is_own = |tool: &String| OWN_TOOLS.iter().any(|own| tool.starts_with(own));
    let tools = episode.summary.mcp_tools_used.as_deref().unwrap_or_default();
    let is_recall = tools.iter().any(is_own) && tools.iter().all(is_own);
    let asked = episode.summary.objective.trim_start();
    (is_recall || asked.starts_with("/graphiti:"))
        && episode.summary.completed_tasks.is_none()
        && episode.summary.files_modified.is_none()
}
