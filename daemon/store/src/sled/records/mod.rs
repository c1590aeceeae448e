//! The record types on disk: plain types, frozen with each version and converted only here.
//!
//! A change to a record type needs a migration: copy the old types into a new module
//! `sled/migrate/v<N>.rs`, convert them there, raise [`super::envelope::VERSION`], make
//! [`super::envelope::open`] accept the old version, and keep the golden file of that version.
//! `check_version` in `sled/mod.rs` then marks the database, so that older programs refuse it.
//! There is no migration yet, because there is only one version. Data that often gets new fields is
//! JSON inside its record, so that a new field there needs no new version: the summary of an
//! episode, the state in a checkpoint, and the content of most notes.

mod episode;
#[cfg(test)]
mod golden;
mod message;
mod session;
mod source;
mod statements;
mod vectors;

pub(crate) use self::{
    episode::EpisodeRecord,
    message::MessageRecord,
    session::SessionRecord,
    source::{OutboxRecord, SourceRecord},
    statements::{ClaimRecord, EpisodeIndexRecord, MarkRecord, MentionRecord, RenameRecord},
    vectors::VectorsRecord,
};

use crate::model::{CloseReason, ContentHash, EpisodeId, Project, SessionId, Timestamp};

/// The description of a value in a record that this version does not know.
pub(crate) type Unknown = String;

pub(crate) type Id = (String, String);

fn id_record(id: &SessionId) -> Id {
    (id.agent.clone(), id.id.clone())
}

fn id_from_record((agent, id): Id) -> SessionId {
    SessionId { agent, id }
}

fn project_from_record(path: &str) -> Project {
    Project::new(path)
}

fn episode_id(bytes: [u8; 16]) -> EpisodeId {
    EpisodeId(uuid::Uuid::from_bytes(bytes))
}

fn hash(bytes: [u8; 32]) -> ContentHash {
    ContentHash(bytes)
}

fn time(micros: i64) -> Timestamp {
    Timestamp::from_micros(micros)
}

/// A close reason as number and text, so that a new reason needs no new version.
type Reason = (u8, String);

fn reason_record(reason: &CloseReason) -> Reason {
    match reason {
        CloseReason::Explicit(note) => (0, note.clone().unwrap_or_default()),
        CloseReason::Hook(word) => (1, word.clone()),
        CloseReason::PreCompact => (2, String::new()),
        CloseReason::LazyQuery => (3, String::new()),
        CloseReason::InactivityTimeout => (4, String::new()),
        CloseReason::AgentExited => (5, String::new()),
        CloseReason::HistorySync => (6, String::new()),
    }
}

fn reason_from_record((number, text): Reason) -> Result<CloseReason, Unknown> {
    Ok(match number {
        0 => CloseReason::Explicit(Some(text).filter(|note| !note.is_empty())),
        1 => CloseReason::Hook(text),
        2 => CloseReason::PreCompact,
        3 => CloseReason::LazyQuery,
        4 => CloseReason::InactivityTimeout,
        5 => CloseReason::AgentExited,
        6 => CloseReason::HistorySync,
        other => return Err(format!("close reason {other}")),
    })
}
