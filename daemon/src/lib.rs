//! x
pub mod activity;
pub mod capture;
pub mod model;
