//! From messages to a summary.

pub mod config;
