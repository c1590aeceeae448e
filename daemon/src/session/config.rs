//! The settings that determine when a session is inactive and when it is closed.

use std::time::Duration;

/// The deadlines of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The time without a write after which a session is closed as a last resort; `None` if
    /// inactivity never closes a session.
    pub inactivity_timeout: Option<Duration>,
    /// The time without a write after which an active session becomes inactive.
    pub check_interval: Duration,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            inactivity_timeout: Some(Duration::from_secs(1_800)),
            check_interval: Duration::from_secs(60),
        }
    }
}
