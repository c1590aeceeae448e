//! Formats times for people.

use std::time::{Duration, SystemTime};

use jiff::{Timestamp, tz::TimeZone};

use super::line;

/// Parses a timestamp of the daemon; `None` when it is empty or not valid.
pub(crate) fn instant(text: &str) -> Option<Timestamp> {
    text.parse().ok()
}

pub(crate) fn now() -> Timestamp {
    SystemTime::now().try_into().unwrap_or(Timestamp::UNIX_EPOCH)
}

/// Formats how long ago `at` was, for example `just now`, `12 min ago` or `5 days ago`. From 14 days
/// on, formats the date. Returns `-` if `at` is unknown.
pub(crate) fn ago(at: Option<Timestamp>, now: Timestamp) -> String {
    let Some(at) = at else { return "-".to_owned() };
    let seconds = now.as_second() - at.as_second();
    let zone = TimeZone::system();
    let (day, today) = (at.to_zoned(zone.clone()).date(), now.to_zoned(zone).date());
    let days = (today - day).get_days();
    match seconds {
        ..60 => "just now".to_owned(),
        60..3_600 => format!("{} min ago", seconds / 60),
        _ if days == 0 => format!("{} h ago", seconds / 3_600),
        _ if days == 1 => "yesterday".to_owned(),
        _ if days < 14 => format!("{days} days ago"),
        _ if day.year() == today.year() => day.strftime("%-d %b").to_string(),
        _ => day.strftime("%-d %b %Y").to_string(),
    }
}

/// Formats an instant (RFC 3339) in the time zone of the machine, for example with `%Y-%m-%d`.
/// Returns `at` as one line if `at` is no instant.
pub(crate) fn local(at: &str, format: &str) -> String {
    match instant(at) {
        Some(at) => at.to_zoned(TimeZone::system()).strftime(format).to_string(),
        None => line(at),
    }
}

/// Formats a duration, for example `45 s`, `12 min`, `3 h 5 min` or `2 days`.
pub(crate) fn span(span: Duration) -> String {
    let seconds = span.as_secs();
    let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, minutes) => format!("{minutes} min"),
        (0, hours, minutes) if minutes % 60 > 0 => format!("{hours} h {} min", minutes % 60),
        (0, hours, _) => format!("{hours} h"),
        (1, ..) => "1 day".to_owned(),
        (days, ..) => format!("{days} days"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_formatted_for_people() {
        let now: Timestamp = "2026-03-20T12:00:00Z".parse().unwrap();
        for (at, expected) in [
            ("2026-03-20T11:59:30Z", "just now"),
            ("2026-03-20T12:00:30Z", "just now"),
            ("2026-03-20T11:48:00Z", "12 min ago"),
            ("2026-03-10T12:00:00Z", "10 days ago"),
            ("2026-01-05T12:00:00Z", "5 Jan"),
            ("2025-11-05T12:00:00Z", "5 Nov 2025"),
        ] {
            assert_eq!(ago(instant(at), now), expected, "{at}");
        }
        assert_eq!(ago(instant(""), now), "-");
    }

    #[test]
    fn a_text_that_is_no_instant_is_printed() {
        assert_eq!(local("2026-03-20T12:00:00Z", "%Y"), "2026");
        assert_eq!(local("at noon\non Friday", "%Y"), "at noon on Friday");
    }

    #[test]
    fn spans_are_short() {
        for (seconds, expected) in [
            (45, "45 s"),
            (720, "12 min"),
            (3_600, "1 h"),
            (11_100, "3 h 5 min"),
            (90_000, "1 day"),
            (200_000, "2 days"),
        ] {
            assert_eq!(span(Duration::from_secs(seconds)), expected);
        }
    }
}
