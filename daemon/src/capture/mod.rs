//! From a file on disk to messages.
pub mod config;
pub mod format;
