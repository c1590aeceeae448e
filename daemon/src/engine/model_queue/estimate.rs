//! What a model would be paid for sessions, before it is asked.

use super::{Summarizer, summary::PARTS};
use crate::llm::{price::Money, reply::TokenUsage};

/// Tokens of an answer, about.
const ANSWER: u64 = 1_000;
/// Tokens of what the model is told besides the session, about.
const FRAME: u64 = 2_000;

impl Summarizer {
    /// What asking about a session of so many tokens costs, about, in dollars: nothing when no model writes
    /// summaries, `None` when the price of its tokens is not known.
    pub fn estimate(&self, tokens: u64) -> Option<f64> {
        if !self.writes_summaries() {
            return Some(0.0);
        }
        let room = u64::from(self.client.room(0)).max(1);
        let calls = tokens.div_ceil(room).clamp(1, u64::from(PARTS));
        let input = tokens.min(calls * room) + calls * FRAME;
        let usage = TokenUsage { input, output: calls * ANSWER, ..TokenUsage::default() };
        self.client.price_of(&usage).map(Money::usd)
    }

    /// What was paid since the books were opened, in dollars, as far as that is known.
    pub fn paid(&self) -> f64 {
        let days = self.usage.days().unwrap_or_default();
        let uses = days.values().flat_map(|day| day.values()).flat_map(|uses| uses.values());
        uses.map(|one| one.cost).sum::<Money>().usd()
    }
}
