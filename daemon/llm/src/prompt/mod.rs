//! Prompt templates: their sources, how they are filled, and how replies are limited and cached.
//!
//! A [`Template`](template::Template) is text with placeholders in braces.
//! [`Templates`](library::Templates) finds the template for a [`PromptKind`](kind::PromptKind): the
//! template of the project or of the user, or else the built-in template from the top-level folder
//! `prompts`. Filling the template creates a [`Prompt`](crate::model::Prompt), in which text from a
//! transcript is separate from the instructions. The caller sends the prompt. [`limit`] shortens
//! replies that are too long; [`SummaryKey`](cache_key::SummaryKey) identifies a reply in the
//! cache.

pub mod cache_key;
pub mod config;
pub mod kind;
pub mod library;
pub mod limit;
pub mod problem;
pub mod template;

mod files;
