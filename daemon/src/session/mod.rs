//! Decides when a session ends, and which work follows.
//!
//! [`machine`] makes the decisions, as a pure function of state, event and time. [`tracker`] holds
//! the live sessions and their deadlines. The engine reads, indexes and saves sessions.

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
