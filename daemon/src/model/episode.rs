//! What a finished session becomes: one summary with its provenance.

use std::fmt;

use crate::model::{
    project::Project,
    session::{CloseReason, ContentHash, SessionId, SessionKey},
    summary::EnhancedSessionSummary,
    time::Timestamp,
};

/// An episode's name: a UUIDv7 of the time its session ended, so that the order of the ids is the
/// order of the sessions, in whatever order they were imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EpisodeId(pub uuid::Uuid);

impl EpisodeId {
    /// A new name for an episode of a session that ended at `ended_at`.
    pub fn new(ended_at: Timestamp, random: [u8; 10]) -> EpisodeId {
        let millis = u64::try_from(ended_at.millis()).unwrap_or(0);
        EpisodeId(uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid())
    }

    /// Reads the usual text form.
    pub fn parse(text: &str) -> Option<EpisodeId> {
        uuid::Uuid::try_parse(text).ok().map(EpisodeId)
    }
}

impl fmt::Display for EpisodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

/// A finished session.
#[derive(Clone, Debug, PartialEq)]
pub struct Episode {
    /// Its name.
    pub id: EpisodeId,
    /// The session it was made from.
    pub session: SessionKey,
    /// The agent's id of that session.
    pub session_id: SessionId,
    /// Where the session took place.
    pub project: Project,
    /// A short title for lists.
    pub name: String,
    /// What happened.
    pub summary: EnhancedSessionSummary,
    /// Who wrote the summary.
    pub author: Author,
    /// The transcript it was made from.
    pub file: String,
    /// The content it was made from.
    pub content_hash: ContentHash,
    /// Why the session was closed.
    pub reason: CloseReason,
    /// Branches worked on.
    pub branches: Vec<String>,
    /// When the session's first message was written.
    pub started_at: Timestamp,
    /// When the session's last message was written: the time that its facts hold from.
    pub ended_at: Timestamp,
    /// When the episode was made.
    pub created_at: Timestamp,
}

/// Who wrote a summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Author {
    /// It was put together from evidence, on this machine.
    Evidence,
    /// A model wrote it, held against the evidence.
    Model(String),
}
