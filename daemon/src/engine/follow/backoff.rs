//! Determines the pauses between failed attempts.

use std::time::Duration;

/// Pauses that double from the first one up to the longest one.
pub(in crate::engine) struct Backoff {
    first: Duration,
    longest: Duration,
    next: Duration,
}

impl Backoff {
    pub(in crate::engine) fn new(first: Duration, longest: Duration) -> Backoff {
        Backoff { first, longest, next: first }
    }

    /// Returns the pause after one more failed attempt.
    pub(in crate::engine) fn pause(&mut self) -> Duration {
        let pause = self.next;
        self.next = (pause * 2).min(self.longest);
        pause
    }

    /// Starts with the first pause again, after an attempt that succeeded.
    pub(in crate::engine) fn reset(&mut self) {
        self.next = self.first;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest_and_start_again_after_a_success() {
        let seconds = Duration::from_secs;
        let mut backoff = Backoff::new(seconds(30), seconds(100));
        let pauses = [backoff.pause(), backoff.pause(), backoff.pause(), backoff.pause()];
        assert_eq!(pauses, [seconds(30), seconds(60), seconds(100), seconds(100)]);
        backoff.reset();
        assert_eq!(backoff.pause(), seconds(30));
    }
}
