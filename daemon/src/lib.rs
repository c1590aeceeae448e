//! x
pub mod capture;
pub mod model;
pub mod session;
pub mod store;
