//! What every part of the daemon speaks of, and what has no layer below it. `daemon/src/lib.rs` has the map.

pub mod model;

pub mod clean;
pub mod clock;
pub mod fault;
pub mod files;
pub mod pattern;
pub mod sync;

pub mod lang;
