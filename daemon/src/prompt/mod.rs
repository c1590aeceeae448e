//! Prompt templates and their placeholders.

pub mod config;
