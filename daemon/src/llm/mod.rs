//! The port to language models.

pub mod config;
