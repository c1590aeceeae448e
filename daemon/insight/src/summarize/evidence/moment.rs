//! The position and time of an entry, for the records that are made from it.

use crate::{
    model::{evidence::Quote, time::Timestamp, transcript::Origin},
    summarize::text::kept,
};

/// The position and time of an entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub(super) origin: Origin,
    pub(super) at: Option<Timestamp>,
}

impl Moment {
    /// Returns `text` as a quotation of this moment, in at most `limit` bytes.
    pub(super) fn said(self, text: &str, limit: usize) -> Quote {
        Quote { text: kept(text, limit), origin: self.origin, at: self.at }
    }
}
