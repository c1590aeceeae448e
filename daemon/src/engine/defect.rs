//! Describes work that panicked.

use tokio::task::JoinError;

/// The description of a panic, which is logged, stored and shown. It does not contain the message
/// of the panic, which may quote a transcript.
pub(super) const PANIC: &str = "a defect in graphitid; see its log for the place";

/// Describes why a task ended.
pub(super) fn describe(error: &JoinError) -> &'static str {
    if error.is_panic() { PANIC } else { "it was cancelled" }
}
