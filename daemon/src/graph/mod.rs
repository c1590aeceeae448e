//! Summaries become episodes, entities and facts.

pub mod config;
