//! What comes back.

use serde_json::Value;

use crate::llm::price::Money;

/// What a model answered, whole and to the end.
///
/// It is the model's text as it came: not trusted in any detail, and not redacted.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// Its text, without what it thought before.
    pub text: String,
    /// The JSON in it by the schema, where JSON was asked for. Entries that are null and entries
    /// that the schema does not know are left out.
    pub json: Option<Value>,
    /// What it took, with attempts that failed.
    pub usage: TokenUsage,
    /// What that cost; `None` when the model's price is not known.
    pub cost: Option<Money>,
    /// The model that answered, by the provider's name for it.
    pub model: String,
}

/// Tokens, and what the provider says they cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenUsage {
    /// Tokens of the prompt, with those that were cached.
    pub input: u64,
    /// Tokens of the reply, with what was thought before.
    pub output: u64,
    /// Tokens of the prompt that were read from the provider's cache.
    pub cached: u64,
    /// What the provider says it cost, where it says so.
    pub told: Option<Money>,
}

/// What a provider makes of one call, before the client reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    pub text: String,
    pub ending: Ending,
    /// What it took; `None` when the provider does not say.
    pub usage: Option<TokenUsage>,
    /// The model that answered; `None` when the provider does not say.
    pub model: Option<String>,
}

/// How a model's text ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The model was done.
    Done,
    /// It had more to say than it was allowed.
    CutOff,
}

impl TokenUsage {
    /// The sum; what the provider says is left out, since not every attempt has it.
    pub fn plus(self, other: TokenUsage) -> TokenUsage {
        TokenUsage {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cached: self.cached.saturating_add(other.cached),
            told: None,
        }
    }
}
