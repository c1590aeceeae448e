//! Models: what asking them takes, what was learned about tools, and the templates.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// `graphiti/usage`: what asking models took, by day and project.
pub const USAGE: &str = "graphiti/usage";
/// `graphiti/tools`: what was learned about tools, and the user's word on them.
pub const TOOLS: &str = "graphiti/tools";
/// `graphiti/prompts`: the templates that hold.
pub const PROMPTS: &str = "graphiti/prompts";

/// `graphiti/reach`: whether the configured models can be reached. Asks servers what models they
/// have, which costs nothing; nothing of any session is sent.
pub const REACH: &str = "graphiti/reach";

/// What the daemon answers to [`REACH`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reach {
    /// The model that writes summaries; none where none is configured.
    pub model: Option<ModelReachability>,
    /// The model that makes vectors; none where none is configured.
    pub embeddings: Option<ModelReachability>,
}

/// What was found of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelReachability {
    /// Whether it can be asked, as far as that shows.
    pub is_there: bool,
    /// What was found, or what is wrong and what to do.
    pub what: String,
}

/// What a client says with [`USAGE`].
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

/// What the daemon answers to [`USAGE`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UsageReport {
    /// What each day, project and purpose came to; the latest day first.
    pub rows: Vec<UsageRow>,
    /// Calls that were made today.
    pub calls_today: u64,
    /// What they cost, in US dollars.
    pub usd_today: f64,
    /// Why no model is asked at present.
    pub outage: Option<String>,
    /// The model; empty when there is none.
    pub model: String,
    /// Where its prices come from, or that they are not known.
    pub prices: String,
}

/// What the questions of one day, project and purpose came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UsageRow {
    /// The day in UTC, such as 2026-03-01.
    pub day: String,
    /// The project's eight-digit namespace; empty for none.
    pub project: String,
    /// `session_summary`, `message_summary`, `tool_classification` or `trial`.
    pub purpose: String,
    /// Questions that were answered.
    pub answered: u64,
    /// Questions that were not.
    pub failed: u64,
    /// Calls that they took.
    pub calls: u64,
    /// Number of tokens in prompts.
    pub input_tokens: u64,
    /// Number of tokens in replies.
    pub output_tokens: u64,
    /// Tokens of prompts that came from the provider's cache.
    pub cached_tokens: u64,
    /// What they cost in US dollars, as far as that is known.
    pub usd: f64,
    /// Questions whose cost is not known.
    pub unpriced: u64,
    /// Tokens of what they were about that were left out of them.
    pub saved_tokens: u64,
    /// Questions that were saved.
    pub saved: SkippedQuestions,
}

/// Questions that were not asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SkippedQuestions {
    /// The session did not change.
    pub unchanged: u64,
    /// The answer was kept from before.
    pub kept: u64,
    /// The agent's own summary was enough.
    pub recaps: u64,
    /// Rules classified the tool.
    pub known: u64,
}

/// What a client says with [`TOOLS`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Tools {
    /// List what is known.
    #[default]
    List,
    /// Sets the user's classification of a tool.
    Set {
        /// The tool's name; `bash:make` for a command.
        tool: String,
        /// `read`, `search`, `create`, ….
        intent: String,
        /// The domain: `filesystem`, `code`, ….
        domain: String,
    },
    /// Removes the user's classification of a tool.
    Unset {
        /// The name of the tool.
        tool: String,
    },
    /// Everything, in the documents' form.
    Export,
    /// Import an exported document.
    Import {
        /// The document that was exported.
        document: Value,
    },
}

/// What the daemon answers to [`TOOLS`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolKnowledge {
    /// The tools, sorted by name.
    pub tools: Vec<ToolRow>,
    /// The document, for an export.
    pub document: Option<Value>,
    /// Entries of an import that were taken.
    pub taken: usize,
    /// Entries of an import that were known already.
    pub known: usize,
    /// Entries of an import that could not be read.
    pub unreadable: usize,
}

/// What is known of a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolRow {
    /// The name of the tool.
    pub tool: String,
    /// What it is for.
    pub intent: String,
    /// The domain it works on.
    pub domain: String,
    /// How sure that is, from 0 to 1.
    pub confidence: f64,
    /// Who classified it: `user` or `model`.
    pub by: String,
}

/// What a client says with [`PROMPTS`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Prompts {
    /// The directory of the project in which they are to hold; none for outside of any.
    pub project: Option<String>,
    /// Only this one, by its name.
    pub kind: Option<String>,
    /// A text to be checked as that kind's template, instead of the one that holds.
    pub check: Option<String>,
}

/// What the daemon answers to [`PROMPTS`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Templates {
    /// The templates in effect.
    pub prompts: Vec<PromptRow>,
}

/// A template of a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PromptRow {
    /// The name of the prompt.
    pub kind: String,
    /// Where it comes from.
    pub origin: String,
    /// The text of the template.
    pub text: String,
    /// What is wrong or odd about the configured one.
    pub problems: Vec<String>,
}
