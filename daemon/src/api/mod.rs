//! What hooks, people and agents ask for.

pub mod config;
