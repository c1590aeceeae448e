//! From a transcript to a structured summary.
//!
//! [`evidence`] reads facts out of a transcript while it grows; [`summarize`] puts a summary
//! together from them on this machine; [`priority`] and [`prompt`] say what a model is asked for
//! when one is to write it instead; [`markdown`] and [`conversation`] are two views of the result,
//! and [`handoff`] is what several of them leave to whoever comes next.
//! [`pack`] says what of a long session the model is shown, and [`reply`] holds what it says against
//! the evidence. Asking it and storing anything are left to others.

pub mod config;
pub mod conversation;
pub mod evidence;
mod from_evidence;
pub mod handoff;
pub mod markdown;
pub mod pack;
pub mod priority;
pub mod prompt;
mod recap;
pub mod reply;
mod report;
mod text;

pub use self::from_evidence::{Context, name, summarize, title};
