use serde_json::Value;

use crate::money::Money;

/// The complete answer of a model, which is neither trusted nor redacted.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The text without the model's reasoning.
    pub text: String,
    /// The JSON in the answer; `None` for plain text. Null entries and entries that the schema does
    /// not define are removed.
    pub json: Option<Value>,
    /// The usage, including failed attempts.
    pub usage: TokenUsage,
    /// The cost of all attempts; `None` when the cost of one attempt is unknown.
    pub cost: Option<Money>,
    /// The model's name: as the provider reports it, otherwise as configured, otherwise `unknown`.
    pub model: String,
}

/// Tokens, and the cost that the provider reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenUsage {
    /// Tokens of the prompt, including cached ones.
    pub input: u64,
    /// Tokens of the reply, including reasoning.
    pub output: u64,
    /// Tokens of the prompt that the provider had cached.
    pub cached: u64,
    pub reported: Option<Money>,
}

/// The result of one call, before the client parses it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    pub text: String,
    pub ending: Ending,
    /// `None` when the provider does not report it.
    pub usage: Option<TokenUsage>,
    /// `None` when the provider does not report it.
    pub model: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Done,
    /// The answer reached its length limit.
    CutOff,
}

impl TokenUsage {
    /// Returns the sum without the reported cost, because not every attempt has one.
    pub fn plus(self, other: TokenUsage) -> TokenUsage {
        TokenUsage {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cached: self.cached.saturating_add(other.cached),
            reported: None,
        }
    }
}
