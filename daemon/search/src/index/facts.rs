//! The data of documents and sessions other than their words.

use crate::passage::PassageKind;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Facts {
    pub(crate) session: u64,
    pub(crate) source: u32,
    pub(crate) seq: u32,
    pub(crate) part: u32,
    /// `None` for the document of a [`Card`](crate::index::change::Card).
    pub(crate) kind: Option<PassageKind>,
    /// Seconds since the epoch.
    pub(crate) at: i64,
    pub(crate) length: u32,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CardFacts {
    pub(crate) namespace: u32,
    pub(crate) project: Option<String>,
    pub(crate) agent: String,
    /// Seconds since the epoch, like `ended`.
    pub(crate) started: i64,
    pub(crate) ended: i64,
}
