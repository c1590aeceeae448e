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

/// Returns `at` in seconds since the epoch, shifted by the offset of the local time zone.
pub fn local_seconds(at: Timestamp) -> i64 {
    let Ok(instant) = jiff::Timestamp::from_microsecond(at.micros()) else { return 0 };
    let offset = jiff::tz::TimeZone::system().to_offset(instant);
    instant.as_second() + i64::from(offset.seconds())
}
