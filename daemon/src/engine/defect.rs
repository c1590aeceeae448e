//! Work that did not come to its end.

use tokio::task::JoinError;

/// What is said of a panic. Its message is not: it may quote what was worked on, and this is logged,
/// stored and shown.
pub(super) const PANIC: &str = "a defect in graphitid; its log says where";

/// What is said of the work.
pub(super) fn told(error: &JoinError) -> &'static str {
    if error.is_panic() { PANIC } else { "it was broken off" }
}
