//! Records the usage of the day and enforces the budget.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{
    config::Budget, error::Error, model::Timestamp, price::Money, reply::TokenUsage,
    request::Purpose,
};

/// The usage of one day (UTC). The maximum cost of a call is reserved before the call is made, so
/// that neither concurrent calls nor a crash can exceed the budget.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    /// Days since 1970-01-01.
    day: i64,
    total: UsageTotals,
    by_purpose: BTreeMap<String, UsageTotals>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UsageTotals {
    /// Calls that a model processed or may have processed.
    pub calls: u64,
    /// Requests that were not sent because the answer was known.
    pub avoided: u64,
    pub input: u64,
    pub output: u64,
    /// Prompt tokens that the provider had cached.
    pub cached: u64,
    pub cost: Money,
    /// Calls whose cost is unknown.
    pub unpriced: u64,
}

/// The reserved cost of a call that is not settled yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reservation {
    day: i64,
    purpose: Purpose,
    expected: Option<Money>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActualUsage {
    pub usage: TokenUsage,
    /// `None` when the cost is unknown.
    pub cost: Option<Money>,
}

const DAY: Duration = Duration::from_secs(86_400);

impl Ledger {
    /// Reserves the cost of a call before it is made. `expected` is the maximum cost of the call;
    /// `None` when this cost is unknown. Fails if the budget is spent, or if the budget has a cost
    /// limit and `expected` is `None`.
    pub fn reserve(
        &mut self,
        purpose: Purpose,
        expected: Option<Money>,
        budget: &Budget,
        now: Timestamp,
    ) -> Result<Reservation, Error> {
        self.reset_on_new_day(now);
        let until = Timestamp::from_seconds((self.day + 1) * DAY.as_secs() as i64);
        let spent = |limit: String| Error::BudgetSpent { limit, until };
        if let Some(calls) = budget.calls
            && self.total.calls >= u64::from(calls)
        {
            return Err(spent(format!("{calls} calls")));
        }
        if let Some(limit) = budget.usd.map(Money::from_usd) {
            let expected = expected.ok_or_else(price_unknown)?;
            if self.total.cost.plus(expected) > limit {
                return Err(spent(limit.to_string()));
            }
        }
        let reservation = Reservation { day: self.day, purpose, expected };
        self.change(purpose, |sums| {
            sums.calls += 1;
            sums.cost += expected.unwrap_or(Money::ZERO);
            sums.unpriced += u64::from(expected.is_none());
        });
        Ok(reservation)
    }

    /// Replaces the reservation by the actual usage, or removes it if no model processed the call
    /// (`None`). Does nothing if the sums were reset for a new day in the meantime.
    pub fn settle(&mut self, reservation: Reservation, spent: Option<ActualUsage>) {
        if reservation.day != self.day {
            return;
        }
        self.change(reservation.purpose, |sums| {
            sums.cost = sums.cost.minus(reservation.expected.unwrap_or(Money::ZERO));
            sums.unpriced = sums.unpriced.saturating_sub(u64::from(reservation.expected.is_none()));
            let Some(spent) = spent else {
                sums.calls = sums.calls.saturating_sub(1);
                return;
            };
            sums.input = sums.input.saturating_add(spent.usage.input);
            sums.output = sums.output.saturating_add(spent.usage.output);
            sums.cached = sums.cached.saturating_add(spent.usage.cached);
            sums.cost += spent.cost.unwrap_or(Money::ZERO);
            sums.unpriced += u64::from(spent.cost.is_none());
        });
    }

    pub fn record_avoided(&mut self, purpose: Purpose, now: Timestamp) {
        self.reset_on_new_day(now);
        self.change(purpose, |sums| sums.avoided += 1);
    }

    /// Returns the usage on the day of `now`.
    pub fn total(&self, now: Timestamp) -> UsageTotals {
        if self.day == day_of(now) { self.total } else { UsageTotals::default() }
    }

    /// Returns the usage on the day of `now` for each purpose, by [`Purpose::as_str`].
    pub fn by_purpose(&self, now: Timestamp) -> BTreeMap<String, UsageTotals> {
        if self.day == day_of(now) { self.by_purpose.clone() } else { BTreeMap::new() }
    }

    /// Resets the sums on a new day. Setting the clock back does not reset the sums, so that the
    /// budget is not exceeded.
    fn reset_on_new_day(&mut self, now: Timestamp) {
        let day = day_of(now);
        if day > self.day {
            *self = Ledger { day, ..Ledger::default() };
        }
    }

    fn change(&mut self, purpose: Purpose, change: impl Fn(&mut UsageTotals)) {
        change(&mut self.total);
        change(self.by_purpose.entry(purpose.as_str().to_owned()).or_default());
    }
}

fn day_of(now: Timestamp) -> i64 {
    now.micros().div_euclid(DAY.as_micros() as i64)
}

fn price_unknown() -> Error {
    Error::misconfigured(
        "`session_tracking.llm.daily_budget.usd` is set, and the model's price is not known",
        "set `session_tracking.llm.price`, or limit the calls with `daily_budget.calls` and set `daily_budget.usd` to null",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const PURPOSE: Purpose = Purpose::SessionSummary;

    fn at(day: i64, seconds: i64) -> Timestamp {
        Timestamp::from_seconds(day * 86_400 + seconds)
    }

    fn usd(amount: f64) -> Option<Money> {
        Some(Money::from_usd(amount))
    }

    fn spent(cost: Option<Money>) -> Option<ActualUsage> {
        Some(ActualUsage {
            usage: TokenUsage { input: 10, output: 2, cached: 4, reported: None },
            cost,
        })
    }

    #[test]
    fn calls_are_bounded_and_the_next_day_starts_anew() {
        let budget = Budget { calls: Some(2), usd: None };
        let mut ledger = Ledger::default();
        for _ in 0..2 {
            ledger.reserve(PURPOSE, None, &budget, at(5, 10)).unwrap();
        }
        let refused = ledger.reserve(PURPOSE, None, &budget, at(5, 86_399));
        let expected = Error::BudgetSpent { limit: "2 calls".to_owned(), until: at(6, 0) };
        assert_eq!(refused, Err(expected));
        assert!(ledger.reserve(PURPOSE, None, &budget, at(6, 0)).is_ok());
        assert_eq!(ledger.total(at(6, 1)).calls, 1);
    }

    #[test]
    fn the_maximum_cost_of_calls_counts_until_they_are_settled() {
        let budget = Budget { calls: None, usd: Some(1.0) };
        let mut ledger = Ledger::default();
        let first = ledger.reserve(PURPOSE, usd(0.6), &budget, at(0, 0)).unwrap();
        let refused = ledger.reserve(PURPOSE, usd(0.6), &budget, at(0, 0)).unwrap_err();
        assert_eq!(refused, Error::BudgetSpent { limit: "$1.00".to_owned(), until: at(1, 0) });
        ledger.settle(first, spent(usd(0.1)));
        assert_eq!(ledger.total(at(0, 0)).cost, Money::from_usd(0.1));
        let second = ledger.reserve(PURPOSE, usd(0.6), &budget, at(0, 0)).unwrap();
        ledger.settle(second, None);
        assert_eq!(ledger.total(at(0, 0)).cost, Money::from_usd(0.1));
        assert_eq!(ledger.total(at(0, 0)).calls, 1);
    }

    #[test]
    fn without_a_price_a_cost_limit_is_an_error() {
        let budget = Budget { calls: None, usd: Some(1.0) };
        let error = Ledger::default().reserve(PURPOSE, None, &budget, at(0, 0)).unwrap_err();
        assert_eq!(error.kind(), "misconfigured");
        let mut ledger = Ledger::default();
        let reservation = ledger.reserve(PURPOSE, None, &Budget::default(), at(0, 0)).unwrap();
        ledger.settle(reservation, spent(None));
        assert_eq!(ledger.total(at(0, 0)).unpriced, 1);
    }

    #[test]
    fn a_crash_leaves_reserved_costs_in_the_ledger() {
        let mut ledger = Ledger::default();
        ledger.reserve(PURPOSE, usd(0.5), &Budget::default(), at(0, 0)).unwrap();
        let text = serde_json::to_string(&ledger).unwrap();
        let read: Ledger = serde_json::from_str(&text).unwrap();
        assert_eq!(read.total(at(0, 1)).cost, Money::from_usd(0.5));
    }

    #[test]
    fn setting_the_clock_back_does_not_reset_the_budget() {
        let budget = Budget { calls: Some(1), usd: None };
        let mut ledger = Ledger::default();
        ledger.reserve(PURPOSE, None, &budget, at(5, 0)).unwrap();
        assert!(ledger.reserve(PURPOSE, None, &budget, at(4, 0)).is_err());
    }

    #[test]
    fn a_call_over_midnight_counts_on_the_day_of_its_reservation() {
        let mut ledger = Ledger::default();
        let reservation = ledger.reserve(PURPOSE, usd(0.5), &Budget::default(), at(0, 0)).unwrap();
        ledger.record_avoided(Purpose::MessageSummary, at(1, 0));
        ledger.settle(reservation, spent(usd(0.1)));
        assert_eq!(ledger.total(at(1, 0)), UsageTotals { avoided: 1, ..UsageTotals::default() });
        assert_eq!(ledger.total(at(0, 0)), UsageTotals::default());
        assert_eq!(ledger.by_purpose(at(1, 0))["message_summary"].avoided, 1);
    }
}
