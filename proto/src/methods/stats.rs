//! `graphiti/stats`: counts the work of agents by day, project, agent, model or session.

use serde::{Deserialize, Serialize};

/// The name of the method.
pub const STATS: &str = "graphiti/stats";

/// The parameters of [`STATS`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StatsRequest {
    /// Only this project: a namespace or a directory.
    pub project: Option<String>,
    /// Only sessions of this agent.
    pub agent: Option<String>,
    /// Only from this day on, such as 2026-03-01 or "last week".
    pub since: Option<String>,
    /// The wanted tables.
    pub by: Vec<StatsGrouping>,
}

/// The subject of the rows of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StatsGrouping {
    /// Days in UTC, in order. A session belongs to the day of its last activity, a token to the day
    /// on which it was used.
    Day,
    /// Projects; the project with the most time first.
    Project,
    /// Agents; the agent with the most time first.
    Agent,
    /// Models; the most expensive first. Only sessions, tokens and cost are counted by model.
    Model,
    /// Sessions; the most expensive first, at most 100.
    Session,
}

/// The answer to [`STATS`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Stats {
    /// The first day that is counted; empty if all days are counted.
    pub since: String,
    /// The sum of all sessions that match the request.
    pub total: StatsRow,
    /// The tables, in the order of the request.
    pub tables: Vec<StatsTable>,
    /// The source of the prices of models.
    pub prices: String,
}

/// One table: a row for each day, project, agent, model or session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StatsTable {
    /// The subject of the rows.
    pub by: StatsGrouping,
    /// A row for each group of sessions.
    pub rows: Vec<StatsRow>,
}

/// The numbers of a group of sessions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StatsRow {
    /// The day, the project's directory, the agent, the model, or the unique prefix of the
    /// session's id; empty for sessions without a known project, and in the total.
    pub name: String,
    /// For a session, its title.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Number of sessions.
    pub sessions: u64,
    /// Seconds of work, without long pauses.
    pub seconds: u64,
    /// Number of files that sessions changed.
    pub files: u64,
    /// Number of test runs.
    pub tests: u64,
    /// Number of errors that occurred in sessions.
    pub errors: u64,
    /// Number of prompt tokens that were not cached.
    pub input_tokens: u64,
    /// Number of tokens in replies.
    pub output_tokens: u64,
    /// Number of prompt tokens read from the provider's cache.
    pub cache_read_tokens: u64,
    /// Number of prompt tokens written to the provider's cache.
    pub cache_write_tokens: u64,
    /// The cost in US dollars, as far as the prices are known.
    pub usd: f64,
    /// Number of tokens of models without a known price.
    pub unpriced_tokens: u64,
}

impl StatsRow {
    /// Returns the number of all tokens.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.input_tokens + self.output_tokens + self.cache_read_tokens + self.cache_write_tokens
    }
}
