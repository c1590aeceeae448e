//! The progress of a follower. Callers wait for it, and the health report contains it.

use std::time::Duration;

use tokio::time::Instant;

/// Duration of a step after which the follower is reported as stalled.
const STALLED_AFTER: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug, Default)]
pub struct FollowerProgress {
    /// The outbox position up to which every change was applied.
    pub position: u64,
    /// When the current step began; `None` between steps.
    pub(super) busy_since: Option<Instant>,
    /// Whether the target does not accept changes at present. The follower retries.
    pub(super) is_unavailable: bool,
}

impl FollowerProgress {
    /// Whether changes wait for longer than usual.
    pub(in crate::engine) fn is_stalled(&self) -> bool {
        self.is_unavailable || self.busy_since.is_some_and(|since| since.elapsed() >= STALLED_AFTER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_step_that_takes_long_is_stalled_and_an_idle_follower_is_not() {
        let idle = FollowerProgress::default();
        let busy =
            FollowerProgress { busy_since: Some(Instant::now()), ..FollowerProgress::default() };
        assert!(!busy.is_stalled());
        tokio::time::advance(STALLED_AFTER).await;
        assert!(busy.is_stalled());
        assert!(!idle.is_stalled());
    }

    #[test]
    fn a_target_that_takes_no_changes_is_stalled_at_once() {
        let progress = FollowerProgress { is_unavailable: true, ..FollowerProgress::default() };
        assert!(progress.is_stalled());
    }
}
