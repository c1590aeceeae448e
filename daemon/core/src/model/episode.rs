//! The result of a finished session: one summary with its provenance.

use serde::{Deserialize, Serialize};

use crate::model::{
    episode_id::EpisodeId,
    project::Project,
    session::{CloseReason, ContentHash, SessionId, SessionKey},
    summary::EnhancedSessionSummary,
    time::Timestamp,
};

/// A finished session.
#[derive(Clone, Debug, PartialEq)]
pub struct Episode {
    pub id: EpisodeId,
    /// The session that it summarises.
    pub session: SessionKey,
    /// The agent's id of that session.
    pub session_id: SessionId,
    /// The directory of the session.
    pub project: Project,
    /// A short title for lists.
    pub name: String,
    pub summary: EnhancedSessionSummary,
    /// The author of the summary.
    pub author: Author,
    /// The transcript that it summarises.
    pub file: String,
    /// The hash of the content that it summarises.
    pub content_hash: ContentHash,
    /// Why the session was closed.
    pub reason: CloseReason,
    /// Branches worked on.
    pub branches: Vec<String>,
    /// When the session's first message was written.
    pub started_at: Timestamp,
    /// When the session's last message was written: the time that its facts hold from.
    pub ended_at: Timestamp,
    /// When the episode was created.
    pub created_at: Timestamp,
    /// Text that is not a summary of this machine, if there is any.
    pub external: Option<ExternalContent>,
    /// The version of the rules by which its summary was derived from evidence; 0 before such
    /// versions were recorded.
    pub rules: u32,
}

/// Text that was not created here: a memory that someone added, or an episode from another machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExternalContent {
    /// The whole text; empty when the summary contains it.
    pub text: String,
    /// `text`, `json` or `message`.
    pub source: String,
    /// The origin, in words.
    pub description: String,
    /// The machine on which it was created, if it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

/// The agent of episodes without a session: someone added them.
pub const MEMORY: &str = "memory";

impl Episode {
    /// Whether someone added it, as opposed to a session's.
    pub fn is_memory(&self) -> bool {
        self.session_id.agent == MEMORY
    }

    /// The machine from which it was imported, if it is another one.
    pub fn from(&self) -> Option<&str> {
        self.external.as_ref().and_then(|content| content.from.as_deref())
    }

    /// Returns the text, if it is not in the summary.
    pub fn text(&self) -> Option<&str> {
        let content = self.external.as_ref()?;
        Some(content.text.as_str()).filter(|text| !text.is_empty())
    }
}

/// The author of a summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Author {
    /// Derived from evidence, on this machine.
    Evidence,
    /// A model wrote it, held against the evidence.
    Model(String),
}
