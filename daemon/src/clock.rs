//! The one place that reads the clock.

use crate::model::Timestamp;

/// The present time.
pub fn now() -> Timestamp {
    Timestamp::from(std::time::SystemTime::now())
}
