//! Cleaning of all stored text, as a port of its own: the store knows which records hold text; a
//! [`Cleaner`] decides what may stay.

use crate::{
    Note, Source, StoreError,
    model::{
        Episode, Message,
        graph::{Claim, Mention},
        session::Session,
    },
};

/// Changes stored text in place. Each method returns whether it changed anything.
///
/// Every kind of record with text has a method, and no method has a default body, so that a new kind
/// of record cannot be forgotten.
pub trait Cleaner {
    fn session(&mut self, session: &mut Session) -> bool;

    fn source(&mut self, source: &mut Source) -> bool;

    /// The saved state of reading a file. `before` returns the last few messages of the file before a
    /// message number.
    fn checkpoint(
        &mut self,
        checkpoint: &mut Vec<u8>,
        before: &dyn Fn(u32) -> Result<Vec<Message>, StoreError>,
    ) -> Result<bool, StoreError>;

    fn message(&mut self, message: &mut Message) -> bool;

    fn episode(&mut self, episode: &mut Episode) -> bool;

    /// The mention of an entity by an episode.
    fn mention(&mut self, mention: &mut Mention) -> bool;

    /// The claims of an episode.
    fn claim(&mut self, claim: &mut Claim) -> bool;

    /// A note with its content.
    fn note(&mut self, note: &mut Note) -> bool;
}

/// How far the stored text was cleaned: the key of the last row; empty at the beginning.
pub type CleaningPosition = Vec<u8>;

/// The result of one step of cleaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CleaningStep {
    /// Where the next step begins; `None` when this was the last one.
    pub next: Option<CleaningPosition>,
    /// Bytes of the rows that were read.
    pub bytes: u64,
    /// Records that cannot be read. They are not changed.
    pub unreadable: u64,
}

/// Reads all stored text in steps.
pub trait TextStore {
    /// Passes the next part of the stored text after `after` to `cleaner`, and stores the changed
    /// text.
    fn preview_cleaning(
        &self,
        cleaner: &mut dyn Cleaner,
        after: &CleaningPosition,
    ) -> Result<CleaningStep, StoreError>;
}
