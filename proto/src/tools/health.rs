//! `session_tracking_health`: reports the state of the daemon and its problems.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The name of the tool.
pub const NAME: &str = "session_tracking_health";

/// The tool takes no arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct HealthArguments {}

/// The answer of the tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct HealthAnswer {
    /// `ok`, or `degraded` if there are problems, failed sessions, or errors of a model.
    pub status: String,
    /// The version of the daemon.
    pub version: String,
    /// The process id of the daemon.
    pub pid: u32,
    /// The home folder of the daemon.
    pub home: String,
    /// Seconds since the start.
    pub uptime_seconds: u64,
    /// The watched folders.
    pub watched: Vec<String>,
    /// The folders of built-in agents that are not watched, because `watch_directories` selects other
    /// folders.
    pub unwatched: Vec<String>,
    /// `starting`, `events`, or `polling` with the reason.
    pub watch_mode: String,
    /// Number of sessions in each state.
    pub sessions: Sessions,
    /// The followed agents, and other agents with sessions.
    pub agents: Vec<AgentHealth>,
    /// The import of history.
    pub history: History,
    /// Number and size of the stored data.
    pub kept: StoredTotals,
    /// The limits on disk space.
    pub limits: DiskLimits,
    /// The evictions that the limits required.
    pub evicted: EvictionStats,
    /// The name of `evicted` before 0.2, for older clients and daemons. It will be removed in 1.0.
    pub let_go: EvictionStats,
    /// How far the search index is behind the database.
    pub index: IndexHealth,
    /// Records of all transcripts.
    pub records: Records,
    /// Number of jobs that run now.
    pub jobs: usize,
    /// The latest problems, newest last.
    pub problems: Vec<String>,
    /// The state of the model.
    pub model: ModelHealth,
    /// The state of the embeddings.
    pub embeddings: Embeddings,
    /// Whether the stored text was redacted by the current rules.
    pub redaction: Redaction,
    /// Number of summaries that an older version of graphiti created. They are created again in the
    /// background.
    pub older_summaries: usize,
    /// Number of summaries that a model wrote with an older version of graphiti. They are kept until
    /// the user requests them again: `graphiti close --again ID`.
    pub older_model_summaries: usize,
}

/// The sessions and records of one agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct AgentHealth {
    /// The agent: `claude`, ….
    pub agent: String,
    /// The agent's version in one of its latest sessions, if a transcript contains the version.
    pub version: Option<String>,
    /// Number of the agent's sessions that have messages or failed.
    pub sessions: u64,
    /// Number of the agent's records with useful content that were read.
    pub read: u64,
    /// Number of the agent's records without useful content, by type.
    pub skipped: BTreeMap<String, u64>,
}

/// Whether the stored text was redacted by the current rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Redaction {
    /// The current version of the rules.
    pub rules: u32,
    /// Whether older rules redacted some of the text; `graphiti redact --again --run` applies the
    /// current rules.
    pub is_older: bool,
    /// Whether a redaction was started and not finished.
    pub is_unfinished: bool,
}

/// How far the search index is behind the database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct IndexHealth {
    /// Number of changes that are not searchable yet.
    pub changes_behind: u64,
    /// Whether the index accepts no changes, or takes too long to apply them.
    pub stalled: bool,
}

/// The state of the model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ModelHealth {
    /// Whether a model is configured.
    pub on: bool,
    /// Whether the model writes summaries.
    pub writes_summaries: bool,
    /// Number of sessions that wait for the model.
    pub awaiting: usize,
    /// When the next request is due, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_attempt: Option<String>,
    /// Number of sessions whose requests failed and are not repeated. They have no summary by the
    /// model. `graphiti sync --again --run` requests the summaries again.
    pub abandoned: usize,
    /// Why one of these requests failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub abandoned_error: Option<String>,
    /// Why no requests are sent to the model at present.
    pub outage: Option<String>,
    /// The last error of a session that waits for the model.
    pub last_error: Option<String>,
}

/// The state of the embeddings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Embeddings {
    /// Whether embeddings are configured.
    pub on: bool,
    /// Number of sessions, nodes and facts with vectors.
    pub made: usize,
    /// Number of sessions, nodes and facts without vectors.
    pub left: usize,
    /// Why vectors could not be computed at the last attempt.
    pub error: Option<String>,
}

/// Number of sessions in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Sessions {
    /// Number of all sessions that have messages or failed, as in `list_sessions`.
    pub total: u64,
    /// Sessions with recent activity.
    pub active: u64,
    /// Sessions without recent activity that have not ended.
    pub inactive: u64,
    /// Sessions that are being indexed.
    pub indexing: u64,
    /// Sessions with an episode, to which nothing was written after the episode was created.
    pub indexed: u64,
    /// Sessions whose indexing failed.
    pub failed: u64,
    /// Sessions that have ended and are not indexed, including history.
    pub unindexed: u64,
    /// Sessions without messages of their own, such as copies of other sessions. They are not part
    /// of the total.
    pub empty: u64,
}

/// The import of history.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct History {
    /// Whether all transcripts that existed at the start were found.
    pub scanned: bool,
    /// Number of sessions that were imported, or failed, since the start.
    pub done: usize,
    /// Number of sessions still to be imported.
    pub left: usize,
    /// Number of sessions whose transcripts were found and not read yet. They are not part of
    /// `left`.
    pub unread: usize,
    /// Bytes of transcripts read since the start.
    pub bytes_read: u64,
    /// Why new text is not stored at present, with the remedy. Sessions may then lack messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// Number and size of the stored data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct StoredTotals {
    /// Number of messages stored.
    pub messages: u64,
    /// Number of episodes stored.
    pub episodes: u64,
    /// Bytes of the database.
    pub database_bytes: u64,
    /// Bytes of the search index.
    pub index_bytes: u64,
    /// Bytes of waiting hook events.
    pub spool_bytes: u64,
}

/// The limits on disk space, in bytes; all are 0 if the daemon is too old to report them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct DiskLimits {
    /// The limit of the database.
    pub database_bytes: u64,
    /// The limit of the search index.
    pub index_bytes: u64,
    /// The limit of waiting hook events.
    pub spool_bytes: u64,
    /// The limit of all log files.
    pub log_bytes: u64,
}

/// The evictions so far. The oldest data are evicted first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct EvictionStats {
    /// Number of sessions whose text was evicted.
    pub sessions: u64,
    /// Bytes of this text in the database.
    pub text_bytes: u64,
    /// Number of episodes that were evicted with their facts.
    pub episodes: u64,
    /// Time of the last eviction.
    pub at: Option<String>,
}

/// Number of records of all transcripts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Records {
    /// Number of records with useful content that were read.
    pub read: u64,
    /// Number of records without useful content, by type.
    pub skipped: BTreeMap<String, u64>,
    /// Number of damaged records that were partly readable.
    pub repaired: u64,
    /// Number of damaged records that were skipped.
    pub broken: u64,
    /// How often files were truncated or replaced.
    pub restarts: u64,
}
