//! x
pub mod api;
pub mod capture;
pub mod config;
pub mod graph;
pub mod llm;
pub mod model;
pub mod prompt;
pub mod redact;
pub mod search;
pub mod session;
pub mod summarize;
