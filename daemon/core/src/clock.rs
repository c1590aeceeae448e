//! The only module that reads the clock.

use crate::model::Timestamp;

/// The present time.
pub fn now() -> Timestamp {
    Timestamp::from(std::time::SystemTime::now())
}

/// The present time in the time zone of this machine, for questions such as "yesterday".
pub fn zoned() -> jiff::Zoned {
    jiff::Zoned::now()
}

/// Seconds since the epoch as a clock on this machine's wall shows `at`.
pub fn local_seconds(at: Timestamp) -> i64 {
    let Ok(instant) = jiff::Timestamp::from_microsecond(at.micros()) else { return 0 };
    let offset = jiff::tz::TimeZone::system().to_offset(instant);
    instant.as_second() + i64::from(offset.seconds())
}
