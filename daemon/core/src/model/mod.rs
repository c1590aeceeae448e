//! Plain words of the domain: no I/O, no clock, no knowledge of any other module.
//!
//! Read in this order: what a transcript says ([`transcript`]), what of it is kept ([`message`],
//! [`evidence`]), whose it is ([`session`]), what was being done ([`activity`], [`tool`]), and
//! what becomes of it ([`summary`], [`episode`], [`graph`]), perhaps with a model's help
//! ([`prompt`]) and with vectors to find it by ([`vector`]).
//!
//! `serde` stands only on what is a JSON document by nature: a summary (a model's reply is read
//! into it, an export writes it) and the evidence and activity that are saved as one versioned
//! document beside a transcript's cursor.

pub mod time;
pub mod transcript;

mod dialogue;
pub mod evidence;
pub mod message;
mod work_notes;

pub mod project;
pub mod session;

pub mod activity;
pub mod tool;

pub mod episode;
pub mod graph;
pub mod prompt;
pub mod summary;
pub mod vector;
pub mod wording;

pub use self::{
    activity::ActivityVector,
    episode::{Episode, EpisodeId},
    evidence::Evidence,
    graph::{Entity, EntityId, Fact, FactId},
    message::{Message, Role},
    project::{Namespace, Project},
    prompt::Prompt,
    session::{CloseReason, ContentHash, SessionId, SessionKey},
    summary::EnhancedSessionSummary,
    time::Timestamp,
};
