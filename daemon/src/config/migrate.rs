//! Maps deprecated keys and common mistakes to current keys. The deprecated keys are from earlier
//! documentation and from the fork of Graphiti.

use crate::config::table;

/// What happened to a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyMigration {
    /// The key has a new name.
    Renamed(&'static str),
    Retired(&'static str),
}

/// Renamed keys, relative to `session_tracking`.
const RENAMED: &[(&str, &str)] = &[
    ("watch_path", "watch_directories"),
    ("watch_paths", "watch_directories"),
    ("watch_dirs", "watch_directories"),
    ("exclude_paths", "excluded_paths"),
    ("excluded_projects", "excluded_paths"),
    ("store", "store_in_graph"),
    ("store_to_graph", "store_in_graph"),
    ("keep_days", "keep_length_days"),
    ("keep_length", "keep_length_days"),
    ("retention_days", "keep_length_days"),
    ("inactivity_timeout_seconds", "inactivity_timeout"),
    ("check_interval_seconds", "check_interval"),
    ("max_summary_chars", "summary_prompts.max_summary_chars"),
    ("filter.max_summary_chars", "summary_prompts.max_summary_chars"),
    ("summarization.max_summary_chars", "summary_prompts.max_summary_chars"),
    ("summarization.auto_summarize", "auto_summarize"),
    ("summarization.enabled", "auto_summarize"),
    ("summarization.threshold", "summarization.extraction_threshold"),
    ("summarization.prompts", "summary_prompts"),
    ("summary_prompts.tool_content", "summary_prompts.tool_results"),
    ("filter.tool_results", "filter.tool_content"),
    ("resilience.max_retries", "resilience.retry_queue.max_retries"),
    ("resilience.retry_delays_seconds", "resilience.retry_queue.retry_delays_seconds"),
    ("resilience.max_queue_size", "resilience.retry_queue.max_queue_size"),
    ("resilience.retry_queue.retry_delays", "resilience.retry_queue.retry_delays_seconds"),
    ("hooks.timeout", "hooks.hook_timeout"),
    ("hooks.socket", "hooks.socket_path"),
    ("hooks.async", "hooks.async_indexing"),
    ("embedder", "embeddings"),
    ("logging", "log"),
    ("log.path", "log.file"),
    ("log.log_file", "log.file"),
    ("llm.default_model", "llm.model"),
    ("llm.semaphore_limit", "llm.concurrency"),
    ("llm.budget", "llm.daily_budget"),
    ("tool_classification_cache", "summarization.tool_classification_cache"),
];

/// Keys relative to `session_tracking` that are no longer used, with the reason.
const RETIRED: &[(&str, &str)] = &[
    (
        "resilience.notifications",
        "failures are shown by `graphiti status`, and nothing is sent anywhere",
    ),
    ("hybrid_close", "how a session is closed is no longer a choice"),
    ("lazy_indexing", "how a session is closed is no longer a choice"),
];

/// Returns the current name of a deprecated or misplaced key, or why the key was removed. `None`
/// for an unknown key.
pub(super) fn migration_of(key: &str) -> Option<KeyMigration> {
    let plain = snake_case(key);
    if let Some(known) = table::known(&plain) {
        return Some(KeyMigration::Renamed(known));
    }
    let below = plain.strip_prefix("session_tracking.").unwrap_or(&plain);
    if let Some((_, new)) = RENAMED.iter().find(|(old, _)| *old == below) {
        return table::known(&format!("session_tracking.{new}")).map(KeyMigration::Renamed);
    }
    if let Some((_, reason)) = RETIRED.iter().find(|(old, _)| *old == below) {
        return Some(KeyMigration::Retired(reason));
    }
    // The key is at the top level but belongs in `session_tracking`.
    table::known(&format!("session_tracking.{below}")).map(KeyMigration::Renamed)
}

/// Converts `inactivityTimeout` and `inactivity-timeout` to `inactivity_timeout`.
fn snake_case(key: &str) -> String {
    let mut plain = String::with_capacity(key.len() + 4);
    for letter in key.chars() {
        if letter.is_ascii_uppercase() {
            if !plain.is_empty() && !plain.ends_with(['.', '_']) {
                plain.push('_');
            }
            plain.push(letter.to_ascii_lowercase());
        } else {
            plain.push(if letter == '-' { '_' } else { letter });
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_names_are_in_the_table_and_old_names_are_not() {
        for (old, new) in RENAMED {
            assert!(table::known(&format!("session_tracking.{new}")).is_some(), "{new}");
            assert_eq!(table::known(&format!("session_tracking.{old}")), None, "{old}");
        }
        for (old, _) in RETIRED {
            assert_eq!(table::known(&format!("session_tracking.{old}")), None, "{old}");
        }
    }

    #[test]
    fn deprecated_keys_are_mapped_to_current_keys() {
        for (old, wanted) in [
            ("session_tracking.watch_path", Some("session_tracking.watch_directories")),
            ("session_tracking.watchPath", Some("session_tracking.watch_directories")),
            ("session_tracking.inactivityTimeout", Some("session_tracking.inactivity_timeout")),
            ("sessionTracking", Some("session_tracking")),
            ("session-tracking", Some("session_tracking")),
            ("hooks", Some("session_tracking.hooks")),
            ("max_summary_chars", Some("session_tracking.summary_prompts.max_summary_chars")),
            ("session_tracking.nonsense", None),
        ] {
            assert_eq!(migration_of(old), wanted.map(KeyMigration::Renamed), "{old}");
        }
        assert!(matches!(
            migration_of("session_tracking.resilience.notifications"),
            Some(KeyMigration::Retired(_))
        ));
    }
}
