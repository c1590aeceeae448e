//! Made-up work of agents, any amount of it.

pub mod history;
mod library;
mod session;

pub use self::{library::Library, session::GeneratedSession};
