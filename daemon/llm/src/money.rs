//! Amounts of money.

use std::{fmt, iter::Sum, ops::AddAssign};

use serde::{Deserialize, Serialize};

/// An amount in billionths of a US dollar.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Money(u64);

impl Money {
    pub const ZERO: Money = Money(0);

    /// Converts US dollars. Rounds up, so that a sum is never below the actual charge. Negative
    /// values and NaN become zero.
    pub fn from_usd(usd: f64) -> Money {
        Money((usd.max(0.0) * 1e9).ceil() as u64)
    }

    pub fn usd(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Adds two amounts, without overflow.
    pub fn plus(self, other: Money) -> Money {
        Money(self.0.saturating_add(other.0))
    }

    /// Subtracts `other`. The result is never negative.
    pub fn minus(self, other: Money) -> Money {
        Money(self.0.saturating_sub(other.0))
    }
}

impl AddAssign for Money {
    fn add_assign(&mut self, other: Money) {
        *self = self.plus(other);
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Money>>(amounts: I) -> Money {
        amounts.fold(Money::ZERO, Money::plus)
    }
}

impl fmt::Display for Money {
    /// Formats `$1.23`, and amounts between zero and ten cents as `$0.0042`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = if self.0 == 0 || self.0 >= 100_000_000 { 2 } else { 4 };
        write!(f, "${:.digits$}", self.usd())
    }
}
