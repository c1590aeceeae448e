//! Days and times of day in the user's time zone.

use jiff::civil::Date;

use crate::{clock, model::Timestamp};

pub(super) fn day_of(at: Timestamp) -> Date {
    clock::local(at).date()
}

/// Returns a time such as `14:05`.
pub(super) fn time_of_day(at: Timestamp) -> String {
    clock::local(at).strftime("%H:%M").to_string()
}

/// Returns the day and time of an RFC 3339 text; empty if the text is not valid.
pub(super) fn day_and_time(text: &str) -> String {
    let at = Timestamp::parse(text);
    at.map(|at| format!("{} {}", day_of(at), time_of_day(at))).unwrap_or_default()
}
