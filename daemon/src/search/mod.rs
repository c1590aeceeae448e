//! search
pub mod config;
pub mod index;
pub mod passage;
pub mod query;
pub mod rank;
pub(crate) mod text;
