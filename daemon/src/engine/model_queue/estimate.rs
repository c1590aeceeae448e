//! Estimates the cost of requests to a model.

use super::{Summarizer, summary::MAX_PARTS};
use crate::llm::{price::Money, reply::TokenUsage};

/// The usual number of tokens of an answer.
const TOKENS_PER_ANSWER: u64 = 1_000;
/// The usual number of tokens of a prompt without the session.
const FRAME: u64 = 2_000;

impl Summarizer {
    /// Estimates the cost, in US dollars, of the requests about a session with `tokens` tokens: 0
    /// if no model writes summaries, `None` if the price is unknown.
    pub fn estimate(&self, tokens: u64) -> Option<f64> {
        if !self.writes_summaries() {
            return Some(0.0);
        }
        let budget = u64::from(self.client.input_budget(0)).max(1);
        let calls = tokens.div_ceil(budget).clamp(1, u64::from(MAX_PARTS));
        let input = tokens.min(calls * budget) + calls * FRAME;
        let usage =
            TokenUsage { input, output: calls * TOKENS_PER_ANSWER, ..TokenUsage::default() };
        self.client.price_of(&usage).map(Money::usd)
    }

    /// Returns the total cost, in US dollars, of all counted requests with a known price.
    pub fn paid(&self) -> f64 {
        let days = self.usage.days().unwrap_or_default();
        let uses = days.values().flat_map(|day| day.values()).flat_map(|uses| uses.values());
        uses.map(|one| one.cost).sum::<Money>().usd()
    }
}
