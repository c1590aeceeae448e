//! Ranges of days, relative to the current day.

use jiff::{
    Span, Zoned,
    civil::{Date, Weekday},
};

use crate::{model::Timestamp, query::dates::TimeRange};

/// A range of whole days, or of minutes before now; an open end is unlimited.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Days {
    /// From the first day (inclusive) to the second (exclusive).
    Span(Date, Date),
    /// From this day on (inclusive).
    From(Date),
    /// Up to this day (exclusive).
    To(Date),
    /// Minutes before now, the earlier end first; `None` is an open start.
    Minutes(Option<i64>, i64),
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
        let before = |minutes: i64| {
            let micros = minutes.saturating_mul(60_000_000);
            Timestamp::from_micros(now.timestamp().as_microsecond().saturating_sub(micros))
        };
        match self {
            Days::Span(from, to) => TimeRange { from: start(from), to: start(to) },
            Days::From(from) => TimeRange { from: start(from), to: Timestamp::MAX },
            Days::To(to) => TimeRange { from: Timestamp::MIN, to: start(to) },
            Days::Minutes(from, to) => {
                TimeRange { from: from.map_or(Timestamp::MIN, before), to: before(to) }
            }
        }
    }

    /// Returns the range from the start of this range on, or from its end if it has no start. A
    /// range of minutes then ends now.
    pub(super) fn onwards(self) -> Days {
        match self {
            Days::Span(from, _) | Days::From(from) => Days::From(from),
            Days::To(to) => Days::From(to),
            Days::Minutes(from, _) => Days::Minutes(from, 0),
        }
    }

    /// Returns the range that ends at the start of this range, or this range if it has no start.
    pub(super) fn earlier(self) -> Days {
        match self {
            Days::Span(from, _) | Days::From(from) => Days::To(from),
            Days::Minutes(Some(from), _) => Days::Minutes(None, from),
            open @ (Days::To(_) | Days::Minutes(None, _)) => open,
        }
    }

    /// Returns this range without its start. A range without an end stays the same.
    pub(super) fn so_far(self) -> Days {
        match self {
            Days::Span(_, to) => Days::To(to),
            Days::Minutes(_, to) => Days::Minutes(None, to),
            open @ (Days::From(_) | Days::To(_)) => open,
        }
    }

    /// Extends this range to the end of `last`, if both have a start and an end in whole days. If
    /// `last` ends before this range and this range recurs, starts with an earlier occurrence.
    pub(super) fn until_end_of(self, last: Days, recurrence: Option<Unit>) -> Days {
        let (Days::Span(from, _), Days::Span(_, to)) = (self, last) else { return self };
        let occurrences =
            |unit: Unit| (1..MAX_OCCURRENCES).map(move |count| unit.back(from, count));
        let from = std::iter::once(from)
            .chain(recurrence.into_iter().flat_map(occurrences))
            .find(|from| *from < to);
        from.map_or(self, |from| Days::Span(from, to))
    }
}

/// Maximum number of occurrences of a recurring date that are compared with the end of a span.
const MAX_OCCURRENCES: i64 = 12;

/// The day relative to which dates are read, and how exactly "2 weeks ago" is read.
#[derive(Clone, Copy)]
pub(super) struct DateContext {
    pub(super) today: Date,
    pub(super) is_exact: bool,
}

impl DateContext {
    /// Returns the day `count` units ago; of hours and minutes, one unit. Unless the date is exact,
    /// adds some tolerance on both sides, because people round. Only one or two days have no
    /// tolerance.
    pub(super) fn ago(self, unit: Unit, count: i64) -> Days {
        let count = count.min(MOST_UNITS);
        if let Some(minutes) = unit.minutes() {
            let slack = if unit == Unit::Hour { 120 } else { 15 };
            let there = minutes * count;
            return if self.is_exact {
                Days::Minutes(Some(there), there - minutes)
            } else {
                Days::Minutes(Some(there + slack), (there - slack).max(0))
            };
        }
        let slack = match unit {
            _ if self.is_exact => 0,
            Unit::Minute | Unit::Hour => 0,
            Unit::Day => i64::from(count > 2),
            Unit::Week => 4,
            Unit::Month => 16,
            Unit::Quarter => 46,
            Unit::Year => 183,
        };
        let there = unit.back(self.today, count);
        Days::Span(plus_days(there, -slack), plus_days(there, slack + 1))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Minute,
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
            "minute" | "minutes" | "min" | "mins" => Unit::Minute,
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
        if let Some(minutes) = self.minutes() {
            return Days::Minutes(Some(minutes * (count + 1)), minutes * count);
        }
        let from = self.back(self.start(day), count);
        Days::Span(from, self.back(from, -1))
    }

    /// Returns the last `count` units up to now.
    pub(super) fn latest(self, day: Date, count: i64) -> Days {
        match self.minutes() {
            Some(minutes) => Days::Minutes(Some(minutes * count), 0),
            None => Days::Span(self.back(day, count), plus_days(day, 1)),
        }
    }

    /// Returns the length of a unit that is shorter than a day.
    fn minutes(self) -> Option<i64> {
        match self {
            Unit::Minute => Some(1),
            Unit::Hour => Some(60),
            _ => None,
        }
    }

    fn start(self, day: Date) -> Date {
        match self {
            Unit::Minute | Unit::Hour | Unit::Day => day,
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
            Unit::Minute => Span::new().minutes(count),
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

/// Parses `30min`, `24h`, `7d`, `2w`, `3mo`, `1y` as the last units up to now. `30m` is not a date:
/// people mean minutes or months by it, and the wrong meaning selects the sessions of years.
pub(super) fn short_span(text: &str, today: Date) -> Option<Days> {
    let (count, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
    let unit = match unit {
        "min" => Unit::Minute,
        "h" => Unit::Hour,
        "d" => Unit::Day,
        "w" => Unit::Week,
        "mo" => Unit::Month,
        "y" => Unit::Year,
        _ => return None,
    };
    let count = count.parse().ok().filter(|count| (1..=MOST_UNITS).contains(count))?;
    Some(unit.latest(today, count))
}

/// Returns the latest `weekday` before `day`.
pub(super) fn last_weekday(day: Date, weekday: Weekday) -> Date {
    let back = day.weekday().since(weekday);
    plus_days(day, -i64::from(if back == 0 { 7 } else { back }))
}

/// Returns the weekend before the current weekend; in the week, the latest weekend.
pub(super) fn last_weekend(day: Date) -> Days {
    let saturday = plus_days(Unit::Week.start(day), -2);
    Days::Span(saturday, plus_days(saturday, 2))
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
