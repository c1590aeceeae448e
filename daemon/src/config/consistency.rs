//! Finds values that are valid individually, but not together.

use std::path::Path;

use crate::{
    config::{
        Loaded,
        problem::{ConfigProblem, FilePosition, Notice},
    },
    llm::config::ProviderKind,
    llm::embed::config::EmbeddingProvider,
    summarize::config::Detection,
};

/// Returns problems and notices about combinations of values. Reports only keys that the file sets,
/// because the defaults are consistent.
pub(super) fn check(loaded: &Loaded, file: &Path) -> (Vec<ConfigProblem>, Vec<Notice>) {
    let conflicts = conflicts(loaded).into_iter().filter_map(|(key, text)| {
        let place = FilePosition::new(file, *loaded.origins.get(key)?);
        Some(ConfigProblem::Conflict { place, key: key.to_owned(), text: text.to_owned() })
    });
    let of_share = share_conflicts(loaded).into_iter().filter_map(|(key, text)| {
        let place = FilePosition::new(file, *loaded.origins.get(key)?);
        Some(ConfigProblem::Conflict { place, key: key.to_owned(), text })
    });
    let idle = idle(loaded).into_iter().filter_map(|(key, reason)| {
        let place = FilePosition::new(file, *loaded.origins.get(key)?);
        Some(Notice::Idle { place, key: key.to_owned(), reason })
    });
    (conflicts.chain(of_share).collect(), idle.collect())
}

/// Returns keys with a description of their conflict.
fn conflicts(loaded: &Loaded) -> Vec<(&'static str, &'static str)> {
    let config = &loaded.config;
    let mut conflicts = Vec::new();
    let summarize = &config.summarize;
    if summarize.detection == Detection::Manual && summarize.activity_vector.is_none() {
        conflicts.push((
            "session_tracking.summarization.type_detection",
            "is \"manual\", which needs `session_tracking.summarization.activity_vector`; add it, such \
             as {\"fixing\": 0.8}, or write \"auto\"",
        ));
    }
    if config.llm.provider == ProviderKind::Command && config.llm.command.is_none() {
        conflicts.push((
            "session_tracking.llm.provider",
            "is \"command\", which needs `session_tracking.llm.command`; add it, such as [\"my-model\", \
             \"--quiet\"]",
        ));
    }
    let embeddings = &config.search.embeddings;
    if embeddings.provider == EmbeddingProvider::Local && embeddings.path.is_none() {
        conflicts.push((
            "session_tracking.embeddings.provider",
            "is \"local\", which needs `session_tracking.embeddings.path`; add the model's folder",
        ));
    }
    if config.log.max_bytes > config.limits.log_bytes {
        let text = "is more than `session_tracking.limits.log_bytes`, the limit of all log files \
        together; decrease this value, or increase the limit";
        let keys = ["session_tracking.log.max_bytes", "session_tracking.limits.log_bytes"];
        let set = keys.into_iter().find(|key| loaded.origins.contains_key(key));
        conflicts.extend(set.map(|key| (key, if key == keys[0] { text } else { LOG_BYTES })));
    }
    conflicts
}

/// Returns the conflicts in the settings of the shared graph.
fn share_conflicts(loaded: &Loaded) -> Vec<(&'static str, String)> {
    let share = &loaded.config.share;
    let mut conflicts = Vec::new();
    if let Err(error) = share.endpoint() {
        conflicts.push(("session_tracking.share.url", error.to_string()));
    }
    if share.is_on() && share.name.is_none() {
        let text =
            "needs `session_tracking.share.name`; add the name by which your colleagues know you";
        conflicts.push(("session_tracking.share.engine", text.to_owned()));
    }
    if share.password_env.is_some() && share.password_file.is_some() {
        let text = "is set together with `session_tracking.share.password_env`; keep one of them";
        conflicts.push(("session_tracking.share.password_file", text.to_owned()));
    }
    conflicts
}

const LOG_BYTES: &str = "is the limit of all log files together, and less than `session_tracking.log.max_bytes`, the \
limit of one file; increase this limit, or decrease the other";

/// Returns keys without effect, with the reason.
fn idle(loaded: &Loaded) -> Vec<(&'static str, &'static str)> {
    let config = &loaded.config;
    let mut idle = Vec::new();
    if config.summarize.auto_summarize && config.llm.provider == ProviderKind::None {
        idle.push((
            "session_tracking.auto_summarize",
            "no model is configured, so summaries are derived from evidence: set `session_tracking.llm.provider` to use a model",
        ));
    }
    if config.api.answers.trusted_namespaces.is_some() && !config.api.answers.cross_project_search {
        idle.push((
            "session_tracking.trusted_namespaces",
            "a search covers only the caller's project while `session_tracking.cross_project_search` is \
            false",
        ));
    }
    if !config.share.projects.is_empty() && !config.share.is_on() {
        idle.push((
            "session_tracking.share.projects",
            "nothing is shared: set `session_tracking.share.engine`",
        ));
    }
    let session = &config.session;
    if session.inactivity_timeout.is_some_and(|timeout| timeout <= session.check_interval) {
        idle.push((
            "session_tracking.check_interval",
            "sessions are closed before they count as inactive, because `session_tracking.inactivity_timeout` is not longer than this time",
        ));
    }
    idle
}
