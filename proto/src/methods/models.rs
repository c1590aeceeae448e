//! Methods about models: their usage and reachability, classifications of tools, and prompt
//! templates.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// `graphiti/usage`: returns the usage of models, by day, project and purpose.
pub const USAGE: &str = "graphiti/usage";
/// `graphiti/tools`: lists or changes the classifications of tools by models and by the user.
pub const TOOLS: &str = "graphiti/tools";
/// `graphiti/prompts`: returns the current templates, or checks a text as a template.
pub const PROMPTS: &str = "graphiti/prompts";

/// `graphiti/reach`: checks whether the configured models are reachable. If a model is on a server,
/// the daemon requests the server's list of models. If a model is a command, the daemon looks for
/// its program. The check is free of charge and sends no session data.
pub const REACH: &str = "graphiti/reach";

/// The answer to [`REACH`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reach {
    /// The model for summaries and classifications, if one is configured.
    pub model: Option<ModelReachability>,
    /// The embedding model, if one is configured.
    pub embeddings: Option<ModelReachability>,
}

/// The result of checking a model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelReachability {
    /// Whether the model is reachable, as far as the check can show.
    pub is_there: bool,
    /// A description of the model, or the problem and its remedy.
    pub what: String,
}

/// The parameters of [`USAGE`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UsageRequest {
    /// Number of days, including today.
    pub days: u32,
}

impl Default for UsageRequest {
    fn default() -> UsageRequest {
        UsageRequest { days: 30 }
    }
}

/// The answer to [`USAGE`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UsageReport {
    /// One row for each day, project and purpose; the latest day first.
    pub rows: Vec<UsageRow>,
    /// Number of today's calls that count for the daily limit: a model processed them, or may have
    /// processed them.
    pub calls_today: u64,
    /// The cost of today's calls, in US dollars.
    pub usd_today: f64,
    /// Why no requests are sent to the model at present.
    pub outage: Option<String>,
    /// The model; empty if no model is configured.
    pub model: String,
    /// The source of the model's prices, or a remark that the prices are unknown; empty if no model
    /// is configured.
    pub prices: String,
    /// How many handoff lines and search hits sessions got, and how many of these they used.
    pub memory: Vec<MemoryUseRow>,
}

/// The use of search hits, or of one kind of handoff lines. A line or hit is used if the session
/// that got it opens the session of the line or hit. A line is also used if the summary of the
/// session that got it contains most words of the line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryUseRow {
    /// `left open`, `decided`, `hits`, ….
    pub topic: String,
    /// Number of lines or hits that sessions got.
    pub offered: u64,
    /// Number of these lines or hits that were used.
    pub used: u64,
}

/// The usage of one day, project and purpose.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UsageRow {
    /// The day in UTC, such as 2026-03-01.
    pub day: String,
    /// The project's eight-digit namespace; empty for requests without a project, and for projects
    /// after the first 200 of a day.
    pub project: String,
    /// `session_summary`, `message_summary`, `tool_classification`, `embeddings` or `trial`.
    pub purpose: String,
    /// Number of requests that were answered.
    pub answered: u64,
    /// Number of requests that failed.
    pub failed: u64,
    /// Number of calls to the model for these requests, including failed and repeated calls.
    pub calls: u64,
    /// Number of tokens in prompts.
    pub input_tokens: u64,
    /// Number of tokens in replies.
    pub output_tokens: u64,
    /// Number of prompt tokens that the provider had cached.
    pub cached_tokens: u64,
    /// The cost in US dollars, without the requests whose cost is unknown.
    pub usd: f64,
    /// Number of requests with unknown cost.
    pub unpriced: u64,
    /// Number of tokens that were omitted from prompts.
    pub saved_tokens: u64,
    /// The number of requests that were not necessary.
    pub saved: SkippedQuestions,
}

/// The number of requests that were not sent, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SkippedQuestions {
    /// The session did not change.
    pub unchanged: u64,
    /// The answer was cached.
    pub kept: u64,
    /// The agent's own summary was sufficient.
    pub recaps: u64,
    /// All tools of the session were classified already.
    pub known: u64,
}

/// The parameters of [`TOOLS`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Tools {
    /// Lists the tools that a model or the user classified.
    #[default]
    List,
    /// Sets the user's classification of a tool.
    Set {
        /// The tool's name; `bash:make` for a command.
        tool: String,
        /// The intent: `read`, `search`, `create`, ….
        intent: String,
        /// The domain: `filesystem`, `code`, ….
        domain: String,
    },
    /// Removes the user's classification of a tool.
    Unset {
        /// The name of the tool.
        tool: String,
    },
    /// Exports all classifications as a document that [`Tools::Import`] reads.
    Export,
    /// Imports an exported document.
    Import {
        /// The document that [`Tools::Export`] returned.
        document: Value,
    },
}

/// The answer to [`TOOLS`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolKnowledge {
    /// The classified tools, sorted by name; empty after an export or import.
    pub tools: Vec<ToolRow>,
    /// The document, for an export.
    pub document: Option<Value>,
    /// Number of imported entries that were added.
    pub taken: usize,
    /// Number of entries that were skipped, because they were known already, rules classify their
    /// tools better, or the cache is full.
    pub known: usize,
    /// Number of imported entries that could not be read.
    pub unreadable: usize,
}

/// The classification of a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolRow {
    /// The name of the tool.
    pub tool: String,
    /// The intent of its calls.
    pub intent: String,
    /// The domain that the tool works on.
    pub domain: String,
    /// The confidence, from 0 to 1.
    pub confidence: f64,
    /// The source of the classification: `user` or `model`.
    pub by: String,
}

/// The parameters of [`PROMPTS`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Prompts {
    /// The directory of the project whose templates are requested; null for the templates outside
    /// of projects.
    pub project: Option<String>,
    /// Only the prompt with this name.
    pub kind: Option<String>,
    /// A text that is checked as the template of `kind`, instead of the current template.
    pub check: Option<String>,
}

/// The answer to [`PROMPTS`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Templates {
    /// The current templates, or the checked template.
    pub prompts: Vec<PromptRow>,
}

/// A template of a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PromptRow {
    /// The name of the prompt.
    pub kind: String,
    /// The origin of the template; empty for a checked text.
    pub origin: String,
    /// The text of the template.
    pub text: String,
    /// Problems of the configured or the checked template, and remarks.
    pub problems: Vec<String>,
}
