//! `session_tracking_health`: what the daemon is doing, and what went wrong.

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
    /// `ok`, or `degraded` when something went wrong.
    pub status: String,
    /// The version of the daemon.
    pub version: String,
    /// The process id of the daemon.
    pub pid: u32,
    /// The home folder of the daemon.
    pub home: String,
    /// Seconds since it was started.
    pub uptime_seconds: u64,
    /// Folders that are watched.
    pub watched: Vec<String>,
    /// `events`, or `polling` and why.
    pub watch_mode: String,
    /// Number of sessions in each state.
    pub sessions: Sessions,
    /// The import of history.
    pub history: History,
    /// Number and size of what is stored.
    pub kept: StoredTotals,
    /// How much of each may be kept.
    pub limits: DiskLimits,
    /// What was evicted to keep within the limits.
    pub evicted: EvictionStats,
    /// The name of `evicted` before 0.2, for older clients and of older daemons; goes with 1.0.
    pub let_go: EvictionStats,
    /// How far searches are behind the database.
    pub index: IndexHealth,
    /// Records of all transcripts.
    pub records: Records,
    /// Number of jobs that run now.
    pub jobs: usize,
    /// The last things that went wrong, newest last.
    pub problems: Vec<String>,
    /// The state of the model.
    pub model: ModelHealth,
    /// Vectors beside full text.
    pub embeddings: Embeddings,
    /// By which rules the stored text was redacted.
    pub redaction: Redaction,
    /// Summaries that older rules made. They are made again in the background.
    pub older_summaries: usize,
}

/// By which rules the stored text was redacted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Redaction {
    /// The version of the rules in force.
    pub rules: u32,
    /// Whether some of it was redacted by older rules: `graphiti redact --again` goes over it.
    pub is_older: bool,
    /// Whether that was begun and did not come to its end.
    pub is_unfinished: bool,
}

/// How far searches are behind the database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct IndexHealth {
    /// Changes of the database that searches do not find yet.
    pub changes_behind: u64,
    /// Whether nothing takes them over, or that takes too long.
    pub stalled: bool,
}

/// The model that is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ModelHealth {
    /// Whether one is asked at all.
    pub on: bool,
    /// Whether it writes summaries.
    pub writes_summaries: bool,
    /// Sessions that it is still to be asked about.
    pub awaiting: usize,
    /// Why it is not asked at present.
    pub outage: Option<String>,
    /// Why one of the sessions still waits.
    pub last_error: Option<String>,
}

/// Vectors beside full text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Embeddings {
    /// Whether they are made at all.
    pub on: bool,
    /// Sessions, things and facts that have theirs.
    pub made: usize,
    /// Those that wait for theirs.
    pub left: usize,
    /// Why they wait, when the model does not answer.
    pub error: Option<String>,
}

/// Number of sessions in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Sessions {
    /// Number of all sessions that have messages, or failed: those that `list_sessions` lists.
    pub total: u64,
    /// Sessions that are being written.
    pub active: u64,
    /// Sessions without recent activity.
    pub inactive: u64,
    /// Sessions that are being indexed.
    pub indexing: u64,
    /// With an episode, and quiet.
    pub indexed: u64,
    /// Sessions whose indexing failed.
    pub failed: u64,
    /// Over without an episode.
    pub unindexed: u64,
    /// Sessions without messages of their own, such as copies of other sessions. They are not part
    /// of the total.
    pub empty: u64,
}

/// The import of history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct History {
    /// Whether all transcripts that were there at the start have been seen.
    pub scanned: bool,
    /// Sessions imported since the start.
    pub done: usize,
    /// Sessions still to be imported.
    pub left: usize,
    /// Bytes of transcripts read since the start.
    pub bytes_read: u64,
}

/// Number and size of what is stored.
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
    /// Bytes of hook events that wait.
    pub spool_bytes: u64,
}

/// How many bytes may be taken on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct DiskLimits {
    /// By the database; 0 when the daemon is older than its limits.
    pub database_bytes: u64,
    /// By the search index.
    pub index_bytes: u64,
    /// By hook events that wait.
    pub spool_bytes: u64,
    /// By all log files.
    pub log_bytes: u64,
}

/// What was evicted so far. The oldest is evicted first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct EvictionStats {
    /// Sessions whose text was evicted.
    pub sessions: u64,
    /// Bytes of this text in the database.
    pub text_bytes: u64,
    /// Episodes that were evicted with their facts.
    pub episodes: u64,
    /// When something was last evicted.
    pub at: Option<String>,
}

/// Records of all transcripts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Records {
    /// Number of records read.
    pub read: u64,
    /// Holding nothing anyone needs, by type.
    pub skipped: std::collections::BTreeMap<String, u64>,
    /// Broken, but something could be read.
    pub repaired: u64,
    /// Broken and given up.
    pub broken: u64,
    /// Files that were cut or replaced, times.
    pub restarts: u64,
}
