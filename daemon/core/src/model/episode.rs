//! What a finished session becomes: one summary with its provenance.

use std::fmt;

use serde::{Deserialize, Serialize};

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
    /// What it says in words of its own, when that is no summary made here.
    pub external: Option<ExternalContent>,
    /// The version of the rules by which its summary was made from evidence; 0 before such versions
    /// were noted.
    pub rules: u32,
}

/// What an episode says that was not made here: a memory that someone added, or a session's
/// episode that came from another machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExternalContent {
    /// Its whole text; empty when the summary says it.
    pub text: String,
    /// `text`, `json` or `message`.
    pub source: String,
    /// Where it comes from, in words.
    pub description: String,
    /// The machine that it was made on, when that is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

/// The agent of episodes that are no session's: someone added them.
pub const MEMORY: &str = "memory";

impl Episode {
    /// Whether someone added it, as opposed to a session's.
    pub fn is_memory(&self) -> bool {
        self.session_id.agent == MEMORY
    }

    /// The machine that it came from, when that is another one.
    pub fn from(&self) -> Option<&str> {
        self.external.as_ref().and_then(|content| content.from.as_deref())
    }

    /// Its text, when that is not its summary's.
    pub fn text(&self) -> Option<&str> {
        let content = self.external.as_ref()?;
        Some(content.text.as_str()).filter(|text| !text.is_empty())
    }
}

/// Who wrote a summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Author {
    /// It was put together from evidence, on this machine.
    Evidence,
    /// A model wrote it, held against the evidence.
    Model(String),
}
