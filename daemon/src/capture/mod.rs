//! From a file on disk to messages.
pub mod format;
