//! Records the usage of the day and enforces the budget.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{
    config::Budget, error::Error, model::Timestamp, price::Money, reply::TokenUsage,
    request::Purpose,
};

/// The usage of one day (UTC). A call is booked with its maximum cost before it is made, so that
/// neither concurrent calls nor a crash exceed the budget.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    /// Days since 1970-01-01.
    day: i64,
    total: Sums,
    /// Usage by [`Purpose`].
    by_purpose: BTreeMap<String, Sums>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sums {
    /// Calls that a model processed or may have processed.
    pub calls: u64,
    /// Requests that were not sent because the answer was known.
    pub avoided: u64,
    pub input: u64,
    pub output: u64,
    /// Prompt tokens that the provider had cached.
    pub cached: u64,
    /// The known cost.
    pub cost: Money,
    /// Calls whose cost is unknown.
    pub unpriced: u64,
}

/// A call that is booked and not settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Booking {
    day: i64,
    purpose: Purpose,
    expected: Option<Money>,
}

/// The actual usage of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spent {
    pub usage: TokenUsage,
    /// `None` when the cost is unknown.
    pub cost: Option<Money>,
}

const DAY: Duration = Duration::from_secs(86_400);

impl Ledger {
    /// Books a call before it is made. `expected` is its maximum cost; `None` when that is unknown.
    /// The error says that the budget is spent, or that its cost limit needs a price.
    pub fn book(
        &mut self,
        purpose: Purpose,
        expected: Option<Money>,
        budget: &Budget,
        now: Timestamp,
    ) -> Result<Booking, Error> {
        self.turn(now);
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
        let booking = Booking { day: self.day, purpose, expected };
        self.change(purpose, |sums| {
            sums.calls += 1;
            sums.cost += expected.unwrap_or(Money::ZERO);
            sums.unpriced += u64::from(expected.is_none());
        });
        Ok(booking)
    }

    /// Replaces the booking by the actual usage, or removes it when no model processed the call
    /// (`None`). Does nothing if the sums were reset for a new day in the meantime.
    pub fn settle(&mut self, booking: Booking, spent: Option<Spent>) {
        if booking.day != self.day {
            return;
        }
        self.change(booking.purpose, |sums| {
            sums.cost = sums.cost.minus(booking.expected.unwrap_or(Money::ZERO));
            sums.unpriced = sums.unpriced.saturating_sub(u64::from(booking.expected.is_none()));
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

    /// Counts a request that was not sent.
    pub fn avoid(&mut self, purpose: Purpose, now: Timestamp) {
        self.turn(now);
        self.change(purpose, |sums| sums.avoided += 1);
    }

    /// Returns the usage on the day of `now`.
    pub fn total(&self, now: Timestamp) -> Sums {
        if self.day == day_of(now) { self.total } else { Sums::default() }
    }

    /// Returns the usage on the day of `now` by [`Purpose::as_str`].
    pub fn by_purpose(&self, now: Timestamp) -> BTreeMap<String, Sums> {
        if self.day == day_of(now) { self.by_purpose.clone() } else { BTreeMap::new() }
    }

    /// Resets the sums on a new day. A clock that was set back does not reset them, so that the
    /// budget is not exceeded.
    fn turn(&mut self, now: Timestamp) {
        let day = day_of(now);
        if day > self.day {
            *self = Ledger { day, ..Ledger::default() };
        }
    }

    fn change(&mut self, purpose: Purpose, change: impl Fn(&mut Sums)) {
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
        "set `session_tracking.llm.price`, or a bound by `daily_budget.calls` and `usd` to null",
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

    fn spent(cost: Option<Money>) -> Option<Spent> {
        Some(Spent { usage: TokenUsage { input: 10, output: 2, cached: 4, told: None }, cost })
    }

    #[test]
    fn calls_are_bounded_and_the_next_day_starts_anew() {
        let budget = Budget { calls: Some(2), usd: None };
        let mut ledger = Ledger::default();
        for _ in 0..2 {
            ledger.book(PURPOSE, None, &budget, at(5, 10)).unwrap();
        }
        let refused = ledger.book(PURPOSE, None, &budget, at(5, 86_399));
        let expected = Error::BudgetSpent { limit: "2 calls".to_owned(), until: at(6, 0) };
        assert_eq!(refused, Err(expected));
        assert!(ledger.book(PURPOSE, None, &budget, at(6, 0)).is_ok());
        assert_eq!(ledger.total(at(6, 1)).calls, 1);
    }

    #[test]
    fn money_is_bounded_by_what_calls_may_cost_until_they_are_settled() {
        let budget = Budget { calls: None, usd: Some(1.0) };
        let mut ledger = Ledger::default();
        let first = ledger.book(PURPOSE, usd(0.6), &budget, at(0, 0)).unwrap();
        let refused = ledger.book(PURPOSE, usd(0.6), &budget, at(0, 0)).unwrap_err();
        assert_eq!(refused, Error::BudgetSpent { limit: "$1.00".to_owned(), until: at(1, 0) });
        ledger.settle(first, spent(usd(0.1)));
        assert_eq!(ledger.total(at(0, 0)).cost, Money::from_usd(0.1));
        let second = ledger.book(PURPOSE, usd(0.6), &budget, at(0, 0)).unwrap();
        ledger.settle(second, None);
        assert_eq!(ledger.total(at(0, 0)).cost, Money::from_usd(0.1));
        assert_eq!(ledger.total(at(0, 0)).calls, 1);
    }

    #[test]
    fn without_a_price_money_cannot_be_bounded_and_that_is_said() {
        let budget = Budget { calls: None, usd: Some(1.0) };
        let error = Ledger::default().book(PURPOSE, None, &budget, at(0, 0)).unwrap_err();
        assert_eq!(error.kind(), "misconfigured");
        let mut ledger = Ledger::default();
        let booking = ledger.book(PURPOSE, None, &Budget::default(), at(0, 0)).unwrap();
        ledger.settle(booking, spent(None));
        assert_eq!(ledger.total(at(0, 0)).unpriced, 1);
    }

    #[test]
    fn a_crash_leaves_what_was_booked_as_spent() {
        let mut ledger = Ledger::default();
        ledger.book(PURPOSE, usd(0.5), &Budget::default(), at(0, 0)).unwrap();
        let text = serde_json::to_string(&ledger).unwrap();
        let read: Ledger = serde_json::from_str(&text).unwrap();
        assert_eq!(read.total(at(0, 1)).cost, Money::from_usd(0.5));
    }

    #[test]
    fn a_clock_that_is_set_back_gives_nothing_back() {
        let budget = Budget { calls: Some(1), usd: None };
        let mut ledger = Ledger::default();
        ledger.book(PURPOSE, None, &budget, at(5, 0)).unwrap();
        assert!(ledger.book(PURPOSE, None, &budget, at(4, 0)).is_err());
    }

    #[test]
    fn a_call_over_midnight_stays_on_the_day_it_was_booked() {
        let mut ledger = Ledger::default();
        let booking = ledger.book(PURPOSE, usd(0.5), &Budget::default(), at(0, 0)).unwrap();
        ledger.avoid(Purpose::MessageSummary, at(1, 0));
        ledger.settle(booking, spent(usd(0.1)));
        assert_eq!(ledger.total(at(1, 0)), Sums { avoided: 1, ..Sums::default() });
        assert_eq!(ledger.total(at(0, 0)), Sums::default());
        assert_eq!(ledger.by_purpose(at(1, 0))["message_summary"].avoided, 1);
    }
}
