//! The state of a running follower, and what it waits for.

use std::{future::pending, time::Duration};

use tokio::sync::watch;

use crate::engine::follow::{backoff::Backoff, progress::FollowerProgress};

pub(super) struct FollowerState<S> {
    pub(super) progress: watch::Sender<FollowerProgress>,
    /// The last position in the outbox.
    pub(super) ends: watch::Receiver<u64>,
    pub(super) settings: watch::Receiver<S>,
    pub(super) stopping: watch::Receiver<bool>,
    pub(super) backoff: Backoff,
    /// The position up to which entries are applied.
    pub(super) reached: u64,
    /// The position at the last commit that succeeded.
    pub(super) committed: u64,
    /// Time without a new entry after which changes are committed.
    pub(super) commit_pause: Duration,
    /// Whether the target has rested since the last entry.
    pub(super) is_resting: bool,
}

/// What happened while a follower waited.
pub(super) enum FollowerEvent {
    Entries,
    Settings,
    /// Nothing happened during the pause.
    Quiet,
    Stop,
}

impl<S> FollowerState<S> {
    /// Waits for the next event; without a `pause`, [`FollowerEvent::Quiet`] does not occur.
    pub(super) async fn next_event(&mut self, pause: Option<Duration>) -> FollowerEvent {
        tokio::select! {
            changed = self.ends.changed() => match changed {
                Ok(()) => FollowerEvent::Entries,
                Err(_) => FollowerEvent::Stop,
            },
            _ = self.stopping.wait_for(|stopping| *stopping) => FollowerEvent::Stop,
            () = changed(&mut self.settings) => FollowerEvent::Settings,
            () = tokio::time::sleep(pause.unwrap_or_default()), if pause.is_some() => {
                FollowerEvent::Quiet
            }
        }
    }

    /// Waits for the end of the pause. Returns whether the follower has to stop earlier.
    pub(super) async fn stops_within(&mut self, pause: Duration) -> bool {
        tokio::select! {
            _ = self.stopping.wait_for(|stopping| *stopping) => true,
            () = tokio::time::sleep(pause) => false,
        }
    }
}

/// Waits for new settings. Waits forever when the settings cannot change any more.
async fn changed<S>(settings: &mut watch::Receiver<S>) {
    if settings.changed().await.is_err() {
        pending::<()>().await;
    }
}
