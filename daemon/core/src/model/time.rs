//! Instants as microseconds since the Unix epoch, in UTC.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};

/// An instant: microseconds since 1970-01-01T00:00:00Z. May be negative.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The Unix epoch, which is used as a time before all events.
    pub const MIN: Timestamp = Timestamp(0);
    /// An instant that is later than all events.
    pub const MAX: Timestamp = Timestamp(i64::MAX);

    /// Converts from microseconds since the Unix epoch.
    pub const fn from_micros(micros: i64) -> Timestamp {
        Timestamp(micros)
    }

    /// Converts from whole seconds since the Unix epoch.
    pub const fn from_seconds(seconds: i64) -> Timestamp {
        Timestamp(seconds.saturating_mul(1_000_000))
    }

    /// Returns the microseconds since the Unix epoch.
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// Returns the milliseconds since the Unix epoch, rounded down.
    pub const fn millis(self) -> i64 {
        self.0.div_euclid(1_000)
    }

    /// Parses an RFC 3339 instant such as `2026-01-21T09:31:34.330Z`.
    ///
    /// Returns `None` for anything else, because a wrong time in a transcript is no reason to fail.
    pub fn parse(text: &str) -> Option<Timestamp> {
        let instant: jiff::Timestamp = text.parse().ok()?;
        Some(Timestamp(instant.as_microsecond()))
    }

    /// Returns the instant that is later by `by`, saturating.
    pub fn plus(self, by: Duration) -> Timestamp {
        let by = i64::try_from(by.as_micros()).unwrap_or(i64::MAX);
        Timestamp(self.0.saturating_add(by))
    }

    /// Returns the instant that is earlier by `by`, saturating.
    pub fn minus(self, by: Duration) -> Timestamp {
        let by = i64::try_from(by.as_micros()).unwrap_or(i64::MAX);
        Timestamp(self.0.saturating_sub(by))
    }

    /// Returns the time from `earlier` to this instant; zero if `earlier` is later.
    pub fn since(self, earlier: Timestamp) -> Duration {
        let micros = self.0.saturating_sub(earlier.0);
        Duration::from_micros(u64::try_from(micros).unwrap_or(0))
    }
}

impl From<std::time::SystemTime> for Timestamp {
    fn from(time: std::time::SystemTime) -> Timestamp {
        match time.duration_since(std::time::UNIX_EPOCH) {
            Ok(after) => Timestamp(i64::try_from(after.as_micros()).unwrap_or(i64::MAX)),
            Err(before) => {
                Timestamp(-i64::try_from(before.duration().as_micros()).unwrap_or(i64::MAX))
            }
        }
    }
}

impl fmt::Display for Timestamp {
    /// Writes `YYYY-MM-DDTHH:MM:SS.ffffff+00:00`. The original Graphiti compares times as text, so
    /// they need this fixed width.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_microsecond(self.0) {
            Ok(instant) => write!(f, "{}", instant.strftime("%Y-%m-%dT%H:%M:%S.%6f+00:00")),
            Err(_) => write!(f, "{}us", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_is_read_back_from_its_text() {
        let instant = Timestamp::parse("2026-01-21T09:31:34.330Z").unwrap();
        assert_eq!(instant.to_string(), "2026-01-21T09:31:34.330000+00:00");
        assert_eq!(Timestamp::parse(&instant.to_string()), Some(instant));
    }

    #[test]
    fn an_offset_is_turned_to_utc() {
        let here = Timestamp::parse("2026-01-21T10:31:34+01:00");
        assert_eq!(here, Timestamp::parse("2026-01-21T09:31:34Z"));
    }

    #[test]
    fn other_texts_are_not_instants() {
        for text in ["", "yesterday", "2026-13-01T00:00:00Z", "1700000000"] {
            assert_eq!(Timestamp::parse(text), None, "{text}");
        }
    }

    #[test]
    fn arithmetic_saturates() {
        assert_eq!(Timestamp::MAX.plus(Duration::MAX), Timestamp::MAX);
        let early = Timestamp::from_seconds(5);
        assert_eq!(early.since(Timestamp::from_seconds(9)), Duration::ZERO);
        assert_eq!(Timestamp::from_seconds(9).since(early), Duration::from_secs(4));
    }
}
