//! Ranges of days, relative to the current day.

use jiff::{
    Span, Zoned,
    civil::{Date, Weekday},
};

use crate::{model::Timestamp, query::dates::TimeRange};

/// A range of whole days, or of hours before now; an open end is unlimited.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Days {
    /// From the first day (inclusive) to the second (exclusive).
    Span(Date, Date),
    /// From this day on (inclusive).
    From(Date),
    /// Up to this day (exclusive).
    To(Date),
    /// Hours before now, the earlier end first; `None` is an open start.
    Hours(Option<i64>, i64),
}

impl Days {
    pub(super) fn one(day: Date) -> Days {
        Days::Span(day, plus_days(day, 1))
    }

    pub(super) fn range(self, now: &Zoned) -> TimeRange {
        let start = |day: Date| {
            let start = day.to_zoned(now.time_zone().clone());
            start.map_or(Timestamp::MAX, |start| {
                Timestamp::from_micros(start.timestamp().as_microsecond())
            })
        };
        let before = |hours: i64| {
            let micros = hours.saturating_mul(3_600_000_000);
            Timestamp::from_micros(now.timestamp().as_microsecond().saturating_sub(micros))
        };
        match self {
            Days::Span(from, to) => TimeRange { from: start(from), to: start(to) },
            Days::From(from) => TimeRange { from: start(from), to: Timestamp::MAX },
            Days::To(to) => TimeRange { from: Timestamp::MIN, to: start(to) },
            Days::Hours(from, to) => {
                TimeRange { from: from.map_or(Timestamp::MIN, before), to: before(to) }
            }
        }
    }

    /// Returns the range from the start of this range on, or from its end if it has no start. A
    /// range of hours then ends now.
    pub(super) fn onwards(self) -> Days {
        match self {
            Days::Span(from, _) | Days::From(from) => Days::From(from),
            Days::To(to) => Days::From(to),
            Days::Hours(from, _) => Days::Hours(from, 0),
        }
    }

    /// Returns the range that ends at the start of this range, or this range if it has no start.
    pub(super) fn earlier(self) -> Days {
        match self {
            Days::Span(from, _) | Days::From(from) => Days::To(from),
            Days::Hours(Some(from), _) => Days::Hours(None, from),
            open @ (Days::To(_) | Days::Hours(None, _)) => open,
        }
    }

    /// Returns this range without its start. A range without an end stays the same.
    pub(super) fn so_far(self) -> Days {
        match self {
            Days::Span(_, to) => Days::To(to),
            Days::Hours(_, to) => Days::Hours(None, to),
            open @ (Days::From(_) | Days::To(_)) => open,
        }
    }

    /// Extends this range to the end of `last`, if both have a start and an end in whole days.
    pub(super) fn until_end_of(self, last: Days) -> Days {
        match (self, last) {
            (Days::Span(from, _), Days::Span(_, to)) if from < to => Days::Span(from, to),
            _ => self,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
}

impl Unit {
    pub(super) fn parse(word: &str) -> Option<Unit> {
        Some(match word {
            "hour" | "hours" => Unit::Hour,
            "day" | "days" => Unit::Day,
            "week" | "weeks" => Unit::Week,
            "month" | "months" => Unit::Month,
            "quarter" | "quarters" => Unit::Quarter,
            "year" | "years" => Unit::Year,
            _ => return None,
        })
    }

    /// Returns the unit that lies `count` units before the unit that contains `day`.
    pub(super) fn before(self, day: Date, count: i64) -> Days {
        let from = self.back(self.start(day), count);
        match self {
            Unit::Hour => Days::Hours(Some(count + 1), count),
            _ => Days::Span(from, self.back(from, -1)),
        }
    }

    /// Returns the last `count` units up to now.
    pub(super) fn latest(self, day: Date, count: i64) -> Days {
        match self {
            Unit::Hour => Days::Hours(Some(count), 0),
            _ => Days::Span(self.back(day, count), plus_days(day, 1)),
        }
    }

    /// Returns a range around the day `count` units ago, with some tolerance on both sides, because
    /// people round. Only one or two days are exact.
    pub(super) fn about(self, day: Date, count: i64) -> Days {
        let slack = match self {
            Unit::Hour => return Days::Hours(Some(count.saturating_add(2)), (count - 2).max(0)),
            Unit::Day => i64::from(count > 2),
            Unit::Week => 4,
            Unit::Month => 16,
            Unit::Quarter => 46,
            Unit::Year => 183,
        };
        let there = self.back(day, count);
        Days::Span(plus_days(there, -slack), plus_days(there, slack + 1))
    }

    fn start(self, day: Date) -> Date {
        match self {
            Unit::Hour | Unit::Day => day,
            Unit::Week => plus_days(day, -i64::from(day.weekday().to_monday_zero_offset())),
            Unit::Month => day.first_of_month(),
            Unit::Quarter => {
                let month = (day.month() - 1) / 3 * 3 + 1;
                Date::new(day.year(), month, 1).unwrap_or(day)
            }
            Unit::Year => day.first_of_year(),
        }
    }

    fn back(self, day: Date, count: i64) -> Date {
        let count = count.clamp(-MOST_UNITS, MOST_UNITS);
        let span = match self {
            Unit::Hour => Span::new().hours(count),
            Unit::Day => Span::new().days(count),
            Unit::Week => Span::new().weeks(count),
            Unit::Month => Span::new().months(count),
            Unit::Quarter => Span::new().months(3 * count),
            Unit::Year => Span::new().years(count),
        };
        day.saturating_sub(span)
    }
}

/// Maximum number of units in a date. The limit also prevents overflow.
const MOST_UNITS: i64 = 5_000;

/// Parses `7d`, `2w`, `3m`, `1y`, `24h` as the last units up to now.
pub(super) fn short_span(text: &str, now: &Zoned) -> Option<Days> {
    let (count, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let unit = match unit {
        "h" => Unit::Hour,
        "d" => Unit::Day,
        "w" => Unit::Week,
        "m" => Unit::Month,
        "y" => Unit::Year,
        _ => return None,
    };
    let count = count.parse().ok().filter(|count| (1..=MOST_UNITS).contains(count))?;
    Some(unit.latest(now.date(), count))
}

/// Returns the latest `weekday` before `day`.
pub(super) fn last_weekday(day: Date, weekday: Weekday) -> Date {
    let back = day.weekday().since(weekday);
    plus_days(day, -i64::from(if back == 0 { 7 } else { back }))
}

/// Returns the latest month with the number `month` that has started by `day`.
pub(super) fn latest_month(day: Date, month: i8) -> Days {
    let year = if month > day.month() { day.year() - 1 } else { day.year() };
    whole_month(year, month)
}

pub(super) fn whole_month(year: i16, month: i8) -> Days {
    let first = Date::new(year, month, 1).unwrap_or(Date::ZERO);
    Days::Span(first, Unit::Month.back(first, -1))
}

pub(super) fn whole_year(year: i16) -> Days {
    let first = Date::new(year, 1, 1).unwrap_or(Date::ZERO);
    Days::Span(first, Unit::Year.back(first, -1))
}

pub(super) fn plus_days(day: Date, days: i64) -> Date {
    day.saturating_add(Span::new().days(days))
}
