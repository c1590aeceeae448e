//! Decides when a session ends, and which work follows.
//!
//! [`machine`] decides, as a pure function of state, event and time. [`tracker`] holds the live
//! sessions and knows when the next one changes without an event. Reading, indexing and saving are
//! the engine's work.

pub mod config;
#[cfg(test)]
mod explore;
pub mod machine;
pub mod tracker;

pub use self::{
    config::Config,
    machine::{JobEnd, SessionEvent},
    tracker::Tracker,
};
