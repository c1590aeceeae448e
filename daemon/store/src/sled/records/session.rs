//! A session on disk.

use serde::{Deserialize, Serialize};

use super::{Id, Reason, Unknown};
use crate::model::{
    SessionKey, Timestamp,
    session::{Content, Failure, Indexed, Indexing, Session, State, Unindexed},
};

#[derive(Serialize, Deserialize)]
pub(crate) struct SessionRecord {
    key: u64,
    id: Id,
    project: Option<String>,
    file: String,
    state: StateRecord,
    content: Option<([u8; 32], u32)>,
    indexed: Option<IndexedRecord>,
    started_at: Option<i64>,
    last_activity: i64,
}

#[derive(Serialize, Deserialize)]
struct IndexedRecord {
    episode: [u8; 16],
    hash: [u8; 32],
    at: i64,
    reason: Reason,
}

#[derive(Serialize, Deserialize)]
enum StateRecord {
    Active,
    Inactive,
    Indexing {
        reason: Reason,
        since: i64,
        attempts: u32,
        written_since: bool,
        again: Option<Reason>,
    },
    Indexed,
    Failed {
        error: String,
        attempts: u32,
        retry_at: Option<i64>,
        reason: Reason,
    },
    AgentGone {
        since: i64,
    },
    History,
    NoTimeout,
}

impl From<&Session> for SessionRecord {
    fn from(session: &Session) -> SessionRecord {
        SessionRecord {
            key: session.key.0,
            id: super::id_record(&session.id),
            project: session.project.as_ref().map(|project| project.path().to_owned()),
            file: session.file.clone(),
            state: state_record(&session.state),
            content: session.content.map(|content| (content.hash.0, content.messages)),
            indexed: session.indexed.as_ref().map(|indexed| IndexedRecord {
                episode: indexed.episode.0.into_bytes(),
                hash: indexed.hash.0,
                at: indexed.at.micros(),
                reason: super::reason_record(&indexed.reason),
            }),
            started_at: session.started_at.map(Timestamp::micros),
            last_activity: session.last_activity.micros(),
        }
    }
}

impl TryFrom<SessionRecord> for Session {
    type Error = Unknown;

    fn try_from(record: SessionRecord) -> Result<Session, Unknown> {
        let indexed = match record.indexed {
            None => None,
            Some(indexed) => Some(Indexed {
                episode: super::episode_id(indexed.episode),
                hash: super::hash(indexed.hash),
                at: super::time(indexed.at),
                reason: super::reason_from_record(indexed.reason)?,
            }),
        };
        Ok(Session {
            key: SessionKey(record.key),
            id: super::id_from_record(record.id),
            project: record.project.as_deref().map(super::project_from_record),
            file: record.file,
            state: state_from_record(record.state)?,
            content: record
                .content
                .map(|(bytes, messages)| Content { hash: super::hash(bytes), messages }),
            indexed,
            started_at: record.started_at.map(super::time),
            last_activity: super::time(record.last_activity),
        })
    }
}

fn state_record(state: &State) -> StateRecord {
    match state {
        State::Active => StateRecord::Active,
        State::Inactive => StateRecord::Inactive,
        State::Indexing(indexing) => StateRecord::Indexing {
            reason: super::reason_record(&indexing.reason),
            since: indexing.since.micros(),
            attempts: indexing.attempts,
            written_since: indexing.written_since,
            again: indexing.again.as_ref().map(super::reason_record),
        },
        State::Indexed => StateRecord::Indexed,
        State::Failed(failure) => StateRecord::Failed {
            error: failure.error.clone(),
            attempts: failure.attempts,
            retry_at: failure.retry_at.map(Timestamp::micros),
            reason: super::reason_record(&failure.reason),
        },
        State::Unindexed(Unindexed::AgentGone { since }) => {
            StateRecord::AgentGone { since: since.micros() }
        }
        State::Unindexed(Unindexed::History) => StateRecord::History,
        State::Unindexed(Unindexed::NoTimeout) => StateRecord::NoTimeout,
    }
}

fn state_from_record(record: StateRecord) -> Result<State, Unknown> {
    Ok(match record {
        StateRecord::Active => State::Active,
        StateRecord::Inactive => State::Inactive,
        StateRecord::Indexing { reason, since, attempts, written_since, again } => {
            State::Indexing(Indexing {
                reason: super::reason_from_record(reason)?,
                since: super::time(since),
                attempts,
                written_since,
                again: again.map(super::reason_from_record).transpose()?,
            })
        }
        StateRecord::Indexed => State::Indexed,
        StateRecord::Failed { error, attempts, retry_at, reason } => State::Failed(Failure {
            error,
            attempts,
            retry_at: retry_at.map(super::time),
            reason: super::reason_from_record(reason)?,
        }),
        StateRecord::AgentGone { since } => {
            State::Unindexed(Unindexed::AgentGone { since: super::time(since) })
        }
        StateRecord::History => State::Unindexed(Unindexed::History),
        StateRecord::NoTimeout => State::Unindexed(Unindexed::NoTimeout),
    })
}
