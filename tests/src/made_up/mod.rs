//! Generates transcripts of agents, in any amount.

pub mod history;
mod library;
mod session;

pub use self::{library::Library, session::GeneratedSession};
