//! A circuit breaker: stops calls to a server that is down.

use std::time::Duration;

use crate::{error::Error, model::Timestamp};

/// Counts consecutive failures. The breaker opens after [`FAILURES_TO_OPEN`] failures, or at once
/// after some errors. An open breaker admits only single probe calls.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Breaker {
    failures: u32,
    open: Option<OpenCircuit>,
}

#[derive(Clone, Debug, PartialEq)]
struct OpenCircuit {
    until: Timestamp,
    pause: Duration,
    error: Error,
    /// When the last probe was admitted.
    probed_at: Option<Timestamp>,
}

/// Number of consecutive failures that open the breaker.
const FAILURES_TO_OPEN: u32 = 5;
/// The pause after the breaker opens. Each call that fails while the breaker is open doubles the
/// pause.
const FIRST: Duration = Duration::from_secs(30);
/// The maximum pause, unless the server asks for a longer one.
const LONGEST: Duration = Duration::from_secs(600);

impl Breaker {
    /// Checks whether a call may be made. While the breaker is open, callers get the error of the
    /// last failed call. After the pause, one probe call is admitted, and other calls are refused
    /// for another pause.
    pub fn admit(&mut self, now: Timestamp) -> Result<(), Error> {
        let Some(open) = &mut self.open else { return Ok(()) };
        if now < open.until {
            return Err(open.error_at(now));
        }
        open.until = now.plus(open.pause);
        open.probed_at = Some(now);
        Ok(())
    }

    /// Records that the call that was admitted at `now` was not made. If the call was the probe of
    /// an open breaker, the next call becomes the probe at once.
    pub fn not_called(&mut self, now: Timestamp) {
        // The breaker may have opened after it admitted the call.
        if let Some(open) = self.open.as_mut().filter(|open| open.probed_at == Some(now)) {
            open.until = now;
        }
    }

    /// Records that the server responded. A refusal is a response, too: the server is up.
    pub fn answered(&mut self) {
        *self = Breaker::default();
    }

    /// Records a failed call. Opens after [`FAILURES_TO_OPEN`] consecutive failures, and at once
    /// when the server asks for a pause longer than
    /// [`MAX_RETRY_AFTER`](crate::retry::MAX_RETRY_AFTER) or when the configuration is wrong. After
    /// other errors, such as a refusal, the breaker closes, because the server has responded.
    pub fn failed(&mut self, error: &Error, now: Timestamp) {
        self.failures = self.failures.saturating_add(1);
        let (is_due, asked) = match error {
            Error::Unavailable { retry_after, .. } => {
                let asks_for_long_pause =
                    retry_after.is_some_and(|asked| asked > crate::retry::MAX_RETRY_AFTER);
                (asks_for_long_pause || self.failures >= FAILURES_TO_OPEN, *retry_after)
            }
            Error::Misconfigured { .. } => (true, None),
            _ => return self.answered(),
        };
        if self.open.is_none() && !is_due {
            return;
        }
        let pause = self.open.as_ref().map_or(FIRST, |open| (open.pause * 2).min(LONGEST));
        let until = now.plus(asked.map_or(pause, |asked| asked.max(pause)));
        self.open = Some(OpenCircuit { until, pause, error: error.clone(), probed_at: None });
    }

    /// Returns the error that calls get at present; `None` while calls are admitted.
    pub fn outage(&self, now: Timestamp) -> Option<Error> {
        self.open.as_ref().filter(|open| now < open.until).map(|open| open.error_at(now))
    }
}

impl OpenCircuit {
    fn error_at(&self, now: Timestamp) -> Error {
        match &self.error {
            Error::Unavailable { reason, .. } => Error::Unavailable {
                reason: reason.clone(),
                retry_after: Some(self.until.since(now)),
            },
            other => other.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_seconds(seconds)
    }

    fn outage(retry_after: Option<u64>) -> Error {
        let retry_after = retry_after.map(Duration::from_secs);
        Error::Unavailable { reason: "down".to_owned(), retry_after }
    }

    fn opened() -> Breaker {
        let mut breaker = Breaker::default();
        (0..FAILURES_TO_OPEN).for_each(|_| breaker.failed(&outage(None), at(0)));
        breaker
    }

    #[test]
    fn the_breaker_opens_after_consecutive_failures() {
        let mut breaker = Breaker::default();
        for _ in 1..FAILURES_TO_OPEN {
            breaker.failed(&outage(None), at(0));
            assert_eq!(breaker.admit(at(0)), Ok(()));
        }
        breaker.answered();
        breaker.failed(&outage(None), at(0));
        assert_eq!(breaker.admit(at(0)), Ok(()));
        assert_eq!(opened().admit(at(1)), Err(outage(Some(29))));
        assert_eq!(opened().outage(at(1)), Some(outage(Some(29))));
    }

    #[test]
    fn a_probe_after_the_pause_closes_the_breaker_or_doubles_the_pause() {
        let mut breaker = opened();
        assert_eq!(breaker.admit(at(30)), Ok(()));
        assert_eq!(breaker.admit(at(30)), Err(outage(Some(30))));
        let mut recovered = breaker.clone();
        recovered.answered();
        assert_eq!(recovered, Breaker::default());
        breaker.failed(&outage(None), at(31));
        assert_eq!(breaker.admit(at(31)), Err(outage(Some(60))));
        for _ in 0..20 {
            breaker.failed(&outage(None), at(100));
        }
        assert_eq!(breaker.admit(at(100)), Err(outage(Some(600))));
    }

    #[test]
    fn a_probe_without_a_result_is_followed_by_another() {
        let mut breaker = opened();
        assert_eq!(breaker.admit(at(30)), Ok(()));
        assert_eq!(breaker.admit(at(60)), Ok(()));
    }

    #[test]
    fn a_probe_that_was_not_made_is_made_by_the_next_call() {
        let mut breaker = opened();
        assert_eq!(breaker.admit(at(30)), Ok(()));
        breaker.not_called(at(30));
        assert_eq!(breaker.outage(at(30)), None);
        assert_eq!(breaker.admit(at(30)), Ok(()));
        assert_eq!(breaker.admit(at(30)), Err(outage(Some(30))));
        let mut closed = Breaker::default();
        closed.not_called(at(0));
        assert_eq!(closed, Breaker::default());
    }

    #[test]
    fn a_pause_that_the_server_asked_for_stays_if_an_earlier_call_is_not_made() {
        let mut breaker = Breaker::default();
        assert_eq!(breaker.admit(at(0)), Ok(()));
        breaker.failed(&outage(Some(3_600)), at(0));
        breaker.not_called(at(0));
        assert_eq!(breaker.admit(at(10)), Err(outage(Some(3_590))));
        let mut probed = opened();
        assert_eq!(probed.admit(at(30)), Ok(()));
        probed.failed(&outage(None), at(30));
        probed.not_called(at(30));
        assert_eq!(probed.admit(at(31)), Err(outage(Some(59))));
    }

    #[test]
    fn a_long_requested_pause_opens_the_breaker_at_once() {
        let mut breaker = Breaker::default();
        breaker.failed(&outage(Some(3_600)), at(0));
        assert_eq!(breaker.admit(at(10)), Err(outage(Some(3_590))));
        let mut breaker = Breaker::default();
        breaker.failed(&outage(Some(5)), at(0));
        assert_eq!(breaker.admit(at(0)), Ok(()));
    }

    #[test]
    fn a_wrong_key_opens_the_breaker_at_once() {
        let mut breaker = Breaker::default();
        let error = Error::misconfigured("wrong key", "set another");
        breaker.failed(&error, at(0));
        assert_eq!(breaker.admit(at(1)), Err(error));
        assert_eq!(breaker.admit(at(30)), Ok(()));
    }

    #[test]
    fn a_refusal_closes_the_breaker() {
        let mut breaker = opened();
        breaker.failed(&Error::Refused { reason: String::new() }, at(30));
        assert_eq!(breaker, Breaker::default());
    }
}
