//! How far a request is, for callers that asked to be told.

use tokio::sync::watch;

/// Tells whoever made a request how far it is; tells nobody when nobody asked. Steps that come
/// faster than they are passed on are skipped, never the last.
#[derive(Clone, Debug, Default)]
pub struct Progress(Option<watch::Sender<Step>>);

/// How far a request is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Pieces done.
    pub done: usize,
    /// Pieces in all; 0 when that is not known.
    pub total: usize,
    /// What is being done, for people.
    pub message: String,
}

impl Progress {
    /// A teller and the end that is told.
    pub fn watched() -> (Progress, watch::Receiver<Step>) {
        let (steps, told) = watch::channel(Step::default());
        (Progress(Some(steps)), told)
    }

    /// Says how far it is.
    pub fn tell(&self, done: usize, total: usize, message: impl FnOnce() -> String) {
        if let Some(steps) = &self.0 {
            steps.send_replace(Step { done, total, message: message() });
        }
    }
}
