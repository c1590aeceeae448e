//! How far the search index is, for those who wait for it or wonder.

use std::time::Duration;

use tokio::time::Instant;

/// A piece of work on the index that takes longer is told of: of what changed since nothing is found.
const SLOW: Duration = Duration::from_secs(60);

/// How far the search index is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Followed {
    /// The outbox position up to which everything can be searched.
    pub position: u64,
    /// Since when one piece of work is being done, if one is.
    pub(super) busy_since: Option<Instant>,
}

impl Followed {
    /// Whether it is at one piece of work for longer than usual.
    pub(in crate::engine) fn is_slow(&self) -> bool {
        self.busy_since.is_some_and(|since| since.elapsed() >= SLOW)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn one_piece_of_work_that_takes_long_is_slow_and_no_work_never_is() {
        let idle = Followed::default();
        let busy = Followed { position: 7, busy_since: Some(Instant::now()) };
        assert!(!busy.is_slow());
        tokio::time::advance(SLOW).await;
        assert!(busy.is_slow());
        assert!(!idle.is_slow());
    }
}
