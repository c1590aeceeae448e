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
