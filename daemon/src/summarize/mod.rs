//! From a transcript to a structured summary.
//!
//! [`evidence`] reads facts out of a transcript while it grows; [`summarize`] puts a summary
//! together from them on this machine; [`priority`] and [`prompt`] say what a model is asked for
//! when one is to write it instead; [`markdown`] and [`conversation`] are two views of the result.
//! Asking a model, holding its claims against the evidence, and storing anything are left to
//! others.

pub mod config;
pub mod conversation;
pub mod evidence;
mod from_evidence;
pub mod markdown;
pub mod priority;
pub mod prompt;
mod recap;
mod text;

pub use self::from_evidence::{Context, name, summarize};
