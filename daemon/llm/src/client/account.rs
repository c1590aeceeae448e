//! Adds up the tokens and the cost of a request's calls.

use crate::{
    error::{Bill, Failure},
    ledger::ActualUsage,
    price::{Money, Tariff},
    reply::{Completion, TokenUsage},
    tokens,
};

/// The usage of one request so far.
pub(super) struct Account {
    pub(super) calls: u32,
    pub(super) usage: TokenUsage,
    /// `None` as soon as the cost of one call is unknown.
    pub(super) cost: Option<Money>,
    /// The name of the model, as the last answer reports it.
    pub(super) model: Option<String>,
}

impl Account {
    pub(super) fn new() -> Account {
        Account { calls: 0, usage: TokenUsage::default(), cost: Some(Money::ZERO), model: None }
    }

    /// Adds a call. If `is_estimated`, the tokens of the call are not known, and `spent` is their
    /// maximum. In this case, only the cost of `spent` is added, because the budget must count the
    /// maximum.
    pub(super) fn add(
        &mut self,
        spent: Option<ActualUsage>,
        is_estimated: bool,
        answer: Option<&Completion>,
    ) {
        self.calls += 1;
        if let Some(spent) = spent {
            if !is_estimated {
                self.usage = self.usage.plus(spent.usage);
            }
            self.cost = self.cost.zip(spent.cost).map(|(cost, more)| cost.plus(more));
        }
        if let Some(model) = answer.and_then(|answer| answer.model.clone()) {
            self.model = Some(model);
        }
    }
}

/// Returns the usage and the cost of a call; `None` when no model processed the call. If the
/// provider does not report the usage, returns `most`, the expected maximum. If there is an answer,
/// its estimated number of tokens then replaces the output in `most`.
pub(super) fn spent(
    result: &Result<Completion, Failure>,
    most: TokenUsage,
    tariff: Option<Tariff>,
) -> Option<ActualUsage> {
    let usage = match result {
        Ok(answer) => answer.usage.unwrap_or_else(|| TokenUsage {
            output: u64::from(tokens::estimate(&answer.text)),
            ..most
        }),
        Err(Failure { bill: Bill::Nothing, .. }) => return None,
        Err(Failure { bill: Bill::Expected, .. }) => most,
        Err(Failure { bill: Bill::Reported(usage), .. }) => *usage,
    };
    let cost = usage.reported.or_else(|| tariff.map(|tariff| tariff.cost(&usage)));
    Some(ActualUsage { usage, cost })
}
