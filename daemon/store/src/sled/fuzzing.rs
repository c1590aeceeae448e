//! Entry point for fuzzing: decodes bytes as each record type of `sled/records`.

use serde::de::DeserializeOwned;

use super::{
    envelope,
    records::{
        ClaimRecord, EpisodeIndexRecord, EpisodeRecord, MarkRecord, MentionRecord, MessageRecord,
        OutboxRecord, RenameRecord, SessionRecord, SourceRecord, VectorsRecord,
    },
};
use crate::{
    OutboxChange, Source,
    model::{
        Episode, Message, SessionKey,
        graph::{Claim, Mark, Mention},
        session::Session,
        vector::Owner,
    },
};

/// Reads bytes as an envelope, and as the payload of each type of record.
pub fn read_records(bytes: &[u8]) {
    let _ = envelope::unpack(bytes);
    record::<SessionRecord, Session>(bytes);
    record::<SourceRecord, Source>(bytes);
    record::<EpisodeRecord, Episode>(bytes);
    record::<MentionRecord, Mention>(bytes);
    record::<OutboxRecord, OutboxChange>(bytes);
    all::<MessageRecord, Message>(bytes);
    all::<ClaimRecord, Claim>(bytes);
    all::<MarkRecord, Mark>(bytes);
    let _ = envelope::decode::<RenameRecord>(bytes);
    if let Ok(index) = envelope::decode::<EpisodeIndexRecord>(bytes) {
        index.entities_and_facts();
        index.subjects().for_each(drop);
        index.renames().for_each(drop);
    }
    if let Ok(vectors) = envelope::decode::<VectorsRecord>(bytes) {
        vectors.of(Owner::Session(SessionKey(1)));
    }
}

fn record<R: DeserializeOwned, M: TryFrom<R>>(bytes: &[u8]) {
    let _ = envelope::decode::<R>(bytes).map(M::try_from);
}

fn all<R: DeserializeOwned, M: TryFrom<R>>(bytes: &[u8]) {
    for record in envelope::decode::<Vec<R>>(bytes).into_iter().flatten() {
        let _ = M::try_from(record);
    }
}
