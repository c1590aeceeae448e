//! x
pub mod activity;
pub mod api;
pub mod app;
pub mod capture;
pub mod clock;
pub mod engine;
pub mod lifecycle;
pub mod logging;
pub mod model;
pub mod redact;
pub mod search;
pub mod session;
pub mod store;
pub mod summarize;
