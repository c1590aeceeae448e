//! Tests the behaviour for users and agents: commands, hooks, tools and searches of the real
//! programs. Each test has its own home.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod answers;
mod blame;
mod budget;
mod concurrent_callers;
mod daemon;
mod doctor;
mod embeddings;
mod facts;
mod forget;
mod forks;
mod graph;
mod handoff;
mod history;
mod hook;
mod hung;
mod hybrid_close;
mod imports;
mod mcp;
mod mcp_official;
mod message_summaries;
mod models;
mod models_bounds;
mod resume;
mod search;
mod search_terminal;
mod service;
mod setup;
mod share;
mod static_copy;
mod stats;
#[cfg(target_os = "linux")]
mod terminal;
mod transcripts;
mod upgrade;
mod view;
mod watch_formats;
mod wire;
