//! A new episode, before it is stored.

use crate::{
    engine::figures::SessionFigures,
    model::{Episode, EpisodeId, Timestamp, graph::Statements},
};

/// A new episode with its entities and facts.
pub struct NewEpisode {
    pub episode: Episode,
    pub statements: Statements,
    /// The figures of the session; `None` when only its summary changed.
    pub figures: Option<SessionFigures>,
}

/// Returns a new id for the episode of a session that ended at `ended_at`.
pub(crate) fn new_episode_id(ended_at: Timestamp) -> EpisodeId {
    let random = uuid::Uuid::new_v4().into_bytes();
    EpisodeId::new(ended_at, *random.first_chunk().expect("a UUID has sixteen bytes"))
}
