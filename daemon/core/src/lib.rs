//! The types and tools that all crates of the daemon share: the lowest layer. `daemon/src/lib.rs`
//! describes all layers.

pub mod model;

pub mod clean;
pub mod clock;
pub mod fault;
pub mod files;
pub mod pattern;
pub mod releasable;
pub mod sync;

pub mod lang;
