//! Going over all stored text, as a port of its own: the store knows which records hold text, a
//! [`Cleaner`] decides what of it may stay.

use crate::{
    model::{
        Episode, Message,
        graph::{Claim, Mention},
        session::Session,
    },
    store::{Note, Source, StoreError},
};

/// Changes stored text in place; each method says whether it changed anything.
///
/// Every kind of record that holds text has a method here, and none has a default: who adds one has
/// to say what is to be done with its text.
pub trait Cleaner {
    fn session(&mut self, session: &mut Session) -> bool;

    fn source(&mut self, source: &mut Source) -> bool;

    /// What is saved beside a file's cursor. `before` returns the last few messages of the file
    /// before the one of a number.
    fn checkpoint(
        &mut self,
        checkpoint: &mut Vec<u8>,
        before: &dyn Fn(u32) -> Result<Vec<Message>, StoreError>,
    ) -> Result<bool, StoreError>;

    fn message(&mut self, message: &mut Message) -> bool;

    fn episode(&mut self, episode: &mut Episode) -> bool;

    /// That an episode mentions an entity.
    fn mention(&mut self, mention: &mut Mention) -> bool;

    /// What an episode claims.
    fn claim(&mut self, claim: &mut Claim) -> bool;

    /// A note with its content.
    fn note(&mut self, note: &mut Note) -> bool;
}

/// How far the stored text was gone over: the key of the last row, or nothing at the beginning.
pub type CleaningPosition = Vec<u8>;

/// A part of the stored text was gone over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CleaningStep {
    /// Where the next step begins; `None` when this was the last one.
    pub next: Option<CleaningPosition>,
    /// Bytes of the rows that were read.
    pub bytes: u64,
    /// Records that cannot be read, and stay as they are.
    pub unreadable: u64,
}

/// Going over all stored text.
pub trait TextStore {
    /// Shows the next part of the stored text after `after` to `cleaner`, and keeps nothing of what
    /// it changes.
    fn preview_cleaning(
        &self,
        cleaner: &mut dyn Cleaner,
        after: &CleaningPosition,
    ) -> Result<CleaningStep, StoreError>;
}
