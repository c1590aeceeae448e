//! x
pub mod capture;
pub mod model;
pub mod summarize;
