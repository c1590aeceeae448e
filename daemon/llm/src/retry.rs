//! Decides how long to wait before a call is retried.

use std::time::Duration;

/// The action after a temporary failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    Wait(Duration),
    /// The wait would be too long; the retry queue repeats the request later.
    GiveUp,
}

/// The first pause, before jitter.
const FIRST: Duration = Duration::from_secs(1);
/// The longest pause, unless the server asks for more.
const LONGEST: Duration = Duration::from_secs(30);
/// The longest requested pause for which a call waits. A wait blocks the thread of the job.
pub const MAX_RETRY_AFTER: Duration = Duration::from_secs(60);

/// Returns the pause after `failed` failures, counted from 1. Pauses double up to [`LONGEST`].
/// `retry_after`, the pause that the server asks for, is the minimum. The random number `chance`
/// adds jitter: it shortens the doubled pause by at most half, and extends `retry_after` by at
/// most a tenth.
pub fn pause(failed: u32, retry_after: Option<Duration>, chance: u128) -> Pause {
    let share = (chance % 1_000) as f64 / 999.0;
    let doubled = FIRST.saturating_mul(2u32.saturating_pow(failed.saturating_sub(1)));
    let own = doubled.min(LONGEST).mul_f64(0.5 + share / 2.0);
    match retry_after {
        Some(asked) if asked > MAX_RETRY_AFTER => Pause::GiveUp,
        Some(asked) => Pause::Wait(asked.mul_f64(1.0 + share / 10.0).max(own)),
        None => Pause::Wait(own),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_limit_and_chance_shortens_them() {
        let seconds = |failed, chance| match pause(failed, None, chance) {
            Pause::Wait(pause) => pause.as_secs_f64(),
            Pause::GiveUp => panic!(),
        };
        for (failed, longest) in [(1, 1.0), (2, 2.0), (3, 4.0), (5, 16.0), (6, 30.0), (99, 30.0)] {
            assert_eq!(seconds(failed, 999), longest);
            assert_eq!(seconds(failed, 1_000), longest / 2.0);
        }
    }

    #[test]
    fn the_requested_pause_is_the_minimum_unless_it_is_too_long() {
        let asked = |seconds, chance| pause(1, Some(Duration::from_secs(seconds)), chance);
        assert_eq!(asked(10, 0), Pause::Wait(Duration::from_secs(10)));
        assert_eq!(asked(10, 999), Pause::Wait(Duration::from_secs(11)));
        assert_eq!(asked(0, 999), Pause::Wait(Duration::from_secs(1)));
        assert_eq!(asked(60, 0), Pause::Wait(Duration::from_secs(60)));
        assert_eq!(asked(61, 0), Pause::GiveUp);
    }
}
