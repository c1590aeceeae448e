//! The position and time of an entry. Each record that is made from the entry contains them.

use crate::{
    model::{evidence::Quote, time::Timestamp, transcript::Origin},
    text::kept,
};

#[derive(Clone, Copy, Debug)]
pub(super) struct EntryPosition {
    pub(super) origin: Origin,
    pub(super) at: Option<Timestamp>,
}

impl EntryPosition {
    /// Returns a quote of `text` with this position and time, shortened to `limit` bytes.
    pub(super) fn quote(self, text: &str, limit: usize) -> Quote {
        Quote { text: kept(text, limit), origin: self.origin, at: self.at }
    }
}
