//! When a session counts as quiet and when as over.

use std::time::Duration;

/// The deadlines of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// How long nothing is written before a session is closed as the last resort; `None` when
    /// that never closes one (hybrid-close, section 5).
    pub inactivity_timeout: Option<Duration>,
    /// The time without a write after which an active session is shown as inactive, and the
    /// interval of that check.
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
