//! The result of a finished session: one summary with its provenance.

use serde::{Deserialize, Serialize};

use crate::model::{
    episode_id::EpisodeId,
    project::Project,
    session::{CloseReason, Content, ContentHash, Indexed, Session, SessionId, SessionKey, State},
    summary::EnhancedSessionSummary,
    time::Timestamp,
    wording::EVERYWHERE,
};

/// The summary of a finished session, or an added memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Episode {
    pub id: EpisodeId,
    /// The session that the episode summarises. An added memory also has a session.
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
    /// The path of the transcript.
    pub file: String,
    /// The hash of the summarised content.
    pub content_hash: ContentHash,
    /// Why the session was closed.
    pub reason: CloseReason,
    /// The branches on which the session worked.
    pub branches: Vec<String>,
    /// When the session's first message was written.
    pub started_at: Timestamp,
    /// When the session's last message was written.
    pub ended_at: Timestamp,
    /// When the episode was created.
    pub created_at: Timestamp,
    /// The content, if the episode does not summarise a session on this machine.
    pub external: Option<ExternalContent>,
    /// The version of the rules by which the summary was derived from evidence; 0 if it is not
    /// known.
    pub rules: u32,
}

/// Content of an episode that does not summarise a session on this machine: a memory that someone
/// added, or an episode from another machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExternalContent {
    /// The whole text; empty when the summary contains it.
    pub text: String,
    /// `text`, `json` or `message`.
    pub source: String,
    /// The origin, in words.
    pub description: String,
    /// The machine on which the content was created, if it is another machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

/// The agent's name in the session of an added memory. This session has no transcript.
pub const MEMORY: &str = "memory";

impl Episode {
    /// Whether the episode is an added memory, and not the summary of a session.
    pub fn is_memory(&self) -> bool {
        self.session_id.agent == MEMORY
    }

    /// Whether the episode is a memory that contains a preference of the user for all projects.
    pub fn is_wish_for_all_projects(&self) -> bool {
        let mut wishes = self.summary.preferences.iter().flatten();
        self.is_memory() && wishes.any(|wish| wish.starts_with(EVERYWHERE))
    }

    /// Returns a session for the episode, as if its transcript had been read and indexed.
    pub fn to_session(&self, key: SessionKey) -> Session {
        Session {
            key,
            id: self.session_id.clone(),
            project: Some(self.project.clone()),
            file: self.file.clone(),
            state: State::Indexed,
            content: Some(Content {
                hash: self.content_hash,
                messages: self.summary.message_count.unwrap_or_default(),
            }),
            indexed: Some(Indexed {
                episode: self.id,
                hash: self.content_hash,
                at: self.created_at,
                reason: self.reason.clone(),
            }),
            started_at: Some(self.started_at),
            last_activity: self.ended_at,
        }
    }

    /// Returns the other machine from which the episode was imported, if it was imported.
    pub fn from(&self) -> Option<&str> {
        self.external.as_ref().and_then(|content| content.from.as_deref())
    }

    /// Returns the text of the external content, if the summary does not contain it.
    pub fn text(&self) -> Option<&str> {
        let content = self.external.as_ref()?;
        Some(content.text.as_str()).filter(|text| !text.is_empty())
    }
}

/// The author of a summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Author {
    /// No model wrote the summary: it was derived from evidence, or belongs to an added memory.
    Evidence,
    /// The model with this name wrote the summary, which was checked against the evidence.
    Model(String),
}
