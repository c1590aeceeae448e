//! A port for removing secrets from all stored text. The store finds the records with text, and a
//! [`Cleaner`] changes the text.

use crate::{
    Note, Source, StoreError,
    model::{
        Episode, Message,
        graph::{Claim, Mention},
        session::Session,
    },
};

/// Changes the text of records in place. Each method returns whether it changed anything.
///
/// Every kind of record with text has a method, and no method has a default body, so that a new
/// kind of record cannot be forgotten.
pub trait Cleaner {
    fn session(&mut self, session: &mut Session) -> bool;

    fn source(&mut self, source: &mut Source) -> bool;

    /// Changes the saved state of reading a file. `before(number)` returns the last few messages of
    /// the file before this message number.
    fn checkpoint(
        &mut self,
        checkpoint: &mut Vec<u8>,
        before: &dyn Fn(u32) -> Result<Vec<Message>, StoreError>,
    ) -> Result<bool, StoreError>;

    fn message(&mut self, message: &mut Message) -> bool;

    fn episode(&mut self, episode: &mut Episode) -> bool;

    fn mention(&mut self, mention: &mut Mention) -> bool;

    fn claim(&mut self, claim: &mut Claim) -> bool;

    fn note(&mut self, note: &mut Note) -> bool;
}

/// The key of the last row that was cleaned; empty at the beginning.
pub type CleaningPosition = Vec<u8>;

/// The result of one step of cleaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CleaningStep {
    /// The position after which the next step begins; `None` after the last step.
    pub next: Option<CleaningPosition>,
    /// The size, in bytes, of the rows that were read.
    pub bytes: u64,
    /// Number of records that cannot be read. They are not changed.
    pub unreadable: u64,
}

/// Reads all stored text in steps.
pub trait TextStore {
    /// Passes the next part of the stored text, which begins after the position `after`, to
    /// `cleaner`. Does not store the changes.
    fn preview_cleaning(
        &self,
        cleaner: &mut dyn Cleaner,
        after: &CleaningPosition,
    ) -> Result<CleaningStep, StoreError>;
}
