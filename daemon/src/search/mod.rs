//! Full text and vectors over all sessions.

pub mod config;
