//! Reports the progress of a request to clients that request progress.

use tokio::sync::watch;

/// Reports the steps of a request to the client. If steps come faster than they can be sent, only
/// the latest step is sent.
#[derive(Clone, Debug, Default)]
pub struct ProgressReporter(Option<watch::Sender<ProgressStep>>);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgressStep {
    pub done: usize,
    /// 0 when the total is not known.
    pub total: usize,
    /// The current step, for people.
    pub message: String,
}

impl ProgressReporter {
    /// Creates a reporter and the receiver of its steps.
    pub fn channel() -> (ProgressReporter, watch::Receiver<ProgressStep>) {
        let (sender, steps) = watch::channel(ProgressStep::default());
        (ProgressReporter(Some(sender)), steps)
    }

    pub fn report(&self, done: usize, total: usize, message: impl FnOnce() -> String) {
        if let Some(sender) = &self.0 {
            sender.send_replace(ProgressStep { done, total, message: message() });
        }
    }
}
