//! The id of an episode.

use std::fmt;

use crate::model::time::Timestamp;

/// The id of an episode: a UUIDv7 of the time when its session ended. Ids therefore sort in the
/// order of the sessions, even if the sessions were imported in another order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EpisodeId(pub uuid::Uuid);

impl EpisodeId {
    /// Returns a new id for an episode of a session that ended at `ended_at`.
    pub fn new(ended_at: Timestamp, random: [u8; 10]) -> EpisodeId {
        let millis = u64::try_from(ended_at.millis()).unwrap_or(0);
        EpisodeId(uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid())
    }

    /// Parses the usual text form.
    pub fn parse(text: &str) -> Option<EpisodeId> {
        uuid::Uuid::try_parse(text).ok().map(EpisodeId)
    }
}

impl fmt::Display for EpisodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}
