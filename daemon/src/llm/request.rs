//! What a model is asked.

use crate::{
    llm::schema::Schema,
    model::{Namespace, Prompt},
};

/// A question, and the form of its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct CompletionRequest {
    /// What it is for; usage is counted by this.
    pub purpose: Purpose,
    /// The question. Secrets in it are taken out and its material is marked before it is sent.
    pub prompt: Prompt,
    /// What the answer has to be.
    pub form: ReplyFormat,
    /// How long the answer may be, in tokens, with what the model thinks before.
    pub max_output_tokens: u32,
    /// The project that it is about, where usage is counted; `None` for none.
    pub project: Option<Namespace>,
    /// Tokens of what it is about that are not in the prompt, for accounts.
    pub saved_tokens: u64,
}

/// What a question is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Purpose {
    SessionSummary,
    /// A single message's summary.
    MessageSummary,
    /// What unknown tools are for.
    ToolClassification,
    /// `graphiti` trying out the configuration.
    Trial,
    Embeddings,
}

/// What an answer has to be.
#[derive(Clone, Debug, PartialEq)]
pub enum ReplyFormat {
    Text,
    /// JSON by a schema.
    Json(Schema),
    /// JSON by a schema, or else text, from models that cannot write JSON.
    JsonOr(Schema, Plain),
}

/// The text that stands for JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plain {
    /// A word that it holds, in any case; what lacks it is no answer.
    pub word: &'static str,
    /// How to write it, said to a model that failed to write JSON.
    pub instruction: &'static str,
}

impl Purpose {
    /// Its name in records and on screen.
    pub fn as_str(self) -> &'static str {
        match self {
            Purpose::SessionSummary => "session_summary",
            Purpose::MessageSummary => "message_summary",
            Purpose::ToolClassification => "tool_classification",
            Purpose::Trial => "trial",
            Purpose::Embeddings => "embeddings",
        }
    }
}

impl ReplyFormat {
    /// The schema, for JSON.
    pub fn schema(&self) -> Option<&Schema> {
        match self {
            ReplyFormat::Text => None,
            ReplyFormat::Json(schema) | ReplyFormat::JsonOr(schema, _) => Some(schema),
        }
    }

    /// The text that is taken for JSON, if any is.
    pub fn plain(&self) -> Option<Plain> {
        match self {
            ReplyFormat::Text | ReplyFormat::Json(_) => None,
            ReplyFormat::JsonOr(_, plain) => Some(*plain),
        }
    }
}
