//! Where each record stands: one tree, the first byte of a key names the table.
//!
//! One tree, because one `Batch` on it is atomic. Numbers are big-endian, so that keys sort as
//! their numbers do.
//!
//! | Table | Key after the first byte | Value |
//! | --- | --- | --- |
//! | `m` | name | a number or version |
//! | `s` | session | session |
//! | `i` | agent, 0, id | session key |
//! | `l` | session | nothing: the session is live |
//! | `f` | session, file number | source |
//! | `p` | half of the SHA-256 of the path | session, file number |
//! | `c` | session, file number, piece | checkpoint |
//! | `t` | session, file number, first message, piece | block of messages |
//! | `e` | episode id, piece | episode |
//! | `n` | namespace, episode id | nothing: the project's episodes |
//! | `o` | position | outbox entry |

use sha2::{Digest, Sha256};

use crate::{
    model::{EpisodeId, Namespace, SessionId, SessionKey},
    store::SourceKey,
};

/// A key, or the beginning that the keys of a range share.
pub(crate) type Key = Vec<u8>;

/// The first byte of each table.
pub(crate) mod table {
    pub(crate) const META: u8 = b'm';
    pub(crate) const SESSIONS: u8 = b's';
    pub(crate) const IDS: u8 = b'i';
    pub(crate) const LIVE: u8 = b'l';
    pub(crate) const SOURCES: u8 = b'f';
    pub(crate) const PATHS: u8 = b'p';
    pub(crate) const CHECKPOINTS: u8 = b'c';
    pub(crate) const MESSAGES: u8 = b't';
    pub(crate) const EPISODES: u8 = b'e';
    pub(crate) const BY_PROJECT: u8 = b'n';
    pub(crate) const OUTBOX: u8 = b'o';
}

pub(crate) fn meta(name: &str) -> Key {
    key(table::META, &[name.as_bytes()])
}

pub(crate) fn session(session: SessionKey) -> Key {
    key(table::SESSIONS, &[&session.0.to_be_bytes()])
}

pub(crate) fn id(id: &SessionId) -> Key {
    key(table::IDS, &[id.agent.as_bytes(), &[0], id.id.as_bytes()])
}

pub(crate) fn live(session: SessionKey) -> Key {
    key(table::LIVE, &[&session.0.to_be_bytes()])
}

pub(crate) fn source(source: SourceKey) -> Key {
    of_source(table::SOURCES, source)
}

pub(crate) fn sources_of(session: SessionKey) -> Key {
    key(table::SOURCES, &[&session.0.to_be_bytes()])
}

pub(crate) fn path(path: &str) -> Key {
    key(table::PATHS, &[&Sha256::digest(path.as_bytes())[..16]])
}

pub(crate) fn checkpoint(source: SourceKey) -> Key {
    of_source(table::CHECKPOINTS, source)
}

pub(crate) fn messages_of(source: SourceKey) -> Key {
    of_source(table::MESSAGES, source)
}

pub(crate) fn messages(source: SourceKey, first: u32) -> Key {
    let mut key = messages_of(source);
    key.extend_from_slice(&first.to_be_bytes());
    key
}

pub(crate) fn episode(id: EpisodeId) -> Key {
    key(table::EPISODES, &[id.0.as_bytes()])
}

pub(crate) fn episodes_of(project: Namespace) -> Key {
    key(table::BY_PROJECT, &[&project.number().to_be_bytes()])
}

pub(crate) fn episode_of(project: Namespace, id: EpisodeId) -> Key {
    let mut key = episodes_of(project);
    key.extend_from_slice(id.0.as_bytes());
    key
}

pub(crate) fn outbox(position: u64) -> Key {
    key(table::OUTBOX, &[&position.to_be_bytes()])
}

/// The session key in a key of the tables `s` and `l`.
pub(crate) fn session_in(key: &[u8]) -> Option<SessionKey> {
    Some(SessionKey(u64::from_be_bytes(key.get(1..9)?.try_into().ok()?)))
}

/// The number of the first message in a key of the table `t`.
pub(crate) fn first_message_in(key: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(key.get(13..17)?.try_into().ok()?))
}

/// The position in a key of the table `o`.
pub(crate) fn position_in(key: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(key.get(1..9)?.try_into().ok()?))
}

/// The episode id in a key of the tables `e` (`at` 1) and `n` (`at` 5).
pub(crate) fn episode_in(key: &[u8], at: usize) -> Option<EpisodeId> {
    uuid::Uuid::from_slice(key.get(at..at + 16)?).ok().map(EpisodeId)
}

fn of_source(table: u8, source: SourceKey) -> Key {
    key(table, &[&source.session.0.to_be_bytes(), &source.number.to_be_bytes()])
}

fn key(table: u8, parts: &[&[u8]]) -> Key {
    let mut key = vec![table];
    for part in parts {
        key.extend_from_slice(part);
    }
    key
}
