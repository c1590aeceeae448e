//! Days and times of day in the user's time zone.

use std::fmt;

use crate::{clock, model::Timestamp};

const DAY: i64 = 86_400;

/// A day, as the number of days since 1970-01-01.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Day(pub(super) i64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CivilDate {
    pub(super) year: i64,
    /// From 1.
    pub(super) month: u8,
    /// From 1.
    pub(super) day: u8,
}

impl Day {
    pub(super) fn of(at: Timestamp) -> Day {
        Day(clock::local_seconds(at).div_euclid(DAY))
    }

    /// Reads `2026-03-01`; `None` for a day that does not exist, such as `2026-02-31`.
    pub(super) fn parse(text: &str) -> Option<Day> {
        let mut parts = text.splitn(3, '-');
        let year: i64 = parts.next()?.parse().ok()?;
        let month: i64 = parts.next()?.parse().ok()?;
        let day: i64 = parts.next()?.parse().ok()?;
        let is_near =
            (1..=12).contains(&month) && (1..=31).contains(&day) && (1..10_000).contains(&year);
        let parsed = is_near.then(|| Day::from_civil(year, month, day))?;
        (i64::from(parsed.civil().day) == day).then_some(parsed)
    }

    /// Returns the day of a date (Howard Hinnant's algorithm `days_from_civil`).
    pub(super) fn from_civil(year: i64, month: i64, day: i64) -> Day {
        let year = if month <= 2 { year - 1 } else { year };
        let era = year.div_euclid(400);
        let year_of_era = year.rem_euclid(400);
        let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        Day(era * 146_097 + day_of_era - 719_468)
    }

    /// Returns the date of a day (Howard Hinnant's algorithm `civil_from_days`).
    pub(super) fn civil(self) -> CivilDate {
        let shifted = self.0 + 719_468;
        let era = shifted.div_euclid(146_097);
        let day_of_era = shifted.rem_euclid(146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_index = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month_index + 2) / 5 + 1;
        let month = if month_index < 10 { month_index + 3 } else { month_index - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        let small = |number: i64| u8::try_from(number).expect("months and days are small");
        CivilDate { year, month: small(month), day: small(day) }
    }

    /// Returns the day of the week, from 0 for Monday.
    pub(super) fn weekday(self) -> i64 {
        (self.0 + 3).rem_euclid(7)
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CivilDate { year, month, day } = self.civil();
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

/// Returns the time of day, for example `09:31`.
pub(super) fn time_of_day(at: Timestamp) -> String {
    let seconds = clock::local_seconds(at).rem_euclid(DAY);
    format!("{:02}:{:02}", seconds / 3_600, seconds / 60 % 60)
}

/// Returns the day and time of an RFC 3339 text; empty if the text is not valid.
pub(super) fn day_and_time(text: &str) -> String {
    let at = Timestamp::parse(text);
    at.map(|at| format!("{} {}", Day::of(at), time_of_day(at))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_formatted_as_dates_and_parsed() {
        for (number, text, weekday) in
            [(0, "1970-01-01", 3), (19_782, "2024-02-29", 3), (20_781, "2026-11-24", 1)]
        {
            assert_eq!(Day(number).to_string(), text);
            assert_eq!(Day::parse(text), Some(Day(number)));
            assert_eq!(Day(number).weekday(), weekday, "{text}");
        }
        for number in (-1_000..50_000).step_by(13) {
            assert_eq!(Day::parse(&Day(number).to_string()), Some(Day(number)));
        }
        for wrong in ["", "2026", "2026-13-01", "2026-01-00", "2026-02-31", "2026-04-31", "x-1-1"] {
            assert_eq!(Day::parse(wrong), None, "{wrong}");
        }
    }
}
