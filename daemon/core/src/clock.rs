//! The only module that reads the wall clock.

use crate::model::Timestamp;

/// Returns the current time.
pub fn now() -> Timestamp {
    Timestamp::from(std::time::SystemTime::now())
}

/// Returns the current time in the time zone of this machine, for words such as "yesterday".
pub fn zoned() -> jiff::Zoned {
    jiff::Zoned::now()
}

/// Returns `at` in the time zone of this machine; the epoch if `at` is out of range.
pub fn local(at: Timestamp) -> jiff::Zoned {
    let instant = jiff::Timestamp::from_microsecond(at.micros()).unwrap_or_default();
    instant.to_zoned(jiff::tz::TimeZone::system())
}
