//! x
pub mod capture;
pub mod model;
