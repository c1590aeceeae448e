//! Turns a transcript into a structured summary.
//!
//! [`evidence`] extracts facts from a transcript while it grows. [`summarize`] derives a summary
//! from these facts on this machine. If a model writes the summary instead, [`priority`] and
//! [`prompt`] define the request, [`pack`] selects the messages of a long session that the model
//! reads, [`notes`] adds facts from the evidence, and [`reply`] checks the answer against the
//! evidence. [`markdown`] and [`conversation`] are two views of the result, and [`handoff`] merges
//! several summaries for the next agent.
//! Calling the model and storing results happen in other modules.

mod command_lines;
mod commit_lines;
pub mod config;
pub mod conversation;
pub mod evidence;
mod file_lines;
mod from_evidence;
pub mod handoff;
mod lists;
pub mod markdown;
pub mod notes;
pub mod pack;
pub mod priority;
pub mod prompt;
mod recap;
pub mod reply;

pub use self::from_evidence::{Context, name, remembered_wish, states_wish, summarize, title};
pub use crate::text::cut;

/// The version of the rules that derive a summary from a transcript. A release with changed rules
/// raises the version once, so that existing summaries are created again.
pub const RULES_VERSION: u32 = 27;
