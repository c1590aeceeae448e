//! Describes the differences between two configurations.

use crate::config::{Config, table};

/// The keys whose values are read only at the start.
const AT_START: [&str; 6] = [
    "session_tracking.hooks.socket_enabled",
    "session_tracking.hooks.socket_path",
    "session_tracking.log.file",
    "session_tracking.log.max_bytes",
    "session_tracking.limits.log_bytes",
    "session_tracking.summarization.tool_classification_cache",
];
/// The sections whose values affect later summaries.
const OF_SUMMARIES: [&str; 3] = [
    "session_tracking.llm.",
    "session_tracking.summarization.",
    "session_tracking.summary_prompts.",
];

/// Returns a sentence for each key whose value differs, in the order of the file, and a remark if
/// one of these keys affects summaries.
pub fn changes(before: &Config, after: &Config) -> Vec<String> {
    let fields = table::fields().iter();
    let is_changed = fields.filter(|field| field.write(before) != field.write(after));
    let concerns_summaries = is_changed
        .map(|field| field.key)
        .any(|key| OF_SUMMARIES.iter().any(|section| key.starts_with(section)));
    let hint =
        "Summaries that exist already are kept; `graphiti close --again ID` creates one again";
    let mut changes = described(before, after);
    changes.extend(concerns_summaries.then(|| hint.to_owned()));
    changes
}

fn described(before: &Config, after: &Config) -> Vec<String> {
    table::fields()
        .iter()
        .map(|field| (field.key, field.write(before), field.write(after)))
        .filter(|(_, was, is)| was != is)
        .map(|(key, was, is)| match AT_START.contains(&key) {
            true => format!(
                "`{key}` was {was} and will be {is} after a restart: graphiti stop, then graphiti up"
            ),
            false => format!("`{key}` was {was} and is {is} now"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn each_change_is_described_by_a_sentence() {
        let before = Config::default();
        let mut after = Config::default();
        assert!(changes(&before, &after).is_empty());
        after.session.inactivity_timeout = None;
        after.api.hooks.hook_timeout = Duration::from_millis(1_500);
        after.limits.spool_bytes = 1 << 20;
        after.api.hooks.socket_path = Some("/run/g.sock".into());
        after.log.file = Some("/run/g.log".into());
        after.llm.model = Some("m".to_owned());
        assert_eq!(
            changes(&before, &after),
            [
                "`session_tracking.inactivity_timeout` was 1800 and is null now",
                "`session_tracking.hooks.socket_path` was null and will be \"/run/g.sock\" after a \
                 restart: graphiti stop, then graphiti up",
                "`session_tracking.hooks.hook_timeout` was 30000 and is 1500 now",
                "`session_tracking.llm.model` was null and is \"m\" now",
                "`session_tracking.log.file` was null and will be \"/run/g.log\" after a restart: \
                 graphiti stop, then graphiti up",
                "`session_tracking.limits.spool_bytes` was \"64 MiB\" and is \"1 MiB\" now",
                "Summaries that exist already are kept; `graphiti close --again ID` creates one again",
            ]
        );
    }
}
