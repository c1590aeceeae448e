//! x
pub mod capture;
pub mod model;
pub mod search;
pub mod session;
pub mod store;
