//! The plain types of the domain. They do no I/O, read no clock and use no other module.
//!
//! Read them in this order: the content of a transcript ([`transcript`]), the stored part of it
//! ([`message`], [`evidence`], [`token_use`]), the session ([`session`]), its activity
//! ([`activity`], [`tool`]), the result ([`summary`], [`episode`], [`graph`]), prompts for a model
//! ([`prompt`]), and vectors for the search ([`vector`]).
//!
//! Only types that are JSON documents, or parts of them, derive `serde`. The documents are
//! summaries, in models' replies and in exports; the evidence and activity of a session; the
//! classifications of tools; and the content of an episode that no session on this machine created.
//! Evidence and activity are saved as one versioned document with a transcript's cursor.

mod action;
pub mod time;
pub mod transcript;

mod command_run;
mod dialogue;
mod ending;
pub mod evidence;
pub mod message;
mod repository;
mod test_choice;
mod test_run;
pub mod token_use;
mod work_notes;

pub mod hex;
pub mod project;
pub mod session;

pub mod activity;
pub mod tool;

pub mod episode;
mod episode_id;
pub mod graph;
pub mod prompt;
pub mod summary;
pub mod vector;
pub mod wording;

pub use self::{
    activity::ActivityVector,
    ending::SessionEnding,
    episode::Episode,
    episode_id::EpisodeId,
    evidence::Evidence,
    graph::{Entity, EntityId, Fact, FactId},
    message::{Message, Role},
    project::{Namespace, Project},
    prompt::Prompt,
    session::{CloseReason, ContentHash, SessionId, SessionKey},
    summary::EnhancedSessionSummary,
    time::Timestamp,
};
