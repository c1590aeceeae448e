use crate::{
    model::{Namespace, Prompt},
    schema::Schema,
};

/// A prompt, and the requested form of its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct CompletionRequest {
    /// The category under which usage is counted.
    pub purpose: Purpose,
    /// Before the prompt is sent, its secrets are redacted and its material is marked.
    pub prompt: Prompt,
    pub form: ReplyFormat,
    /// Maximum length of the answer, in tokens, including reasoning.
    pub max_output_tokens: u32,
    /// The project for which usage is counted, if any.
    pub project: Option<Namespace>,
    /// Estimated tokens of the material that the prompt omits, for the statistics.
    pub saved_tokens: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Purpose {
    SessionSummary,
    MessageSummary,
    /// The classification of unknown tools.
    ToolClassification,
    /// A test of the configuration. No request has this purpose at present.
    Trial,
    Embeddings,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ReplyFormat {
    Text,
    /// JSON that matches a schema.
    Json(Schema),
    /// JSON that matches a schema, or plain text from models that cannot write JSON.
    JsonOr(Schema, Plain),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plain {
    /// A word that the text must contain, in upper or lower case.
    pub word: &'static str,
    /// The format instruction for a model that failed to write JSON.
    pub instruction: &'static str,
}

impl Purpose {
    /// Returns the name in records and on screen.
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
    pub fn schema(&self) -> Option<&Schema> {
        match self {
            ReplyFormat::Text => None,
            ReplyFormat::Json(schema) | ReplyFormat::JsonOr(schema, _) => Some(schema),
        }
    }

    /// Returns the plain text that may replace JSON, if any.
    pub fn plain(&self) -> Option<Plain> {
        match self {
            ReplyFormat::Text | ReplyFormat::Json(_) => None,
            ReplyFormat::JsonOr(_, plain) => Some(*plain),
        }
    }
}
