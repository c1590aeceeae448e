//! Prompt templates: which one holds, what stands in it, and what a summary made by one may be.
//!
//! A [`Template`](template::Template) is text with places in braces. [`Templates`](library::Templates)
//! finds the one that holds for a [`PromptKind`](kind::PromptKind) of question: a project's, the user's or the
//! built-in one from the top-level folder `prompts`. Filling one gives a
//! [`Prompt`](crate::model::Prompt), in which a transcript's text stays apart from the question;
//! asking a model is left to others. [`limit`] cuts what a model wrote too long,
//! [`SummaryKey`](cache_key::SummaryKey) tells when it need not be asked again.

pub mod cache_key;
pub mod config;
pub mod kind;
pub mod library;
pub mod limit;
pub mod problem;
pub mod template;

mod files;
mod resolve;
