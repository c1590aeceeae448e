//! Work that did not come to its end.

use tokio::task::JoinError;

/// What is said of it. The message of a panic is not: it may quote what was worked on, and this is
/// logged, stored and shown.
pub(super) fn told(error: &JoinError) -> &'static str {
    if error.is_panic() { "a defect in graphitid; its log says where" } else { "it was broken off" }
}
