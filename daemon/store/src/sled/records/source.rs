//! A followed file and an outbox entry on disk.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Unknown;
use crate::{FileStamp, OutboxChange, Source, SourceKey, Tally, model::SessionKey};

#[derive(Serialize, Deserialize)]
pub(crate) struct SourceRecord {
    session: u64,
    number: u32,
    path: String,
    sub_agent: Option<String>,
    file: u64,
    length: u64,
    modified: i64,
    offset: u64,
    tally: TallyRecord,
}

#[derive(Serialize, Deserialize)]
struct TallyRecord {
    read: u64,
    skipped: BTreeMap<String, u64>,
    repaired: u64,
    broken: u64,
    broken_bytes: u64,
    restarts: u64,
}

impl From<&Source> for SourceRecord {
    fn from(source: &Source) -> SourceRecord {
        let tally = &source.tally;
        SourceRecord {
            session: source.key.session.0,
            number: source.key.number,
            path: source.path.clone(),
            sub_agent: source.sub_agent.clone(),
            file: source.stamp.file,
            length: source.stamp.length,
            modified: source.stamp.modified,
            offset: source.offset,
            tally: TallyRecord {
                read: tally.read,
                skipped: tally.skipped.clone(),
                repaired: tally.repaired,
                broken: tally.broken,
                broken_bytes: tally.broken_bytes,
                restarts: tally.restarts,
            },
        }
    }
}

impl TryFrom<SourceRecord> for Source {
    type Error = Unknown;

    fn try_from(record: SourceRecord) -> Result<Source, Unknown> {
        let tally = record.tally;
        Ok(Source {
            key: SourceKey { session: SessionKey(record.session), number: record.number },
            path: record.path,
            sub_agent: record.sub_agent,
            stamp: FileStamp {
                file: record.file,
                length: record.length,
                modified: record.modified,
            },
            offset: record.offset,
            tally: Tally {
                read: tally.read,
                skipped: tally.skipped,
                repaired: tally.repaired,
                broken: tally.broken,
                broken_bytes: tally.broken_bytes,
                restarts: tally.restarts,
            },
        })
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) enum OutboxRecord {
    Messages { session: u64, number: u32, from: u32, count: u32, overwrites: bool },
    SourceCleared { session: u64, number: u32 },
    Session(u64),
    Episode([u8; 16]),
    EpisodeDropped { id: [u8; 16], session: u64 },
    SessionDropped(u64),
    EntitiesAndFacts(Vec<[u8; 16]>, Vec<[u8; 16]>),
}

impl From<OutboxChange> for OutboxRecord {
    fn from(what: OutboxChange) -> OutboxRecord {
        match what {
            OutboxChange::Messages { source, from, count, overwrites } => OutboxRecord::Messages {
                session: source.session.0,
                number: source.number,
                from,
                count,
                overwrites,
            },
            OutboxChange::Session(session) => OutboxRecord::Session(session.0),
            OutboxChange::SourceCleared(source) => {
                OutboxRecord::SourceCleared { session: source.session.0, number: source.number }
            }
            OutboxChange::Episode(id) => OutboxRecord::Episode(id.0.into_bytes()),
            OutboxChange::EpisodeDropped { id, session } => {
                OutboxRecord::EpisodeDropped { id: id.0.into_bytes(), session: session.0 }
            }
            OutboxChange::SessionDropped(session) => OutboxRecord::SessionDropped(session.0),
            OutboxChange::EntitiesAndFacts(entities_and_facts) => {
                let (entities, facts) = super::statements::entity_and_fact_ids(&entities_and_facts);
                OutboxRecord::EntitiesAndFacts(entities, facts)
            }
        }
    }
}

impl From<OutboxRecord> for OutboxChange {
    fn from(record: OutboxRecord) -> OutboxChange {
        let key = |session, number| SourceKey { session: SessionKey(session), number };
        match record {
            OutboxRecord::Messages { session, number, from, count, overwrites } => {
                OutboxChange::Messages { source: key(session, number), from, count, overwrites }
            }
            OutboxRecord::Session(session) => OutboxChange::Session(SessionKey(session)),
            OutboxRecord::SourceCleared { session, number } => {
                OutboxChange::SourceCleared(key(session, number))
            }
            OutboxRecord::Episode(id) => OutboxChange::Episode(super::episode_id(id)),
            OutboxRecord::EpisodeDropped { id, session } => OutboxChange::EpisodeDropped {
                id: super::episode_id(id),
                session: SessionKey(session),
            },
            OutboxRecord::SessionDropped(session) => {
                OutboxChange::SessionDropped(SessionKey(session))
            }
            OutboxRecord::EntitiesAndFacts(entities, facts) => OutboxChange::EntitiesAndFacts(
                super::statements::entities_and_facts_from_ids(&entities, &facts),
            ),
        }
    }
}
