//! Writes whose records are already encoded. The caller's thread encodes them, so that the single
//! writing thread has less work. Reworded messages are an exception: the writing thread encodes
//! them, because it has to read their blocks first.

use super::{
    envelope,
    keys::{self, Key},
    records::{EpisodeRecord, MessageRecord, SessionRecord, SourceRecord, VectorsRecord},
    statements,
};
use crate::{
    Reworded, Source, SourceKey, Write,
    model::{
        Episode, EpisodeId, Message, SessionKey, graph::EntityOrFact, session::Session,
        transcript::RecordUuid, vector::Owner,
    },
};

/// Maximum number of messages in a block.
const BLOCK_MESSAGES: usize = 64;
/// Number of bytes of text after which a block is full.
const BLOCK_BYTES: usize = 12 << 10;

/// A [`Write`] whose records are already encoded, or encoded rows.
pub(super) enum PreparedWrite {
    Session {
        session: Box<Session>,
        record: Vec<u8>,
    },
    Source {
        source: Source,
        record: Vec<u8>,
        checkpoint: Option<Vec<u8>>,
    },
    Messages(MessageBlocks),
    ForkKeys {
        session: SessionKey,
        records: Vec<RecordUuid>,
    },
    Reword {
        source: SourceKey,
        words: Vec<Reworded>,
    },
    ClearSource(SourceKey),
    DropSource(SourceKey),
    DropText(SourceKey),
    Episode {
        episode: Box<Episode>,
        record: Vec<u8>,
    },
    Statements {
        episode: EpisodeId,
        rows: Vec<(Key, Vec<u8>)>,
        entities_and_facts: Vec<EntityOrFact>,
    },
    DropEpisode(EpisodeId),
    DropSession(SessionKey),
    Note {
        key: Key,
        record: Option<Vec<u8>>,
    },
    Vectors {
        owner: Owner,
        episode: Option<EpisodeId>,
        record: Vec<u8>,
    },
    OutboxConsumed(u64),
    /// The rows to write; `None` deletes a row.
    Rows(Vec<(Key, Option<Vec<u8>>)>),
}

/// Consecutive messages of a file, encoded in blocks.
pub(super) struct MessageBlocks {
    pub(super) source: SourceKey,
    /// The number of the first message.
    pub(super) from: u32,
    pub(super) count: u32,
    /// Each block with the number of its first message.
    pub(super) blocks: Vec<(u32, Vec<u8>)>,
}

impl PreparedWrite {
    /// Whether the write adds messages, a checkpoint or vectors, which may need much space. Such a
    /// write is refused when little space is left.
    pub(super) fn is_large(&self) -> bool {
        match self {
            PreparedWrite::Messages(messages) => messages.count > 0,
            PreparedWrite::Source { checkpoint, .. } => checkpoint.is_some(),
            PreparedWrite::Vectors { .. } => true,
            _ => false,
        }
    }
}

impl From<Write> for PreparedWrite {
    fn from(write: Write) -> PreparedWrite {
        match write {
            Write::Session(session) => {
                let record = envelope::seal(&SessionRecord::from(session.as_ref()));
                PreparedWrite::Session { session, record }
            }
            Write::Source { source, checkpoint } => {
                let record = envelope::seal(&SourceRecord::from(&source));
                let checkpoint = checkpoint.map(|bytes| envelope::seal(&bytes));
                PreparedWrite::Source { source, record, checkpoint }
            }
            Write::Messages { source, messages } => PreparedWrite::Messages(MessageBlocks {
                source,
                from: messages.first().map_or(0, |message| message.seq),
                count: u32::try_from(messages.len()).unwrap_or(u32::MAX),
                blocks: blocks(&messages),
            }),
            Write::ForkKeys { session, records } => PreparedWrite::ForkKeys { session, records },
            Write::Reword { source, words } => PreparedWrite::Reword { source, words },
            Write::ClearSource(source) => PreparedWrite::ClearSource(source),
            Write::DropSource(source) => PreparedWrite::DropSource(source),
            Write::DropText(source) => PreparedWrite::DropText(source),
            Write::Episode(episode) => {
                let record = envelope::seal(&EpisodeRecord::from(episode.as_ref()));
                PreparedWrite::Episode { episode, record }
            }
            Write::Statements { episode, statements } => PreparedWrite::Statements {
                episode,
                rows: statements::rows(episode, &statements),
                entities_and_facts: statements::entities_and_facts(&statements).collect(),
            },
            Write::DropEpisode(id) => PreparedWrite::DropEpisode(id),
            Write::DropSession(session) => PreparedWrite::DropSession(session),
            // The keys of all notes of a namespace begin with this key.
            Write::DropNotes(namespace) => {
                PreparedWrite::Note { key: keys::notes(namespace), record: None }
            }
            Write::Note(note) => PreparedWrite::Note {
                key: keys::note(note.namespace, &note.name),
                record: note.content.map(|content| envelope::seal(&content)),
            },
            Write::Vectors(vectors) => PreparedWrite::Vectors {
                owner: vectors.owner,
                episode: vectors.episode,
                record: envelope::seal(&VectorsRecord::from(vectors.as_ref())),
            },
            Write::OutboxConsumed(position) => PreparedWrite::OutboxConsumed(position),
        }
    }
}

fn blocks(messages: &[Message]) -> Vec<(u32, Vec<u8>)> {
    let mut blocks = Vec::new();
    let mut block: Vec<MessageRecord> = Vec::new();
    let (mut first, mut bytes) = (0, 0);
    for message in messages {
        if block.is_empty() {
            first = message.seq;
        }
        bytes += message.text.len();
        block.push(MessageRecord::from(message));
        if block.len() == BLOCK_MESSAGES || bytes >= BLOCK_BYTES {
            blocks.push((first, envelope::seal(&block)));
            block.clear();
            bytes = 0;
        }
    }
    if !block.is_empty() {
        blocks.push((first, envelope::seal(&block)));
    }
    blocks
}
